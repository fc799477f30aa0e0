"""The store's own numbers, in one row that every commit rewrites. They outlive what they count."""

import sqlite3

import msgspec

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import is_sound, numbers_sum

_READ = """SELECT last_seq, last_number, session_count, entry_count, indexed_seq, newest_count, newest_sum,
    checksum FROM counter"""


PUT_COUNTER = """UPDATE counter SET last_seq = ?, last_number = ?, session_count = ?, entry_count = ?,
    indexed_seq = ?, newest_count = ?, newest_sum = ?, checksum = ?"""


class Counter(msgspec.Struct):
    """The numbers of that row.

    `indexed_seq` is the last entry that the log's index includes. `newest_count` is the number of entries
    after it, and `newest_sum` the sum of their resources: so no entry is lost, or taken for another's.
    """

    last_seq: int = 0
    last_number: int = 0
    session_count: int = 0
    entry_count: int = 0
    indexed_seq: int = 0
    newest_count: int = 0
    newest_sum: int = 0


def read_counter(connection: sqlite3.Connection) -> Counter:
    """Read the numbers that the last commit left."""
    found = connection.execute(_READ).fetchone()
    if found is None or not is_sound(found[-1], numbers_sum, *found[:-1]):
        raise StorageError(
            "the store is damaged: it has lost its numbers; restore a backup, or let "
            "`agenthost doctor --repair` build a new store from what can be read"
        )
    return Counter(*found[:-1])


def put_counter(connection: sqlite3.Connection, counter: Counter) -> None:
    """Write the numbers."""
    numbers = msgspec.structs.astuple(counter)
    connection.execute(PUT_COUNTER, (*numbers, numbers_sum(*numbers)))
