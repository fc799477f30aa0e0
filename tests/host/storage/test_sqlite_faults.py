"""The SQLite store when things go wrong: each fault has its sentence, loses nothing, and passes."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agenthost.errors import StorageError
from agenthost.host.storage import AddMessages, PutSnapshot
from agenthost.host.storage.migrations import APPLICATION_ID, VERSION
from agenthost.host.storage.sqlite import FILE, SqliteStorage, Sync
from storing import added, appended, commit, dense_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStorage]:
    opened = dense_store(tmp_path)
    opened.open()
    commit(opened, [added(1), *appended(range(1, 11))], 10)
    yield opened
    opened.close()


@pytest.fixture
def file(store: SqliteStorage, tmp_path: Path) -> Path:
    """Return the file of a store that was closed well."""
    commit(store, [PutSnapshot(1, bytes(20_000), 10)], 10)
    store.close()
    return tmp_path / FILE


def writer(store: SqliteStorage) -> sqlite3.Connection:
    assert store._writer
    return store._writer


def log(store: SqliteStorage) -> list[int]:
    return [entry.seq for entry in store.replay(0, [1], "me")]


def test_a_full_disk_is_reported_and_the_store_continues_when_there_is_room(store: SqliteStorage) -> None:
    pages = writer(store).execute("PRAGMA page_count").fetchone()[0]
    writer(store).execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StorageError, match="the disk is full; free some space"):
        commit(store, [*appended(range(11, 13)), AddMessages(1, 1, (bytes(100_000),))], 12)
    assert log(store) == list(range(1, 11))
    commit(store, appended(range(11, 12)), 11)  # small enough
    writer(store).execute("PRAGMA max_page_count = 1000000")
    commit(store, [AddMessages(1, 1, (bytes(100_000),)), *appended(range(12, 13))], 12)
    assert log(store) == list(range(1, 13))


def test_a_lock_of_another_program_is_reported_and_passes(store: SqliteStorage, tmp_path: Path) -> None:
    writer(store).execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as browser:
        browser.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked by another program; close what has it open"):
            commit(store, appended(range(11, 13)), 12)
        with pytest.raises(StorageError, match="locked by another program"):
            store.trim(0, 0)
        assert log(store) == list(range(1, 11))  # reading needs no lock
        browser.execute("ROLLBACK")
    commit(store, appended(range(11, 13)), 12)
    assert log(store) == list(range(1, 13))


def test_a_store_that_cannot_be_written_is_reported(store: SqliteStorage) -> None:
    writer(store).execute("PRAGMA query_only = ON")
    with pytest.raises(StorageError, match="cannot be written; check who may write there"):
        commit(store, appended(range(11, 13)), 12)
    writer(store).execute("PRAGMA query_only = OFF")
    commit(store, appended(range(11, 13)), 12)


def damage_beginning(file: Path) -> None:
    file.write_bytes(b"\0" * 100 + file.read_bytes()[100:])


def damage_tables(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + b"\xff" * 3000 + whole[3100:])


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def write_text(file: Path) -> None:
    file.write_text("dear diary\n" * 1000)


def write_little(file: Path) -> None:
    file.write_text("hi")


def drop_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE message")


def lose_numbers(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DELETE FROM counter")
        connection.commit()


def make_newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE written_by SET agenthost = '9.8.7'")
        connection.execute(f"PRAGMA user_version = {VERSION + 3}")
        connection.commit()


def make_much_newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE written_by")
        connection.execute(f"PRAGMA user_version = {VERSION + 30}")


def make_foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA application_id = 252006674")


def lose_all_but_the_wal(file: Path) -> None:
    file.write_bytes(b"")
    file.with_name(FILE + "-wal").write_bytes(b"frames")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (damage_beginning, "is not a database of agenthost, or its beginning is damaged; restore a backup"),
        (write_text, "is not a database of agenthost"),
        (write_little, "is not a database of agenthost"),
        (damage_tables, "is damaged; restore a backup"),
        (truncate, "is damaged; restore a backup"),
        (drop_table, "is damaged: it has no table message; restore a backup"),
        (lose_numbers, "is damaged: it has lost its numbers"),
        (make_newer, rf"written by agenthost 9\.8\.7 \(schema version {VERSION + 3}\).*nothing was changed"),
        (make_much_newer, rf"written by a newer agenthost \(schema version {VERSION + 30}\)"),
        (make_foreign, "belongs to another program"),
        (lose_all_but_the_wal, "is empty, but agenthost.db-wal next to it is not"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_and_left_unchanged(
    file: Path, harm: Callable[[Path], None], reason: str
) -> None:
    harm(file)
    before = file.read_bytes()
    for _ in range(2):  # the folder was let go
        with pytest.raises(StorageError, match=reason):
            dense_store(file.parent).open()
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_left_unchanged(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("CREATE TABLE session (mine)")
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StorageError, match="belongs to another program"):
        dense_store(tmp_path).open()
    assert (tmp_path / FILE).read_bytes() == before


def test_a_store_whose_creation_was_interrupted_is_created_again(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    store = dense_store(tmp_path)
    store.open()
    commit(store, [added(1)], 0)
    store.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        dense_store(tmp_path).open()


@pytest.mark.parametrize(("sync", "level"), [("normal", 1), ("full", 2)])
def test_a_commit_waits_for_the_disk_unless_told_otherwise(tmp_path: Path, sync: Sync, level: int) -> None:
    store = dense_store(tmp_path, sync=sync)
    store.open()
    assert writer(store).execute("PRAGMA synchronous").fetchone() == (level,)
    assert writer(store).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_reported_on_opening(file: Path) -> None:
    file.chmod(0o400)
    with pytest.raises(StorageError, match="check who may write there"):
        dense_store(file.parent).open()
