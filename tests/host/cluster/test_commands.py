"""Commands for sessions: carried out once, by the node that writes the session, even if it dies."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.errors import OwnedElsewhere, PeerGone, PeerRefused
from agenthost.host.cluster.commands import KNOWN, Commands
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.wire.json import Json, JsonObject
from databases import needs_postgres, own_schema, shared_postgres
from hosting import new_session, run

pytestmark = needs_postgres

URI = "demo:/1"


class Node:
    """A node that can rename sessions, and is called directly."""

    def __init__(self, engine: Engine, others: "dict[int, Node]") -> None:
        assert engine.shared is not None
        assert engine.ownership is not None
        self.engine = engine
        self.others = others
        self.done: list[str] = []
        self.is_gone = False
        self.loses_answers = False
        self.handlers: dict[str, Any] = {}
        self.commands = Commands(
            engine.shared, engine.ownership, engine.sessions, self.carry_out, engine.line
        )
        self.node = engine.shared.node
        others[self.node] = self
        self.commands.connect(self)  # type: ignore[arg-type] # the same two methods

    def on(self, method: str, handler: Any) -> None:
        self.handlers[method] = handler

    async def call(self, node: int, method: str, params: JsonObject) -> Json:
        other = self.others[node]
        if other.is_gone:
            raise PeerGone(node, "gone", was_sent=True)
        try:
            answer: Json = await other.handlers[method](self.node, params)
        except OwnedElsewhere as error:
            raise PeerRefused(error) from None
        if other.loses_answers:
            raise PeerGone(node, "lost", was_sent=True)
        return answer

    async def carry_out(self, session: Session, method: str, params: Any) -> Callable[[], Json]:
        self.done.append(method)
        if not method.startswith(KNOWN):
            session.act(actions.title_changed(params["title"]))
        return lambda: method


@pytest.fixture(name="url")
def store() -> Iterator[str]:
    server = shared_postgres()
    with own_schema(server) as schema:
        yield server.url(schema)


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Node, Node]]:
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine(PostgresStorage(url))) for _ in range(2)]
        others: dict[int, Node] = {}
        yield Node(engines[0], others), Node(engines[1], others)


async def die(node: Node) -> None:
    node.is_gone = True
    storage: Any = node.engine.storage
    await asyncio.to_thread(lambda: storage._opened().run(storage._node.fall_silent()))


def test_a_command_is_carried_out_where_the_session_is_written_and_was_shown_here_then(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            await new_session(first.engine, URI)
            there = await second.engine.sessions.get(URI)
            assert await second.commands.run(there, "rename", {"title": "One"}) == "rename"
            assert there.shown_state["title"] == "One"
            assert (first.done, second.done) == (["rename"], [])

    run(story)


def test_commands_of_one_node_are_carried_out_in_order(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            session = await new_session(first.engine, URI)
            there = await second.engine.sessions.get(URI)
            titles: list[str] = []

            def note(item: Any) -> None:
                titles.append(item.action["title"])

            first.engine.hub.watch(session.number, note)
            await asyncio.gather(
                *(second.commands.run(there, "rename", {"title": f"{place}"}) for place in range(20))
            )
            assert titles == [f"{place}" for place in range(20)]

    run(story)


def test_a_command_whose_answer_was_lost_with_its_node_is_not_carried_out_again(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            await new_session(first.engine, URI)
            there = await second.engine.sessions.get(URI)
            first.loses_answers = True
            running = asyncio.create_task(second.commands.run(there, "rename", {"title": "Once"}))
            async with asyncio.timeout(5):
                while not first.done:  # noqa: ASYNC110 - nobody is told
                    await asyncio.sleep(0.01)
            await first.engine.journal.wait()
            await die(first)
            assert await running == f"{KNOWN}rename"
            assert second.done == [f"{KNOWN}rename"]
            assert not there.is_foreign
            assert there.shown_state["title"] == "Once"

    run(story)


def test_a_command_for_a_node_that_died_is_carried_out_by_the_next_one(url: str) -> None:
    async def story() -> None:
        async with two(url) as (first, second):
            await new_session(first.engine, URI)
            there = await second.engine.sessions.get(URI)
            await die(first)
            assert await second.commands.run(there, "rename", {"title": "Here"}) == "rename"
            assert (first.done, second.done) == ([], ["rename"])
            assert there.shown_state["title"] == "Here"

    run(story)
