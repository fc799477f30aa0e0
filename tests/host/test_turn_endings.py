"""How turns end: exactly once, however their agents do, and nothing is heard of them afterwards."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import HostError
from agenthost.host.authoring.agent import Answer
from agenthost.host.authoring.steps import Call, Stop, StopReason
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from hosting import run
from talking import ENDINGS, Talk, talking
from turning import assistant, made, parts, pass_time, tell, transcript, until, user


async def waits_for_ever(turn: Turn) -> None:
    await turn.say("Wait")
    await asyncio.Event().wait()


def refuse_politely(turn: Turn, reason: StopReason) -> Any:
    turn.stop(reason)


async def stops(turn: Turn) -> None:
    await turn.say("No")
    refuse_politely(turn, "refusal")


async def stop_step(_turn: Turn) -> AsyncIterator[Any]:
    yield "No"
    yield Call("never")
    yield Stop("refusal")


@pytest.mark.parametrize("answer", [stops, stop_step])
def test_a_reason_to_stop_is_shown_and_kept_beside_the_turn(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        turn_id = await talk.send("Hi")
        await talk.finish()
        (turn,) = talk.state["turns"]
        assert turn["state"] == "complete"
        assert parts(turn)[-1] == ("systemNotification", "The model refused to answer.")
        assert talk.session.private["stops"] == {turn_id: "refusal"}
        assert transcript(talk.session) == [user("Hi"), assistant("No")]

    tell(tmp_path, answer, story)


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (HostError("The moon is full."), "hostError", "The moon is full."),
        (
            ValueError("secret"),
            "agentFailed",
            "the agent failed unexpectedly (ValueError); the log of the host says more",
        ),
        (
            SystemExit(3),
            "agentFailed",
            "the agent failed unexpectedly (SystemExit); the log of the host says more",
        ),
        (
            asyncio.CancelledError(),
            "agentFailed",
            "the agent failed unexpectedly (CancelledError); the log of the host says more",
        ),
    ],
)
def test_what_an_agent_raises_ends_its_turn_with_a_sentence_and_no_detail(
    tmp_path: Path, error: BaseException, kind: str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(turn: Turn) -> None:
        await turn.say("Well")
        raise error

    async def story(talk: Talk) -> None:
        ending = (await talk.say("Hi")).ending
        assert (ending["type"], ending["error"]["errorType"]) == ("session/error", kind)
        assert ending["error"]["message"] == sentence
        assert "secret" not in str(ending)
        assert ("Traceback" in caplog.text) == (not isinstance(error, HostError))
        assert transcript(talk.session) == [user("Hi"), assistant("Well")]
        assert (await talk.say("Again")).text == "Well"
        assert len(talk.state["turns"]) == 2

    with caplog.at_level(logging.INFO):
        tell(tmp_path, breaks, story)


def test_a_step_that_yields_something_else_is_told_what_it_may_yield(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def odd(_turn: Turn) -> AsyncIterator[Any]:
        yield 5

    async def story(talk: Talk) -> None:
        assert (await talk.say("Hi")).ending["error"]["errorType"] == "agentFailed"

    tell(tmp_path, odd, story)
    assert (
        "a step function must yield str, Text, Thought, CallInput, Call, Note, Usage or Stop, not int"
        in caplog.text
    )


def test_a_turn_has_a_time_limit_that_does_not_count_the_time_it_waits_for_people(tmp_path: Path) -> None:
    async def slow(turn: Turn) -> None:
        await turn.ask("Shall I?")
        await asyncio.Event().wait()

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        asked = await talk.hear_one("inputRequested")
        await pass_time(0.1)  # longer than the limit
        assert "activeTurn" in talk.state
        await talk.reply(asked)
        ending = (await talk.finish()).ending
        limit = {"errorType": "limitReached", "message": "the turn took longer than 0.05 seconds"}
        assert ending["error"] == limit

    tell(tmp_path, slow, story, limits=Limits(turn_seconds=0.05))


def test_a_step_function_that_calls_tools_for_ever_is_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def again(_turn: Turn) -> AsyncIterator[Any]:
        yield Call("clock")

    async def story(talk: Talk) -> None:
        ending = (await talk.say("Hi")).ending
        limit = {"errorType": "limitReached", "message": "the turn took more than 3 steps"}
        assert ending["error"] == limit
        assert len(transcript(talk.session)) == 1 + 3 * 2

    tell(tmp_path, again, story, limits=Limits(steps_per_turn=3))
    assert caplog.text.count("LimitReached: the turn took more than 3 steps") == 1


def test_a_turn_whose_agent_is_no_longer_served_ends_with_an_error_at_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(waits_for_ever)) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            await talk.hear_one("delta")
        async with talking(tmp_path) as host:
            await host.wait_restored()
            again = await Talk.join(host, talk.uri)
            await until(again, lambda state: state["turns"])
            gone = {"errorType": "agentNotFound", "message": "the agent 'demo' is no longer served"}
            assert again.state["turns"][0]["error"] == gone
            assert transcript(again.session) == [user("Hi"), assistant("Wait")]
            await again.act("turnStarted", turnId="t", userMessage={"text": "Anybody?"})
            heard = await again.hear(lambda action: action["type"] in ENDINGS)
            assert heard.ending["error"]["errorType"] == "agentNotFound"

    run(story)
    assert caplog.text.count("turn failed: the agent 'demo' is no longer served") == 2
