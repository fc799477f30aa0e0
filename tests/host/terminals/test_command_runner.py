"""CommandTracker of tools in terminals: watched live, read by the model, ended with the call."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import ToolError
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.terminals.command_runner import CommandResult, OutputBuffer, plain_text
from hosting import run
from shelling import Watch, claim_of_session, is_alive, until_so
from talking import Talk, talking
from turning import calls_in, made

RESULTS: list[CommandResult] = []


@tool(title="Shell", read_only=False, timeout=60)
async def shell(command: str, seconds: float, context: ToolContext) -> ToolResult:
    """Run a command."""
    ran = await context.terminal(command, title="My command", seconds=seconds, longest=100)
    RESULTS.append(ran)
    return ToolResult([ran.block, ran.output])


async def begun(host: Host, command: str, seconds: float = 20) -> tuple[Talk, Watch]:
    """Have an agent run a command, and watch the terminal as soon as the call shows it."""
    RESULTS.clear()
    talk = await Talk.begin(host, tools={"shell": True})
    await talk.send(f"{seconds} {command}")
    shown = await talk.hear_one("toolCallContentChanged")
    block = shown["content"][0]
    assert (block["type"], block["title"]) == ("terminal", "My command")
    return talk, await Watch.join(host, block["resource"])


async def answer(turn: Turn) -> None:
    seconds, _, command = turn.text.partition(" ")
    await turn.say(await turn.call("shell", command=command, seconds=float(seconds)))


def agent() -> Any:
    return made(answer, tools=[shell])


def test_a_command_is_shown_live_and_held_by_its_call_and_then_by_the_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, agent()) as host:
            talk, watch = await begun(host, "printf 'name: '; read x; echo hello $x; exit 3")
            claim = watch.state["claim"]
            (call,) = calls_in(talk.state["activeTurn"])
            in_call = {"turnId": talk.turn_id, "toolCallId": call["toolCallId"]}
            assert claim == {**claim_of_session(talk.session), **in_call}
            await watch.until_text("name: ")
            await watch.type("Ann\r")
            assert await watch.until_exit() == 3
            assert (await talk.finish()).text == "name: Ann\nhello Ann\n"
            await watch.until(lambda one: one.state["claim"] == claim_of_session(talk.session))
            assert (RESULTS[0].code, RESULTS[0].is_late, RESULTS[0].is_detached) == (3, False, False)
            call = talk.state["turns"][-1]["responseParts"][0]["toolCall"]
            assert call["content"][0] == {"type": "terminal", "resource": watch.uri, "title": "My command"}

    run(story)


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, agent()) as host:
            talk, watch = await begun(host, "echo $$; sleep 60", 0.5)
            assert int((await talk.finish()).text.split()[0]) > 0
            assert (RESULTS[0].code, RESULTS[0].is_late) == (None, True)
            await watch.until_exit()
            assert not is_alive(int(watch.text.split()[0]))

    run(story)


def test_detaching_a_command_ends_the_call_and_the_command_continues(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, agent()) as host:
            talk, watch = await begun(host, "echo begun; read x; echo got $x")
            await watch.until_text("begun")
            assert await watch.act("claimed", claim=claim_of_session(talk.session)) is None
            assert (await talk.finish()).text == "begun\n"
            assert (RESULTS[0].code, RESULTS[0].is_detached) == (None, True)
            assert await watch.act("claimed", claim={"kind": "client", "clientId": "me"}) is None
            await watch.type("on\r")
            assert await watch.until_exit() == 0
            assert "got on" in watch.text

    run(story)


def test_a_command_ends_with_a_cancelled_turn_and_its_terminal_with_the_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, agent()) as host:
            talk, watch = await begun(host, "echo $$; trap '' HUP; sleep 60")
            await watch.until_text("\r\n")
            await talk.cancel()
            await watch.until_exit()
            assert not is_alive(int(watch.text.split()[0]))
            await until_so(lambda: "toolCallId" not in host.parts.terminals.get(watch.uri).claim)
            await host.parts.lifecycle.dispose(talk.uri)
            assert host.parts.terminals.list() == []

    run(story)


def test_the_terminals_of_a_removed_session_are_removed_first(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, agent()) as host:
            talk, watch = await begun(host, "echo $$; sleep 60")
            await watch.until_text("\r\n")
            await host.parts.lifecycle.dispose(talk.uri)
            await until_so(lambda: not is_alive(int(watch.text.split()[0])))
            await until_so(lambda: host.parts.terminals.list() == [])

    run(story)


def test_without_a_host_there_are_no_terminals() -> None:
    with pytest.raises(ToolError, match="no terminals"):
        asyncio.run(ToolContext().terminal("true"))


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x1b(B\x1b=", "red x"),
        ("10%\r50%\r100%\r\ndone", "100%\ndone"),
        ("abc\r", "abc"),
        ("bell\x07\x08\ttab", "bell\ttab"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ],
)
def test_the_model_reads_plain_text(printed: str, read: str) -> None:
    assert plain_text(printed) == read


def test_only_the_beginning_is_collected() -> None:
    collected = OutputBuffer(10)
    for _ in range(10_000):
        collected.add("x" * 100)
    assert collected.plain_text() == ("x" * 10, True)
    short = OutputBuffer(10)
    short.add("x" * 10)
    assert short.plain_text() == ("x" * 10, False)
