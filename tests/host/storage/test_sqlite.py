"""The SQLite store: what only it does. Real files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agenthost.errors import StorageError
from agenthost.host.storage import DropSession, PutContent, Receipt, StoredContent
from agenthost.host.storage.migrations import APPLICATION_ID, MIGRATIONS, VERSION, add_functions
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from storing import added, appended, commit, dense_store, entry


@pytest.fixture(name="store")
def sqlite_store(tmp_path: Path) -> Iterator[SqliteStorage]:
    opened = dense_store(tmp_path)
    opened.open()
    yield opened
    opened.close()


def test_dropping_a_session_leaves_no_row_that_belongs_to_it(store: SqliteStorage, tmp_path: Path) -> None:
    commit(store, [added(1), added(2), *appended(range(1, 4), 1), *appended(range(4, 6), 2)], 5)
    commit(store, [PutContent(1, "a", "text/plain", b"a"), PutContent(2, "a", "text/plain", b"b")], 5)
    commit(store, [entry(6, 1), DropSession(1), entry(7, 2)], 7)
    store.trim(100, 100)
    store.close()
    connection = sqlite3.connect(tmp_path / FILE)
    counts = {"log": 3, "log_index": 3, "snapshot": 1, "message": 1, "content": 1, "resource": 2}
    for table, count in counts.items():
        assert len(connection.execute(f"SELECT * FROM {table}").fetchall()) == count, table  # noqa: S608
    connection.close()
    store.open()


def test_a_content_is_stored_separately_from_its_session(store: SqliteStorage) -> None:
    large = bytes(range(256)) * 4_000
    commit(store, [added(1), added(2), PutContent(1, "a", "image/png", large)], 0)
    assert store.content(1, "a") == StoredContent("image/png", large)
    said: list[str] = []
    (reader,) = store._idle
    reader.set_trace_callback(said.append)
    assert store.load(1)
    reader.set_trace_callback(None)
    assert said
    assert [sql for sql in said if "content" in sql] == []


def test_a_folder_is_for_one_store_at_a_time(tmp_path: Path) -> None:
    store = dense_store(tmp_path)
    store.open()
    with pytest.raises(StorageError, match="in use by this same process"):
        dense_store(tmp_path).open()
    store.close()


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_store_is_migrated(tmp_path: Path, version: int) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as file:
        add_functions(file)
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                file.execute(statement)
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {version}")
    store = dense_store(tmp_path)
    store.open()
    commit(store, [added(1), *appended(range(1, 3)), Receipt("me", 0, 1, b"digest", 2)], 2)
    assert len(store.receipts("me")) == 1
    assert len(store.replay(0, [1], "me")) == 2
    store.close()
