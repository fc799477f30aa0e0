"""What the tests of stores put into them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from agenthost.host.storage import AddSession, Entry, Group, SessionRow, Storage, Write
from agenthost.host.storage.migrations import SUMS
from agenthost.host.storage.sqlite import SqliteStorage, Sync

NEWER = (
    ("session", "message_count"),
    ("session", "message_check"),
    ("resource", "index_sum"),
    ("counter", "newest_count"),
    ("counter", "newest_sum"),
)
"""Columns that came with version 6."""


def dense_store(folder: Path, *, sync: Sync = "full") -> SqliteStorage:
    """Make a store whose numbers go on where they ended, so that a test can name them."""
    return SqliteStorage(folder, sync=sync, begin=lambda last_seq: last_seq)


def make_older(file: Path, version: int) -> None:
    """Turn a store that is closed into one of an earlier version, of 1 or higher."""
    with closing(sqlite3.connect(file, isolation_level=None)) as store:
        for table in (*SUMS, *(["receipt"] if version >= 3 else [])):
            store.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
        for table, column in NEWER:
            store.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        store.execute("ALTER TABLE session DROP COLUMN names_checksum")
        store.execute("ALTER TABLE resource DROP COLUMN floor_check")
        store.execute("DROP TABLE range")
        if version < 3:
            store.execute("DROP TABLE receipt")
        store.execute(f"PRAGMA user_version = {version}")


def commit(store: Storage, writes: Sequence[Write], last_seq: int) -> None:
    """Commit writes whose entries have numbers already, so that the next one is above `last_seq`."""
    last = max([write.seq for write in writes if isinstance(write, Entry)], default=0)
    base = store.commit(Group([*writes]))
    if last_seq > max(base, last):
        store.commit(Group(at_least=last_seq))


def row(number: int, *, owner: str = "ann", is_active: bool = False, summary: bytes = b"{}") -> SessionRow:
    return SessionRow(number, f"demo:/{number}", f"name-{number}", owner, is_active, summary, b"private")


def added(number: int, *, owner: str = "ann", is_active: bool = False, state_seq: int = 0) -> AddSession:
    return AddSession(row(number, owner=owner, is_active=is_active), b"state", state_seq, (b"hello",))


def entry(seq: int, resource: int = 1, only_for: str | None = None) -> Entry:
    return Entry(seq, resource, b'{"serverSeq":%d}' % seq, only_for)


def appended(seqs: range, resource: int = 1) -> list[Entry]:
    return [entry(seq, resource) for seq in seqs]


def unnumbered(resource: int, count: int = 1, *more: Write) -> Group:
    """Return a group with entries that the store numbers."""
    return Group([*(Entry(0, resource, b'"a":1') for _ in range(count)), *more])
