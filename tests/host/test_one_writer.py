"""A session is in memory once, however little room there is; a fork takes nothing that is its source's."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from agenthost.core.queries import open_questions
from agenthost.core.session_meta import model_of
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Model
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from hosting import run
from legacy_view import dispatch


def asking_host(folder: Path) -> Host:
    host = Host(data=folder, limits=Limits(sessions_in_memory=1))

    @host.agent("asker", models=[Model("small"), Model("large")])
    async def asker(turn: Turn) -> None:
        if turn.text == "ask":
            await turn.ask("What now?")
        await turn.say("Well.")

    return host


async def until(is_so: Callable[[], object]) -> None:
    while not is_so():  # noqa: ASYNC110
        await asyncio.sleep(0)


async def start(host: Host, uri: str, turn_id: str, text: str) -> None:
    action = {"type": "session/turnStarted", "turnId": turn_id, "userMessage": {"text": text}}
    await dispatch(host.client(Identity(uri)), int(turn_id), {**action, "session": uri})
    session = await host.parts.engine.sessions.get(uri)
    await until(lambda: not session.has_turn or open_questions(session.chat))
    await host.parts.engine.journal.wait()


def test_a_session_that_comes_into_full_memory_has_one_writer(tmp_path: Path) -> None:
    async def story() -> None:
        async with asking_host(tmp_path) as host:
            for place in range(3):
                await host.parts.lifecycle.create(NewSession(agent="asker", uri=f"asker:/{place}"))
        async with asking_host(tmp_path) as host:
            feed = host.parts.engine.feed(Identity("me"))
            await feed.subscribe("asker:/0")
            await feed.subscribe("asker:/1")
            await start(host, "asker:/2", "1", "ask")
            session = await host.parts.engine.sessions.get("asker:/2")
            assert host.parts.turns.sessions() == [session]
            (request,) = open_questions(session.chat)
            answer = {"type": "session/inputCompleted", "requestId": request["id"], "response": "cancel"}
            me = host.client(Identity("me"))
            assert await dispatch(me, 2, {**answer, "session": "asker:/2"}) is None
            await until(lambda: not session.has_turn)

    run(story)


def test_a_fork_does_not_get_what_waits_for_the_end_of_its_sources_turn(tmp_path: Path) -> None:
    async def story() -> None:
        async with asking_host(tmp_path) as host:
            await host.parts.lifecycle.create(NewSession(agent="asker", uri="asker:/0"))
            await start(host, "asker:/0", "1", "talk")
            await start(host, "asker:/0", "2", "ask")
            model = {"type": "session/modelChanged", "session": "asker:/0", "model": {"id": "large"}}
            assert await dispatch(host.client(Identity("me")), 1, model) is None
            fork = await host.parts.lifecycle.fork("asker:/0", "1", "asker:/fork")
            assert fork.private == {}
            await start(host, "asker:/fork", "3", "talk")
            assert model_of(fork.state) is None

    run(story)
