"""What the SQLite store does not do: look through all sessions, or through the whole log."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agenthost.host.storage import (
    CopyContent,
    DropLog,
    DropReceipts,
    EchoReceipt,
    PutContent,
    Receipt,
    integrity,
)
from agenthost.host.storage.migrations import add_functions
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from hosting import new_session, run, started
from storing import added, appended, commit, dense_store

SESSIONS = 100_000

# Tables of one row, or of none, and the beginning of the log, as far as it is too long.
MAY_BE_SCANNED = {"SCAN counter", "SCAN CONSTANT ROW", "SCAN log"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many")
    store = dense_store(path)
    store.open()
    store.close()
    with closing(sqlite3.connect(path / FILE)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        add_functions(connection)
        connection.execute("CREATE TEMP TABLE n (i INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO n VALUES (?)", ((number,) for number in range(1, SESSIONS + 1)))
        connection.execute(
            """INSERT INTO session SELECT i, 'a:/' || i, i, 'o' || (i % 9), i % 9999 = 0, x'', x'',
            session_sum(i, i % 9999 = 0, x'', x''), names_sum(i, 'a:/' || i, i, 'o' || (i % 9)), 0, -1, 0
            FROM n"""
        )
        connection.execute("INSERT INTO resource (number, state_seq) SELECT i, 0 FROM n")
        connection.execute("INSERT INTO snapshot SELECT i, x'', snapshot_sum(i, 0, x'') FROM n")
        connection.execute(
            """UPDATE counter SET last_number = ?1, session_count = ?1,
            checksum = counter_sum(0, ?1, ?1, 0, 0, 0, 0)""",
            (SESSIONS,),
        )
        connection.commit()
    return path


@contextmanager
def counted_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the steps of SQLite's machine, a hundred at a time, on every connection made inside.

    The check at the opening is left out: it takes the time that it is given.
    """
    counts = [0]
    connect: Callable[[SqliteStorage], sqlite3.Connection] = SqliteStorage._connect

    def count() -> int:
        counts[0] += 100
        return 0

    def connect_counted(store: SqliteStorage) -> sqlite3.Connection:
        connection = connect(store)
        connection.set_progress_handler(count, 100)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStorage, "_connect", connect_counted)
        patch.setattr(integrity, "MAX_SECONDS", 0)
        yield counts


def test_opening_and_the_first_page_cost_the_same_with_many_sessions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = dense_store(folder)
    with counted_steps(monkeypatch) as steps:
        opening = store.open()
        assert (opening.session_count, len(opening.active)) == (SESSIONS, SESSIONS // 9999)
        assert len(store.list(owner=None, before=None, limit=50)) == 50
        assert len(store.list(owner="o3", before=50_000, limit=50)) == 50
        assert store.find(name="77")
        assert store.find(number=77)
        assert store.load(77)
        assert store.content(77, "a") is None
        assert store.trim(1_000, 1_000_000) == 0
        assert store.floor([0, 1, 2]) == 0
        store.close()
    assert steps[0] < 10_000


def test_an_engine_costs_the_same_with_many_sessions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        with counted_steps(monkeypatch) as steps:
            async with started(folder) as host:
                assert host.root.state["activeSessions"] == SESSIONS
                first = await host.sessions.page(owner=None, before=None, limit=50)
                await new_session(host, "demo:/one")
                second = await host.sessions.page(owner=None, before=first[-1].number, limit=50)
                assert [row.number for row in (*first, *second)] == list(range(SESSIONS, SESSIONS - 100, -1))
                await host.removals.remove("demo:/one")
            assert steps[0] < 20_000

    run(story)


def test_no_statement_scans_a_whole_table(tmp_path: Path) -> None:
    store = dense_store(tmp_path)
    store.open()
    commit(store, [added(1), *appended(range(1, 20))], 19)
    said: list[str] = []
    assert store._writer
    store._writer.set_trace_callback(said.append)
    store.floor([1])
    (reader,) = store._idle
    reader.set_trace_callback(said.append)
    store.list(owner=None, before=None, limit=5)
    store.list(owner="ann", before=7, limit=5)
    store.find(uri="demo:/1")
    store.find(name="name-1")
    store.find(number=1)
    store.load(1)
    commit(store, [PutContent(1, "a", "text/plain", b""), added(2), CopyContent(1, 2), DropLog(1, 0)], 19)
    store.content(2, "a")
    commit(store, [Receipt("me", 0, 1, b"", 3), EchoReceipt("me", 1, b"", 3), DropReceipts("me", 7)], 19)
    store.receipts("me")
    store.trim(5, 5)
    commit(store, [DropReceipts("me")], 19)
    store.replay(3, [0, 1], "me")
    store.trim(5, 5)
    store._writer.set_trace_callback(None)
    reader.set_trace_callback(None)
    plans = [
        plan for sql in said if re.match("SELECT|DELETE|UPDATE|REPLACE", sql) for plan in planned(reader, sql)
    ]
    assert {plan for plan in plans if plan.startswith("SCAN")} <= MAY_BE_SCANNED
    store.close()


def planned(connection: sqlite3.Connection, sql: str) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
