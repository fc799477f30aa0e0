"""The PostgreSQL store: what needs it alone is kept out, and who was taken for dead cannot write."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from agenthost.errors import StorageError, StorageInUse, StoreTaken
from agenthost.host.storage import PutSnapshot
from agenthost.host.storage.postgres.node import LEASE_SECONDS
from agenthost.host.storage.postgres.store import PostgresStorage
from databases import Postgres, dense_postgres, needs_postgres
from storing import added, appended, commit, entry

pytestmark = needs_postgres

# Opens a store, and writes an entry for each line that it reads, as the journal does: again until it is in.
OTHER = """
import sys, time
sys.path.insert(0, {tests!r})
from agenthost.errors import StorageError, StoreTaken
from agenthost.host.storage.postgres.store import PostgresStorage
from storing import commit, entry

def written(seq):
    while True:
        try:
            commit(store, [entry(seq)], seq)
            return seq
        except StoreTaken as error:
            return f"taken {{error}}"
        except StorageError:
            time.sleep(0.05)

store = PostgresStorage(sys.argv[1], begin=lambda last: last, is_alone=True)
seq = store.open().last_seq
print("open", flush=True)
for seq, line in enumerate(sys.stdin, seq + 1):
    print(written(seq), flush=True)
"""


@pytest.fixture(name="store")
def opened(server: Postgres, schema: str) -> Iterator[PostgresStorage]:
    store = dense_postgres(server, schema)
    store.open()
    commit(store, [added(1), entry(1)], 1)
    yield store
    store.close()


@contextmanager
def other_process(url: str) -> Iterator[subprocess.Popen[str]]:
    code = OTHER.format(tests=str(Path(__file__).parents[2]))
    with subprocess.Popen(
        [sys.executable, "-c", code, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert said(process) == "open"
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    print(file=process.stdin, flush=True)


def seqs(store: PostgresStorage) -> list[int]:
    return [found.seq for found in store.replay(0, [1], "me")]


def test_a_second_one_is_refused_while_the_first_is_alive(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    with pytest.raises(StorageInUse, match=rf"in use by .*process {os.getpid()}.* since .*schema=NAME"):
        dense_postgres(server, schema).open()
    commit(store, [entry(2)], 2)
    assert seqs(store) == [1, 2]


def test_the_next_one_is_let_in_at_once_after_a_close(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    store.close()
    begun = time.monotonic()
    with_next = dense_postgres(server, schema)
    assert with_next.open().last_seq == 1
    assert time.monotonic() - begun < 1
    with_next.close()


def test_one_that_was_killed_is_taken_over_from(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    store.close()
    with other_process(server.url(schema)) as process:
        tell(process)
        assert said(process) == "2"
        process.kill()
        begun = time.monotonic()
        assert store.open().last_seq == 2
        assert time.monotonic() - begun < LEASE_SECONDS  # its lock is gone: nobody has to wait for the lease
    commit(store, [entry(3)], 3)
    assert seqs(store) == [1, 2, 3]


def test_one_that_was_stopped_is_taken_over_from_after_its_lease_and_cannot_write_any_more(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    store.close()
    with other_process(server.url(schema)) as process:
        process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        assert store.open().last_seq == 1
        assert LEASE_SECONDS - 1 < time.monotonic() - begun < LEASE_SECONDS + 3
        process.send_signal(signal.SIGCONT)
        tell(process)
        answer = said(process)
    assert answer.startswith("taken another process has taken over the store postgresql:///postgres")
    commit(store, [entry(2)], 2)
    assert seqs(store) == [1, 2]


def test_a_restart_of_the_database_does_not_make_anybody_dead(server: Postgres, schema: str) -> None:
    """Whoever lives comes back within a moment, and is not taken over from by one that started meanwhile."""
    store = dense_postgres(server, schema)
    store.open()
    ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    server.execute(f"{ended} AND application_name LIKE 'agenthost %'")
    with pytest.raises(StorageInUse):
        dense_postgres(server, schema).open()
    deadline = time.monotonic() + 5
    while True:
        try:
            commit(store, [added(1), entry(1)], 1)
            break
        except StorageError:
            assert time.monotonic() < deadline
    assert seqs(store) == [1]
    store.close()


# Both orders of a commit and of the fence of its node. See the head of functions.sql about the locks.

HOLD = """DO $$ BEGIN {what}; PERFORM pg_notify('held', ''); PERFORM pg_sleep({seconds}); {then}; END $$"""


def held(server: Postgres, schema: str, what: str, then: str = "") -> threading.Thread:
    """Hold a lock for a moment in another connection, and do something before it is let go."""
    sql = HOLD.format(what=what, seconds=1, then=then or "NULL")
    thread = threading.Thread(target=lambda: server.execute(sql, schema=schema))
    thread.start()
    time.sleep(0.3)
    return thread


def test_a_commit_that_waits_while_its_node_is_declared_dead_is_refused(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    for trial in range(3):
        fence = held(
            server,
            schema,
            "PERFORM pg_advisory_xact_lock(lock_space(), 0)",
            "UPDATE node SET is_dead = true WHERE NOT is_dead",
        )
        with pytest.raises(StoreTaken):
            commit(store, [entry(2), PutSnapshot(1, b"lost", 2), added(7)], 2)
        fence.join()
        assert server.execute("SELECT count(*) FROM log WHERE seq > 1", schema=schema) == 0
        assert server.execute("SELECT count(*) FROM session", schema=schema) == 1, trial
        store.close()
        assert store.open().last_seq == 1


def test_a_commit_that_came_before_the_fence_of_its_node_is_kept(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    holding = held(server, schema, "LOCK TABLE log IN SHARE MODE")
    writing = threading.Thread(target=lambda: commit(store, [entry(2)], 2))
    writing.start()  # has the order lock, and waits for the table
    time.sleep(0.3)
    server.execute("UPDATE node SET lease = '-1 hour'", schema=schema)
    joined = server.execute(
        "SELECT join_v2(true, (SELECT max(id) FROM node), 'next', '1', '', '5 s'::interval, 1)", schema=schema
    )
    assert server.execute("SELECT max(last_seq) FROM ledger", schema=schema) == 2
    assert server.execute("SELECT is_dead FROM node WHERE id = $1 - 1", joined, schema=schema)
    holding.join()
    writing.join()
    with pytest.raises(StoreTaken):
        commit(store, [entry(3)], 3)
    assert server.execute("SELECT count(*) FROM log", schema=schema) == 2


def test_whoever_is_fenced_hears_of_it_without_writing(server: Postgres, schema: str) -> None:
    heard: list[StoreTaken] = []
    store = PostgresStorage(server.url(schema), taken=heard.append)
    last_seq = store.open().last_seq
    server.execute("UPDATE node SET is_dead = true", schema=schema)
    deadline = time.monotonic() + 5
    while not heard:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with pytest.raises(StoreTaken):
        commit(store, [], last_seq + 1)
    store.close()
    assert len(heard) == 1


def test_every_commit_is_announced_in_order(store: PostgresStorage, server: Postgres, schema: str) -> None:
    async def listen() -> list[str]:
        heard: asyncio.Queue[str] = asyncio.Queue()
        listener = await asyncpg.connect(host=str(server.folder), user="agenthost", database="postgres")
        await listener.add_listener(channel, lambda *told: heard.put_nowait(told[3]))
        for seq in range(2, 12):
            await asyncio.to_thread(commit, store, [entry(seq)], seq)
        async with asyncio.timeout(5):
            found = [await heard.get() for _ in range(10)]
        await listener.close()
        return found

    channel = server.execute("SELECT channel()", schema=schema)
    told = [one.split() for one in asyncio.run(listen())]
    assert [(int(base), int(count)) for _, _, _, base, count, _ in told] == [(seq, 1) for seq in range(1, 11)]
    assert [int(ordinal) for _, _, ordinal, _, _, _ in told] == list(range(2, 12))


def test_a_commit_after_history_was_lost_ends_the_process(
    store: PostgresStorage, server: Postgres, schema: str
) -> None:
    """As after a failover to a standby that had not all: what this process showed is not there any more."""
    server.execute("DELETE FROM ledger WHERE last_seq = 1; DELETE FROM log", schema=schema)
    with pytest.raises(StoreTaken, match="lost what was written last"):
        commit(store, appended(range(2, 4)), 3)
