"""Text for a terminal: nothing that an agent says may move the cursor, or worse."""

import re
from collections.abc import Sequence
from typing import TextIO

__all__ = ["escape_controls", "printable", "strip_controls", "table"]

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, except tabs and line ends."""


def strip_controls(text: str) -> str:
    """Return the text without control characters."""
    return _CONTROLS.sub("", text)


def escape_controls(text: str) -> str:
    """Return the text with control characters written out, so that nothing is hidden from who approves it."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def printable(text: str, stream: TextIO) -> str:
    """Return the text as a stream can print it: on a terminal without controls, and in its encoding."""
    plain = strip_controls(text) if stream.isatty() else text
    return plain.encode(stream.encoding, "replace").decode(stream.encoding)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of cells as lines, with the columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
