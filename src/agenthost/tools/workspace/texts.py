"""Texts of files: what is text, how its lines end, which version it is, and exact replacements. Pure.

Bytes that are no UTF-8 are carried along as Python does (`surrogateescape`), so an edit changes what it is
asked to change and not one byte more, whatever the rest of the file is written in.
"""

import re
from difflib import SequenceMatcher
from hashlib import sha256

from agenthost.errors import ToolError

__all__ = ["BOM", "decoded", "encoded", "in_the_style_of", "replace", "version_of"]

BOM = "\ufeff"
MOST_PLACES = 10
"""How many places of a text that occurs too often are told."""

LONGEST_HINT = 160
_NUMBERED = re.compile(r"\s*\d+\t")


def decoded(data: bytes) -> str | None:
    """Give bytes as text; nothing if they are none: a null byte is in no text."""
    return None if b"\0" in data else data.decode(errors="surrogateescape")


def encoded(text: str) -> bytes:
    """Give back the bytes of a text.

    Raises:
        ToolError: it holds half of a character.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise ToolError("the text holds half of a character, which no file can") from None


def version_of(data: bytes) -> str:
    """Give a short name for exactly these bytes, to tell whether a file is still what was read."""
    return sha256(data).hexdigest()[:8]


def uses_crlf(text: str) -> bool:
    """Tell whether most lines end as on Windows."""
    crlf = text.count("\r\n")
    return crlf > 0 and crlf * 2 >= text.count("\n")


def in_the_style_of(before: str, text: str) -> str:
    """Give a whole new text line ends and a byte order mark as the old one has, if it has none of its own."""
    if uses_crlf(before) and "\r" not in text:
        text = text.replace("\n", "\r\n")
    return BOM + text if before.startswith(BOM) and not text.startswith(BOM) else text


def replace(text: str, old: str, new: str, *, every: bool = False) -> str:
    r"""Put `new` in the place of `old`, which has to be there exactly once, unless `every` one is meant.

    A line end in `old` (`\n`) fits those of the file, and what is new gets those of the file.

    Raises:
        ToolError: it is not there, or too often; the sentence helps to do better.
    """
    if not old:
        raise ToolError("`old` is empty; give the text to replace, or make a new file with write_file")
    if old == new:
        raise ToolError("`old` and `new` are the same; there is nothing to change")
    pattern = _pattern(old)
    places = [match.start() for match in re.finditer(f"(?={pattern})", text)]
    if not places:
        raise ToolError(f"`old` does not occur in the file{_why_not(text, old)}")
    if len(places) > 1 and not every:
        raise ToolError(
            f"`old` occurs {len(places)} times, in lines {_lines(text, places)}; "
            "add lines around it so that it occurs once, or set `all`"
        )
    return re.sub(pattern, lambda match: _ended(new, match[0], text), text)


def _pattern(old: str) -> str:
    if "\r" in old:
        return re.escape(old)
    # A carriage return before the match belongs to the line end that the match begins with.
    return r"\r?\n".join(map(re.escape, old.split("\n")))


def _ended(new: str, found: str, text: str) -> str:
    """Give the new text the line ends of what it replaces; of the file, if that has none."""
    if "\r" in new or "\n" not in new:
        return new
    return new.replace("\n", "\r\n") if uses_crlf(found if "\n" in found else text) else new


def _lines(text: str, places: list[int]) -> str:
    shown = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:MOST_PLACES])
    return f"{shown} and others" if len(places) > MOST_PLACES else shown


def _why_not(text: str, old: str) -> str:
    """Guess why a text is not found."""
    if all(_NUMBERED.match(line) for line in old.splitlines()):
        return ": leave out the line numbers, which only read_file shows"
    words = r"\s+".join(map(re.escape, old.split()))
    if words and (match := re.search(words, text)):
        line = text.count("\n", 0, match.start()) + 1
        return f" exactly; in line {line} it does, with other spaces or line ends: read that again"
    return _nearest(text, old)


def _nearest(text: str, old: str) -> str:
    """Tell of the line that is most like the longest one of what is wanted."""
    wanted = max((line.strip() for line in old.splitlines()), key=len, default="")[:LONGEST_HINT]
    matcher = SequenceMatcher(None, b=wanted, autojunk=False)
    best, place, found = 0.6, 0, ""
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        matcher.set_seq1(line.strip()[:LONGEST_HINT])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, place, found = matcher.ratio(), number, line.strip()[:LONGEST_HINT]
    return f"; the nearest is line {place}: {found}" if place else "; read it again before the next edit"
