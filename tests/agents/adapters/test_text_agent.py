"""Functions of text as agents: every kind of function, and what they must not give."""

import functools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.adapters import TextAgent
from hosting import run
from talking import Talk, said, talking


async def pieces(text: str) -> AsyncIterator[str]:
    """Say it in pieces.

    Not told.
    """
    for letter in text:
        yield letter


async def whole(text: str) -> str:
    return text


def blocking(text: str) -> str:
    return text


def blocking_pieces(text: str) -> Iterator[str]:
    yield from text


def given(text: str) -> Any:
    return pieces(text)


class Speaker:
    async def __call__(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    "function", [pieces, whole, blocking, blocking_pieces, given, Speaker(), functools.partial(whole)]
)
def test_every_kind_of_function_of_text_is_an_agent(tmp_path: Path, function: Any) -> None:
    heard = said(tmp_path, TextAgent("demo", function, description="x"), "hello")
    assert heard.text == "hello"
    assert heard.ending["type"] == "session/turnComplete"


def test_its_description_is_its_docstring_and_pieces_stream(tmp_path: Path) -> None:
    agent = TextAgent("demo", pieces)
    assert agent.description == "Say it in pieces."
    assert said(tmp_path, agent, "abc").deltas != []


def test_a_function_with_a_second_parameter_gets_the_messages(tmp_path: Path) -> None:
    def count(text: str, messages: list[Any]) -> str:
        return f"{text} is message {len(messages)}"

    async def story() -> None:
        async with talking(tmp_path, TextAgent("demo", count)) as host:
            talk = await Talk.begin(host)
            await talk.say("one")
            await talk.say("two")
            assert talk.answer == "two is message 3"

    run(story)


def test_a_result_that_is_not_text_fails_the_turn(tmp_path: Path) -> None:
    heard = said(tmp_path, TextAgent("demo", lambda text: 5), "x")
    assert heard.ending["error"]["errorType"] == "agentFailed"
