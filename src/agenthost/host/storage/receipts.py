"""Receipts: what a store knows of the actions that clients sent. Knows SQL; the transaction is its caller's.

They are put with the other rows of a commit (see `writing`); what is rarer is here.
"""

import sqlite3

from agenthost.host.storage import DropReceipts, EchoReceipt, Receipt

_READ = """SELECT identity, slot, client_seq, digest, seq FROM receipt
    WHERE identity = ? ORDER BY seq IS NULL, seq"""

_REMOVE_OLD = """DELETE FROM receipt WHERE (identity, slot) IN
    (SELECT identity, slot FROM receipt WHERE seq <= ? ORDER BY seq LIMIT ?)"""


def read_receipts(connection: sqlite3.Connection, identity: str) -> list[Receipt]:
    """Return the receipts of a client, oldest first; those without an echo come last."""
    return [Receipt(*found) for found in connection.execute(_READ, (identity,))]


def change_receipts(connection: sqlite3.Connection, write: DropReceipts | EchoReceipt) -> None:
    """Remove receipts, or note an echo that came late."""
    if isinstance(write, EchoReceipt):
        connection.execute(
            "UPDATE receipt SET seq = ? WHERE identity = ? AND client_seq = ? AND digest = ? AND seq IS NULL",
            (write.seq, write.identity, write.client_seq, write.digest),
        )
    elif write.slot is None:
        connection.execute("DELETE FROM receipt WHERE identity = ?", (write.identity,))
    else:
        connection.execute(
            "DELETE FROM receipt WHERE identity = ? AND slot = ?", (write.identity, write.slot)
        )


def has_old(connection: sqlite3.Connection, seq: int) -> bool:
    """Tell whether there are receipts of echoes up to this number."""
    return connection.execute("SELECT 1 FROM receipt WHERE seq <= ? LIMIT 1", (seq,)).fetchone() is not None


def remove_old(connection: sqlite3.Connection, seq: int, at_most: int) -> None:
    """Remove the oldest receipts of echoes up to this number."""
    connection.execute(_REMOVE_OLD, (seq, at_most))
