"""The PostgreSQL store: commits of which nobody knows whether they happened. Never twice, and never lost."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator

import pytest

from agenthost.core import actions
from agenthost.errors import StorageError
from agenthost.host.state.engine import Engine
from agenthost.host.storage import AddMessages, Write
from agenthost.host.storage.postgres.store import PostgresStorage
from database_proxies import Moment, Proxy, in_front_of
from databases import Postgres, dense_postgres, needs_postgres, own_postgres, own_schema, shared_postgres
from hosting import new_session, run
from storing import added, commit, entry

pytestmark = needs_postgres

MOMENTS: tuple[Moment, ...] = ("before", "half", "running", "answered")


@pytest.fixture(name="proxy")
def between() -> Iterator[Proxy]:
    with in_front_of(shared_postgres(), Proxy) as proxy:
        yield proxy


@pytest.fixture(name="store")
def behind_it(proxy: Proxy) -> Iterator[PostgresStorage]:
    with own_schema(proxy.server) as schema:
        store = PostgresStorage(proxy.url(schema), begin=lambda last_seq: last_seq)
        store.open()
        commit(store, [added(1)], 0)
        yield store
        store.close()


def group(seq: int) -> list[Write]:
    return [entry(seq), AddMessages(1, seq, (b"message %d of it" % seq,))]


def check(store: PostgresStorage, last_seq: int) -> None:
    """Everything up to this number is there once, and in order."""
    expected = [found.seq for found in store.replay(0, [1], "me")]
    assert expected == list(range(1, last_seq + 1))
    session = store.load(1)
    assert session
    assert session.messages[1:] == [b"message %d of it" % seq for seq in range(1, last_seq + 1)]


def persist(store: PostgresStorage, seq: int, seconds: float = 20) -> int:
    """Commit as the journal does: the same group again until it is in. Return how often it was tried."""
    deadline, writes = time.monotonic() + seconds, group(seq)
    for tries in range(1, 10_000):
        try:
            commit(store, writes, seq)
        except StorageError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            return tries
    raise AssertionError


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_commit_whose_connection_was_lost_is_tried_again_and_happens_once(
    store: PostgresStorage, proxy: Proxy, moment: Moment
) -> None:
    persist(store, 1)
    proxy.cut(b"message 2 of it", moment)
    assert persist(store, 2) == 2
    assert proxy.cuts == 1
    check(store, 2)
    assert persist(store, 3) == 1
    check(store, 3)


def test_a_try_that_is_still_running_on_the_server_is_waited_for(
    store: PostgresStorage, proxy: Proxy
) -> None:
    persist(store, 1)
    hold = "DO $$ BEGIN PERFORM pg_advisory_xact_lock(lock_space(), 0); PERFORM pg_sleep(1); END $$"
    schema = store.address.schema
    holding = threading.Thread(target=lambda: proxy.server.execute(hold, schema=schema))
    holding.start()
    time.sleep(0.3)
    proxy.cut(b"message 2 of it", "running")
    with pytest.raises(StorageError):
        commit(store, group(2), 2)
    persist(store, 2)
    holding.join()
    check(store, 2)
    assert proxy.server.execute("SELECT count(*) FROM ledger WHERE last_seq = 2", schema=schema) == 1


def test_another_group_instead_of_one_that_happened_after_all_is_refused(
    store: PostgresStorage, proxy: Proxy
) -> None:
    proxy.cut(b"message 1 of it", "answered")
    with pytest.raises(StorageError):
        commit(store, group(1), 1)
    with pytest.raises(StorageError, match="was written after all"):
        commit(store, [entry(1)], 1)
    persist(store, 1)
    check(store, 1)


def test_another_group_instead_of_one_that_did_not_happen_is_taken(
    store: PostgresStorage, proxy: Proxy
) -> None:
    proxy.cut(b"message 1 of it", "before")
    with pytest.raises(StorageError):
        commit(store, group(1), 1)
    commit(store, [entry(1)], 1)
    assert [found.seq for found in store.replay(0, [1], "me")] == [1]


def test_connections_that_are_cut_at_random_lose_nothing(store: PostgresStorage, proxy: Proxy) -> None:
    chance = random.Random(17)  # noqa: S311
    for seq in range(1, 61):
        if chance.random() < 0.3:
            proxy.cut(b"message %d of it" % seq, chance.choice(MOMENTS))
        persist(store, seq)
    assert proxy.cuts > 9
    check(store, 60)


def write_for_ever(store: PostgresStorage, stop: threading.Event, done: list[int]) -> None:
    while not stop.is_set():
        persist(store, len(done) + 1)
        done.append(len(done) + 1)


def test_a_server_that_is_killed_under_load_has_every_commit_once() -> None:
    with own_postgres() as server:
        store = dense_postgres(server, "agenthost")
        store.open()
        commit(store, [added(1)], 0)
        stop, done = threading.Event(), list[int]()
        writing = threading.Thread(target=write_for_ever, args=(store, stop, done))
        writing.start()
        for _ in range(4):
            before, deadline = len(done), time.monotonic() + 20
            while len(done) < before + 20:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            server.restart()  # as `pg_ctl -m immediate`
        stop.set()
        writing.join(30)
        check(store, len(done))
        store.close()
        assert store.open().last_seq == len(done)
        check(store, len(done))
        store.close()
        _check_ledger(server)


def test_a_host_goes_on_by_itself_when_the_database_was_away() -> None:
    async def story(server: Postgres) -> None:
        async with Engine(dense_postgres(server, "agenthost")) as engine:
            session = await new_session(engine, "demo:/1")
            shown = engine.journal.line.shown_seq
            await asyncio.to_thread(server.stop)
            ticket = session.act(actions.title_changed("While it is away"))
            async with asyncio.timeout(2):
                while engine.journal.trouble is None:  # noqa: ASYNC110 - nobody is told
                    await asyncio.sleep(0.01)
            with pytest.raises(StorageError, match="cannot be reached"):
                engine.journal.refuse_if_in_trouble()
            assert engine.journal.line.shown_seq == shown  # nothing is shown that is not stored
            await asyncio.to_thread(server.start)
            await engine.journal.wait(ticket)
            assert engine.journal.trouble is None
            stored = engine.storage.find(uri="demo:/1")
            assert stored
            assert b"While it is away" in stored.summary

    with own_postgres() as server:
        run(lambda: story(server))


def _check_ledger(server: Postgres) -> None:
    """No number was given twice."""
    overlaps = """SELECT count(*) FROM (SELECT base - lag(last_seq) OVER (ORDER BY place) AS gap FROM ledger)
        AS gaps WHERE gap <> 0"""
    assert server.execute(overlaps, schema="agenthost") == 0
