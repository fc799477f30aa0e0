"""The text of files: decoding, line ends, versions, and exact replacements. Pure.

Bytes that are not UTF-8 survive as surrogates (`surrogateescape`), so an edit changes exactly what it should,
whatever the encoding of the rest of the file.
"""

import re
from bisect import bisect_left
from hashlib import sha256
from itertools import accumulate

from agenthost.core.text_similarity import find_most_similar
from agenthost.errors import ToolError

__all__ = ["BOM", "MAX_TEXT", "content_version", "decode_text", "encode_text", "match_style", "replace"]

BOM = "\ufeff"
MAX_PLACES = 10
"""How many places are reported for a text that occurs too often."""

MAX_TEXT = 4 * 1024 * 1024
"""How long a text may become: replacing something short everywhere could fill the memory."""

MAX_HINT_LINES = 20_000
"""How many lines are compared to find a similar one."""

MAX_HINT_CHARACTERS = 160
_NUMBERED = re.compile(r"\s*\d+\t")


def decode_text(data: bytes) -> str | None:
    """Decode bytes; `None` if they contain a null byte and so are not text."""
    return None if b"\0" in data else data.decode(errors="surrogateescape")


def encode_text(text: str) -> bytes:
    """Encode a text; the reverse of `decode_text`.

    Raises:
        ToolError: it contains a lone surrogate.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise ToolError("the text contains half of a character, which cannot be written") from None


def content_version(data: bytes) -> str:
    """Return a short hash of the content, to tell whether a file has changed since it was read."""
    return sha256(data).hexdigest()[:8]


def uses_crlf(text: str) -> bool:
    """Tell whether most lines end with CRLF."""
    crlf = text.count("\r\n")
    return crlf > 0 and crlf * 2 >= text.count("\n")


def match_style(before: str, text: str) -> str:
    """Return a new text with the line ends and the byte order mark of the old one, unless it has its own."""
    if uses_crlf(before) and "\r" not in text:
        text = text.replace("\n", "\r\n")
    return BOM + text if before.startswith(BOM) and not text.startswith(BOM) else text


def replace(text: str, old: str, new: str, *, every: bool = False, longest: int = MAX_TEXT) -> str:
    r"""Replace `old` by `new`. `old` must occur exactly once, unless `every` occurrence is meant.

    `\n` in `old` matches any line end of the file, and `new` gets the line ends of the file. The time grows
    with the sum of the lengths of text and `old`, not with their product.

    Raises:
        ToolError: `old` does not occur, occurs too often, or the result is too long; the message helps.
    """
    if not old:
        raise ToolError("`old` is empty; give the text to replace, or create a new file with write_file")
    if old == new:
        raise ToolError("`old` and `new` are the same; there is nothing to change")
    # While searching, a line end is one character, unless `old` contains CR itself.
    flat = text if "\r" in old else text.replace("\r\n", "\n")
    places = _places(flat, old)
    if not places:
        raise ToolError(f"`old` does not occur in the file{_explain_missing(text, old)}")
    if len(places) > 1 and not every:
        raise ToolError(
            f"`old` occurs {max(len(places), flat.count(old))} times, in lines {_lines(flat, places)}; "
            "add lines around it so that it occurs once, or set `all`"
        )
    if len(text) + flat.count(old) * (len(new) + new.count("\n") - len(old)) > longest:
        raise ToolError(f"the text would be longer than {longest} characters")
    return _replaced(text, flat, old, new)


def _places(text: str, old: str) -> list[int]:
    """Find the first places, which may overlap: one more than are reported."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= MAX_PLACES:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _replaced(text: str, flat: str, old: str, new: str) -> str:
    if "\n" not in old or len(flat) == len(text):
        return text.replace(old, _with_line_ends(new, old, is_crlf=uses_crlf(text)))
    if len(text) - len(flat) == flat.count("\n"):
        wide_old = old.replace("\n", "\r\n")
        return text.replace(wide_old, _with_line_ends(new, wide_old, is_crlf=True))
    # Mixed line ends: count the CRLFs before each place to find its position in the original text.
    wide = [end - 1 for end in accumulate(len(line) + 1 for line in text.split("\r\n")[:-1])]
    pieces, done, at = [], 0, flat.find(old)
    while at >= 0:
        end = at + len(old)
        start, after = at + bisect_left(wide, at), end + bisect_left(wide, end)
        pieces += [text[done:start], _with_line_ends(new, text[start:after], is_crlf=False)]
        done, at = after, flat.find(old, end)
    return "".join([*pieces, text[done:]])


def _with_line_ends(new: str, found: str, *, is_crlf: bool) -> str:
    """Return the new text with the line ends of what it replaces; of the file if that has none."""
    if "\r" in new or "\n" not in new:
        return new
    return new.replace("\n", "\r\n") if (uses_crlf(found) if "\n" in found else is_crlf) else new


def _lines(text: str, places: list[int]) -> str:
    shown = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:MAX_PLACES])
    return f"{shown} and others" if len(places) > MAX_PLACES else shown


def _explain_missing(text: str, old: str) -> str:
    """Guess why a text was not found."""
    if all(_NUMBERED.match(line) for line in old.splitlines()):
        return ": leave out the line numbers, which only read_file shows"
    words = " ".join(old.split())
    flat = " ".join(text.split())
    if words and (at := flat.find(words)) >= 0:
        line = _line_of_word(text, flat.count(" ", 0, at))
        return f" exactly; line {line} has it with other spaces or line ends: read that again"
    return _nearest(text, old)


def _line_of_word(text: str, place: int) -> int:
    """Return the line of a word, given how many words come before it."""
    counts = accumulate(len(line.split()) for line in text.split("\n"))
    return next(number for number, count in enumerate(counts, 1) if count > place)


def _nearest(text: str, old: str) -> str:
    """Name the line that is most similar to the longest line of `old`."""
    wanted = max((line.strip() for line in old.splitlines()), key=len, default="")
    lines = [line.strip() for line in text.splitlines()[:MAX_HINT_LINES]]
    place = find_most_similar(wanted, lines)
    if place is None:
        return "; read it again before the next edit"
    return f"; the nearest is line {place + 1}: {lines[place][:MAX_HINT_CHARACTERS]}"
