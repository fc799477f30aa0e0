"""Indexing: which resource each entry of the log is of, noted later and many at a time.

A commit only appends to the log, in the order of the file, however many sessions it is of: an index by
resource that is kept at each commit would have it write a page for each of them. So the newest entries, up to
`AT_ONCE`, are without index, and a reader looks through them all. Knows SQL; the transaction is its caller's.
"""

import sqlite3
from collections.abc import Collection

from agenthost.host.storage import Entry
from agenthost.host.storage.counter import Counter

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
    """Read the entries of these resources after this number, in order."""
    wanted = frozenset(resources)
    indexed = connection.execute("SELECT indexed_seq FROM counter").fetchone()[0]
    entries: list[Entry] = []
    if after < indexed:
        sql = """SELECT log.seq, log.resource, envelope, only_for FROM log_index CROSS JOIN log USING (seq)
            WHERE log_index.resource = ? AND log_index.seq > ?"""
        for resource in wanted:
            entries += [Entry(*row) for row in connection.execute(sql, (resource, after))]
        entries.sort(key=_seq)
    newest = connection.execute(
        "SELECT seq, resource, envelope, only_for FROM log WHERE seq > ? ORDER BY seq", (max(after, indexed),)
    )
    entries += [Entry(*row) for row in newest if row[1] in wanted]
    return entries


def remove_entries(connection: sqlite3.Connection, resource: int, up_to: int) -> int:
    """Remove the indexed entries of a resource, up to this number; give how many went."""
    key = (resource, up_to)
    connection.execute(
        "DELETE FROM log WHERE seq IN (SELECT seq FROM log_index WHERE resource = ? AND seq <= ?)", key
    )
    return connection.execute("DELETE FROM log_index WHERE resource = ? AND seq <= ?", key).rowcount


def _seq(entry: Entry) -> int:
    return entry.seq
