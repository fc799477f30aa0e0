"""The reader: sessions and what belongs to them, from the tables.

Every row is compared with its checksum, as on SQLite: what is returned is what was written, or `RowDamaged`
is raised. The caller provides the transaction, which sees one moment.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

from agenthost.host.storage import ROOT, Entry, Receipt, SessionRow, StoredContent, StoredSession
from agenthost.host.storage.checksums import (
    RowDamaged,
    content_sum,
    is_sound,
    message_sum,
    names_sum,
    row_sum,
)
from agenthost.host.storage.postgres.connections import Connection
from agenthost.host.storage.postgres.group import entry_check, receipt_check, snapshot_check
from agenthost.host.storage.reader import decode_text
from agenthost.wire.json import decode_json

__all__ = [
    "count_rows",
    "find_messages",
    "list_rows",
    "read_content",
    "read_floor",
    "read_page",
    "read_receipts",
    "read_root",
    "read_row",
    "read_session",
    "read_snapshot",
    "read_version",
    "sound_entry",
]

_ROW = """SELECT number, uri, name, owner, is_active, summary, private, checksum, names_checksum,
    parent FROM session"""
_ENTRIES = """SELECT seq, resource, envelope, only_for, checksum FROM log
    WHERE resource = ANY ($1::bigint[]) AND seq > $2"""
_SNAPSHOT = """SELECT state, state_seq, checksum FROM snapshot JOIN resource USING (number)
    WHERE number = $1"""
_BY = {
    "number": "number = $1",
    "uri": "sha256(uri) = sha256($1::bytea) AND uri = $1",
    "name": "sha256(name) = sha256($1::bytea) AND name = $1",
}
_OF_OWNER = "sha256(owner) = sha256($1::bytea) AND owner = $1"
_NEWER_THAN_ALL = 2**63 - 1

ENTRIES_AT_ONCE = 32
"""How many entries of a page are read ahead. Each can be large."""


async def read_row(connection: Connection, column: str, value: str | int | None) -> SessionRow | None:
    """Read the row of the session that has this value in this column (`number`, `uri` or `name`)."""
    if value is None:
        return None
    given = value.encode() if isinstance(value, str) else value
    found = await connection.fetchrow(f"{_ROW} WHERE {_BY[column]}", given)
    return None if found is None else _sound_row(found)


def _sound_row(found: Sequence[Any]) -> SessionRow:
    number, *names, is_active, summary, private, checksum, names_checksum, parent = found
    uri, name, owner = map(decode_text, names)
    if not is_sound(checksum, row_sum, number, int(is_active), summary, private):
        raise RowDamaged("its row")
    if not is_sound(names_checksum, names_sum, number, uri, name, owner, parent):
        raise RowDamaged("its names")
    home = decode_json(summary).get("home", parent) if parent else 0  # of a chat that has moved
    return SessionRow(number, uri, name, owner, is_active, summary, private, home)


async def read_session(connection: Connection, number: int) -> StoredSession | None:
    """Read a complete session, without its contents."""
    row = await read_row(connection, "number", number)
    if row is None:
        return None
    state, state_seq = await read_snapshot(connection, number) or (None, 0)
    if state is None:
        raise RowDamaged("its snapshot")
    entries = await _read_entries(connection, number, state_seq)
    return StoredSession(row, state, state_seq, entries, await _read_messages(connection, number))


async def read_snapshot(connection: Connection, number: int) -> tuple[bytes, int] | None:
    """Read the snapshot of a session, or of the root, and the sequence number that it goes up to."""
    found = await connection.fetchrow(_SNAPSHOT, number)
    if found is None:
        return None
    state, state_seq, checksum = found
    if not is_sound(checksum, snapshot_check, number, state_seq, state):
        raise RowDamaged("its snapshot")
    return state, state_seq


async def _read_entries(connection: Connection, number: int, after: int) -> list[Entry]:
    return [sound_entry(one) for one in await connection.fetch(f"{_ENTRIES} ORDER BY seq", [number], after)]


def sound_entry(found: Sequence[Any]) -> Entry:
    """Return an entry of the log.

    Raises:
        RowDamaged: it is not what was written.
    """
    seq, resource, envelope, given, checksum = found
    only_for = None if given is None else decode_text(given)
    if not is_sound(checksum, entry_check, seq, resource, envelope, only_for):
        raise RowDamaged(f"entry {seq} of its log")
    return Entry(seq, resource, envelope, only_for)


async def _read_messages(connection: Connection, number: int) -> list[bytes]:
    sql = "SELECT position, body, checksum FROM message WHERE number = $1 ORDER BY position"
    messages = []
    # Positions have no gaps, so a missing row is noticed too.
    for expected, (position, body, checksum) in enumerate(await connection.fetch(sql, number)):
        if position != expected or not is_sound(checksum, message_sum, number, position, body):
            raise RowDamaged(f"message {expected} of its transcript")
        messages.append(body)
    return messages


async def read_root(connection: Connection) -> tuple[bytes | None, int, list[Entry]]:
    """Read the root: its snapshot, the sequence number it goes up to, and the log since then."""
    state, state_seq = await read_snapshot(connection, ROOT) or (None, 0)
    if state is None and await connection.fetchval("SELECT state_seq FROM resource WHERE number = 0"):
        raise RowDamaged("its snapshot")
    return state, state_seq, await _read_entries(connection, ROOT, state_seq)


async def read_content(connection: Connection, number: int, content_id: str) -> StoredContent | None:
    """Read one content of a session."""
    sql = "SELECT content_type, data, checksum FROM content WHERE number = $1 AND content_id = $2"
    found = await connection.fetchrow(sql, number, content_id.encode())
    if found is None:
        return None
    content_type = decode_text(found[0])
    if not is_sound(found[2], content_sum, content_id, content_type, found[1]):
        raise RowDamaged("its data")
    return StoredContent(content_type, found[1])


async def find_messages(
    connection: Connection, numbers: Sequence[int], words: Sequence[Sequence[str]]
) -> list[tuple[int, bytes]]:
    """Read the messages of these sessions that contain every word. Damaged ones are left out."""
    spellings = [[spelling.encode().lower() for spelling in word] for word in words]
    patterns = [_escaped(one) for word in spellings for one in word]
    places = iter(range(2, 2 + len(patterns)))
    holding = "".join(
        f" AND ({' OR '.join(f'strpos(shown, ${next(places)}) > 0' for _ in word)})" for word in spellings
    )
    sql = f"""SELECT number, position, body, checksum FROM message,
        lower(encode(body, 'escape') COLLATE "C") AS shown
        WHERE number = ANY ($1::bigint[]){holding} ORDER BY number, position"""  # noqa: S608 - only places of values
    return [
        (number, body)
        for number, position, body, checksum in await connection.fetch(sql, list(numbers), *patterns)
        # Compared again: an escape in the text can look like digits that were searched for.
        if all(any(one in body.lower() for one in word) for word in spellings)
        and is_sound(checksum, message_sum, number, position, body)
    ]


def _escaped(text: bytes) -> str:
    """Return bytes as PostgreSQL's `encode(…, 'escape')` does."""
    return "".join(
        "\\\\" if byte == ord("\\") else chr(byte) if 0 < byte < 128 else f"\\{byte:03o}" for byte in text
    )


async def list_rows(
    connection: Connection, owner: str | None, before: int | None, limit: int
) -> tuple[list[SessionRow], list[int]]:
    """Read rows of sessions, newest first, and the numbers of those left out because they are damaged."""
    start = _NEWER_THAN_ALL if before is None else before
    where, given = ("true", []) if owner is None else (_OF_OWNER, [owner.encode()])
    place = len(given) + 1
    sql = f"{_ROW} WHERE parent = 0 AND {where} AND number < ${place} ORDER BY number DESC LIMIT ${place + 1}"
    rows: list[SessionRow] = []
    damaged: list[int] = []
    while limit > len(rows):
        wanted = limit - len(rows)
        found = await connection.fetch(sql, *given, start, wanted)
        for one in found:
            start = one[0]
            try:
                rows.append(_sound_row(one))
            except RowDamaged:
                damaged.append(start)
        if len(found) < wanted:
            break
    return rows, damaged


async def count_rows(connection: Connection, owner: str) -> int:
    """Count the sessions of an owner."""
    sql = f"SELECT count(*) FROM session WHERE parent = 0 AND {_OF_OWNER}"  # noqa: S608
    return int(await connection.fetchval(sql, owner.encode()))


async def read_floor(connection: Connection, resources: Collection[int]) -> int:
    """Read the highest number that was trimmed from the log of any of these resources."""
    sql = "SELECT coalesce(max(floor), 0) FROM resource WHERE number = ANY ($1::bigint[])"
    return int(await connection.fetchval(sql, list(resources)))


async def read_page(
    connection: Connection, resources: Collection[int], after: int, client: str, max_bytes: float
) -> list[Entry]:
    """Read the first entries that a client may see, until they have more than `max_bytes` together."""
    sql = f"{_ENTRIES} AND (only_for IS NULL OR only_for = $3) ORDER BY seq"
    given = (list({*resources}), after, client.encode())
    if max_bytes == math.inf:
        return [sound_entry(one) for one in await connection.fetch(sql, *given)]
    entries: list[Entry] = []
    size = 0
    async for found in connection.cursor(sql, *given, prefetch=ENTRIES_AT_ONCE):
        entries.append(sound_entry(found))
        size += len(entries[-1].envelope)
        if size > max_bytes:
            break
    return entries


async def read_receipts(connection: Connection, identity: str) -> tuple[list[Receipt], int]:
    """Return the receipts of a client, oldest first, and how many were left out because they are damaged."""
    sql = """SELECT slot, client_seq, digest, seq, checksum FROM receipt WHERE identity = $1
        ORDER BY seq IS NULL, seq"""
    found = [
        (Receipt(identity, *values), checksum)
        for *values, checksum in await connection.fetch(sql, identity.encode())
    ]
    sound = [receipt for receipt, checksum in found if is_sound(checksum, receipt_check, receipt)]
    return sound, len(found) - len(sound)


async def read_version(connection: Connection, identity: str) -> str | None:
    """Return the protocol version that was agreed with a client."""
    sql = "SELECT version FROM client WHERE identity = $1"
    found = await connection.fetchval(sql, identity.encode())
    return None if found is None else decode_text(found)
