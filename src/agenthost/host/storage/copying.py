"""Copying: everything that one store holds, into another one of any kind. No server may use either of them.

Sequence numbers and their ranges are copied too, so a client that was away resumes at the copy as it would
have at the original.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

from agenthost.errors import StorageError
from agenthost.host.storage import (
    ROOT,
    AddSession,
    DropLog,
    DropSession,
    Entry,
    Group,
    PutClient,
    PutContent,
    PutSnapshot,
    SessionRow,
    Storage,
    Write,
)
from agenthost.host.storage.reader import decode_text

__all__ = ["CopiedStore", "copy_store"]

MAX_BYTES = 4 * 1024 * 1024
"""How much is committed at once, roughly. One session can have more."""

ENTRIES_AT_ONCE = 1_000

# The tables of both stores have these columns. Where SQLite has text, PostgreSQL has bytes.
_NUMBERS = "SELECT number FROM session ORDER BY number"
_CONTENTS = "SELECT content_id FROM content WHERE number = ?1 ORDER BY content_id"
_ENTRIES = """SELECT seq, resource, envelope, only_for FROM log WHERE seq > ?1
    AND resource IN (SELECT number FROM resource) ORDER BY seq LIMIT ?2"""
_ENTRY_COUNT = "SELECT count(*) FROM log WHERE resource IN (SELECT number FROM resource)"
_FLOORS = "SELECT number, floor FROM resource WHERE floor > 0"
_IDENTITIES = "SELECT DISTINCT identity FROM receipt"
_CLIENTS = "SELECT identity, version FROM client ORDER BY place"
_RANGES = "SELECT first, last FROM range ORDER BY first"

Progress = Callable[[str, int, int], None]
"""Called with what is copied, how many of it were, and how many there are."""


class CopiedStore(Storage, Protocol):
    """A store that can be copied, and copied into."""

    def rows(self, sql: str, *values: int) -> Sequence[Sequence[Any]]:
        """Run a query on its tables. Its parameters are `?1`, `?2` and so on."""

    def put_ranges(self, ranges: Collection[tuple[int, int]]) -> None:
        """Replace the ranges of sequence numbers."""


def copy_store(source: CopiedStore, target: CopiedStore, progress: Progress) -> int:
    """Copy everything, and return how many sessions there are. The target is new; both are closed.

    Raises:
        StorageError: one of them cannot be used, or something in the source is damaged.
    """
    opening = source.open()
    try:
        target.open()
        try:
            _copy_sessions(source, target, progress)
            _copy_log(source, target, progress)
            rest = _last_number(source, opening.last_number)
            if opening.root is not None:
                rest.append(PutSnapshot(ROOT, opening.root, opening.root_seq))
            rest += [DropLog(number, floor) for number, floor in source.rows(_FLOORS)]
            rest += [
                PutClient(_text(identity), _text(version)) for identity, version in source.rows(_CLIENTS)
            ]
            for (identity,) in source.rows(_IDENTITIES):
                rest += source.receipts(_text(identity))
            target.commit(Group(rest, at_least=opening.last_seq))
            target.put_ranges([(first, last) for first, last in source.rows(_RANGES)])
            _compare(source, target)
        finally:
            target.close()
    finally:
        source.close()
    return opening.session_count


def _text(value: bytes | str) -> str:
    return decode_text(value) if isinstance(value, bytes) else value


def _copy_sessions(source: CopiedStore, target: CopiedStore, progress: Progress) -> None:
    numbers = [number for (number,) in source.rows(_NUMBERS)]
    writes: list[Write] = []
    size = 0
    for place, number in enumerate(numbers):
        for write, length in _session(source, number):
            writes.append(write)
            size += length
            if size > MAX_BYTES:
                target.commit(Group(writes))
                writes, size = [], 0
        progress("sessions", place + 1, len(numbers))
    target.commit(Group(writes))


def _session(source: CopiedStore, number: int) -> Iterator[tuple[Write, int]]:
    """Yield what makes a session, and roughly how many bytes each has."""
    session = source.load(number)
    if session is None:
        raise StorageError(f"session number {number} is gone: a server uses the store")
    messages = tuple(session.messages)
    yield AddSession(session.row, session.state, session.state_seq, messages), sum(map(len, messages))
    for (content_id,) in source.rows(_CONTENTS, number):
        content = source.content(number, _text(content_id))
        if content is not None:
            yield PutContent(number, _text(content_id), content.content_type, content.data), len(content.data)


def _copy_log(source: CopiedStore, target: CopiedStore, progress: Progress) -> None:
    ((total,),) = source.rows(_ENTRY_COUNT)
    after = count = 0
    while found := source.rows(_ENTRIES, after, ENTRIES_AT_ONCE):
        after = found[-1][0]
        count += len(found)
        target.commit(Group([_entry(*values) for values in found]))
        progress("entries of the log", count, total)


def _entry(seq: int, resource: int, envelope: bytes, only_for: bytes | str | None) -> Entry:
    return Entry(seq, resource, envelope, None if only_for is None else _text(only_for))


def _last_number(source: CopiedStore, number: int) -> list[Write]:
    """Return writes that let the target know the highest number that any session ever had."""
    if number == 0 or source.find(number=number) is not None:
        return []
    name = "agenthost:removed"
    row = SessionRow(number, name, name, "", is_active=False, summary=b"", private=b"")
    return [AddSession(row, b"", 0), DropSession(number)]


def _compare(source: CopiedStore, target: CopiedStore) -> None:
    """Refuse a copy that does not have what the source has."""
    for what in (
        _NUMBERS,
        _ENTRY_COUNT,
        _RANGES,
        "SELECT count(*) FROM message",
        "SELECT count(*) FROM content",
    ):
        if [tuple(row) for row in source.rows(what)] != [tuple(row) for row in target.rows(what)]:
            raise StorageError("the copy is not what the source is; it cannot be used")
