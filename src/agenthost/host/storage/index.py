"""The index of the log by resource, updated in large steps instead of at each commit.

A commit only appends to the log, in the order of the file. An index that is kept at each commit would add a
page write for every session in it. So up to `MAX_UNINDEXED` of the newest entries are not in the index, and
readers scan all of these. The caller provides the transaction.
"""

import math
import sqlite3
from collections.abc import Collection, Iterable, Iterator

from agenthost.errors import StorageError
from agenthost.host.storage import Entry
from agenthost.host.storage.checksums import RowDamaged, entry_sum, is_sound
from agenthost.host.storage.counter import Counter, read_counter
from agenthost.host.storage.newest import LOST, mark_damaged, read_newest, restore_resources

MAX_UNINDEXED = 2_048
"""A higher number makes commits cheaper, but slows down reading and the one commit that does the indexing."""

INDEX_SUM = "coalesce(sum((seq + 65537 * resource) % 4294967291), 0)"
"""The sum over the index of a resource. The modulus is a prime, so that every bit of both numbers counts."""

_ABOVE_ALL = 2**63 - 1
"""A number that no entry has."""


def catch_up(connection: sqlite3.Connection, counter: Counter, seq: int, *, is_opening: bool = False) -> None:
    """Index all entries up to this number. Entries of sessions that were removed are deleted.

    On opening, entries come from the disk, and each is compared with its checksum.

    Raises:
        StorageError: one of them is lost, or its resource is unknown.
    """
    behind = (counter.indexed_seq,)
    restore_resources(connection, counter)
    orphans = connection.execute(
        """DELETE FROM log WHERE seq > ?
        AND NOT EXISTS (SELECT 1 FROM resource WHERE number = log.resource)
        AND NOT EXISTS (SELECT 1 FROM session WHERE number = log.resource)""",
        behind,
    )
    try:
        connection.execute(
            "INSERT INTO log_index SELECT resource, seq FROM log WHERE seq > ? ORDER BY resource, seq", behind
        )
    except sqlite3.IntegrityError:  # one has the number of another
        raise StorageError(LOST) from None
    grown = connection.execute(
        f"SELECT count(*), {INDEX_SUM}, min(seq), resource FROM log WHERE seq > ? GROUP BY resource",  # noqa: S608
        behind,
    ).fetchall()
    connection.executemany(
        """UPDATE resource SET entry_count = entry_count + ?, index_sum = index_sum + ?,
        first = coalesce(first, ?) WHERE number = ?""",
        grown,
    )
    if is_opening:
        mark_damaged(connection, counter)
    counter.entry_count -= orphans.rowcount
    counter.indexed_seq = seq
    counter.newest_count = counter.newest_sum = 0


def read_entries(
    connection: sqlite3.Connection, resources: Collection[int], after: int, *, is_repair: bool = False
) -> list[Entry]:
    """Read the entries of these resources after this number, in order.

    If one of the newest entries is lost, its resource is unknown, so it may be any of these. Only a repair
    reads them anyway.

    Raises:
        RowDamaged: one of them is missing, or is not what was written.
    """
    return _read(connection, resources, after, _Page(), is_repair=is_repair)


def read_page(
    connection: sqlite3.Connection,
    resources: Collection[int],
    after: int,
    client: str,
    max_bytes: float,
) -> list[Entry]:
    """Read the first of these entries that a client may see, until they have more than `max_bytes` together.

    Raises:
        RowDamaged: one of them is missing, or is not what was written.
    """
    return _read(connection, resources, after, _Page(max_bytes, {None, client}))


class _Page:
    """The entries with the lowest numbers, until they have more than `max_bytes` together.

    While it is filled it holds about twice as much, however many are offered.
    """

    def __init__(self, max_bytes: float = math.inf, seen_by: Collection[str | None] | None = None) -> None:
        self.end = _ABOVE_ALL
        """The number of the last entry that may belong to it."""
        self._max_bytes = max_bytes
        self._seen_by = seen_by
        self._entries: list[Entry] = []
        self._size = 0

    def add(self, entries: Iterable[Entry]) -> None:
        """Take what belongs to it of entries that ascend."""
        size = 0
        for entry in entries:
            if self._seen_by is None or entry.only_for in self._seen_by:
                self._entries.append(entry)
                size += len(entry.envelope)
                if size > self._max_bytes:
                    break
        self._size += size
        if self._size > 2 * self._max_bytes:
            self.cut()

    def cut(self) -> list[Entry]:
        """Put the entries in order, let those go that do not belong to it, and return the others."""
        self._entries.sort(key=_seq)
        if self._size > self._max_bytes:
            self._size = 0
            for count, entry in enumerate(self._entries, 1):
                self._size += len(entry.envelope)
                if self._size > self._max_bytes:
                    del self._entries[count:]
                    self.end = entry.seq
                    break
        return self._entries


def _read(
    connection: sqlite3.Connection,
    resources: Collection[int],
    after: int,
    page: _Page,
    *,
    is_repair: bool = False,
) -> list[Entry]:
    wanted = frozenset(resources)
    counter = read_counter(connection)
    if after < counter.indexed_seq:
        for resource in wanted:
            check_index(connection, resource)
            page.add(read_indexed(connection, resource, after, page.end))
        page.cut()
    if page.end == _ABOVE_ALL:
        page.add(read_newest(connection, counter, wanted, after, is_repair=is_repair))
    return page.cut()


def read_indexed(
    connection: sqlite3.Connection, resource: int, after: int, up_to: int = _ABOVE_ALL
) -> Iterator[Entry]:
    """Read the entries of a resource between these numbers that are in the index. See `check_index` too.

    Raises:
        RowDamaged: one of them is missing, or is not what was written.
    """
    # With `+` SQLite scans the whole index of the resource, like `check_index`: a damaged key would mislead
    # a search.
    sql = """SELECT log_index.seq, envelope, only_for, checksum FROM log_index LEFT JOIN log USING (seq)
        WHERE log_index.resource = ? AND +log_index.seq > ? AND +log_index.seq <= ? ORDER BY log_index.seq"""
    last = after
    for seq, envelope, only_for, checksum in connection.execute(sql, (resource, after, up_to)):
        if not (is_sound(checksum, entry_sum, seq, resource, envelope, only_for) and last < seq):
            raise RowDamaged(f"entry {seq} of its log")
        last = seq
        yield Entry(seq, resource, envelope, only_for)


def check_index(connection: sqlite3.Connection, resource: int) -> None:
    """Raise `RowDamaged` if the index has lost entries of a resource, or has others."""
    sql = "SELECT entry_count, index_sum FROM resource WHERE number = ?"
    known = connection.execute(sql, (resource,)).fetchone() or (0, 0)
    sql = f"SELECT count(*), {INDEX_SUM} FROM log_index WHERE resource = ?"  # noqa: S608
    if known != connection.execute(sql, (resource,)).fetchone():
        raise RowDamaged("the index of its log")


def remove_entries(connection: sqlite3.Connection, resource: int, up_to: int) -> int:
    """Remove the indexed entries of a resource up to this number. Return how many there were."""
    key = (resource, up_to)
    connection.execute(
        f"""UPDATE resource SET index_sum = index_sum -
        (SELECT {INDEX_SUM} FROM log_index WHERE resource = ? AND seq <= ?) WHERE number = ?""",  # noqa: S608
        (*key, resource),
    )
    connection.execute(
        "DELETE FROM log WHERE seq IN (SELECT seq FROM log_index WHERE resource = ? AND seq <= ?)", key
    )
    return connection.execute("DELETE FROM log_index WHERE resource = ? AND seq <= ?", key).rowcount


def _seq(entry: Entry) -> int:
    return entry.seq
