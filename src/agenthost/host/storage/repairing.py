"""Repairing: a new store of what can be read of a damaged one. The damaged one is kept.

Sessions come along whole or not at all. Nobody resumes from before: all clients get fresh views. What clients
sent already is forgotten, so an action that is sent once more may happen twice.
"""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agenthost.errors import StorageError
from agenthost.host.storage import ROOT, AddSession, Entry, PutContent, PutSnapshot, Write
from agenthost.host.storage.checking import Report, numbers_of, reading_file
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import read_counter
from agenthost.host.storage.folder import sync_folder
from agenthost.host.storage.reading import read_content, read_root, read_session
from agenthost.host.storage.sqlite import FILE, SqliteStorage

__all__ = ["Repaired", "repair"]

FOLDER = "repaired"
"""Where the new store is made, in the folder of the old one."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of it: how many sessions came along, and where the damaged file is kept."""

    sessions: int
    kept: Path


def repair(report: Report) -> Repaired:
    """Put a new store in the place of a damaged one that nobody else uses, by what a deep check found.

    Raises:
        StorageError: it cannot be done; then the damaged one is still there.
    """
    path = report.path
    work = path.with_name(FOLDER)
    shutil.rmtree(work, ignore_errors=True)
    try:
        with reading_file(path) as old:
            count = _copy(old, work, report)
        kept = _exchange(path, work / FILE)
    except OSError as error:
        raise StorageError(f"{path} could not be repaired: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Repaired(count, kept)


def _copy(old: sqlite3.Connection, work: Path, report: Report) -> int:
    """Make the new store; gives how many sessions it has."""
    store = SqliteStorage(work, begin=lambda _: 0)
    store.open()
    try:
        entries: list[Entry] = []
        numbers = [number for number in numbers_of(old) if number not in report.damaged]
        for number in numbers:
            entries += _copy_session(old, store, number, set(report.contents))
        snapshot, of_root = _read_root(old)
        entries = sorted([*entries, *of_root], key=lambda entry: entry.seq)
        store.commit([*snapshot, *entries], max([_last_seq(old), *(entry.seq for entry in entries)]))
    finally:
        store.close()
    return len(numbers)


def _copy_session(
    old: sqlite3.Connection, store: SqliteStorage, number: int, without: set[tuple[int, str]]
) -> list[Entry]:
    """Copy a session; gives its entries, which have to be written in the order of all of them."""
    stored = read_session(old, number)
    if stored is None:
        return []
    store.commit([AddSession(stored.row, stored.state, stored.state_seq, tuple(stored.messages))], 0)
    sql = "SELECT content_id FROM content WHERE number = ?"
    for (content_id,) in old.execute(sql, (number,)).fetchall():
        content = None if (number, content_id) in without else read_content(old, number, content_id)
        if content is not None:
            store.commit([PutContent(number, content_id, content.content_type, content.data)], 0)
    return stored.entries


def _read_root(old: sqlite3.Connection) -> tuple[list[Write], list[Entry]]:
    """Give what is to be written of what all clients see; nothing, if that is damaged."""
    with suppress(RowDamaged, StorageError, sqlite3.DatabaseError):
        state, state_seq, entries = read_root(old)
        return [] if state is None else [PutSnapshot(ROOT, state, state_seq)], entries
    return [], []


def _last_seq(old: sqlite3.Connection) -> int:
    with suppress(StorageError, sqlite3.DatabaseError):
        return read_counter(old).last_seq
    return 0


def _exchange(path: Path, fresh: Path) -> Path:
    """Put the new file in the place of the old one, which gets another name."""
    _forget_ranges(fresh)
    kept = path.with_name(f"agenthost.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
    os.link(path, kept)
    for ending in ("-wal", "-shm"):  # before the new file is there: SQLite would take them for its own
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(kept.with_name(kept.name + ending))
    fresh.replace(path)
    sync_folder(path.parent)
    return kept


def _forget_ranges(path: Path) -> None:
    """Let no number be known: those that were lost could be any."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM range")
