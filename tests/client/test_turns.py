"""Turns with a real server, in each version of AAP and each stream mode."""

import asyncio
from typing import Any

import pytest

from agenthost.client import (
    AapClient,
    Conflict,
    NothingToResume,
    SSEEvent,
    StreamError,
    ToolCall,
    TurnLimits,
    TurnTooLong,
)
from agenthost.wire.aap.v3 import StreamMode
from hosting import run

MODES: list[StreamMode] = ["delta", "message", "none"]


def count(fruit: str) -> str:
    """Count a fruit."""
    return f"3 {fruit}"


def kinds_of(events: list[SSEEvent]) -> list[str]:
    return [event["event"] for event in events]


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_is_the_same_in_every_stream_mode(base: str, mode: StreamMode) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            answer = await session.ask("/think one two", stream=mode)
            assert (answer.text, answer.stop_reason) == ("one two", "end_turn")
            assert answer.thinking == "I was asked to say: one two"
            thought: Any = {"type": "thinking", "thinking": "I was asked to say: one two"}
            said: Any = {"type": "text", "text": "one two"}
            assert answer.messages == [{"role": "assistant", "content": [thought, said]}]

    run(story)


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("delta", ["text_delta"] * 3),
        ("message", ["text"]),
        ("none", ["text"]),
    ],
)
def test_events_come_in_the_requested_mode(base: str, mode: StreamMode, kinds: list[str]) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            events = [event async for event in session.send("/stream 3", stream=mode)]
            assert kinds_of(events) == ["turn_start", *kinds, "turn_stop"]

    run(story)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("word", "reason"), [("/error", "error"), ("/refuse", "refusal"), ("/full", "max_tokens")]
)
def test_every_stop_reason_is_reported(server: str, mode: StreamMode, word: str, reason: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            answer = await (await client.create("demo")).ask(word, stream=mode)
            assert answer.stop_reason == reason
            assert answer.text

    run(story)


@pytest.mark.parametrize("mode", MODES)
def test_one_step_may_hold_every_kind_of_call_and_all_are_answered_together(
    base: str, mode: StreamMode
) -> None:
    asked = []

    async def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    def decide(call: ToolCall) -> bool:
        asked.append((call["name"], call["input"]))
        return True

    async def story() -> None:
        async with AapClient(base, permission=decide) as client:
            session = await client.create(
                "demo", tools=[count, double], server_tools=["add"], trusted_tools=["read_file"]
            )
            words = '/call count {"fruit": "kiwis"} && double {"number": 4} && add {"a": 1, "b": 2}'
            answer = await session.ask(f'{words} && read_file {{"path": "no"}}', stream=mode)
            assert answer.text.splitlines()[:3] == ["count -> 3 kiwis", "double -> 8", "add -> 3"]
            roles = [message["role"] for message in answer.messages]
            assert roles == ["assistant", "tool", "tool", "tool", "tool", "assistant"]
            assert asked == [("add", {"a": 1, "b": 2})]
            assert (await session.history())[1:] == answer.messages

    run(story)


def test_a_turn_of_many_requests_has_one_start_one_stop_and_the_results_of_own_tools(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo", tools=[count])
            events = [event async for event in session.send('/call count {"fruit": "figs"}')]
            assert kinds_of(events) == ["turn_start", "tool_call", "tool_result", "text_delta", "turn_stop"]
            assert events[2].get("content") == "3 figs"

    run(story)


def test_events_that_were_iterated_are_part_of_the_answer(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            turn = (await client.create("demo")).send("/stream 3")
            async for event in turn:
                if event["event"] == "text_delta":
                    break
            assert (await turn.answer()).text == "hello world " * 3

    run(story)


def test_a_turn_that_is_closed_early_has_no_answer_and_goes_on_at_the_server(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo")
            async with session.send("/wait 30") as turn:
                async for event in turn:
                    if event["event"] == "text_delta":
                        break
            with pytest.raises(StreamError, match="closed before it was over"):
                await turn.answer()
            with pytest.raises(Conflict) as caught:
                await session.ask("hello")
            assert (caught.value.status, caught.value.code) == (409, "turn_in_progress")
            await session.delete()

    run(story)


def test_a_turn_that_takes_too_long_is_given_up(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo")
            with pytest.raises(TurnTooLong, match=r"longer than 0\.2 seconds"):
                await session.ask("/wait 30", limits=TurnLimits(total_seconds=0.2))
            await session.delete()

    run(story)


@pytest.mark.parametrize("mode", MODES)
def test_resume_continues_a_turn_that_waits_from_the_history(base: str, mode: StreamMode) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo", tools=[count], server_tools=["add"])
            words = '/call count {"fruit": "figs"} && add {"a": 1, "b": 2}'
            with pytest.raises(TurnTooLong, match="more than 0 times"):
                await session.ask(words, limits=TurnLimits(rounds=0))
        async with AapClient(base, permission=lambda _call: True) as client:
            again = client.session(session.id, tools=[count])
            assert [call["name"] for call in await again.open_calls()] == ["count", "add"]
            answer = await again.resume(stream=mode).answer()
            assert (answer.text, answer.stop_reason) == ("count -> 3 figs\nadd -> 3", "end_turn")
            assert answer.session_id == session.id
            with pytest.raises(NothingToResume):
                await again.resume().answer()

    run(story)


def test_a_resumed_turn_streams_like_any_other(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo", tools=[count])
            with pytest.raises(TurnTooLong):
                await session.ask('/call count {"fruit": "figs"}', limits=TurnLimits(rounds=0))
            events = [event async for event in session.resume()]
            assert kinds_of(events) == ["turn_start", "tool_result", "text_delta", "turn_stop"]

    run(story)


def test_waiting_for_an_answer_can_be_cancelled(server: str) -> None:
    async def story() -> None:
        has_begun = asyncio.Event()

        async def wait() -> None:
            """Wait for ever."""
            has_begun.set()
            await asyncio.Event().wait()

        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo", tools=[wait])
            waiting = asyncio.create_task(session.ask("/call wait"))
            await has_begun.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert [call["name"] for call in await session.open_calls()] == ["wait"]

    run(story)
