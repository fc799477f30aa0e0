"""pydantic-ai agents in sessions: their words, their tools, what they defer, and restarts in the middle."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelRequest, SystemPromptPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from agenthost.agents.adapters import PydanticAgent
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import calls_in, crash, transcript, until_call


def returned(messages: Any) -> list[str]:
    """Return the results since the user last spoke."""
    found: list[str] = []
    for message in messages:
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, UserPromptPart):
                found = []
            elif isinstance(part, ToolReturnPart):
                found.append(str(part.content))
    return found


def calls(*made: tuple[str, str]) -> Any:
    return {at: DeltaToolCall(name, given, tool_call_id=f"c-{name}") for at, (name, given) in enumerate(made)}


def agent_of(*made: tuple[str, str], asked: list[int] | None = None, **more: Any) -> Agent[Any, Any]:
    """Make an agent whose model makes these calls, one a step, and then says what came of them."""

    async def stream(messages: Any, _info: Any) -> AsyncIterator[Any]:
        results = returned(messages)
        if asked is not None:
            asked.append(len(results))
        if len(results) < len(made):
            yield f"Step {len(results) + 1}. "
            yield calls(made[len(results)])
        else:
            yield f"So: {'; '.join(results)}"

    agent: Agent[Any, Any] = Agent(FunctionModel(stream_function=stream), **more)

    @agent.tool_plain
    def own(n: int) -> str:
        return f"own {n}"

    @agent.tool_plain(requires_approval=True)
    def careful(n: int) -> str:
        return f"careful {n}"

    return agent


def told(folder: Path, agent: PydanticAgent, story: Callable[[Talk], Any], **start: Any) -> None:
    async def inner() -> None:
        async with talking(folder, agent) as host:
            await story(await Talk.begin(host, "demo", **start))

    run(inner)


def test_an_agent_answers_with_its_own_tools_which_are_shown(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        heard = await talk.say("Go")
        assert talk.answer == "Step 1. So: own 1"
        (call,) = calls_in(talk.state["turns"][0])
        assert (call["toolName"], call["toolInput"], call["status"]) == ("own", '{"n":1}', "completed")
        assert heard.of("toolCallReady")[0]["confirmed"] == "not-needed"
        roles = [message["role"] for message in transcript(talk.session)]
        assert roles == ["user", "assistant", "tool", "assistant"]
        assert heard.of("usage")[-1]["usage"]["outputTokens"] > 0

    told(tmp_path, PydanticAgent("demo", agent_of(("own", '{"n": 1}'))), story)


def test_a_tool_that_needs_approval_runs_when_it_is_allowed_and_not_otherwise(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Go")
        ready = await talk.hear_one("toolCallReady")
        assert "confirmed" not in ready
        await talk.approve(ready)
        await talk.finish()
        assert talk.answer == "Step 1. So: careful 2"
        await talk.send("Again")
        await talk.deny(await talk.hear_one("toolCallReady"), "too risky")
        await talk.finish()
        assert talk.answer == "Step 1. So: Tool call denied: too risky"

    told(tmp_path, PydanticAgent("demo", agent_of(("careful", '{"n": 2}'))), story)


def test_tools_of_the_client_and_of_the_host_are_called_by_the_host(tmp_path: Path) -> None:
    lent = Tool.of(lambda: "from the host", name="lent", trusted=True)
    agent = PydanticAgent("demo", agent_of(("lent", "{}"), ("theirs", '{"q": "x"}')), tools=[lent])
    definition = {"name": "theirs", "inputSchema": {"type": "object"}}
    client = {"clientId": "me", "tools": [definition]}

    async def story(talk: Talk) -> None:
        await talk.send("Go")
        call = await until_call(talk, "running", "theirs")
        assert call["toolClientId"] == "me"
        await talk.complete(call, "from the client")
        await talk.finish()
        assert talk.answer == "Step 1. Step 2. So: from the host; from the client"

    told(tmp_path, agent, story, active_client=client)


def test_it_is_told_its_own_prompts_what_was_said_before_and_its_dependencies(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def stream(messages: Any, info: Any) -> AsyncIterator[str]:
        seen.append((messages, info.instructions))
        yield "Hello"

    inner: Agent[str, str] = Agent(
        FunctionModel(stream_function=stream), deps_type=str, system_prompt="Old ways."
    )

    @inner.instructions
    def who(context: RunContext[str]) -> str:
        return f"For {context.deps}."

    def deps(turn: Turn) -> str:
        return turn.text

    async def story(talk: Talk) -> None:
        await talk.say("Ann")
        await talk.say("Bob")
        messages, instructions = seen[-1]
        assert instructions == "For Bob."
        words = [getattr(part, "content", "") for message in messages for part in message.parts]
        assert words == ["Old ways.", "Ann", "Hello", "Bob"]
        assert isinstance(messages[0].parts[0], SystemPromptPart)

    told(tmp_path, PydanticAgent("demo", inner, deps=deps), story)


class Place(BaseModel):
    city: str
    people: int


def test_an_answer_that_is_not_text_is_said_as_json(tmp_path: Path) -> None:
    model = TestModel(custom_output_args={"city": "Lima", "people": 10})

    async def story(talk: Talk) -> None:
        await talk.say("Where?")
        assert '"city": "Lima"' in talk.answer
        assert calls_in(talk.state["turns"][0]) == []

    told(tmp_path, PydanticAgent("demo", Agent(model, output_type=Place)), story)


def test_a_model_error_is_reported_in_a_sentence(tmp_path: Path) -> None:
    async def stream(_messages: Any, _info: Any) -> AsyncIterator[str]:
        raise ModelHTTPError(401, "gpt")
        yield ""

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        assert heard.ending["error"]["errorType"] == "modelFailed"

    told(tmp_path, PydanticAgent("demo", Agent(FunctionModel(stream_function=stream))), story)


def test_a_tool_that_fails_shows_so_and_the_model_may_try_again(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        heard = await talk.say("Go")
        assert not heard.of("toolCallComplete")[0]["result"]["success"]

    told(tmp_path, PydanticAgent("demo", agent_of(("own", '{"n": "many"}'))), story)


@pytest.mark.parametrize("name", ["careful", "theirs"])
def test_after_a_crash_what_was_said_stays_and_what_it_waited_for_is_waited_for(
    tmp_path: Path, name: str
) -> None:
    asked: list[int] = []
    made = [("own", '{"n": 1}'), (name, '{"n": 2}')]
    agent = PydanticAgent("demo", agent_of(*made, asked=asked))
    client: Any = {"clientId": "me", "tools": [{"name": "theirs", "inputSchema": {"type": "object"}}]}
    status = "pending-confirmation" if name == "careful" else "running"

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, active_client=client)
            await talk.send("Go")
            await until_call(talk, status, name)
            crash(tmp_path, tmp_path / "after")
        async with talking(tmp_path / "after", agent) as host:
            talk = await Talk.join(host, talk.uri)
            call = await until_call(talk, status, name)
            if name == "careful":
                await talk.approve(call)
            else:
                await talk.complete(call, "theirs 2")
            await talk.finish()
            assert talk.answer == f"Step 1. Step 2. So: own 1; {name} 2"
            assert len(calls_in(talk.state["turns"][0])) == 2
        assert asked == [0, 1, 2]  # no request was made twice

    run(story)


def test_a_tool_that_ran_during_a_crash_is_not_run_again(tmp_path: Path) -> None:
    runs: list[int] = []
    inner = agent_of(("slow", "{}"))

    @inner.tool_plain
    async def slow() -> str:
        runs.append(1)
        await asyncio.Event().wait()
        return "never"

    agent = PydanticAgent("demo", inner)

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Go")
            await until_call(talk, "running", "slow")
            crash(tmp_path, tmp_path / "after")
        async with talking(tmp_path / "after", agent) as host:
            talk = await Talk.join(host, talk.uri)
            await talk.finish()
            assert "whether it did its work is unknown" in talk.answer
        assert runs == [1]

    run(story)
