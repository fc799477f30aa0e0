"""The SQLite store gives back space, a bounded amount at a time. Real files."""

import sqlite3
from contextlib import closing
from pathlib import Path

from agenthost.host.storage import DropSession, Entry, PutContent
from agenthost.host.storage.migrations import APPLICATION_ID, MIGRATIONS, SUMS, add_functions
from agenthost.host.storage.space import FREE_SHARE, MIN_FREE, PAGES_AT_ONCE
from agenthost.host.storage.sqlite import FILE
from storing import added, appended, commit, dense_store

PAGE = 4_096
LARGE = b"x" * (2 * MIN_FREE * PAGE)


def test_free_space_is_returned_to_the_disk_in_steps(tmp_path: Path) -> None:
    store = dense_store(tmp_path)
    store.open()
    commit(store, [added(1), added(2), PutContent(1, "large", "text/plain", LARGE)], 0)
    assert store.shrink() == 0
    commit(store, [DropSession(1)], 0)
    given = []
    while count := store.shrink():
        given.append(count)
        commit(store, appended(range(len(given), len(given) + 1), 2), len(given))
    assert max(given) == PAGES_AT_ONCE
    assert len(given) > 1
    assert (tmp_path / FILE).stat().st_size <= (MIN_FREE + 100) * PAGE * FREE_SHARE // (FREE_SHARE - 1)
    assert len(store.replay(0, [2], "me")) == len(given)
    store.close()


def older(folder: Path, version: int) -> Path:
    """Make an empty store of an older version, as that made it."""
    path = folder / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        add_functions(file)
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                file.execute(statement)
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {version}")
    return path


def test_an_older_store_is_rewritten_once_and_can_then_shrink(tmp_path: Path) -> None:
    older(tmp_path, 1)
    store = dense_store(tmp_path)
    store.open()
    commit(store, [added(1), PutContent(1, "large", "text/plain", LARGE)], 0)
    commit(store, [DropSession(1)], 0)
    assert store.shrink() == PAGES_AT_ONCE
    store.close()


def test_refusals_that_an_older_store_has_for_a_client_id_alone_go_with_their_secrets(tmp_path: Path) -> None:
    path = older(tmp_path, 4)
    store = dense_store(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        add_functions(file)
        for number in (1, 2):
            row = added(number).row
            names = (row.number, row.uri, row.name, row.owner)
            file.execute("INSERT INTO session VALUES (?, ?, ?, ?, 0, x'7b7d', x'7b7d', 0, 0)", names)
            file.execute("INSERT INTO snapshot VALUES (?, x'7b7d', 0)", (number,))
            file.execute("INSERT INTO resource (number, state_seq) VALUES (?, 0)", (number,))
        entries = [Entry(1, 1, b"{}"), Entry(2, 1, b'"sk-secret"', "me"), Entry(3, 2, b"{}")]
        for one in entries:
            file.execute(
                "INSERT INTO log VALUES (?, ?, ?, ?, 0)", (one.seq, one.resource, one.envelope, one.only_for)
            )
            file.execute("INSERT INTO log_index VALUES (?, ?)", (one.resource, one.seq))
        file.execute("UPDATE resource SET entry_count = 2, first = 1 WHERE number = 1")
        file.execute("UPDATE resource SET entry_count = 1, first = 3 WHERE number = 2")
        file.execute(
            """UPDATE counter SET last_seq = 3, last_number = 2, session_count = 2, entry_count = 3,
            indexed_seq = 3"""
        )
        for table, columns in SUMS.items():
            file.execute(f"UPDATE {table} SET checksum = {table}_sum({columns})")  # noqa: S608
        file.execute("UPDATE session SET names_checksum = names_sum(number, uri, name, owner)")
    store.open()
    assert store.floor([1]) > 3
    assert store.replay(0, [1, 2], "me") == []
    store.close()
    assert b"sk-secret" not in path.read_bytes()
