"""Applications that fall behind and stay: what they missed comes from the log, a little at a time."""

import asyncio
import re
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aap_talking import decode_events, user
from agenthost import Agent, Host, ToolResult, Turn
from agenthost.core.actions import title_changed
from agenthost.edges.aap import turns
from agenthost.edges.aap.sessions import APP, Sessions
from agenthost.edges.aap.turns import Exchange, begin_turn
from agenthost.host.access.identity import Identity
from agenthost.host.lifecycle import new_id
from agenthost.host.log import text_runs
from agenthost.host.state import pages
from agenthost.host.state.session import Session
from agenthost.wire.aap.v3 import StreamMode
from hosting import run
from rules import rule

MIB = 1024 * 1024


@asynccontextmanager
async def talking(
    folder: Path, answer: Callable[[Turn], Awaitable[None]], mode: StreamMode = "delta"
) -> AsyncIterator[tuple[Host, Session, Exchange]]:
    """Start a turn whose application reads only when the test does."""
    host = Host(data=folder / "data", workspace=folder, sandbox="off")
    host.add(Agent("demo", answer, stream=("none", "message", "delta")))
    async with host:
        session_id = new_id()
        client = host.client(Identity(f"{APP}{session_id}"))
        session = await Sessions(host, client).create({"agent": {"name": "demo"}}, session_id)
        body: Any = {"messages": [user("Go")], "stream": mode}
        yield host, session, await begin_turn(host, client, session, body)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use small queues and small pages."""
    monkeypatch.setattr(text_runs, "MAX_RUN", 20)
    monkeypatch.setattr(turns, "MAX_WAITING_ITEMS", 50)
    monkeypatch.setattr(pages, "PAGE_BYTES", 2_000)


def texts(stream: bytes) -> list[str]:
    return [event["delta"] for event in decode_events(stream, 3) if event["event"] == "text_delta"]


async def until_said(session: Session, text: str) -> None:
    """Wait until a text was shown to subscribers."""
    while text not in str(session.shown_chat.state):  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def until_ended(session: Session) -> None:
    """Wait until the end of the turn was shown to subscribers."""
    while not session.shown_chat.state["turns"]:  # noqa: ASYNC110
        await asyncio.sleep(0.001)


@rule("Z3")
@pytest.mark.usefixtures("short")
def test_what_an_agent_says_while_an_application_catches_up_comes_once_and_in_order(tmp_path: Path) -> None:
    on = asyncio.Semaphore(0)

    async def answer(turn: Turn) -> None:
        for place in range(2_000):
            if place >= 500:
                await on.acquire()
            await turn.say(f"{place};")
            if place % 7 == 0:
                await asyncio.sleep(0)

    async def story() -> None:
        async with talking(tmp_path, answer) as (_, session, exchange):
            events = exchange.events()
            await until_said(session, "499;")
            stream, reads = b"", 0
            async for chunk in events:
                stream += chunk
                reads += 1
                for _ in range(20):
                    on.release()
            assert texts(stream) == [f"{place};" for place in range(2_000)]
            assert decode_events(stream, 3)[-1] == {"event": "turn_stop", "stopReason": "end_turn"}
            assert reads > 20

    run(story)


@rule("Z3")
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("count", [10, 100])
def test_what_is_shown_before_the_request_is_no_part_of_the_answer(tmp_path: Path, count: int) -> None:
    """Of the larger count the application misses some, so that it continues from the log."""

    async def answer(turn: Turn) -> None:
        await turn.say("Done.")

    async def story() -> None:
        async with talking(tmp_path, answer) as (host, session, exchange):
            await exchange.answer()
            for place in range(count):
                session.act(title_changed(str(place)))
            while session.journal.backlog:  # noqa: ASYNC110 - until they are being written
                await asyncio.sleep(0)
            assert session.shown_state["title"] != str(count - 1)
            client = host.client(Identity(f"{APP}{session.row.name}"))
            body: Any = {"messages": [user("Again")], "stream": "delta"}
            second = await begin_turn(host, client, session, body)
            stream = b"".join([chunk async for chunk in second.events()])
            assert [event["event"] for event in decode_events(stream, 3)] == [
                *("turn_start", "text_delta", "turn_stop")
            ]

    run(story)


@rule("Z3")
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("mode", ["message", "delta"])
def test_missed_calls_and_texts_are_sent_as_they_would_have_been(tmp_path: Path, mode: StreamMode) -> None:
    async def answer(turn: Turn) -> None:
        for place in range(10):
            for _ in range(30):
                await turn.say(f"{place}.")
            turn.report("look", {"at": place}).complete(ToolResult(f"seen {place}"))

    async def story() -> None:
        streams = []
        for is_late in (False, True):
            folder = tmp_path / str(is_late)
            folder.mkdir()
            async with talking(folder, answer, mode) as (_, session, exchange):
                events = exchange.events()
                if is_late:
                    await until_ended(session)
                streams.append(b"".join([chunk async for chunk in events]))
        in_time, late = [re.sub(rb'"toolCallId":"[^"]*"', b"", stream) for stream in streams]
        assert late == in_time
        assert late.count(b"event: tool_result") == 10

    run(story)


@rule("Z1")
@pytest.mark.usefixtures("short")
def test_nothing_more_is_read_for_an_application_that_leaves_between_two_pages(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        for place in range(1_000):
            await turn.say(f"{place};")

    async def story() -> None:
        async with talking(tmp_path, answer) as (host, session, exchange):
            events = exchange.events()
            await until_ended(session)
            found = [await anext(events) for _ in range(3)]
            assert 0 < len(texts(b"".join(found))) < 900
            exchange.lose_reader()
            # The turn has ended, so nothing is left to wait for.
            assert [chunk async for chunk in events] == []
            assert not host.parts.engine.hub.is_heard(session.number)

    run(story)


@rule("Z3")
@pytest.mark.usefixtures("short")
def test_the_stream_of_a_session_that_is_deleted_between_two_pages_ends_with_an_error(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        for place in range(1_000):
            await turn.say(f"{place};")

    async def story() -> None:
        async with talking(tmp_path, answer) as (host, session, exchange):
            events = exchange.events()
            await until_ended(session)
            for _ in range(3):
                await anext(events)
            await host.parts.lifecycle.dispose(session.row.uri)
            rest = decode_events(b"".join([chunk async for chunk in events]), 3)
            assert rest == [{"event": "turn_stop", "stopReason": "error"}]

    run(story)


@rule("Z3")
def test_an_application_that_is_behind_takes_little_memory_however_much_it_missed(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        for _ in range(256):
            await turn.say("x" * 65_536)
            await asyncio.sleep(0.002)

    async def story() -> None:
        async with talking(tmp_path, answer) as (_, session, exchange):
            events = exchange.events()
            await until_ended(session)
            tracemalloc.start()
            try:
                size = most = 0
                async for chunk in events:
                    size += len(chunk)
                    most = max(most, tracemalloc.get_traced_memory()[0])
            finally:
                tracemalloc.stop()
            assert size > 16 * MIB
            assert most < 3 * MIB

    run(story)
