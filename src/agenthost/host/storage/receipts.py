"""Receipts of actions that clients sent: read, changed and removed. The caller provides the transaction.

New receipts are inserted with the other rows of a commit, see `batch`.
"""

import sqlite3

from agenthost.host.storage import HERE, DropReceipts, EchoReceipt, Receipt
from agenthost.host.storage.checksums import is_sound, receipt_sum

_READ = """SELECT identity, slot, client_seq, digest, seq, checksum FROM receipt
    WHERE identity = ? ORDER BY seq IS NULL, seq"""

_WAITING = "SELECT slot FROM receipt WHERE identity = ? AND client_seq = ? AND digest = ? AND seq IS NULL"
_ECHO = "UPDATE receipt SET seq = ?, checksum = ? WHERE identity = ? AND slot = ?"

_REMOVE_OLD = """DELETE FROM receipt WHERE (identity, slot) IN
    (SELECT identity, slot FROM receipt WHERE seq <= ? ORDER BY seq LIMIT ?)"""


def read_receipts(connection: sqlite3.Connection, identity: str) -> tuple[list[Receipt], int]:
    """Return the receipts of a client, oldest first, and how many were left out because they are damaged.

    Receipts without an echo come last.
    """
    found = connection.execute(_READ, (identity,)).fetchall()
    sound = {
        values[1]: Receipt(*values)  # by slot: a damaged index can list one twice
        for *values, checksum in found
        if values[0] == identity and is_sound(checksum, receipt_sum, *values)
    }
    return list(sound.values()), len(found) - len(sound)


def change_receipts(connection: sqlite3.Connection, write: DropReceipts | EchoReceipt, here: int) -> None:
    """Remove receipts, or record a late echo. `here` is the number of the entry before this write."""
    if isinstance(write, EchoReceipt):
        seq = here if write.seq == HERE else write.seq
        known = (write.identity, write.client_seq, write.digest)
        found = connection.execute(_WAITING, known).fetchall()
        for (slot,) in found:
            checksum = receipt_sum(write.identity, slot, write.client_seq, write.digest, seq)
            connection.execute(_ECHO, (seq, checksum, write.identity, slot))
    elif write.slot is None:
        connection.execute("DELETE FROM receipt WHERE identity = ?", (write.identity,))
    else:
        connection.execute(
            "DELETE FROM receipt WHERE identity = ? AND slot = ?", (write.identity, write.slot)
        )


def has_old(connection: sqlite3.Connection, seq: int) -> bool:
    """Return whether there are receipts whose echo has at most this number."""
    return connection.execute("SELECT 1 FROM receipt WHERE seq <= ? LIMIT 1", (seq,)).fetchone() is not None


def remove_old(connection: sqlite3.Connection, seq: int, limit: int) -> None:
    """Remove the oldest receipts whose echo has at most this number, up to `limit` of them."""
    connection.execute(_REMOVE_OLD, (seq, limit))
