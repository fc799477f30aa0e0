"""Repair: builds a new store from what can be read of a damaged one. The damaged one is kept.

A session is copied completely or not at all. Nobody can resume from before: all clients get fresh views.
Receipts are not copied, so an action that a client sends again may be applied twice. What an older agenthost
wrote is upgraded in the new store.
"""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agenthost.errors import StorageError
from agenthost.host.storage import ROOT, AddSession, Entry, Group, PutContent, PutSnapshot, Write
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import read_counter
from agenthost.host.storage.data_folder import sync_folder
from agenthost.host.storage.integrity import Report, opened_read_only, session_numbers
from agenthost.host.storage.migrations import UPGRADED
from agenthost.host.storage.reader import decode_text, read_content, read_root, read_row, read_session
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from agenthost.host.storage.upgrade import upgrade_contents

__all__ = ["RepairResult", "repair"]

FOLDER = "repaired"
"""Where the new store is built, inside the folder of the old one."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result: how many sessions were copied, and where the damaged file is kept."""

    sessions: int
    kept: Path


def repair(report: Report) -> RepairResult:
    """Replace a damaged store that nobody else uses, given the report of a deep check.

    Raises:
        StorageError: it cannot be done. The damaged store is still in place.
    """
    path = report.path
    work = path.with_name(FOLDER)
    shutil.rmtree(work, ignore_errors=True)
    try:
        with opened_read_only(path) as old:
            count = _copy(old, work, report)
        _finish(work / FILE, report.version)
        kept = _exchange(path, work / FILE)
    except OSError as error:
        raise StorageError(f"{path} could not be repaired: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return RepairResult(count, kept)


def _copy(old: sqlite3.Connection, work: Path, report: Report) -> int:
    """Build the new store. Return how many sessions it has."""
    store = SqliteStorage(work, begin=lambda _: 0)
    store.open()
    try:
        entries: list[Entry] = []
        numbers = [number for number in session_numbers(old) if number not in report.damaged]
        numbers = [number for number in numbers if _has_session(old, number, numbers)]
        for number in numbers:
            entries += _copy_session(old, store, number, set(report.contents))
        snapshot, of_root = _read_root(old)
        entries = sorted([*entries, *of_root], key=lambda entry: entry.seq)
        store.commit(Group([*snapshot, *entries]))
        store.commit(Group(at_least=_last_seq(old)))
    finally:
        store.close()
    return len(numbers)


def _has_session(old: sqlite3.Connection, number: int, kept: Sequence[int]) -> bool:
    """Return whether this is a session, or a further chat of one that is kept."""
    row = read_row(old, "number", number)
    return row is None or not row.parent or row.parent in kept


def _copy_session(
    old: sqlite3.Connection, store: SqliteStorage, number: int, without: set[tuple[int, str]]
) -> list[Entry]:
    """Copy a session. Return its entries, which have to be written in the order of the whole log."""
    stored = read_session(old, number, is_repair=True)
    if stored is None:
        return []
    added = AddSession(stored.row, stored.state, stored.state_seq, tuple(stored.messages))
    store.commit(Group([added]))
    sql = "SELECT content_id FROM content WHERE number = ?"
    for (content_id,) in old.execute(sql, (number,)).fetchall():
        content = None if (number, content_id) in without else read_content(old, number, content_id)
        if content is not None:
            store.commit(Group([PutContent(number, content_id, content.content_type, content.data)]))
    return stored.entries


def _read_root(old: sqlite3.Connection) -> tuple[list[Write], list[Entry]]:
    """Return the root's snapshot and entries; nothing if they are damaged."""
    with suppress(RowDamaged, StorageError, sqlite3.DatabaseError):
        state, state_seq, entries = read_root(old)
        return [] if state is None else [PutSnapshot(ROOT, state, state_seq)], entries
    return [], []


def _last_seq(old: sqlite3.Connection) -> int:
    with suppress(StorageError, sqlite3.DatabaseError):
        return read_counter(old).last_seq
    return 0


def _exchange(path: Path, fresh: Path) -> Path:
    """Put the new file in place of the old one, which gets another name."""
    kept = path.with_name(f"agenthost.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
    os.link(path, kept)
    for ending in ("-wal", "-shm"):  # first, or SQLite would apply them to the new file
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(kept.with_name(kept.name + ending))
    fresh.replace(path)
    sync_folder(path.parent)
    return kept


def _finish(path: Path, version: int) -> None:
    """Forget all ranges: which numbers were lost is not known. Upgrade what an older agenthost wrote."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM range")
        if version < UPGRADED:
            connection.text_factory = decode_text
            upgrade_contents(connection)
