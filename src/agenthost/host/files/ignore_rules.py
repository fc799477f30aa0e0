"""Rules of `.gitignore` files, read as git reads them. Pure: does not access the disk.

Each line becomes a regular expression. Neighbours of the same kind are joined into one, because a tree has
many names and few rules. The last matching rule decides, and deeper files take precedence over those above.
Unlike in git, which counts bytes, `?` matches one character.

The expressions never backtrack into a star: the text between two stars is matched at its first occurrence,
for good (see `_Assembly`). So the time of a match is at most proportional to the length of the path times
that of the rules, whoever wrote them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

__all__ = ["MAX_PATTERN", "IgnoreRules", "Pattern", "join_patterns", "read_pattern"]

MAX_PATTERN: Final = 1024
"""How long a pattern may be. A longer one matches nothing."""

MAX_JOINED: Final = 4096
"""How long a joined expression may become. A match holds the GIL until it ends."""

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


_Fits: TypeAlias = Callable[[str], object]


class _Hopeless(Exception):
    """A pattern that matches nothing in git: an unclosed bracket, or a backslash at the end."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of rules.

    Attributes:
        regex: matches the path relative to the folder of the rules.
        negated: whether a match is included again.
        folders_only: whether it matches only folders.
    """

    regex: str
    negated: bool
    folders_only: bool


class IgnoreRules:
    """The rules of one folder, on top of those of the folders above."""

    def __init__(self, text: str, above: "IgnoreRules | None" = None, depth: int = 0) -> None:
        """Read the rules of a folder that is `depth` levels below the top."""
        patterns = [one for line in _lines(text) if (one := read_pattern(line)) is not None]
        self._above = above
        self._depth = depth
        self._for_folders = _compiled(patterns)
        self._for_files = _compiled(one for one in patterns if not one.folders_only)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a path, relative to the top, is ignored.

        Everything inside an ignored folder is ignored too, but the walk never enters it.
        """
        seen = path.split("/", self._depth)[-1] if self._depth else path
        for fits, negated in self._for_folders if is_folder else self._for_files:
            if fits(seen):
                return not negated
        return self._above is not None and self._above.leaves_out(path, is_folder=is_folder)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]


def _compiled(patterns: Iterable[Pattern]) -> list[tuple[_Fits, bool]]:
    """Join neighbours of the same kind, last first: the last match decides."""
    groups = groupby(patterns, key=lambda one: one.negated)
    joined = [(fits, negated) for negated, group in groups for fits in join_patterns(group)]
    return joined[::-1]


def join_patterns(patterns: Iterable[Pattern]) -> list[_Fits]:
    """Return functions, one of which returns a match for a path that matches any of the patterns."""
    chunks: list[list[str]] = []
    size = MAX_JOINED
    for one in patterns:
        if size + len(one.regex) > MAX_JOINED:
            chunks.append([])
            size = 0
        chunks[-1].append(one.regex)
        size += len(one.regex)
    return [re.compile("|".join(chunk), re.DOTALL).fullmatch for chunk in chunks]


def read_pattern(line: str) -> Pattern | None:
    """Parse one line. Return `None` if it is a comment, empty, too long, or cannot match anything."""
    if line.startswith("#") or len(line) > MAX_PATTERN:
        return None
    text = _without_spaces(line)
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    try:
        # Without a slash it matches the last name, at any depth.
        regex = ("" if "/" in text else "(?:.*/)?+") + _Translation(text).regex()
    except _Hopeless:
        return None
    return Pattern(regex, negated, folders_only) if text not in ("", "/") else None


def _without_spaces(line: str) -> str:
    """Remove trailing spaces, except an escaped one."""
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


class _Assembly:
    """The expression of a pattern, assembled so that it cannot backtrack.

    A pattern consists of blocks separated by `**`, and a block of fixed-length pieces separated by `*`.
    Matching a piece at its earliest position leaves most for the rest, so no later position within the same
    name can succeed where the first one fails. The same holds for a block before a `**`, which always ends
    with a slash. Only the last piece and the last block are anchored at an end.
    """

    def __init__(self) -> None:
        self._gaps: list[tuple[str, str]] = []  # the expression of each `**`: if it is the last, and if not
        self._blocks: list[list[list[str]]] = [[[]]]

    def add(self, one: str) -> None:
        """Add an expression for one character."""
        self._blocks[-1][-1].append(one)

    def add_star(self) -> None:
        """Add a `*`: any characters of a name."""
        self._blocks[-1].append([])

    def add_folders(self, last: str, before: str) -> None:
        """Add a `**`: `last` if no other follows, else `before`, which matches as little as possible."""
        self._gaps.append((last, before))
        self._blocks.append([[]])

    def regex(self) -> str:
        """Return the expression, for `fullmatch`."""
        *blocks, tail = [["".join(piece) for piece in block] for block in self._blocks]
        if not blocks:
            return _tied(tail)
        head, *middle = [_earliest(block) for block in blocks]
        inner = [f"(?>{gap}{block})" for (_, gap), block in zip(self._gaps, middle, strict=False)]
        return head + "".join(inner) + self._gaps[-1][0] + _tied(tail)


def _earliest(block: Sequence[str]) -> str:
    """Match each piece at its earliest position."""
    return block[0] + "".join(f"(?>[^/]*?{piece})" for piece in block[1:])


def _tied(block: Sequence[str]) -> str:
    """Match the last piece at the end."""
    return block[0] if len(block) == 1 else f"{_earliest(block[:-1])}[^/]*{block[-1]}"


class _Translation:
    """Translates a pattern to a regular expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = int(text.startswith("/"))
        self._is_plain = True  # nothing special so far

    def regex(self) -> str:
        """Translate all of it."""
        made = _Assembly()
        while self._place < len(self._text):
            char = self._text[self._place]
            if char == "*":
                self._stars(made)
            else:
                self._place += 1
                made.add(self._one(char))
            self._is_plain = self._is_plain and char not in "*?[\\"
        return made.regex()

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

    def _stars(self, made: "_Assembly") -> None:
        start = self._place
        while self._text[self._place : self._place + 1] == "*":
            self._place += 1
        rest = self._text[self._place :]
        # Git strips the literal prefix first, so stars right after it count as the beginning.
        is_start = start == 0 or self._text[start - 1] == "/" or self._is_plain
        if (
            "/" not in self._text
            or self._place - start < 2
            or not is_start
            or not (rest == "" or rest.startswith(("/", "\\/")))
        ):
            made.add_star()
        elif not rest.startswith("/"):
            made.add_folders(".*", ".*?")  # an escaped slash is a literal that follows
        else:
            self._place += 1
            made.add_folders("(?:.*/)?", "(?:.*?/)??")

    def _set(self) -> str:
        negated = self._text[self._place : self._place + 1] in ("!", "^")
        self._place += negated
        pieces: list[str] = []
        before: str | None = None  # where a range could start
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
        # Git has compared the first character already, so it counts even if the range is empty.
        return re.escape(first) + (f"{re.escape(first)}-{re.escape(last)}" if first <= last else "")

    def _named(self, pieces: list[str]) -> str | None:
        """Parse a class such as `[:digit:]`. Return the bracket itself if it is none."""
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
