"""The newest entries of the log, which are not in the index yet.

The store's counter has how many there are, and the sum of their resources. So it is noticed if one is lost or
seems to belong to another resource. The caller provides the transaction.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from agenthost.errors import StorageError
from agenthost.host.storage import Entry
from agenthost.host.storage.checksums import RowDamaged, entry_sum, is_sound
from agenthost.host.storage.counter import Counter, read_counter

__all__ = ["LOST", "check_newest", "mark_damaged", "read_newest", "restore_resources"]

LOST = (
    "the store is damaged: one of the newest entries of its log is lost, or its session is unknown; "
    "restore a backup, or let `agenthost doctor --repair` build a new store from what can be read"
)

_NEWEST = "SELECT seq, resource, envelope, only_for, checksum FROM log WHERE seq > ?"


def read_newest(
    connection: sqlite3.Connection,
    counter: Counter,
    wanted: Collection[int],
    after: int,
    *,
    is_repair: bool = False,
) -> Iterator[Entry]:
    """Read the entries of these resources after this number that are not in the index yet.

    Raises:
        RowDamaged: one of them is missing, or is not what was written.
    """
    indexed = counter.indexed_seq
    if not _is_complete(connection, counter):
        _find_damage(connection, counter, wanted, is_repair=is_repair)
    # Starts at the index even if less is asked for: an entry whose number is damaged may seem to be older.
    sql = f"{_NEWEST} AND resource IN ({', '.join(map(str, wanted))}) ORDER BY seq"
    for *values, checksum in connection.execute(sql, (indexed,)):
        if not (indexed < values[0] <= counter.last_seq and is_sound(checksum, entry_sum, *values)):
            raise RowDamaged(f"entry {values[0]} of its log")
        if values[0] > after:
            yield Entry(*values)


def check_newest(connection: sqlite3.Connection) -> None:
    """Raise `RowDamaged` if one of the newest entries is lost, or its resource is unknown."""
    counter = read_counter(connection)
    if not _is_complete(connection, counter):
        _find_damage(connection, counter, (), is_repair=False)


def restore_resources(connection: sqlite3.Connection, counter: Counter) -> None:
    """Correct the resource of entries in which nothing else is damaged.

    Raises:
        StorageError: an entry is lost, or its resource is unknown.
    """
    if _is_complete(connection, counter):
        return
    for values, checksum in _damaged_entries(connection, counter):
        resource = _original_resource(connection, checksum, values)
        if resource is not None:
            connection.execute("UPDATE log SET resource = ? WHERE seq = ?", (resource, values[0]))
    if not _is_complete(connection, counter):
        raise StorageError(LOST)


def mark_damaged(connection: sqlite3.Connection, counter: Counter) -> None:
    """Make the index sum wrong where an entry is damaged: under a wrong number it could be skipped."""
    for values, _ in _damaged_entries(connection, counter):
        sql = "UPDATE resource SET index_sum = index_sum + 1 WHERE number = ?"
        connection.execute(sql, (values[1],))


def _is_complete(connection: sqlite3.Connection, counter: Counter) -> bool:
    """Return whether no entry is lost, and all still have their resources."""
    sql = "SELECT count(*), coalesce(sum(resource), 0) FROM log WHERE seq > ?"
    found = connection.execute(sql, (counter.indexed_seq,)).fetchone()
    return bool(found == (counter.newest_count, counter.newest_sum))


def _find_damage(
    connection: sqlite3.Connection, counter: Counter, wanted: Collection[int], *, is_repair: bool
) -> None:
    """Raise `RowDamaged` if damage to the newest entries affects one of these resources."""
    count = total = 0
    for *values, checksum in connection.execute(_NEWEST, (counter.indexed_seq,)).fetchall():
        resource = values[1]
        if not is_sound(checksum, entry_sum, *values):
            resource = _original_resource(connection, checksum, values)
            if resource in wanted or values[1] in wanted:
                raise RowDamaged(f"entry {values[0]} of its log")
        count += 1
        total += resource or 0
    if not is_repair and (count, total) != (counter.newest_count, counter.newest_sum):
        raise RowDamaged("the newest entries of the log")


def _damaged_entries(connection: sqlite3.Connection, counter: Counter) -> list[tuple[list[Any], int]]:
    """Return the values and the checksums of the newest entries that are not what was written."""
    found = connection.execute(f"{_NEWEST} ORDER BY seq", (counter.indexed_seq,))
    return [(values, checksum) for *values, checksum in found if not is_sound(checksum, entry_sum, *values)]


def _original_resource(connection: sqlite3.Connection, checksum: int, values: Sequence[Any]) -> int | None:
    """Return the resource of an entry in which only the resource is damaged."""
    seq, _, envelope, only_for = values
    for (number,) in connection.execute("SELECT number FROM resource"):
        if is_sound(checksum, entry_sum, seq, number, envelope, only_for):
            return int(number)
    return None
