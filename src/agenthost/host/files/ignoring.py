"""What a `.gitignore` leaves out, as git reads it. Pure: nothing here looks at a disk.

Each line becomes a regular expression; those that follow each other with the same meaning become one, because
a tree has many names and few rules. The last rule that fits decides, and deeper files before those above.
Unlike git, which counts bytes, `?` is one character.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

__all__ = ["IgnoreRules", "Pattern", "read_pattern"]

_CLASSES: Final = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _Hopeless(Exception):
    """A pattern that git lets fit nothing: a bracket that does not end, a backslash before nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of rules.

    Attributes:
        regex: fits the path, seen from the folder of the rules.
        negated: what fits is not left out after all.
        folders_only: it fits folders only.
    """

    regex: str
    negated: bool
    folders_only: bool


class IgnoreRules:
    """The rules of one folder, on top of those of the folders above."""

    def __init__(self, text: str, above: "IgnoreRules | None" = None, depth: int = 0) -> None:
        """Read the rules of a folder that is `depth` names below the top."""
        patterns = [one for line in _lines(text) if (one := read_pattern(line)) is not None]
        self._above = above
        self._depth = depth
        self._for_folders = _compiled(patterns)
        self._for_files = _compiled(one for one in patterns if not one.folders_only)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether a path, seen from the top, is left out.

        What is in a folder that is left out is, too; but the walk does not go there, so nobody asks.
        """
        seen = path.split("/", self._depth)[-1] if self._depth else path
        for regex, negated in self._for_folders if is_folder else self._for_files:
            if regex.fullmatch(seen):
                return not negated
        return self._above is not None and self._above.leaves_out(path, is_folder=is_folder)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]


def _compiled(patterns: Iterable[Pattern]) -> list[tuple[re.Pattern[str], bool]]:
    """Join neighbours of one kind, and put the last first: it decides."""
    groups = groupby(patterns, key=lambda one: one.negated)
    joined = [
        (re.compile("|".join(one.regex for one in group), re.DOTALL), negated) for negated, group in groups
    ]
    return joined[::-1]


def read_pattern(line: str) -> Pattern | None:
    """Read one line; nothing if it is a comment, empty, or cannot fit anything."""
    if line.startswith("#"):
        return None
    text = _without_spaces(line)
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    try:
        # Without a slash it fits the last name, wherever that is.
        regex = ("" if "/" in text else "(?:.*/)?") + _Translation(text).regex()
    except _Hopeless:
        return None
    return Pattern(regex, negated, folders_only) if text else None


def _without_spaces(line: str) -> str:
    """Take the spaces at the end away, but not one that is escaped."""
    end = 0
    place = 0
    while place < len(line):
        if line[place] == "\\":
            place += 2
            end = min(place, len(line))
            continue
        place += 1
        if line[place - 1] != " ":
            end = place
    return line[:end]


class _Translation:
    """A pattern on its way to a regular expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = int(text.startswith("/"))
        self._is_plain = True  # nothing special so far

    def regex(self) -> str:
        """Translate all of it."""
        pieces = []
        while self._place < len(self._text):
            char = self._text[self._place]
            if char == "*":
                pieces.append(self._stars())
            else:
                self._place += 1
                pieces.append(self._one(char))
            self._is_plain = self._is_plain and char not in "*?[\\"
        return "".join(pieces)

    def _one(self, char: str) -> str:
        if char == "?":
            return "[^/]"
        if char == "[":
            return self._set()
        return re.escape(self._next() if char == "\\" else char)

    def _next(self) -> str:
        if self._place >= len(self._text):
            raise _Hopeless
        self._place += 1
        return self._text[self._place - 1]

    def _stars(self) -> str:
        start = self._place
        while self._text[self._place : self._place + 1] == "*":
            self._place += 1
        rest = self._text[self._place :]
        # Git takes what is plain at the beginning away first, so that stars after it count as the beginning.
        is_start = start == 0 or self._text[start - 1] == "/" or self._is_plain
        if (
            "/" not in self._text
            or self._place - start < 2
            or not is_start
            or not (rest == "" or rest.startswith(("/", "\\/")))
        ):
            return "[^/]*"
        if not rest.startswith("/"):
            return ".*"  # an escaped slash has to be there
        self._place += 1
        return "(?:.*/)?"

    def _set(self) -> str:
        negated = self._text[self._place : self._place + 1] in ("!", "^")
        self._place += negated
        pieces: list[str] = []
        before: str | None = None  # what a range could begin with
        char = self._next()
        while True:
            if (
                char == "-"
                and before is not None
                and self._text[self._place : self._place + 1] not in ("", "]")
            ):
                pieces[-1:] = [self._range(before)]
                before = None
            elif char == "[" and self._text[self._place : self._place + 1] == ":":
                before = self._named(pieces)
            else:
                before = self._next() if char == "\\" else char
                pieces.append(re.escape(before))
            char = self._next()
            if char == "]":
                break
        inside = "".join(pieces)
        if not inside:
            return "[^/]" if negated else "[^\\s\\S]"
        return f"(?!/)[{'^' if negated else ''}{inside}]"

    def _range(self, first: str) -> str:
        last = self._next()
        if last == "\\":
            last = self._next()
        # What it began with was compared already, so it counts even if the range is empty.
        return re.escape(first) + (f"{re.escape(first)}-{re.escape(last)}" if first <= last else "")

    def _named(self, pieces: list[str]) -> str | None:
        """Take a class such as `[:digit:]`; gives the bracket itself, if it is none."""
        end = self._text.find("]", self._place + 1)
        if end < 0:
            raise _Hopeless
        name = self._text[self._place + 1 : end]
        if not name.endswith(":"):
            pieces.append(re.escape("["))
            return "["
        if name[:-1] not in _CLASSES:
            raise _Hopeless
        pieces.append(_CLASSES[name[:-1]])
        self._place = end + 1
        return None
