"""Titles of sessions: from the first message at once, from the agent when it has one, from people to stay."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.transcript import Message
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking


class Namer(Agent):
    """An agent that has a title in mind, when it is let."""

    name = "demo"

    def __init__(self, title: Any = "Of ducks") -> None:
        super().__init__()
        self.suggestion = title
        self.asked: list[Sequence[Message]] = []
        self.is_asked, self.may = asyncio.Event(), asyncio.Event()

    async def answer(self, turn: Turn) -> None:
        await turn.say("Quack.")

    async def suggest_title(self, messages: Sequence[Message]) -> str | None:
        self.asked.append(messages)
        self.is_asked.set()
        await self.may.wait()
        if isinstance(self.suggestion, Exception):
            raise self.suggestion
        return None if self.suggestion is None else str(self.suggestion)


def tell(folder: Path, agent: Namer, story: Any) -> None:
    async def inner() -> None:
        async with talking(folder, agent) as host:
            await story(await Talk.begin(host))

    run(inner)


def title(talk: Talk) -> Any:
    return talk.state["summary"]["title"]


def test_an_agent_is_asked_once_the_first_turn_is_over_and_no_turn_waits_for_it(tmp_path: Path) -> None:
    agent = Namer()

    async def story(talk: Talk) -> None:
        await talk.say("What about\nducks?")
        await agent.is_asked.wait()
        await talk.say("And geese?")
        assert title(talk) == "What about"
        agent.may.set()
        assert (await talk.hear_one("titleChanged"))["title"] == "Of ducks"
        await talk.say("And swans?")
        assert [[message["content"] for message in asked] for asked in agent.asked] == [
            ["What about\nducks?", "Quack."]
        ]

    tell(tmp_path, agent, story)


def test_a_name_that_somebody_gave_meanwhile_stays(tmp_path: Path) -> None:
    agent = Namer()

    async def story(talk: Talk) -> None:
        await talk.say("What about ducks?")
        await agent.is_asked.wait()
        await talk.act("titleChanged", title="Mine")
        agent.may.set()
        await asyncio.gather(*talk.host.parts.titles.tasks)
        await talk.session.journal.wait()
        assert title(talk) == "Mine"

    tell(tmp_path, agent, story)


def test_a_session_that_somebody_named_before_is_not_asked_about(tmp_path: Path) -> None:
    agent = Namer()

    async def story(talk: Talk) -> None:
        await talk.act("titleChanged", title="Mine")
        await talk.say("What about ducks?")
        assert (agent.asked, talk.host.parts.titles.tasks) == ([], set())

    tell(tmp_path, agent, story)


@pytest.mark.parametrize("suggestion", [None, "", "  \n", OSError("out of ink")])
def test_an_agent_without_a_suggestion_leaves_the_title_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suggestion: Any
) -> None:
    agent = Namer(suggestion)

    async def story(talk: Talk) -> None:
        agent.may.set()
        await talk.say("What about ducks?")
        await asyncio.gather(*talk.host.parts.titles.tasks)
        assert title(talk) == "What about ducks?"

    tell(tmp_path, agent, story)
    failed = [record.message for record in caplog.records if record.name == "agenthost.titles"]
    wanted = (
        ["agent demo could not suggest a title: OSError: out of ink"]
        if isinstance(suggestion, OSError)
        else []
    )
    assert failed == wanted


def test_a_session_that_is_gone_needs_no_title(tmp_path: Path) -> None:
    agent = Namer()

    async def story(talk: Talk) -> None:
        await talk.say("What about ducks?")
        await agent.is_asked.wait()
        await talk.host.parts.lifecycle.dispose(talk.uri)
        agent.may.set()
        await asyncio.gather(*talk.host.parts.titles.tasks)

    tell(tmp_path, agent, story)


def test_a_host_that_closes_waits_for_no_title(tmp_path: Path) -> None:
    agent = Namer()

    async def story(talk: Talk) -> None:
        await talk.say("What about ducks?")
        await agent.is_asked.wait()

    tell(tmp_path, agent, story)
