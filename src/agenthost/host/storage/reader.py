"""The reader: sessions and what belongs to them, from the tables.

Every row is compared with its checksum, so a reader returns what was written or raises `RowDamaged`. The
caller provides the transaction.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from agenthost.host.storage import ROOT, Entry, SessionRow, StoredContent, StoredSession
from agenthost.host.storage.checksums import (
    RowDamaged,
    content_sum,
    is_sound,
    message_sum,
    names_sum,
    row_sum,
    snapshot_sum,
)
from agenthost.host.storage.index import read_entries
from agenthost.wire.json import decode_json

__all__ = [
    "are_keys_sound",
    "count_rows",
    "decode_text",
    "find_messages",
    "list_rows",
    "read_content",
    "read_floor",
    "read_root",
    "read_row",
    "read_session",
    "read_snapshot",
]

_ROW = "SELECT * FROM session"  # older stores, which `integrity` reads as they are, have fewer columns
_SNAPSHOT = "SELECT state, state_seq, checksum FROM snapshot JOIN resource USING (number) WHERE number = ?"
_MESSAGE_COUNT = "SELECT message_count, message_check FROM session WHERE number = ?"
_MESSAGES = "SELECT number, position, body, checksum FROM message WHERE number"
_LIKE = "CAST(body AS TEXT) LIKE ? ESCAPE '!'"
_WILD = re.compile("[!%_]")
_NEWER_THAN_ALL = 2**63 - 1


def decode_text(raw: bytes) -> str:
    """Decode text, even if it is not valid UTF-8 any more: the checksum then detects the damage."""
    return str(raw, "utf-8", "surrogateescape")


def read_row(connection: sqlite3.Connection, column: str, value: str | int | None) -> SessionRow | None:
    """Read the row of the session that has this value in this column (`number`, `uri` or `name`)."""
    found = connection.execute(f"{_ROW} WHERE {column} = ?", (value,)).fetchone()
    row = None if found is None else _sound_row(found)
    # A damaged index can lead to an intact row of another session.
    if row is not None and getattr(row, column) != value:
        raise RowDamaged("its place in an index")
    return row


def _sound_row(found: tuple[Any, ...]) -> SessionRow:
    number, uri, name, owner, is_active, summary, private, checksum, names_checksum, _, _, *more = found
    parent = more[0] if more else 0
    if not is_sound(checksum, row_sum, number, is_active, summary, private):
        raise RowDamaged("its row")
    if not is_sound(names_checksum, names_sum, number, uri, name, owner, parent):
        raise RowDamaged("its names")
    home = decode_json(summary).get("home", parent) if parent else 0  # of a chat that has moved
    return SessionRow(number, uri, name, owner, bool(is_active), summary, private, home)


def are_keys_sound(connection: sqlite3.Connection) -> bool:
    """Return whether all rows that are found by an index are what was written. Reads all of them."""
    rows = connection.execute(f"{_ROW} NOT INDEXED")
    messages = connection.execute("SELECT checksum, number, position, body FROM message NOT INDEXED")
    contents = connection.execute("SELECT checksum, content_id, content_type, data FROM content NOT INDEXED")
    try:
        for found in rows:
            _sound_row(found)
    except RowDamaged:
        return False
    return all(is_sound(checksum, message_sum, *values) for checksum, *values in messages) and all(
        is_sound(checksum, content_sum, *values) for checksum, *values in contents
    )


def read_session(
    connection: sqlite3.Connection, number: int, *, is_repair: bool = False
) -> StoredSession | None:
    """Read a complete session, without its contents. About `is_repair` see `read_entries`."""
    row = read_row(connection, "number", number)
    if row is None:
        return None
    state, state_seq = read_snapshot(connection, number) or (None, 0)
    if state is None:
        raise RowDamaged("its snapshot")
    entries = read_entries(connection, [number], state_seq, is_repair=is_repair)
    messages = list(_read_messages(connection, number))
    count = connection.execute(_MESSAGE_COUNT, (number,)).fetchone()
    if count != (len(messages), ~len(messages)):
        raise RowDamaged("the length of its transcript")
    return StoredSession(row, state, state_seq, entries, messages)


def read_snapshot(connection: sqlite3.Connection, number: int) -> tuple[bytes, int] | None:
    """Read the snapshot of a session, or of the root, and the sequence number that it goes up to."""
    found = connection.execute(_SNAPSHOT, (number,)).fetchone()
    if found is None:
        return None
    state, state_seq, checksum = found
    if not is_sound(checksum, snapshot_sum, number, state_seq, state):
        raise RowDamaged("its snapshot")
    return state, state_seq


def _read_messages(connection: sqlite3.Connection, number: int) -> Iterator[bytes]:
    sql = "SELECT position, body, checksum FROM message WHERE number = ? ORDER BY position"
    # Positions have no gaps, so a missing row is noticed too.
    for expected, (position, body, checksum) in enumerate(connection.execute(sql, (number,))):
        if position != expected or not is_sound(checksum, message_sum, number, position, body):
            raise RowDamaged(f"message {expected} of its transcript")
        yield body


def read_root(connection: sqlite3.Connection) -> tuple[bytes | None, int, list[Entry]]:
    """Read the root: its snapshot, the sequence number it goes up to, and the log since then."""
    found = read_snapshot(connection, ROOT)
    sql = "SELECT state_seq FROM resource WHERE number = ?"
    if found is None and connection.execute(sql, (ROOT,)).fetchone() != (None,):
        raise RowDamaged("its snapshot")
    state, state_seq = found or (None, 0)
    return state, state_seq, read_entries(connection, [ROOT], state_seq)


def read_content(connection: sqlite3.Connection, number: int, content_id: str) -> StoredContent | None:
    """Read one content of a session."""
    sql = "SELECT content_type, data, checksum FROM content WHERE number = ? AND content_id = ?"
    found = connection.execute(sql, (number, content_id)).fetchone()
    if found is None:
        return None
    if not is_sound(found[2], content_sum, content_id, found[0], found[1]):
        raise RowDamaged("its data")
    return StoredContent(found[0], found[1])


def find_messages(
    connection: sqlite3.Connection, numbers: Sequence[int], words: Sequence[Sequence[str]]
) -> list[tuple[int, bytes]]:
    """Read the messages of these sessions that contain every word. Damaged ones are left out."""
    holding = " AND ".join(f"({' OR '.join([_LIKE] * len(word))})" for word in words)
    sql = f"{_MESSAGES} IN ({', '.join('?' * len(numbers))}) AND {holding} ORDER BY number, position"
    patterns = [_pattern(spelling) for word in words for spelling in word]
    return [
        (number, body)
        for number, position, body, checksum in connection.execute(sql, (*numbers, *patterns))
        if number in numbers and is_sound(checksum, message_sum, number, position, body)
    ]


def _pattern(text: str) -> str:
    """Return the `LIKE` pattern that matches anything with this text in it."""
    return "%" + _WILD.sub(r"!\g<0>", text) + "%"


def list_rows(
    connection: sqlite3.Connection, owner: str | None, before: int | None, limit: int
) -> tuple[list[SessionRow], list[int]]:
    """Read rows of sessions, newest first, and the numbers of those left out because they are damaged."""
    start = _NEWER_THAN_ALL if before is None else before
    of_owner, values = ("", (start,)) if owner is None else (" AND owner = ?", (start, owner))
    sql = f"{_ROW} WHERE parent = 0 AND number < ?{of_owner} ORDER BY number DESC"
    rows: list[SessionRow] = []
    damaged: list[int] = []
    if limit <= 0:
        return rows, damaged
    for found in connection.execute(sql, values):
        try:
            row = _sound_row(found)
        except RowDamaged:
            damaged.append(found[0])
            continue
        # A damaged index can list a session twice, or one of another owner.
        is_listed = row.parent == 0 and owner in (None, row.owner)
        if is_listed and (not rows or row.number < rows[-1].number):
            rows.append(row)
        if len(rows) == limit:
            break
    return rows, damaged


def count_rows(connection: sqlite3.Connection, owner: str) -> int:
    """Count the sessions of an owner."""
    sql = "SELECT count(*) FROM session WHERE owner = ? AND parent = 0"
    return int(connection.execute(sql, (owner,)).fetchone()[0])


def read_floor(connection: sqlite3.Connection, number: int) -> int:
    """Read the highest number that was trimmed from the log of a resource; 0 if it was not trimmed."""
    sql = "SELECT floor, floor_check FROM resource WHERE number = ?"
    found = connection.execute(sql, (number,)).fetchone()
    if found is None:
        if number == ROOT or read_row(connection, "number", number) is not None:
            raise RowDamaged("the length of its log")
        return 0
    floor, check = found
    if type(floor) is not int or check != ~floor:
        raise RowDamaged("the length of its log")
    return floor
