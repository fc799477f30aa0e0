"""Trimming: which entries of the log go, oldest first. Knows SQL; the transaction is its caller's.

An entry may go once its resource's snapshot holds it. The table `resource` knows the length of each log and
its lowest number, and has indexes of just those resources of which something may go: so a call costs what it
removes, and one with nothing to do looks at one row. All entries have to be indexed first.
"""

import sqlite3

from agenthost.host.storage.indexing import remove_entries

AT_MOST = 10_000
"""Entries that one call removes: writes wait for it, so it has to be short."""

RESOURCES_AT_MOST = 1_000


def has_long(connection: sqlite3.Connection, per_session: int) -> bool:
    """Tell whether there is a resource with more than so many entries, of which some may go."""
    sql = "SELECT 1 FROM resource WHERE first <= state_seq AND entry_count > ? LIMIT 1"
    return connection.execute(sql, (per_session,)).fetchone() is not None


def trim_long(connection: sqlite3.Connection, per_session: int, at_most: int = AT_MOST) -> int:
    """Remove what is older than the newest so many of each resource; give how many went."""
    found = connection.execute(
        """SELECT number, entry_count, state_seq FROM resource
        WHERE first <= state_seq AND entry_count > ? ORDER BY entry_count DESC LIMIT ?""",
        (per_session, RESOURCES_AT_MOST),
    ).fetchall()
    removed = 0
    for number, count, state_seq in found:
        if removed == at_most:
            break
        removed += _remove(connection, number, state_seq, min(count - per_session, at_most - removed))
    return removed


def trim_old(connection: sqlite3.Connection, excess: int, at_most: int = AT_MOST) -> int:
    """Remove what may go of so many oldest entries of the whole log; give how many went."""
    if excess <= 0 or at_most <= 0:
        return 0
    near = min(excess, AT_MOST)
    removed = _remove_up_to(connection, _nth_seq(connection, near), at_most)
    if removed == 0 and near < excess:
        # The oldest all have to stay, for want of a snapshot: look beyond them, at the cost of counting them.
        removed = _remove_up_to(connection, _nth_seq(connection, excess), at_most)
    return removed


def _nth_seq(connection: sqlite3.Connection, place: int) -> int:
    sql = "SELECT seq FROM log ORDER BY seq LIMIT 1 OFFSET ?"
    return int(connection.execute(sql, (place - 1,)).fetchone()[0])


def _remove_up_to(connection: sqlite3.Connection, seq: int, at_most: int) -> int:
    found = connection.execute(
        """SELECT number, state_seq FROM resource
        WHERE first <= state_seq AND first <= ? ORDER BY first LIMIT ?""",
        (seq, RESOURCES_AT_MOST),
    ).fetchall()
    removed = 0
    for number, state_seq in found:
        if removed == at_most:
            break
        removed += _remove(connection, number, min(state_seq, seq), at_most - removed)
    return removed


def _remove(connection: sqlite3.Connection, number: int, up_to: int, count: int) -> int:
    """Remove this many of a resource's oldest entries, none above `up_to`; there is at least one."""
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
