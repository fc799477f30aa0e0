"""Retention: which entries of the log are removed, oldest first. The caller provides the transaction.

An entry may be removed once the snapshot of its resource includes it. The table `resource` has the length of
each log and its lowest number, with partial indexes of the resources that can be trimmed. So a call costs
what it removes, and one with nothing to do reads one row. All entries have to be indexed first.
"""

import sqlite3

from agenthost.host.storage.index import remove_entries

MAX_REMOVED = 10_000
"""How many entries one call removes. Writes wait for it, so it has to be short."""

MAX_RESOURCES = 1_000


def has_long(connection: sqlite3.Connection, per_session: int) -> bool:
    """Return whether a resource has more than `per_session` entries, some of which may be removed."""
    sql = "SELECT 1 FROM resource WHERE first <= state_seq AND entry_count > ? LIMIT 1"
    return connection.execute(sql, (per_session,)).fetchone() is not None


def trim_long(connection: sqlite3.Connection, per_session: int, limit: int = MAX_REMOVED) -> int:
    """Trim every resource to its newest `per_session` entries. Return how many were removed."""
    found = connection.execute(
        """SELECT number, entry_count, state_seq FROM resource
        WHERE first <= state_seq AND entry_count > ? ORDER BY entry_count DESC LIMIT ?""",
        (per_session, MAX_RESOURCES),
    ).fetchall()
    removed = 0
    for number, count, state_seq in found:
        if removed == limit:
            break
        removed += _remove(connection, number, state_seq, min(count - per_session, limit - removed))
    return removed


def trim_old(connection: sqlite3.Connection, excess: int, limit: int = MAX_REMOVED) -> int:
    """Remove what may be removed of the `excess` oldest entries in the log. Return how many were."""
    if excess <= 0 or limit <= 0:
        return 0
    near = min(excess, MAX_REMOVED)
    removed = _remove_up_to(connection, _nth_seq(connection, near), limit)
    if removed == 0 and near < excess:
        # None of the oldest is in a snapshot yet. Look beyond them, at the cost of counting them.
        removed = _remove_up_to(connection, _nth_seq(connection, excess), limit)
    return removed


def _nth_seq(connection: sqlite3.Connection, place: int) -> int:
    sql = "SELECT seq FROM log ORDER BY seq LIMIT 1 OFFSET ?"
    return int(connection.execute(sql, (place - 1,)).fetchone()[0])


def _remove_up_to(connection: sqlite3.Connection, seq: int, limit: int) -> int:
    found = connection.execute(
        """SELECT number, state_seq FROM resource
        WHERE first <= state_seq AND first <= ? ORDER BY first LIMIT ?""",
        (seq, MAX_RESOURCES),
    ).fetchall()
    removed = 0
    for number, state_seq in found:
        if removed == limit:
            break
        removed += _remove(connection, number, min(state_seq, seq), limit - removed)
    return removed


def _remove(connection: sqlite3.Connection, number: int, up_to: int, count: int) -> int:
    """Remove this many of a resource's oldest entries, none above `up_to`. There is at least one."""
    cut = connection.execute(
        """SELECT max(seq) FROM
        (SELECT seq FROM log_index WHERE resource = ? AND seq <= ? ORDER BY seq LIMIT ?)""",
        (number, up_to, count),
    ).fetchone()[0]
    gone = remove_entries(connection, number, cut)
    connection.execute(
        """UPDATE resource SET entry_count = entry_count - :gone, floor = max(floor, :cut),
        floor_check = ~max(floor, :cut),
        first = (SELECT min(seq) FROM log_index WHERE resource = :number) WHERE number = :number""",
        {"gone": gone, "cut": cut, "number": number},
    )
    return gone
