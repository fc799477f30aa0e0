"""What of a transcript an agent gets for its model, and that finding it out does not read all of it again."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.token_estimate import estimate_tokens
from agenthost.core.transcript import Message
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from agenthost.host.state import session as sessions
from hosting import run
from talking import Talk, talking
from turning import tell


async def count(turn: Turn) -> None:
    await turn.say(f"{len(turn.compacted(60))} of {len(turn.transcript)}, {turn.tokens}")


def answers(talk: Talk) -> list[Any]:
    return [said.message["content"] for said in talk.session.messages if said.message["role"] == "assistant"]


def test_a_transcript_that_fits_is_given_whole_and_one_that_does_not_is_compacted(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        for text in ("Short", "x" * 200, "y" * 200):
            await talk.say(text)
        first, _, last = answers(talk)
        assert first.startswith("1 of 1,")
        assert last.startswith("2 of 5,")  # a note, and the message itself

    tell(tmp_path, count, story)


def test_the_estimate_is_that_of_all_messages_after_turns_were_removed_too(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        for text in ("One", "Two", "Three"):
            await talk.say(text)
        first = talk.state["turns"][0]["id"]
        for _ in range(2):
            messages = [said.message for said in talk.session.messages]
            assert talk.session.tokens == sum(map(estimate_tokens, messages))
            await talk.act("truncated", turnId=first)
        assert len(talk.session.messages) == 2

    tell(tmp_path, count, story)


def test_each_message_is_estimated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[Message] = []

    def estimate(message: Message) -> int:
        estimated.append(message)
        return estimate_tokens(message)

    monkeypatch.setattr(sessions, "estimate_tokens", estimate)

    async def story(talk: Talk) -> None:
        for text in ("One", "Two", "Three"):
            await talk.say(text)
        assert len(estimated) == 5  # all but the last answer

    tell(tmp_path, count, story)


class Forgetful(Agent):
    def compact(self, messages: Sequence[Message], budget: int) -> list[Message]:
        return list(messages[-1:])


def test_an_agent_that_compacts_by_itself_is_always_asked(tmp_path: Path) -> None:
    async def step(turn: Turn) -> AsyncIterator[Any]:
        yield f"{len(turn.messages)} of {len(turn.transcript)}"

    async def story() -> None:
        async with talking(tmp_path, Forgetful("forgetful", step)) as host:
            talk = await Talk.begin(host, "forgetful")
            for text in ("One", "Two"):
                await talk.say(text)
            assert answers(talk)[1] == "1 of 3"

    run(story)
