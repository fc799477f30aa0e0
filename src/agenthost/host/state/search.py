"""Search: finds sessions by their messages.

The store scans transcripts session by session, newest first. There is no index, so turns write nothing extra
for it. Instead a search has a time limit, and says whether it saw everything.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenthost.errors import InvalidValue
from agenthost.host.storage import SessionRow, Storage
from agenthost.wire.json import decode_json, encode_json

__all__ = ["Found", "Match", "Search"]

MAX_TEXT = 200
"""How long a query may be."""

MAX_SECONDS = 1.0
MAX_MATCHES = 200
ROWS_AT_ONCE = 50

WORDS_IN_STORE = 3
"""The store searches for this many words, the longest ones. The rest are checked in its results."""

EXCERPT_BEFORE = 30
EXCERPT_AFTER = 110


@dataclass(frozen=True, slots=True)
class Match:
    """A session with a message that has all the words, and an excerpt around the first of them."""

    row: SessionRow
    excerpt: str


@dataclass(frozen=True, slots=True)
class Found:
    """The matches, newest session first. `is_complete` is false if there may be more."""

    matches: list[Match]
    is_complete: bool


class Search:
    """Searches the transcripts of a store. One search at a time, so that other reads get a thread."""

    def __init__(
        self, storage: Storage, *, seconds: float = MAX_SECONDS, max_matches: int = MAX_MATCHES
    ) -> None:
        self._storage = storage
        self._seconds = seconds
        self._max_matches = max_matches
        self._gate = asyncio.Semaphore()

    async def find(self, owner: str | None, text: str, *, path: str = "$") -> Found:
        """Return the sessions of an owner, or of all, in which one message has all words of a text.

        Raises:
            InvalidValue: the text has no words, or is too long; `path` is where it came from.
        """
        words = text.split()
        if not words or len(text) > MAX_TEXT:
            raise InvalidValue(path, f"1 to {MAX_TEXT} characters with a word", f"{len(text)} characters")
        async with self._gate:
            return await asyncio.to_thread(self._look, owner, words)

    def _look(self, owner: str | None, words: Sequence[str]) -> Found:
        until = time.monotonic() + self._seconds
        # Checked again here: the store looks at encoded JSON, and finds words in keys and private data too.
        patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in words]
        sought = [_spellings(word) for word in sorted(words, key=len, reverse=True)[:WORDS_IN_STORE]]
        matches: list[Match] = []
        before: int | None = None
        while rows := self._storage.list(owner=owner, before=before, limit=ROWS_AT_ONCE):
            if time.monotonic() > until:
                return Found(matches, is_complete=False)
            messages = self._storage.messages_with([row.number for row in rows], sought)
            excerpts = _first_excerpts(messages, patterns)
            matches += [Match(row, excerpts[row.number]) for row in rows if row.number in excerpts]
            if len(matches) > self._max_matches:
                return Found(matches[: self._max_matches], is_complete=False)
            before = rows[-1].number
        return Found(matches, is_complete=True)


def _first_excerpts(
    messages: Sequence[tuple[int, bytes]], patterns: Sequence[re.Pattern[str]]
) -> dict[int, str]:
    """Return an excerpt for each session, from its first message that has all the words."""
    excerpts: dict[int, str] = {}
    for number, body in messages:
        if number not in excerpts and (excerpt := _excerpt(body, patterns)) is not None:
            excerpts[number] = excerpt
    return excerpts


def _spellings(word: str) -> list[str]:
    """Return a word as it is in JSON. The store ignores the case of ASCII only; others get several forms."""
    forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}
    return sorted(encode_json(form).decode()[1:-1] for form in forms)


def _excerpt(body: bytes, patterns: Sequence[re.Pattern[str]]) -> str | None:
    """Return the text around the first word, if the message has all of them."""
    text = "\n".join(_texts(decode_json(body)["message"]["content"]))
    places = [pattern.search(text) for pattern in patterns]
    first = places[0]
    if first is None or not all(places):
        return None
    start, end = max(0, first.start() - EXCERPT_BEFORE), first.end() + EXCERPT_AFTER
    words = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{words}{'…' if end < len(text) else ''}"


def _texts(content: Any) -> Iterator[str]:
    """Yield what people read in a message: no images, no inputs of calls, nothing private."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        text = block.get(block["type"]) if block["type"] in ("text", "thinking") else None
        if isinstance(text, str):
            yield text
