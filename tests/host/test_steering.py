"""Steering: what the user says while the agent is at work, and where it stands."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import assistant, made, result, send_pending, tell, transcript, until, use, user


@pytest.mark.parametrize("stepwise", [False, True])
def test_what_the_user_says_meanwhile_stands_where_the_agent_was_given_it(
    tmp_path: Path, stepwise: bool
) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        assert await turn.steering() is None
        await turn.say("One. ")
        await go_on.wait()
        steering = await turn.steering()
        assert steering is not None
        await turn.say(f"You said {steering['content']}.")
        assert await turn.steering() is None

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if len(turn.transcript) == 1:
            yield "One. "
            await go_on.wait()
        else:
            yield f"You said {turn.transcript[-1]['content']}."

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await talk.hear_one("delta")
        await send_pending(talk, "hurry", "steering")
        go_on.set()
        await talk.finish()
        said = [user("Hi"), assistant("One. "), user("hurry"), assistant("You said hurry.")]
        assert transcript(talk.session) == said
        assert talk.session.messages[2].message["_private"] == {"host": {"steering": True}}
        assert "steeringMessage" not in talk.state
        assert len(talk.state["turns"]) == 1

    tell(tmp_path, step if stepwise else handler, story)


@pytest.mark.parametrize("stepwise", [False, True])
def test_steering_that_was_taken_is_given_again_after_a_restart_at_the_same_place(
    tmp_path: Path, stepwise: bool
) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        for place in range(3):
            await turn.say(f"{place} ")
            if steering := await turn.steering():
                await turn.say(f"{steering['content']} ")
            if place == 0:
                await turn.ask("Shall I?")
        await go_on.wait()
        await turn.say("end")

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if len(turn.transcript) == 1:
            yield "0 1 "
            await turn.ask("Shall I?")
        else:
            yield "hurry "
            yield "2 "
            await go_on.wait()
            yield "end"

    async def story() -> None:
        agent = made(step if stepwise else handler)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            asked = await talk.hear_one("inputRequested")
            await send_pending(talk, "hurry", "steering")
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await talk.reply(asked)
            await until(talk, lambda state: "2 " in str(state.get("activeTurn")))
            before = talk.session.messages
        go_on.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            first, rest = ("0 1 ", ["hurry 2 end"]) if stepwise else ("0 ", ["hurry ", "1 2 end"])
            said = [user("Hi"), assistant(first), user("hurry"), assistant(*rest)]
            assert transcript(talk.session) == said
            assert talk.session.messages[: len(before)] == before

    run(story)


def test_steering_that_came_before_a_turn_is_given_with_its_first_message(tmp_path: Path) -> None:
    async def step(turn: Turn) -> AsyncIterator[Any]:
        yield " ".join(str(message["content"]) for message in turn.transcript)

    async def story(talk: Talk) -> None:
        await send_pending(talk, "briefly", "steering")
        await talk.say("Hi")
        assert transcript(talk.session) == [user("Hi"), user("briefly"), assistant("Hi briefly")]
        await talk.say("Again")
        assert len(talk.state["turns"]) == 2

    tell(tmp_path, step, story)


def test_steering_in_the_middle_of_a_step_comes_after_its_results_also_if_the_step_is_run_again(
    tmp_path: Path,
) -> None:
    go_on = asyncio.Event()

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if len(turn.transcript) == 1:
            yield "I look. "
            await go_on.wait()
            yield Call("look", {}, "c")
        else:
            yield f"Yes, {turn.transcript[-1]['content']}."

    async def look() -> str:
        return "nothing"

    async def story() -> None:
        agent = made(step, tools=[look])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"look": True})
            await talk.send("Hi")
            await talk.hear_one("delta")
            await send_pending(talk, "hurry", "steering")
        go_on.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            called = assistant("I look. ", use("c", "look"))
            said = [user("Hi"), called, result("c", "nothing"), user("hurry"), assistant("Yes, hurry.")]
            assert transcript(talk.session) == said
            assert len(talk.state["turns"][0]["responseParts"]) == 3

    run(story)


def test_steering_that_nobody_took_waits_for_the_next_turn(tmp_path: Path) -> None:
    async def deaf(turn: Turn) -> None:
        await turn.ask("Well?")

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        asked = await talk.hear_one("inputRequested")
        await send_pending(talk, "hurry", "steering")
        await talk.reply(asked)
        await talk.finish()
        assert talk.state["steeringMessage"]["id"] == "hurry"
        assert transcript(talk.session) == [user("Hi")]

    tell(tmp_path, deaf, story)
