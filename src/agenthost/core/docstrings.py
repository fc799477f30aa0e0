"""Docstrings: their summary, and the description of each parameter, in Google's or Sphinx's style.

Reads text only; the function it belongs to is not needed.
"""

import inspect
import re
from dataclasses import dataclass, field
from itertools import takewhile

_SECTION = re.compile(r"(Args|Arguments|Parameters):\s*$")
_ENTRY = re.compile(r"\*{0,2}(\w+)(?:\s*\([^)]*\))?\s*:\s*(.*)$")
_PARAM = re.compile(r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """A parsed docstring: its first paragraph as one line, and one line for each parameter."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Parse a docstring. If its style is unknown, only the summary is found."""
    lines = inspect.cleandoc(text or "").splitlines()
    return Docstring(_summary(lines), _google(lines) | _sphinx(lines))


def _summary(lines: list[str]) -> str:
    def is_summary(line: str) -> bool:
        return bool(line.strip()) and not _SECTION.match(line) and not line.startswith(":")

    return _join(list(takewhile(is_summary, lines)))


def _google(lines: list[str]) -> dict[str, str]:
    """Read the indented lines under `Args:`; a line indented further continues the entry above."""
    heads = [index for index, line in enumerate(lines) if _SECTION.match(line)]
    if not heads:
        return {}
    body = list(takewhile(lambda line: not line.strip() or _depth(line) > 0, lines[heads[0] + 1 :]))
    filled = [line for line in body if line.strip()]
    found: dict[str, list[str]] = {}
    name = ""
    for line in filled:
        entry = _ENTRY.match(line.strip()) if _depth(line) == _depth(filled[0]) else None
        if entry:
            name = entry[1]
            found[name] = [entry[2]]
        elif name:
            found[name].append(line)
    return {name: _join(parts) for name, parts in found.items()}


def _sphinx(lines: list[str]) -> dict[str, str]:
    """Read `:param name: text` and the indented lines that continue it."""
    found = {}
    for index, line in enumerate(lines):
        if entry := _PARAM.match(line):
            rest = takewhile(lambda text: text.strip() and _depth(text) > 0, lines[index + 1 :])
            found[entry[1]] = _join([entry[2], *rest])
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
