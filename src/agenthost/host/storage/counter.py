"""The store's own numbers: they have to outlive what they count. Knows one row, rewritten by every commit."""

import sqlite3
from dataclasses import dataclass

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import is_sound, numbers_sum

_READ = "SELECT last_seq, last_number, session_count, entry_count, indexed_seq, checksum FROM counter"


@dataclass(slots=True)
class Counter:
    """The numbers, in memory as in their row. `indexed_seq` is how far the log's index goes."""

    last_seq: int = 0
    last_number: int = 0
    session_count: int = 0
    entry_count: int = 0
    indexed_seq: int = 0


def read_counter(connection: sqlite3.Connection) -> Counter:
    """Read the numbers that the last commit left."""
    found = connection.execute(_READ).fetchone()
    if found is None or not is_sound(found[-1], numbers_sum, *found[:-1]):
        raise StorageError(
            "the store is damaged: it has lost its numbers; restore a backup of it, or let "
            "`agenthost doctor --repair` make a new one of what can be read"
        )
    return Counter(*found[:-1])


def put_counter(connection: sqlite3.Connection, counter: Counter) -> None:
    """Write the numbers down."""
    numbers = (
        counter.last_seq,
        counter.last_number,
        counter.session_count,
        counter.entry_count,
        counter.indexed_seq,
    )
    connection.execute(
        """UPDATE counter SET last_seq = ?, last_number = ?, session_count = ?, entry_count = ?,
        indexed_seq = ?, checksum = ?""",
        (*numbers, numbers_sum(*numbers)),
    )
