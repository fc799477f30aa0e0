"""Two nodes on one store: each follows what the other writes, and takes over from one that died."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.errors import OwnedElsewhere, SessionExists, StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.cluster.takeover import Takeover
from agenthost.host.state import feed as feed_module
from agenthost.host.state.engine import Engine
from agenthost.host.state.feed import Feed
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.storage.shared import shared_of
from agenthost.wire.json import decode_json
from databases import needs_postgres, own_schema, shared_postgres
from hosting import chat_of, new_session, run, user_message

pytestmark = needs_postgres

URI = "demo:/1"
ME = Identity("me")


@pytest.fixture(name="url")
def store() -> Iterator[str]:
    server = shared_postgres()
    with own_schema(server) as schema:
        yield server.url(schema)


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Engine, Engine]]:
    async with AsyncExitStack() as stack:
        first, second = (Engine(PostgresStorage(url)) for _ in range(2))
        yield await stack.enter_async_context(first), await stack.enter_async_context(second)


async def until(look: Callable[[], Any], seconds: float = 5) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := look()):  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.01)
        return found


async def die(engine: Engine) -> None:
    """Fall silent, as a process that was killed."""
    storage: Any = engine.storage
    await asyncio.to_thread(lambda: storage._opened().run(storage._node.fall_silent()))


async def taken(feed: Feed, count: int) -> list[Any]:
    items: list[Any] = []
    async with asyncio.timeout(5):
        while sum(item.count for item in items) < count:
            items += await feed.subscriber.wait_next()
    return items


def test_a_session_of_another_node_is_followed_with_the_same_bytes(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            there = await second.sessions.get(URI)
            assert there.is_foreign
            assert there.shown_state == session.shown_state
            feeds = [engine.feed(ME) for engine in (first, second)]
            for feed in feeds:
                await feed.subscribe_all([URI, chat_of(URI)])
            session.act(actions.title_changed("Told"))
            session.act(actions.turn_started("t1", user_message(), session.now()))
            session.stream("chat/delta", "t1", "p1", "one ")
            session.stream("chat/delta", "t1", "p1", "two")
            await first.journal.wait()
            shown = [await taken(feed, 4) for feed in feeds]
            lines = [[line for item in items for line in item.envelopes()] for items in shown]
            assert lines[0] == lines[1]
            assert there.shown_state == session.shown_state
            assert there.shown_chat.state == session.shown_chat.state

    run(story)


def test_numbers_ascend_for_a_client_that_follows_sessions_of_both_nodes(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            sessions = [await new_session(first, URI), await new_session(second, "demo:/2")]
            feed = first.feed(ME)
            await feed.subscribe_all([URI, "demo:/2"])
            for place in range(50):
                for session in sessions:
                    session.act(actions.title_changed(f"{place}"))
                await asyncio.sleep(0.001)
            items = await taken(feed, 100)
            numbers = [item.seq for item in items]
            assert numbers == sorted(numbers)
            assert len(set(numbers)) == 100
            assert (await first.sessions.get("demo:/2")).shown_state["title"] == "49"

    run(story)


def test_nobody_but_its_owner_writes_a_session(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            await new_session(first, URI)
            there = await second.sessions.get(URI)
            with pytest.raises(OwnedElsewhere, match="another node"):
                there.act(actions.title_changed("No"))
            with pytest.raises(OwnedElsewhere):
                there.keep({})
            with pytest.raises(SessionExists):
                await new_session(second, URI)

    run(story)


def test_two_nodes_that_create_the_same_session_do_not_collide(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            results = await asyncio.gather(
                *(new_session(engine, URI) for engine in (first, second)), return_exceptions=True
            )
            assert [type(one) for one in results if isinstance(one, Exception)] == [SessionExists]
            await until(lambda: first.session_counts.total == second.session_counts.total == 1)

    run(story)


def test_a_returning_client_gets_what_it_missed_at_another_node(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            feed = first.feed(ME)
            view = await feed.subscribe(URI)
            for place in range(5):
                session.act(actions.title_changed(f"{place}"))
            await first.journal.wait()
            seen = first.line.shown_seq
            ahead = await second.feed(ME).resume(seen, [URI])  # it waits until that was shown here
            assert second.line.shown_seq >= seen
            assert ahead.replay == []
            resumed = await second.feed(ME).resume(view.seq, [URI])
            assert resumed.replay is not None
            titles = [decode_json(entry.envelope)["action"].get("title") for entry in resumed.replay]
            assert titles == [f"{place}" for place in range(5)]

    run(story)


def test_a_node_that_is_behind_refuses_a_client_that_has_seen_more(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "RESUME_SECONDS", 0.05)

    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            await second.sessions.get(URI)
            line: Any = second.line
            monkeypatch.setattr(line, "hear", lambda _: None)  # as if its connection hung
            session.act(actions.title_changed("Seen"))
            await first.journal.wait()
            seen = first.line.shown_seq
            with pytest.raises(StorageError, match="too late"):
                await second.feed(ME).resume(seen, [URI])
            unknown = await second.feed(ME).resume(seen + 1_000, [URI])  # of another history
            assert unknown.replay is None
            line.catch_up()
            assert (await second.feed(ME).resume(seen, [URI])).replay == []

    run(story)


def test_a_node_takes_over_what_it_followed_and_its_subscribers_see_one_stream(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            feed = second.feed(ME)
            await feed.subscribe_all([URI, chat_of(URI)])
            there = await second.sessions.get(URI)
            session.act(actions.turn_started("t1", user_message(), session.now()))
            session.stream("chat/delta", "t1", "p1", "one ")
            await first.journal.wait()
            assert await second.sessions.take([session.number]) == []
            await die(first)

            async def take() -> None:
                while await second.sessions.take([session.number]) != [session.number]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

            async with asyncio.timeout(5):
                await take()
            assert not there.is_foreign
            assert there.has_turn
            there.act(actions.title_changed("Went on"))
            await second.journal.wait()
            items = await taken(feed, 3)
            numbers = [item.seq for item in items]
            assert numbers == sorted(numbers)
            assert items[-1].action["title"] == "Went on"
            ticket = session.act(actions.title_changed("A zombie"))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await first.journal.wait(ticket)
            assert "taken over" in str(first.journal.trouble)
            assert there.shown_state["title"] == "Went on"

    run(story)


def test_a_turn_of_a_session_that_was_claimed_and_not_loaded_goes_on(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            session.act(actions.turn_started("t1", user_message(), session.now()))
            await first.journal.wait()
            await die(first)
            storage = shared_of(second.storage)
            assert storage
            while storage.claim([session.number]) != {session.number: storage.node}:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            takeover = Takeover(storage, second.sessions, ["demo"])
            takeover.start()
            there = await until(lambda: second.sessions.peek(URI))
            assert there.has_turn
            assert not there.is_foreign
            await until(lambda: takeover.count == 1)
            await takeover.close()

    run(story)


def test_a_session_that_is_removed_elsewhere_is_gone_here(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            await new_session(first, URI)
            await second.sessions.get(URI)
            await first.removals.remove(URI)
            await until(lambda: second.sessions.peek(URI) is None)
            await until(lambda: second.root.shown.state["activeSessions"] == 0)

    run(story)


def test_the_root_is_written_by_one_node_and_shows_what_all_have(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            assert (first.root.is_foreign, second.root.is_foreign) == (False, True)
            info: Any = {"provider": "other", "displayName": "", "description": "", "models": []}
            second.root.set_agents([info])
            await until(lambda: second.root.shown.state["agents"])
            assert first.root.shown.state == second.root.shown.state
            await new_session(second, URI)
            await until(lambda: first.root.shown.state["activeSessions"] == 1)
            await until(lambda: second.root.shown.state["activeSessions"] == 1)
            await die(first)
            await until(lambda: not second.root.is_foreign)
            await new_session(second, "demo:/2")
            await until(lambda: second.root.shown.state["activeSessions"] == 2)

    run(story)


async def cut(storage: Any) -> None:
    """Cut the connection for notices; used on the store's own event loop."""
    await until(lambda: storage._listener._connection)
    storage._listener._connection.terminate()


def test_a_lost_connection_for_notices_loses_nothing(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first, URI)
            feed = second.feed(ME)
            await feed.subscribe(URI)
            storage: Any = second.storage
            for place in range(20):
                session.act(actions.title_changed(f"{place}"))
                await first.journal.wait()
                if place % 5 == 2:
                    await asyncio.to_thread(lambda: storage._opened().run(cut(storage)))
            items = await taken(feed, 20)
            assert [item.action["title"] for item in items] == [f"{place}" for place in range(20)]

    run(story)
