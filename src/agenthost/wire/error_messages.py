"""Error messages: what is wrong with a value and where, in words for people."""

from types import NoneType

from agenthost.errors import InvalidValue
from agenthost.wire.json import Json

_MAX_SHOWN = 40
"""How many characters of a peer's own text an error repeats."""

TYPE_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    NoneType: "null",
}
"""The names of values in messages, by their Python type."""


class Mismatch(Exception):
    """A value that does not fit. On its way up, each object or list that holds it adds its key."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__()
        self.expected = expected
        self.found = found
        self.keys: list[str | int] = []

    def under(self, key: str | int) -> "Mismatch":
        """Add the key under which the value was found."""
        self.keys.append(key)
        return self

    def at(self, root: str) -> InvalidValue:
        """Return the error with the full path."""
        return InvalidValue(root + "".join(map(_step, reversed(self.keys))), self.expected, self.found)


def _step(key: str | int) -> str:
    """Format one step of a path. A peer's own key may contain anything; quoted, it stays on one line."""
    if type(key) is not str:
        return f"[{key}]"
    return f".{key}" if key.isidentifier() and len(key) <= _MAX_SHOWN else f"[{quote(key)}]"


def describe(value: Json) -> str:
    """Describe a value without repeating its text, which may be long or secret."""
    if type(value) in (int, float):
        return f"the number {value!r:.{_MAX_SHOWN}}"
    return "true" if value is True else "false" if value is False else TYPE_NAMES[type(value)]


def quote(value: Json) -> str:
    """Describe a value whose text matters, such as a constant: quoted, and cut if it is long."""
    if type(value) is not str:
        return describe(value)
    return repr(value) if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]!r}…"
