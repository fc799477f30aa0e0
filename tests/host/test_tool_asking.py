"""Tools that ask the user: answered, given up, timed, and over restarts."""

import asyncio
from pathlib import Path
from typing import Any

from agenthost.errors import ToolError
from agenthost.host.authoring.questions import Question
from agenthost.host.authoring.tool import Tool, tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from hosting import run
from talking import Talk, talking
from turning import crash, made, pass_time, tell, until, until_call


async def ask_name(context: ToolContext) -> str:
    answers = await context.ask(Question.text("name", "Who are you?"), message="Before I go on")
    return f"{answers.response} {answers.get('name')}"


async def calling(turn: Turn) -> None:
    await turn.say(await turn.call(turn.text))


def named(value: str) -> Any:
    return {"name": {"kind": "text", "value": value}}


def answered(tmp_path: Path, response: str, values: Any) -> str:
    said: list[str] = []

    async def story(talk: Talk) -> None:
        await talk.send("ask_name")
        asked = await talk.hear_one("inputRequested")
        assert asked["request"]["message"] == "Before I go on"
        await talk.reply(asked, values, response)
        await talk.finish()
        said.append(talk.answer)
        assert "inputRequests" not in talk.state

    tell(tmp_path, calling, story, tools=[tool(trusted=True)(ask_name)])
    return said[0]


def test_a_tool_gets_the_answers_of_the_user(tmp_path: Path) -> None:
    assert answered(tmp_path, "accept", named("Ann")) == "accept Ann"
    assert answered(tmp_path, "decline", None) == "decline None"


def test_waiting_for_people_does_not_count_against_the_tools_time_limit(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("ask_name")
        asked = await talk.hear_one("inputRequested")
        await pass_time(0.3)
        await talk.reply(asked, named("Ann"))
        await talk.finish()
        assert talk.answer == "accept Ann"

    tell(tmp_path, calling, story, tools=[tool(trusted=True, timeout=0.2)(ask_name)])


def test_after_the_answer_the_time_limit_counts_again(tmp_path: Path) -> None:
    @tool(trusted=True, timeout=0.2)
    async def slow(context: ToolContext) -> str:
        await context.ask("Ready?")
        await asyncio.Event().wait()
        return ""

    async def story(talk: Talk) -> None:
        await talk.send("slow")
        await talk.reply(await talk.hear_one("inputRequested"), response="cancel")
        done = await talk.hear_one("toolCallComplete")
        assert done["result"]["error"]["code"] == "timeout"

    tell(tmp_path, calling, story, tools=[slow])


def test_a_tool_that_waits_for_people_frees_its_slot(tmp_path: Path) -> None:
    quick = Tool.of(lambda: "quick", name="quick", trusted=True)

    async def story() -> None:
        agent = made(calling, tools=[tool(trusted=True)(ask_name), quick])
        async with talking(tmp_path, agent, limits=Limits(tools_at_once=1)) as host:
            asking, other = await Talk.begin(host), await Talk.begin(host)
            await asking.send("ask_name")
            asked = await asking.hear_one("inputRequested")
            await other.say("quick")
            assert other.answer == "quick"
            await asking.reply(asked, named("Ann"))
            await asking.finish()
            assert asking.answer == "accept Ann"

    run(story)


def test_a_question_is_withdrawn_when_its_tool_gives_up(tmp_path: Path) -> None:
    @tool(trusted=True)
    async def hasty(context: ToolContext) -> str:
        waiting = asyncio.create_task(context.ask("Quick?"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        answers = await context.ask("Really?")
        return answers.response

    async def story(talk: Talk) -> None:
        await talk.send("hasty")
        first = await talk.hear_one("inputRequested")
        gone = await talk.hear_one("inputCompleted")
        assert (gone["requestId"], gone["response"]) == (first["request"]["id"], "cancel")
        await talk.reply(await talk.hear_one("inputRequested"), response="decline")
        await talk.finish()
        assert talk.answer == "decline"

    tell(tmp_path, calling, story, tools=[hasty])


def test_a_tool_that_may_be_repeated_finds_its_question_again_after_a_crash(tmp_path: Path) -> None:
    assert after_crash(tmp_path, named("Bob"), read_only=True) == "accept Bob"


def test_the_question_of_a_tool_that_may_not_be_repeated_is_withdrawn_after_a_crash(tmp_path: Path) -> None:
    said = after_crash(tmp_path, None)
    assert said == "ask_name was interrupted by a restart of the host; whether it did its work is unknown"


def after_crash(tmp_path: Path, values: Any, **options: Any) -> str:
    """Crash while a tool asks, and return what its call comes to; `values` are for who is asked again."""

    async def telling(turn: Turn) -> None:
        try:
            await turn.say(await turn.call("ask_name"))
        except ToolError as error:
            await turn.say(str(error))

    agent = made(telling, tools=[tool(trusted=True, **options)(ask_name)])
    said: list[str] = []

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            first = await talk.hear_one("inputRequested")
            await until_call(talk, "running")
            crash(tmp_path, tmp_path / "after")
        async with talking(tmp_path / "after", agent) as host:
            talk = await Talk.join(host, talk.uri)
            if values is not None:
                await until(talk, lambda state: "inputRequests" in state)
                await talk.reply(first, values)
            await talk.finish()
            assert "inputRequests" not in talk.state
            said.append(talk.answer)

    run(story)
    return said[0]
