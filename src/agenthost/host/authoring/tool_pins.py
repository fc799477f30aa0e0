"""Pins: the definition of a tool that an approval is for. Pure.

A tool of another server can change after it was approved. So an approval keeps the definition that was shown,
and covers only that one. Tools of this program have no pin: they change only with the program.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from agenthost.host.authoring.tool import Tool
from agenthost.host.state.private import Pin
from agenthost.wire.json import encode_json

__all__ = ["Pin", "pin_of", "pins_of", "what_changed"]

MAX_PART = 1_000
"""How many characters of a part are kept; a longer one is cut, and a hash added."""

MAX_EXCERPT = 160
"""How many characters of a change are shown."""

_PARTS = {
    "title": "title",
    "description": "description",
    "input": "input schema",
    "annotations": "annotations",
    "server": "server or its command",
}


def pin_of(one: Tool) -> Pin | None:
    """Return the pin of a tool; None for a tool of this program."""
    if one.source is None:
        return None
    return {
        "title": _part(one.title or ""),
        "description": _part(one.description),
        "input": _part(encode_json(one.schema).decode()),
        "annotations": _part(encode_json(one.annotations()).decode()),
        "server": _digest(one.source),
    }


def pins_of(tools: Mapping[str, Tool], names: Iterable[str]) -> dict[str, Pin]:
    """Return the pins of the named tools that need one."""
    pins = {name: pin_of(tools[name]) for name in names if name in tools}
    return {name: pin for name, pin in pins.items() if pin is not None}


def what_changed(old: Pin, new: Pin) -> str:
    """Return which parts of a definition have changed, with an excerpt of each on a line of its own."""
    names = [part for part in _PARTS if old.get(part) != new.get(part)]
    summary = f"It changed after it was approved: {', '.join(_PARTS[part] for part in names)}."
    shown = [part for part in names if part != "server"]  # the server's command line may contain secrets
    return "\n".join([summary, *(_difference(part, old.get(part, ""), new.get(part, "")) for part in shown)])


def _difference(part: str, old: str, new: str) -> str:
    start = _shared(old, new)
    end = min(_shared(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    before, after = (_excerpt(text, start, len(text) - end) for text in (old, new))
    return f"{_PARTS[part]}: {before} → {after}"


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _excerpt(text: str, start: int, end: int) -> str:
    """Return the text between two positions, in whole words, quoted and on one line."""
    start, space = text.rfind(" ", 0, start) + 1, text.find(" ", end)
    end = min(len(text) if space < 0 else space, start + MAX_EXCERPT)
    found = "".join(one if one.isprintable() else " " for one in text[start:end])
    return f'"{"…" if start else ""}{found}{"…" if end < len(text) else ""}"'


def _part(text: str) -> str:
    return text if len(text) <= MAX_PART else f"{text[:MAX_PART]} … {_digest(text)}"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()[:32]
