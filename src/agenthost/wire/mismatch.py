"""Mismatches: what is wrong with a value, in words for people, and where."""

from types import NoneType

from agenthost.errors import InvalidValue
from agenthost.wire.json import Json

_SHOWN = 40
"""How much of a peer's own text an error repeats."""

NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    NoneType: "null",
}
"""What values are called, by the type that they decode to."""


class Mismatch(Exception):
    """A value that does not fit, on its way up: each holder adds its key."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__()
        self.expected = expected
        self.found = found
        self.keys: list[str | int] = []

    def under(self, key: str | int) -> "Mismatch":
        """Add the key of the holder."""
        self.keys.append(key)
        return self

    def at(self, root: str) -> InvalidValue:
        """Give the error with the whole path."""
        return InvalidValue(root + "".join(map(_step, reversed(self.keys))), self.expected, self.found)


def _step(key: str | int) -> str:
    """Write one step of a path. A peer's own key may hold anything: quoted, it stays on one line."""
    if type(key) is not str:
        return f"[{key}]"
    return f".{key}" if key.isidentifier() and len(key) <= _SHOWN else f"[{quote(key)}]"


def describe(value: Json) -> str:
    """Name a value in an error, without repeating a text that may be long or secret."""
    if type(value) in (int, float):
        return f"the number {value!r:.{_SHOWN}}"
    return "true" if value is True else "false" if value is False else NAMES[type(value)]


def quote(value: Json) -> str:
    """Name a value where its text matters, such as a constant: shown as it is, if it is short."""
    if type(value) is not str:
        return describe(value)
    return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
