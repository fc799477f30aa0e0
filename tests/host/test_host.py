"""The host: sessions made, prepared, forked, named and removed; agents started and stopped."""

import asyncio
from pathlib import Path

import pytest

from agenthost.errors import (
    HostError,
    SessionNotFound,
    StorageError,
)
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from hosting import run
from talking import Talk, talking
from turning import made, transcript, until


async def echoes(turn: Turn) -> None:
    await turn.say(
        f"{turn.text} {dict(turn.options)} {turn.model and turn.model.id} {dict(turn.model_config)}"
    )


class Careful(Agent):
    """An agent that notes what the host tells it."""

    name = "demo"

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.may_prepare = asyncio.Event()
        self.fault: Exception | None = None

    async def answer(self, turn: Turn) -> None:
        await turn.say("Hello")

    async def start(self) -> None:
        self.notes.append("start")

    async def stop(self) -> None:
        self.notes.append("stop")

    async def prepare(self, session: str) -> None:
        self.notes.append(f"prepare {session}")
        await self.may_prepare.wait()
        if self.fault is not None:
            raise self.fault

    async def forget(self, session: str) -> None:
        self.notes.append(f"forget {session}")


def test_an_agent_is_told_when_the_host_opens_and_closes_and_of_sessions(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Careful()
        agent.may_prepare.set()
        async with talking(tmp_path, agent) as host:
            await host.parts.lifecycle.create(NewSession(agent="demo", uri="demo:/1"))
            await host.parts.lifecycle.dispose("demo:/1")
        assert agent.notes in (
            ["start", "prepare demo:/1", "forget demo:/1", "stop"],
            ["start", "forget demo:/1", "stop"],  # removed before it could begin to get ready
        )

    run(story)


def test_a_session_is_gone_even_if_its_agent_cannot_forget_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Clinging(Careful):
        async def forget(self, session: str) -> None:
            raise ValueError(session)

    async def story() -> None:
        async with talking(tmp_path, Clinging()) as host:
            await host.parts.lifecycle.create(NewSession(agent="demo", uri="demo:/1"))
            await host.parts.lifecycle.dispose("demo:/1")
            assert host.parts.engine.session_counts.total == 0

    run(story)
    assert "could not clean up after a session" in caplog.text


def test_an_agent_that_cannot_start_keeps_the_host_closed_and_the_others_are_stopped(tmp_path: Path) -> None:
    class Broken(Careful):
        name = "broken"

        async def start(self) -> None:
            raise ValueError("no key")

    async def story() -> None:
        first = Careful()
        with pytest.raises(ValueError, match="no key"):
            async with talking(tmp_path, first, Broken()):
                pass
        assert first.notes == ["start", "stop"]
        async with talking(tmp_path, first):
            pass  # the folder was let go

    run(story)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [(HostError("No key."), "No key."), (KeyError("secret"), "the agent could not get ready")],
)
def test_a_session_whose_agent_cannot_get_ready_says_so_and_stays_listed(
    tmp_path: Path, fault: Exception, sentence: str
) -> None:
    async def story() -> None:
        agent = Careful()
        agent.fault = fault
        agent.may_prepare.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await until(talk, lambda state: state["lifecycle"] == "creationFailed")
            assert talk.state["creationError"]["message"] == sentence
            await host.parts.lifecycle.dispose(talk.uri)

    run(story)


def test_a_session_that_was_getting_ready_when_the_host_stopped_is_prepared_again(tmp_path: Path) -> None:
    async def story() -> None:
        agent = Careful()
        async with talking(tmp_path, agent) as host:
            uri = (await host.parts.lifecycle.create(NewSession(agent="demo"))).row.uri
        agent.may_prepare.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, uri)
            await until(talk, lambda state: state["lifecycle"] == "ready")

    run(story)


def test_sessions_that_nobody_needs_leave_memory_and_come_back_as_they_were(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(echoes), limits=Limits(sessions_in_memory=1)) as host:
            talk = await Talk.begin(host)
            await talk.say("Hi")
            state, said = talk.state, transcript(talk.session)
            await talk.feed.unsubscribe(talk.uri)
            await host.parts.engine.journal.wait()
            for _ in range(3):
                await host.parts.lifecycle.create(NewSession(agent="demo"))
            assert host.parts.engine.sessions.in_memory == 1
            again = await Talk.join(host, talk.uri)
            assert again.session is not talk.session
            assert (again.state, transcript(again.session)) == (state, said)
            await again.say("Again")

    run(story)


def test_a_session_is_after_a_restart_what_it_was_before(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(echoes)) as host:
            talk = await Talk.begin(host, messages=[{"role": "system", "content": "Be kind."}])
            await talk.say("One")
            await talk.say("Two")
            before = talk.state, talk.session.messages
        async with talking(tmp_path, made(echoes)) as host:
            await host.wait_restored()
            assert host.is_restored
            talk = await Talk.join(host, talk.uri)
            assert (talk.state, talk.session.messages) == before

    run(story)


@pytest.mark.sqlite
def test_two_hosts_cannot_have_one_folder(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(echoes)):
            with pytest.raises(StorageError, match="in use by this same process"):
                async with talking(tmp_path, made(echoes)):
                    pass

    run(story)


def test_without_a_folder_a_host_keeps_its_sessions_for_as_long_as_it_is_open() -> None:
    host = Host()
    host.agent("demo")(echoes)

    async def story() -> None:
        async with host:
            uri = (await host.parts.lifecycle.create(NewSession(agent="demo"))).row.uri
        async with host:
            with pytest.raises(SessionNotFound):
                await host.parts.engine.sessions.get(uri)

    run(story)
