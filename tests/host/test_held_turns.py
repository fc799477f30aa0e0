"""Turns that are started before their session is ready: held, started in order, or refused with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.session_meta import model_of
from agenthost.errors import HostError
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent, Model
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.senders import Sender
from hosting import run
from legacy_view import dispatch
from talking import Talk, talking
from turning import transcript, until


class Slow(Agent):
    """An agent that takes its time to get ready."""

    name = "demo"

    def __init__(self) -> None:
        super().__init__(models=[Model("small"), Model("large")])
        self.may_prepare = asyncio.Event()
        self.fault: Exception | None = None

    async def answer(self, turn: Turn) -> None:
        await turn.say(f"{turn.text} {turn.model and turn.model.id}")

    async def prepare(self, session: str) -> None:
        await self.may_prepare.wait()
        if self.fault is not None:
            raise self.fault


class Told:
    """A connection, and what only its client is shown."""

    def __init__(self, host: Host, uri: str) -> None:
        self.host, self.uri = host, uri
        self.sender: Sender | None = None
        self.refusals: asyncio.Queue[LogItem] = asyncio.Queue()

    @classmethod
    @asynccontextmanager
    async def open(cls, host: Host, uri: str, last_seen: int | None = None) -> AsyncIterator["Told"]:
        told = cls(host, uri)
        told.sender = await host.parts.engine.senders.join(
            Identity("me"), told.refusals.put_nowait, last_seen
        )
        yield told
        host.parts.engine.senders.leave(told.sender)

    async def act(self, number: int, name: str, /, **fields: Any) -> LogItem | None:
        action = {"type": f"session/{name}", "session": self.uri, **fields}
        client = self.host.client(Identity("me"))
        return await dispatch(client, number, action, sender=self.sender)

    async def start(self, number: int, turn_id: str) -> LogItem | None:
        return await self.act(number, "turnStarted", turnId=turn_id, userMessage={"text": turn_id})


def test_a_turn_waits_until_the_session_is_ready_and_then_runs(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Slow()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            assert talk.session.state["lifecycle"] == "creating"
            assert "activeTurn" not in talk.session.chat
            agent.may_prepare.set()
            heard = await talk.finish()
            kinds = [action["type"].removeprefix("session/") for action in heard.actions]
            assert kinds[:2] == ["ready", "turnStarted"]
            assert transcript(talk.session)[0] == {"role": "user", "content": "Hi"}

    run(story)


def test_what_is_sent_before_and_behind_a_turn_keeps_its_order(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Slow()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            assert await talk.act("modelChanged", model={"id": "small"}) is None
            assert await talk.act("titleChanged", title="Mine") is None
            await talk.send("first")
            assert await talk.act("modelChanged", model={"id": "large"}) is None
            async with Told.open(host, talk.uri) as me:
                message = {"id": "q", "userMessage": {"text": "second"}}
                assert await me.act(1, "pendingMessageSet", kind="queued", **message) is None
            second = await talk.act("turnStarted", turnId="other", userMessage={"text": "x"})
            assert "is waiting until the session is ready" in str(second and second.reason)
            assert model_of(talk.session.state) == {"id": "small"}
            agent.may_prepare.set()
            await until(talk, lambda state: len(state["turns"]) == 2)
            said = [turn["responseParts"][0]["content"] for turn in talk.state["turns"]]
            assert said == ["first small", "second large"]

    run(story)


def test_a_turn_that_is_cancelled_while_it_waits_ends_as_soon_as_it_starts(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Slow()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            await talk.cancel()
            agent.may_prepare.set()
            await talk.finish()
            (turn,) = talk.state["turns"]
            assert (turn["state"], turn["responseParts"]) == ("cancelled", [])

    run(story)


@pytest.mark.parametrize("way", ["fails", "is disposed"])
def test_a_turn_is_refused_when_its_session_goes(tmp_path: Path, way: str) -> None:
    async def story() -> None:
        agent = Slow()
        agent.fault = HostError("No key.")
        async with talking(tmp_path, agent) as host:
            uri = (await host.parts.lifecycle.create(NewSession(agent="demo"))).row.uri
            async with Told.open(host, uri) as me:
                assert await me.start(5, "t1") is None
                if way == "fails":
                    agent.may_prepare.set()
                else:
                    await host.parts.lifecycle.dispose(uri)
                refusal = await me.refusals.get()
                action: Any = refusal.action
                assert (action["turnId"], refusal.only_for) == ("t1", "me")
                sentence = "could not be created: No key." if way == "fails" else "was disposed"
                assert refusal.reason == f"the session {sentence}"
                assert b'"origin":{"clientId":"me","clientSeq":5}' in refusal.envelope
                assert me.refusals.empty()

    run(story)


def test_a_turn_that_waits_outlives_the_host_and_nobody_has_to_come_back_for_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, Slow()) as host:
            uri = (await host.parts.lifecycle.create(NewSession(agent="demo"))).row.uri
            async with Told.open(host, uri) as me:
                assert await me.start(5, "t1") is None
            await host.parts.engine.journal.wait()
            seen = host.parts.engine.line.shown_seq
        agent = Slow()
        agent.may_prepare.set()
        async with talking(tmp_path, agent) as host:
            await host.wait_restored()
            talk = await Talk.join(host, uri)
            await until(talk, lambda state: state["turns"])
            async with Told.open(host, uri, seen) as me:
                assert await me.start(5, "t1") is None  # a repeat, dropped
                again = await me.start(5, "t1")
                assert "already had a turn" in str(again and again.reason)
            assert len(talk.session.chat["turns"]) == 1

    run(story)


def test_a_turn_that_waits_is_not_started_twice_by_a_client_that_comes_back(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Slow()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            async with Told.open(host, talk.uri) as me:
                assert await me.start(5, "t1") is None
            await host.parts.engine.journal.wait()
            async with Told.open(host, talk.uri, host.parts.engine.line.shown_seq) as me:
                assert await me.start(5, "t1") is None
                agent.may_prepare.set()
                await until(talk, lambda state: state["turns"])
                assert me.refusals.empty()
            assert len(talk.session.chat["turns"]) == 1

    run(story)
