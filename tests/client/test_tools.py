"""What the agent asks of the application: to run its tools, and permission for the server's."""

import asyncio
import logging
import threading
from typing import Any

import pytest

from aap_servers import META, START, STOP, odd_server, stream
from agenthost.client import (
    AapClient,
    ClientTool,
    Decide,
    Permission,
    ToolCall,
    ToolError,
    TurnLimits,
    allow_all,
    allow_only,
    deny_all,
    image,
)
from agenthost.client.aap.tools import tool_spec
from agenthost.client.tools import result_content, tools_by_name
from agenthost.wire.json import decode_json
from hosting import run

PNG = b"\x89PNG\r\n\x1a\n rest"


def said(server: str, words: str, *tools: Any, **how: Any) -> str:
    """Return what the agent says about its calls of these tools."""
    texts = []

    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo", tools=tools, server_tools=["add", "clock"])
            texts.append((await session.ask(words, **how)).text)

    run(story)
    return texts[0]


def test_a_tool_that_blocks_runs_beside_the_event_loop(server: str) -> None:
    threads = []

    def where() -> str:
        """Say where it runs."""
        threads.append(threading.current_thread())
        return "there"

    assert said(server, "/call where", where) == "where -> there"
    assert threads[0] is not threading.main_thread()


def test_tools_of_one_step_run_at_the_same_time(server: str) -> None:
    both = threading.Barrier(2, timeout=10)

    def meet() -> str:
        """Wait for the other one."""
        both.wait()
        return "met"

    assert said(server, "/call meet && meet", meet) == "meet -> met\nmeet -> met"


def test_the_model_reads_a_tool_error_unchanged(server: str) -> None:
    async def open_door() -> None:
        """Open the door."""
        raise ToolError("the door is locked")

    assert said(server, "/call open_door", open_door) == "open_door -> the door is locked"


def test_an_unexpected_error_of_a_tool_is_shortened_and_logged(
    server: str, caplog: pytest.LogCaptureFixture
) -> None:
    def read() -> None:
        """Read a file."""
        raise FileNotFoundError(2, "No such file or directory", "/srv/me/secret.txt")

    def shout() -> None:
        """Fail with many words."""
        raise ValueError("x" * 1000)

    caplog.set_level(logging.ERROR, "agenthost.client")
    text = said(server, "/call read && shout", read, shout)
    short = f"shout failed: ValueError: {'x' * 200}…"
    assert text == f"read -> read failed: FileNotFoundError: No such file or directory\nshout -> {short}"
    assert {record.message for record in caplog.records} == {"tool read failed", "tool shout failed"}


def test_a_tool_that_takes_too_long_is_given_up(server: str) -> None:
    release = threading.Event()

    def block() -> None:
        """Wait in a thread."""
        release.wait(30)

    async def wait() -> None:
        """Wait on the loop."""
        await asyncio.Event().wait()

    try:
        slow = ClientTool.of(block, timeout=0.05)
        text = said(server, "/call block && wait", slow, wait, limits=TurnLimits(tool_seconds=0.1))
    finally:
        release.set()
    assert text.splitlines() == [
        "block -> block took longer than 0.05 seconds and was given up",
        "wait -> wait took longer than 0.1 seconds and was given up",
    ]


def test_the_model_is_told_about_invalid_arguments(server: str) -> None:
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    text = said(server, '/call double {"number": "two"}', double)
    assert text == "double -> double was not run: $.number: expected a whole number, found a string"


def test_a_tool_that_cancels_itself_ends_only_its_own_call(server: str) -> None:
    async def give_up() -> None:
        """Give up."""
        raise asyncio.CancelledError

    assert said(server, "/call give_up", give_up) == "give_up -> give_up failed: it was cancelled"


def test_a_call_of_a_tool_that_the_application_no_longer_has_fails(server: str) -> None:
    def count() -> int:
        """Count."""
        return 7

    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            session = await client.create("demo", tools=[count])
            without = client.session(session.id)
            answer = await without.ask("/call count")
            assert answer.text == "count -> the application has no tool 'count' at present"

    run(story)


def test_an_unlisted_tool_counts_as_a_server_tool_and_needs_permission() -> None:
    call = {"event": "tool_call", "toolCallId": "c1", "name": "pay", "input": {"amount": 4}}
    waits = {"event": "turn_stop", "stopReason": "tool_use"}
    asked: list[str] = []

    def decide(call: ToolCall) -> bool:
        asked.append(call["name"])
        return True

    async def story() -> None:
        async with AapClient(server.url, permission=decide) as client:
            answer = await (await client.create()).ask("play")
            assert answer.stop_reason == "end_turn"

    turns = [stream(START, call, waits), stream(START, STOP)]
    with odd_server(META, post_sessions_s1_turns=turns) as server:
        run(story)
        sent = decode_json(server.requests[-1][2])
    assert asked == ["pay"]
    assert sent["messages"] == [{"role": "tool_permission", "toolCallId": "c1", "granted": True}]


@pytest.mark.parametrize(
    ("decide", "line"),
    [
        (deny_all, "Tool call denied: the application has nobody to ask for permission"),
        (allow_all, "3"),
        (allow_only("add"), "3"),
        (allow_only("clock"), "Tool call denied: the application does not allow add"),
        (lambda _call: False, "Tool call denied"),
        (lambda _call: 1, "Tool call denied"),
        (lambda _call: Permission(granted=False, reason="not today"), "Tool call denied: not today"),
    ],
)
def test_the_application_decides_about_calls_of_server_tools(server: str, decide: Decide, line: str) -> None:
    assert said(server, '/call add {"a": 1, "b": 2}', permission=decide) == f"add -> {line}"


def test_a_decision_may_be_asynchronous_and_one_that_fails_is_a_denial(
    server: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def decide(call: ToolCall) -> bool:
        return call["input"] == {"a": 1, "b": 2}

    def fail(_call: ToolCall) -> bool:
        raise OSError("no terminal")

    assert said(server, '/call add {"a": 1, "b": 2}', permission=decide) == "add -> 3"
    caplog.set_level(logging.ERROR, "agenthost.client")
    text = said(server, '/call add {"a": 1, "b": 2}', permission=fail)
    assert text == "add -> Tool call denied: the application failed to ask for permission"
    assert "asking for permission to run add failed" in caplog.text


def test_people_are_asked_about_one_call_at_a_time(server: str) -> None:
    now, most = 0, 0

    async def decide(_call: ToolCall) -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return True

    words = '/call add {"a": 1, "b": 2} && add {"a": 3, "b": 4}'
    assert said(server, words, permission=decide) == "add -> 3\nadd -> 7"
    assert most == 1


def test_a_tool_is_described_by_its_function_by_default() -> None:
    def double(number: int) -> int:
        """Double a number.

        Args:
            number: what to double.
        """
        return 2 * number

    assert tool_spec(ClientTool.of(double)) == {
        "name": "double",
        "description": "Double a number.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer", "description": "what to double."}},
            "required": ["number"],
            "additionalProperties": False,
        },
    }
    other = ClientTool.of(double, name="twice", title="Twice", description="Twice.")
    spec = tool_spec(other)
    assert (spec["name"], spec["title"], spec["description"]) == ("twice", "Twice", "Twice.")
    assert other(4) == 8


def test_unusable_tools_are_refused() -> None:
    def one() -> None: ...

    with pytest.raises(ValueError, match="two tools are called 'one'"):
        tools_by_name([one, ClientTool.of(one)])
    with pytest.raises(ValueError, match="needs a name"):
        tools_by_name([lambda: 1])
    with pytest.raises(ValueError, match="above 0"):
        ClientTool.of(one, timeout=0)
    with pytest.raises(TypeError, match="no annotation"):
        tools_by_name([lambda_with_parameter])


def lambda_with_parameter(x) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Take something of no type."""


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, ""),
        ("words", "words"),
        ("\ud800", "?"),
        (5, "5"),
        ({"a": [1]}, '{"a":[1]}'),
        ([], "[]"),
        (image(PNG), [image(PNG)]),
        ([{"type": "text", "text": "x"}, image("https://x.org/y")], None),
        ([{"type": "text"}], '[{"type":"text"}]'),
    ],
)
def test_the_result_of_a_function_becomes_text_or_blocks(value: Any, content: Any) -> None:
    assert result_content(value) == (value if content is None else content)
