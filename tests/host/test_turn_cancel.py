"""Turns that are cancelled, cut off or removed: the work stops, and nothing is heard of it afterwards."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.turn_transcript import SKIPPED
from agenthost.errors import SessionNotFound
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from talking import Talk
from turning import assistant, result, tell, transcript, until_call, use, user


async def waits_for_ever(turn: Turn) -> None:
    await turn.say("Wait")
    await asyncio.Event().wait()


@pytest.mark.parametrize("where", ["talking", "tool", "asking", "permission"])
def test_cancelling_really_stops_the_work_wherever_it_is(tmp_path: Path, where: str) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def works(turn: Turn) -> None:
        await turn.say("Let me see.")
        if where == "talking":
            await work()
        try:
            await (turn.ask("Which?") if where == "asking" else turn.call("work"))
        finally:
            stopped.set()

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        if where == "asking":
            await talk.hear_one("inputRequested")
        elif where == "permission":
            await until_call(talk, "pending-confirmation")
        else:
            await begun.wait()
        await talk.cancel()
        await stopped.wait()
        heard = await talk.finish()
        assert heard.ending["type"] == "session/turnCancelled"
        assert "inputRequests" not in talk.state
        assert talk.state["summary"]["status"] & 24 == 0
        closed = [message["content"] for message in transcript(talk.session) if message["role"] == "tool"]
        assert closed == ([SKIPPED] if where in ("tool", "permission") else [])

    start = {"tools": {"work": where == "tool"}}
    tell(tmp_path, works, story, start=start, tools=[tool(name="work")(work)])


def test_what_was_said_before_a_turn_was_cancelled_stays_and_open_calls_are_closed(
    tmp_path: Path,
) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if turn.text == "Talk":
            yield "Well, "
            await asyncio.Event().wait()
        yield "I try. "
        yield Call("hang", {}, "a")
        yield Call("greet", {}, "b")

    async def story(talk: Talk) -> None:
        await talk.send("Do")
        await begun.wait()
        await until_call(talk, "completed")
        await talk.cancel()
        await talk.finish()
        await talk.send("Talk")
        await talk.hear_one("delta")
        await talk.cancel()
        await talk.finish()
        called = assistant("I try. ", use("a", "hang"), use("b", "greet"))
        results = [result("b", "Hello"), result("a", SKIPPED)]
        rest = [user("Talk"), assistant("Well, ")]
        assert transcript(talk.session) == [user("Do"), called, *results, *rest]
        assert [turn["state"] for turn in talk.state["turns"]] == ["cancelled", "cancelled"]

    greet = tool(name="greet")(lambda: "Hello")
    tell(tmp_path, step, story, tools=[hang, greet], start={"tools": {"hang": True, "greet": True}})


def test_an_agent_that_goes_on_after_it_was_cancelled_is_not_shown(tmp_path: Path) -> None:
    begun, gone_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    refused: list[str] = []

    async def stubborn(turn: Turn) -> None:
        if turn.text == "Next":
            await turn.say("Next")
            return
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await gone_on.wait()
        for tell_more in (turn.say, turn.think, turn.notify, turn.show, turn.title, turn.activity, turn.call):
            try:
                await tell_more("late")
            except asyncio.CancelledError:
                refused.append(tell_more.__name__)
        done.set()

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await begun.wait()
        await talk.cancel()
        await talk.finish()
        await talk.say("Next")
        gone_on.set()
        await done.wait()
        heard = await talk.say("Next")
        assert "late" not in str(talk.state)
        assert "late" not in str(heard.actions)
        assert talk.state["summary"]["title"] == "Hi"
        assert len(refused) == 7

    tell(tmp_path, stubborn, story)


def test_work_that_an_agent_left_behind_ends_with_its_turn(tmp_path: Path) -> None:
    left: list[asyncio.Task[Any]] = []

    async def hurries(turn: Turn) -> None:
        left.append(asyncio.create_task(turn.call("work")))
        await asyncio.sleep(0)
        left.append(asyncio.create_task(turn.ask("Really?")))
        await asyncio.sleep(0)

    async def work() -> None:
        raise AssertionError("nobody allowed this")

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        assert heard.ending["type"] == "session/turnComplete"
        outcomes = await asyncio.gather(*left, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2
        transcript(talk.session)

    tell(tmp_path, hurries, story, tools=[work])


def test_an_agent_that_never_waits_can_be_cancelled_all_the_same(tmp_path: Path) -> None:
    async def endless(turn: Turn) -> None:
        while True:
            await turn.say("la ")

    async def endless_step(_turn: Turn) -> AsyncIterator[Any]:
        while True:
            yield "la "

    async def story(talk: Talk) -> None:
        await talk.send("Sing")
        await talk.hear_one("delta")
        await talk.feed.unsubscribe(talk.uri)
        await talk.cancel()
        assert talk.session.chat["turns"][0]["state"] == "cancelled"
        assert talk.host.parts.turns.count == 0

    tell(tmp_path / "talks", endless, story)
    tell(tmp_path / "steps", endless_step, story)


def test_a_tool_that_goes_on_after_its_turn_has_ended_leaves_nothing(tmp_path: Path) -> None:
    begun, done = asyncio.Event(), asyncio.Event()

    async def stubborn() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            done.set()
        return "late " * 100_000

    async def calls(turn: Turn) -> None:
        if turn.text == "Hi":
            await turn.call("stubborn")

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await begun.wait()
        await talk.cancel()
        await done.wait()
        await talk.say("Next")
        assert "late" not in str(talk.state)
        called = transcript(talk.session)
        assert [message["content"] for message in called if message["role"] == "tool"] == [SKIPPED]

    tell(tmp_path, calls, story, tools=[stubborn], start={"tools": {"stubborn": True}})


def test_truncating_a_session_stops_the_running_turn_and_cuts_the_transcript(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def answers(turn: Turn) -> None:
        await turn.say("Yes")
        if turn.text == "Three":
            try:
                await turn.ask("Sure?")
            finally:
                stopped.set()

    async def story(talk: Talk) -> None:
        first = await talk.send("One")
        await talk.finish()
        await talk.say("Two")
        await talk.send("Three")
        await talk.hear_one("inputRequested")
        assert await talk.act("truncated", turnId=first) is None
        await stopped.wait()
        assert transcript(talk.session) == [user("One"), assistant("Yes")]
        await talk.say("Four")
        assert [turn["userMessage"]["text"] for turn in talk.state["turns"]] == ["One", "Four"]
        assert await talk.act("truncated") is None
        assert transcript(talk.session) == []

    tell(tmp_path, answers, story)


def test_a_session_that_is_removed_in_the_middle_of_a_turn_ends_it_first(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await talk.hear_one("delta")
        await talk.host.parts.lifecycle.dispose(talk.uri)
        assert (await talk.finish()).ending["type"] == "session/turnCancelled"
        with pytest.raises(SessionNotFound):
            await talk.host.parts.engine.sessions.get(talk.uri)
        assert talk.host.parts.turns.count == 0

    tell(tmp_path, waits_for_ever, story)
