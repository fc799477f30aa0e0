"""Texts of files: what is text, how its lines end, which version it is, and exact replacements. Pure.

Bytes that are no UTF-8 are carried along as Python does (`surrogateescape`), so an edit changes what it is
asked to change and not one byte more, whatever the rest of the file is written in.
"""

import re
from bisect import bisect_left
from hashlib import sha256
from itertools import accumulate

from agenthost.core.comparison import find_nearest
from agenthost.errors import ToolError

__all__ = ["BOM", "MAX_TEXT", "decoded", "encoded", "in_the_style_of", "replace", "version_of"]

BOM = "\ufeff"
MOST_PLACES = 10
"""How many places of a text that occurs too often are told."""

MAX_TEXT = 4 * 1024 * 1024
"""How long a text may become: something short, replaced everywhere, would soon be more than the memory."""

MAX_HINTED = 20_000
"""How many lines are looked at for one that may have been meant."""

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


def replace(text: str, old: str, new: str, *, every: bool = False, longest: int = MAX_TEXT) -> str:
    r"""Put `new` in the place of `old`, which has to be there exactly once, unless `every` one is meant.

    A line end in `old` (`\n`) fits those of the file, and what is new gets those of the file. The time that
    this takes grows with the text and with `old`, not with their product.

    Raises:
        ToolError: it is not there, too often, or too much would come of it; the sentence helps to do better.
    """
    if not old:
        raise ToolError("`old` is empty; give the text to replace, or make a new file with write_file")
    if old == new:
        raise ToolError("`old` and `new` are the same; there is nothing to change")
    # A line end of the file is one character while we look, unless `old` says how it is written.
    flat = text if "\r" in old else text.replace("\r\n", "\n")
    places = _places(flat, old)
    if not places:
        raise ToolError(f"`old` does not occur in the file{_why_not(text, old)}")
    if len(places) > 1 and not every:
        raise ToolError(
            f"`old` occurs {max(len(places), flat.count(old))} times, in lines {_lines(flat, places)}; "
            "add lines around it so that it occurs once, or set `all`"
        )
    if len(text) + flat.count(old) * (len(new) + new.count("\n") - len(old)) > longest:
        raise ToolError(f"the text would be longer than {longest} characters")
    return _replaced(text, flat, old, new)


def _places(text: str, old: str) -> list[int]:
    """Find the first places, which may overlap: one more than are told."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= MOST_PLACES:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _replaced(text: str, flat: str, old: str, new: str) -> str:
    if "\n" not in old or len(flat) == len(text):
        return text.replace(old, _ended(new, old, is_crlf=uses_crlf(text)))
    if len(text) - len(flat) == flat.count("\n"):
        wide_old = old.replace("\n", "\r\n")
        return text.replace(wide_old, _ended(new, wide_old, is_crlf=True))
    # Some line ends are two characters, and some are one: count those before each place.
    wide = [end - 1 for end in accumulate(len(line) + 1 for line in text.split("\r\n")[:-1])]
    pieces, done, at = [], 0, flat.find(old)
    while at >= 0:
        end = at + len(old)
        start, after = at + bisect_left(wide, at), end + bisect_left(wide, end)
        pieces += [text[done:start], _ended(new, text[start:after], is_crlf=False)]
        done, at = after, flat.find(old, end)
    return "".join([*pieces, text[done:]])


def _ended(new: str, found: str, *, is_crlf: bool) -> str:
    """Give the new text the line ends of what it replaces; of the file, if that has none."""
    if "\r" in new or "\n" not in new:
        return new
    return new.replace("\n", "\r\n") if (uses_crlf(found) if "\n" in found else is_crlf) else new


def _lines(text: str, places: list[int]) -> str:
    shown = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:MOST_PLACES])
    return f"{shown} and others" if len(places) > MOST_PLACES else shown


def _why_not(text: str, old: str) -> str:
    """Guess why a text is not found."""
    if all(_NUMBERED.match(line) for line in old.splitlines()):
        return ": leave out the line numbers, which only read_file shows"
    words = " ".join(old.split())
    flat = " ".join(text.split())
    if words and (at := flat.find(words)) >= 0:
        line = _line_of_word(text, flat.count(" ", 0, at))
        return f" exactly; in line {line} it does, with other spaces or line ends: read that again"
    return _nearest(text, old)


def _line_of_word(text: str, place: int) -> int:
    """Give the line of a word, by how many words are before it."""
    counts = accumulate(len(line.split()) for line in text.split("\n"))
    return next(number for number, count in enumerate(counts, 1) if count > place)


def _nearest(text: str, old: str) -> str:
    """Tell of the line that is most like the longest one of what is wanted."""
    wanted = max((line.strip() for line in old.splitlines()), key=len, default="")
    lines = [line.strip() for line in text.splitlines()[:MAX_HINTED]]
    place = find_nearest(wanted, lines)
    if place is None:
        return "; read it again before the next edit"
    return f"; the nearest is line {place + 1}: {lines[place][:LONGEST_HINT]}"
