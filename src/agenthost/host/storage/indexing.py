"""Indexing: which resource each entry of the log is of, noted later and many at a time.

A commit only appends to the log, in the order of the file, however many sessions it is of: an index by
resource that is kept at each commit would have it write a page for each of them. So the newest entries, up to
`AT_ONCE`, are without index, and a reader looks through them all. Knows SQL; the transaction is its caller's.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from agenthost.host.storage import Entry
from agenthost.host.storage.checksums import RowDamaged, entry_sum, is_sound
from agenthost.host.storage.counter import Counter, read_counter

AT_ONCE = 2_048
"""More would make commits cheaper still, and reading and the one commit that does the indexing slower."""


def catch_up(connection: sqlite3.Connection, counter: Counter, seq: int) -> None:
    """Index all entries, up to this number. Those of a session that is gone already go with it."""
    behind = (counter.indexed_seq,)
    orphans = connection.execute(
        """DELETE FROM log WHERE seq > ?
        AND NOT EXISTS (SELECT 1 FROM resource WHERE number = log.resource)""",
        behind,
    )
    connection.execute(
        "INSERT INTO log_index SELECT resource, seq FROM log WHERE seq > ? ORDER BY resource, seq", behind
    )
    grown = connection.execute(
        "SELECT count(*), min(seq), resource FROM log WHERE seq > ? GROUP BY resource", behind
    ).fetchall()
    connection.executemany(
        "UPDATE resource SET entry_count = entry_count + ?, first = coalesce(first, ?) WHERE number = ?",
        grown,
    )
    counter.entry_count -= orphans.rowcount
    counter.indexed_seq = seq


def read_entries(connection: sqlite3.Connection, resources: Collection[int], after: int) -> list[Entry]:
    """Read the entries of these resources after this number, in order.

    Raises:
        RowDamaged: one of them is not as it was written, or is not there.
    """
    wanted = frozenset(resources)
    counter = read_counter(connection)
    indexed = counter.indexed_seq
    entries: list[Entry] = []
    if after < indexed:
        for resource in wanted:
            entries += _read_indexed(connection, resource, after)
        entries.sort(key=_seq)
    newest = connection.execute(
        "SELECT seq, resource, envelope, only_for, checksum FROM log WHERE seq > ? ORDER BY seq",
        (max(after, indexed),),
    )
    for *values, checksum in newest:
        if indexed < values[0] <= counter.last_seq and is_sound(checksum, entry_sum, *values):
            if values[1] in wanted:
                entries.append(Entry(*values))
        elif values[1] in wanted or _was_of(wanted, checksum, values):
            raise RowDamaged(f"entry {values[0]} of its log")
    return entries


def _read_indexed(connection: sqlite3.Connection, resource: int, after: int) -> list[Entry]:
    """Read the entries of a resource after this number that are in the index."""
    sql = """SELECT log_index.seq, envelope, only_for, checksum FROM log_index LEFT JOIN log USING (seq)
        WHERE log_index.resource = ? AND log_index.seq > ?"""
    entries = []
    for seq, envelope, only_for, checksum in connection.execute(sql, (resource, after)):
        if not is_sound(checksum, entry_sum, seq, resource, envelope, only_for):
            raise RowDamaged(f"entry {seq} of its log")
        entries.append(Entry(seq, resource, envelope, only_for))
    check_index(connection, resource)
    return entries


def check_index(connection: sqlite3.Connection, resource: int) -> None:
    """Raise `RowDamaged` if the index has lost entries of a resource."""
    sql = "SELECT entry_count FROM resource WHERE number = ?"
    known = connection.execute(sql, (resource,)).fetchone()
    sql = "SELECT count(*) FROM log_index WHERE resource = ?"
    if known is not None and known != connection.execute(sql, (resource,)).fetchone():
        raise RowDamaged("the index of its log")


def _was_of(wanted: Collection[int], checksum: int, values: Sequence[Any]) -> bool:
    """Tell whether an entry was of one of these resources before it was damaged in just that number."""
    seq, _, envelope, only_for = values
    return any(is_sound(checksum, entry_sum, seq, one, envelope, only_for) for one in wanted)


def remove_entries(connection: sqlite3.Connection, resource: int, up_to: int) -> int:
    """Remove the indexed entries of a resource, up to this number; give how many went."""
    key = (resource, up_to)
    connection.execute(
        "DELETE FROM log WHERE seq IN (SELECT seq FROM log_index WHERE resource = ? AND seq <= ?)", key
    )
    return connection.execute("DELETE FROM log_index WHERE resource = ? AND seq <= ?", key).rowcount


def _seq(entry: Entry) -> int:
    return entry.seq
