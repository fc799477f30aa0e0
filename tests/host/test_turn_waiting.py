"""Turns that wait for somebody, and agents that are not the same twice, over a restart."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent, Answer
from agenthost.host.authoring.questions import Question
from agenthost.host.authoring.steps import Call, CallInput
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.turns.output import BEGAN_AGAIN
from hosting import run
from talking import Talk, talking
from turning import (
    assistant,
    calls_in,
    made,
    nothing_lost,
    parts,
    result,
    transcript,
    until,
    until_call,
    use,
    user,
)

WAITING = ("permission", "result", "client", "question")


@tool
def save(text: str) -> str:
    return f"saved {text}"


@tool(needs_result_confirmation=True)
def read() -> str:
    return "x" * 100_000


NAMES = {"permission": "save", "result": "read", "client": "paint"}
INPUTS: dict[str, Any] = {"save": {"text": "it"}, "read": {}, "paint": {"what": "sky"}}


def waiter(where: str, *, stepwise: bool) -> Agent:
    async def handler(turn: Turn) -> None:
        await turn.say("Well. ")
        if where == "question":
            answers = await turn.ask(Question.text("name", "Who?"), Question.yes_no("sure", "Sure?"))
            await turn.say(f"{answers['name']}, {answers['sure']}")
        else:
            got = await turn.call(NAMES[where], INPUTS[NAMES[where]])
            await turn.say(f"Got {got[:10]} of {len(got)}")

    async def step(turn: Turn) -> AsyncIterator[Any]:
        done = [message["content"] for message in turn.messages if message["role"] == "tool"]
        if done:
            yield f"Got {done[0][:10]} of {len(done[0])}"
            return
        yield "Well. "
        if where == "question":
            answers = await turn.ask(Question.text("name", "Who?"), Question.yes_no("sure", "Sure?"))
            yield f"{answers['name']}, {answers['sure']}"
        else:
            yield Call(NAMES[where], INPUTS[NAMES[where]])

    answer: Answer = step if stepwise else handler
    return made(answer, tools=[save, read])


PAINT = {"name": "paint", "inputSchema": {"type": "object"}}
START: dict[str, Any] = {
    "tools": {"save": False, "read": True},
    "active_client": {"clientId": "me", "tools": [PAINT]},
}


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("where", WAITING)
def test_what_waited_before_a_restart_still_waits_and_goes_on_when_it_is_answered(
    tmp_path: Path, where: str, stepwise: bool
) -> None:
    async def story() -> None:
        agent = waiter(where, stepwise=stepwise)
        async with talking(tmp_path, agent) as host:
            host.parts.clients.joined(Identity("me"))
            talk = await Talk.begin(host, **START)
            await talk.act("turnStarted", turnId="t", userMessage={"text": "Hi"})
            await waits(talk)
            before = (talk.state["activeTurn"], talk.session.messages)
        for _ in range(2):
            async with talking(tmp_path, agent) as host:
                host.parts.clients.joined(Identity("me"))
                talk = await Talk.join(host, talk.uri)
                await waits(talk)
                assert (talk.state["activeTurn"], talk.session.messages) == before
                assert "activeClient" in talk.state
        async with talking(tmp_path, agent) as host:
            host.parts.clients.joined(Identity("me"))
            talk = await Talk.join(host, talk.uri)
            await answered(talk)
            await until(talk, lambda state: state["turns"])
            transcript(talk.session)
            assert talk.answer == said[where]

    async def waits(talk: Talk) -> Any:
        status = {"permission": "pending-confirmation", "result": "pending-result-confirmation"}
        if where == "question":
            return await until(talk, lambda state: state.get("inputRequests"))
        return await until_call(talk, status.get(where, "running"))

    async def answered(talk: Talk) -> None:
        what = await waits(talk)
        if where == "question":
            await answer_in_drafts(talk, what[0]["id"])
        elif where == "permission":
            await talk.approve(what)
        elif where == "client":
            await talk.complete(what, "a blue sky")
        else:
            ids = {"turnId": "t", "toolCallId": what["toolCallId"]}
            await talk.act("toolCallResultConfirmed", **ids, approved=True)

    said = {
        "permission": "Well. Got saved it of 8",
        "result": "Well. Got xxxxxxxxxx of 100000",
        "client": "Well. Got a blue sky of 10",
        "question": "Well. Ann, True",
    }
    run(story)


async def answer_in_drafts(talk: Talk, request_id: str) -> None:
    for key, value in (
        ("name", {"kind": "text", "value": "Ann"}),
        ("sure", {"kind": "boolean", "value": True}),
    ):
        answer = {"state": "submitted", "value": value}
        assert (
            await talk.act("inputAnswerChanged", requestId=request_id, questionId=key, answer=answer) is None
        )
    assert await talk.act("inputCompleted", requestId=request_id, response="accept") is None


@pytest.mark.parametrize("repeatable", [True, False])
@pytest.mark.parametrize("stepwise", [False, True])
def test_a_tool_that_ran_when_the_host_stopped_runs_again_only_if_that_does_no_harm(
    tmp_path: Path, stepwise: bool, repeatable: bool
) -> None:
    begun, runs = asyncio.Event(), []

    @tool(name="save", idempotent=repeatable)
    async def interrupted(text: str) -> str:
        runs.append(text)
        begun.set()
        if len(runs) == 1:
            await asyncio.Event().wait()
        return "saved"

    async def story() -> None:
        agent = made(waiter("permission", stepwise=stepwise).answer, tools=[interrupted])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"save": True})
            await talk.send("Hi")
            await begun.wait()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            read = transcript(talk.session)[2]["content"]
            assert len(runs) == (2 if repeatable else 1)
            assert read == ("saved" if repeatable else UNKNOWN)

    run(story)


UNKNOWN = "save was interrupted by a restart of the host; whether it did its work is unknown"


def test_drafts_of_an_answer_are_still_there_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        agent = waiter("question", stepwise=False)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            request = (await talk.hear_one("inputRequested"))["request"]
            answer = {"state": "submitted", "value": {"kind": "text", "value": "Bob"}}
            await talk.act("inputAnswerChanged", requestId=request["id"], questionId="name", answer=answer)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await talk.reply({"request": request}, {"sure": {"kind": "boolean", "value": False}})
            await talk.finish()
            assert talk.answer == "Well. Bob, False"

    run(story)


def test_questions_of_different_steps_are_not_mixed_up_by_a_restart(tmp_path: Path) -> None:
    async def asks(turn: Turn) -> AsyncIterator[Any]:
        answer = await turn.ask(f"Question {len(turn.transcript)}?")
        yield f"{answer['answer']}. "
        if len(turn.transcript) < 3:
            yield Call("save", {"text": "it"})

    async def story() -> None:
        agent = made(asks, tools=[save])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"save": True})
            await talk.send("Hi")
            await talk.reply(
                await talk.hear_one("inputRequested"), {"answer": {"kind": "text", "value": "One"}}
            )
            await talk.hear_one("inputRequested")
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            (request,) = await until(talk, lambda state: state.get("inputRequests"))
            await talk.reply({"request": request}, {"answer": {"kind": "text", "value": "Two"}})
            await talk.finish()
            assert talk.answer == "One. Two. "

    run(story)


@pytest.mark.parametrize("stepwise", [False, True])
def test_an_agent_that_says_something_else_after_a_restart_goes_on_in_a_new_part(
    tmp_path: Path, stepwise: bool
) -> None:
    words = ["Red ", "Blue "]
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        await turn.say(words[0])
        await go_on.wait()
        await turn.say("it is.")

    async def step(_turn: Turn) -> AsyncIterator[Any]:
        yield words[0]
        await go_on.wait()
        yield "it is."

    async def story() -> None:
        agent = made(step if stepwise else handler)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            await talk.hear_one("delta")
        words.pop(0)
        go_on.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            said = [("markdown", "Red "), ("systemNotification", BEGAN_AGAIN), ("markdown", "Blue it is.")]
            assert parts(talk.state["turns"][0]) == said
            assert transcript(talk.session) == [user("Hi"), assistant("Red ", "Blue it is.")]

    run(story)


def test_an_agent_that_says_something_else_does_not_do_again_what_it_did(tmp_path: Path) -> None:
    words, saved, go_on = ["Red. ", "Blue. "], [], asyncio.Event()

    @tool(name="save")
    def counted(text: str) -> str:
        saved.append(text)
        return "saved"

    async def handler(turn: Turn) -> None:
        await turn.say(words[0])
        await turn.say(await turn.call("save", text=words[0]))
        await go_on.wait()

    async def story() -> None:
        agent = made(handler, tools=[counted])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"save": True})
            await talk.send("Hi")
            await talk.hear(lambda action: action.get("content") == "saved")
        words.pop(0)
        go_on.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            assert saved == ["Red. "]
            again = [("systemNotification", BEGAN_AGAIN), ("markdown", "Blue. "), ("markdown", "saved")]
            first = [("markdown", "Red. "), ("toolCall", "save"), ("markdown", "saved")]
            assert parts(talk.state["turns"][0]) == first + again
            transcript(talk.session)

    run(story)


@pytest.mark.parametrize("status", ["pending-confirmation", "running", "pending-result-confirmation"])
def test_a_handler_that_calls_another_tool_after_a_restart_leaves_no_call_open(
    tmp_path: Path, status: str
) -> None:
    first = {"pending-confirmation": "save", "running": "hang", "pending-result-confirmation": "read"}[status]
    names = [first, "other"]

    async def hang() -> None:
        await asyncio.Event().wait()

    async def other() -> str:
        return "fine"

    async def handler(turn: Turn) -> None:
        await turn.call(names[0], INPUTS.get(names[0], {}))

    async def story() -> None:
        agent = made(handler, tools=[save, read, hang, other])
        trusted = {"save": False, "read": True, "hang": True, "other": True}
        with nothing_lost():
            async with talking(tmp_path, agent) as host:
                talk = await Talk.begin(host, tools=trusted)
                await talk.send("Hi")
                await until_call(talk, status)
            names.pop(0)
            async with talking(tmp_path, agent) as host:
                talk = await Talk.join(host, talk.uri)
                await until(talk, lambda state: state["turns"])
                said = transcript(talk.session)
                assert [message["role"] for message in said] == [
                    "user",
                    "assistant",
                    "tool",
                    "assistant",
                    "tool",
                ]
                assert said[-1]["content"] == "fine"
                assert ("systemNotification", BEGAN_AGAIN) in parts(talk.state["turns"][0])

    run(story)


def test_a_step_that_asks_for_another_tool_after_a_restart_never_runs_one_under_the_name_of_the_other(
    tmp_path: Path,
) -> None:
    names = ["save", "look"]
    ready = asyncio.Event()

    async def look(text: str) -> str:
        return f"saw {text}"

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if turn.transcript[-1]["role"] == "user":
            yield CallInput("id", names[0], '{"text":')
            await ready.wait()
            yield Call(names[0], {"text": "it"}, "id")

    async def story() -> None:
        agent = made(step, tools=[save, look])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"save": False, "look": True})
            await talk.send("Hi")
            await talk.hear_one("toolCallDelta")
        names.pop(0)
        ready.set()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            old, new = calls_in(talk.state["turns"][0])
            assert (old["toolName"], old["status"]) == ("save", "cancelled")
            assert (new["toolName"], new["status"]) == ("look", "completed")
            said = [user("Hi"), assistant(use(new["toolCallId"], "look", text="it"))]
            assert transcript(talk.session) == [*said, result(new["toolCallId"], "saw it")]

    run(story)
