"""The tools of the demo agent, called by its words: trusted or not, allowed or denied."""

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.agents.demo.tools import MAX_OUTPUT_CHARACTERS
from agenthost.wire.json import encode_json
from hosting import run
from talking import Talk, said, talking

TRUSTED = dict.fromkeys(demo.toolset, True)


def called(folder: Path, name: str, **arguments: Any) -> str:
    """Return the answer to a call of one tool, in a session that trusts all of them."""
    return said(folder, demo, f"/call {name} {encode_json(arguments).decode()}", tools=TRUSTED).text


def test_the_tools_say_what_they_may_do() -> None:
    hints = {name: one.annotations() for name, one in demo.toolset.items()}
    read_only = {"readOnlyHint": True}
    assert hints == {
        "add": read_only,
        "clock": read_only,
        "fail": {"readOnlyHint": False, "destructiveHint": False},
        "sleep": read_only,
        "write_file": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
        "read_file": read_only,
        "run": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False},
    }
    assert all(one.exposed for one in demo.toolset.values())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('/call add {"a": 2, "b": 3}', "add -> 5"),
        ('/call add {"a": 0.5, "b": 1}', "add -> 1.5"),
        ('/call add {"a": 1, "b": 2} && add {"a": 3, "b": 4}', "add -> 3\nadd -> 7"),
        ("/call fail", "fail -> this tool always fails"),
        (
            '/call sleep {"seconds": 0}&& fail {}',
            "sleep -> slept for 0 seconds\nfail -> this tool always fails",
        ),
        ('/call sleep {"seconds": 601}', "sleep -> seconds has to be from 0 to 600, not 601"),
        (
            '/call clock {"zone": "Mars/Olympus"}',
            "clock -> there is no time zone 'Mars/Olympus'; an example is Europe/Rome",
        ),
        (
            '/call clock {"zone": "/etc/passwd"}',
            "clock -> there is no time zone '/etc/passwd'; an example is Europe/Rome",
        ),
        ("/call nothing", "nothing -> there is no tool 'nothing' in this session"),
        ('/call run {"command": "echo a && pwd | grep -c workspace"}', "run -> a\n1\n"),
    ],
)
def test_call_answers_with_a_line_for_each_result(tmp_path: Path, text: str, answer: str) -> None:
    assert said(tmp_path, demo, text, tools=TRUSTED).text == answer


def test_input_that_does_not_fit_is_told_and_nobody_is_asked(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            heard = await talk.say('/call add {"a": "two"}')
            assert heard.text.startswith("add -> add was not run: $")

    run(story)


def test_clock_tells_the_time_of_a_zone(tmp_path: Path) -> None:
    text = called(tmp_path, "clock").removeprefix("clock -> ")
    assert datetime.fromisoformat(text).utcoffset() is not None


def test_tools_of_one_step_are_asked_for_before_any_of_them_ends(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, '/call sleep {"seconds": 0} && add {"a": 1, "b": 1}', tools=TRUSTED)
    kinds = [action["type"] for action in heard.actions]
    last_ready = max(place for place, kind in enumerate(kinds) if kind == "session/toolCallReady")
    assert last_ready < kinds.index("session/toolCallComplete")


def test_a_session_without_tools_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host, tools={})
            heard = await talk.say('/call add {"a": 1, "b": 2}')
            assert heard.text == "add -> there is no tool 'add' in this session"

    run(story)


def test_an_untrusted_tool_runs_once_it_is_allowed(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send('/call add {"a": 1, "b": 2}')
            ready = await talk.hear_one("toolCallReady")
            assert "confirmed" not in ready
            assert await talk.approve(ready) is None
            assert (await talk.finish()).text == "add -> 3"

    run(story)


def test_a_denied_tool_does_not_run_and_the_reason_is_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/edit a.txt hello")
            await talk.deny(await talk.hear_one("toolCallReady"), "not that file")
            assert (await talk.finish()).text == "Tool call denied: not that file"
            assert not (host.workspace / "a.txt").exists()

    run(story)


def test_a_client_runs_its_own_tool(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            tools = [{"name": "locate", "inputSchema": {"type": "object"}}]
            talk = await Talk.begin(host, active_client={"clientId": "me", "tools": tools})
            await talk.send('/call locate {"who": "Ann"}')
            ready = await talk.hear_one("toolCallReady")
            assert ready["toolInput"] == '{"who":"Ann"}'
            assert await talk.complete(ready, "at home") is None
            assert (await talk.finish()).text == "locate -> at home"

    run(story)


def test_run_tells_the_code_of_a_command_that_failed_and_what_it_printed(tmp_path: Path) -> None:
    answer = called(tmp_path, "run", command="echo out; echo err >&2; exit 3")
    assert answer == "run -> the command ended with code 3\nout\nerr\n"


def test_run_keeps_only_the_beginning_of_a_long_output(tmp_path: Path) -> None:
    answer = called(tmp_path, "run", command="head -c 1000000 /dev/zero | tr '\\0' x")
    assert answer == f"run -> {'x' * MAX_OUTPUT_CHARACTERS}\n[the rest was left out]"


def test_run_does_not_hand_on_the_environment_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    assert "hidden" not in called(tmp_path, "run", command="env")


def test_a_command_that_takes_too_long_is_stopped_and_what_it_printed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthost.agents.demo.tools.RUN_SECONDS", 0.5)
    answer = called(tmp_path, "run", command="echo begun; sleep 60")
    assert answer == "run -> the command took longer than 0.5 seconds and was stopped\nbegun\n"


def test_a_command_and_all_that_it_started_end_with_their_turn(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            pipe = host.workspace / "pipe"
            os.mkfifo(pipe)
            talk = await Talk.begin(host, tools=TRUSTED)
            await talk.send('/call run {"command": "exec 3>pipe; sleep 60 & sleep 60"}')
            # Opens once the command runs; ends when nobody is left who holds the other end.
            reader = await asyncio.to_thread(pipe.open, "rb")
            await talk.cancel()
            assert (await talk.finish()).ending["type"] == "session/turnCancelled"
            with reader:
                assert await asyncio.to_thread(reader.read) == b""

    run(story)


def test_a_call_still_waits_for_approval_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send('/call add {"a": 1, "b": 2} && fail')
            first = await talk.hear_one("toolCallReady")
            second = await talk.hear_one("toolCallReady")
            await talk.approve(first)
            await talk.hear_one("toolCallComplete")
        async with talking(tmp_path, demo) as host:
            talk = await Talk.join(host, first["session"])
            assert await talk.deny(second, "no") is None
            assert (await talk.finish()).text == "add -> 3\nfail -> Tool call denied: no"

    run(story)
