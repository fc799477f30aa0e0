"""The tools of a real MCP server, called in sessions: on pipes, and by HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.tools.mcp import McpServer
from hosting import run
from mcp_calling import caller
from mcp_serving import LONG
from talking import Talk, talking
from turning import until

Every = Callable[..., McpServer]


async def called(talk: Talk, text: str) -> Any:
    """Return the status of a call that needs no approval, and its result."""
    heard = await talk.say(text)
    (done,) = heard.of("toolCallComplete")
    return talk.answer, done["result"]


def test_results_of_every_kind_come_through(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every())) as host:
            talk = await Talk.begin(host)
            said, _ = await called(talk, 'every_echo {"message": "hello"}')
            assert said == "done: Echo: hello"
            said, _ = await called(talk, 'every_get-sum {"a": 1, "b": 2.5}')
            assert said == "done: The sum of 1 and 2.5 is 3.5."
            _, result = await called(talk, "every_get-tiny-image")
            kinds = [block["type"] for block in result["content"]]
            assert kinds == ["text", "embeddedResource", "text"]
            assert result["content"][1]["contentType"] == "image/png"
            _, result = await called(talk, 'every_get-structured-content {"location": "Chicago"}')
            assert result["structuredContent"]["temperature"] == 36
            said, result = await called(talk, 'every_get-annotated-message {"messageType": "error"}')
            assert (said, result["success"]) == ("done: Error: Operation failed", True)
            said, _ = await called(talk, 'every_get-resource-links {"count": 1}')
            assert "[Blob Resource 1, text/plain, demo://resource/dynamic/blob/1]: Resource 1" in said
            said, _ = await called(talk, 'every_get-resource-reference {"resourceId": 7}')
            assert "Resource 7: This is a plaintext resource" in said
            said, _ = await called(talk, "every_get-roots-list")
            assert host.workspace.as_uri() in said

    run(story)


def test_progress_is_shown_while_a_call_runs(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every())) as host:
            talk = await Talk.begin(host)
            heard = await talk.say(f'every_{LONG} {{"duration": 0.6, "steps": 3}}')
            shown = [action["content"][0]["text"] for action in heard.of("toolCallContentChanged")]
            # Of several at once, on a machine that is busy, only the last may be shown.
            assert shown[-1] == "3 of 3"
            assert shown == sorted({*shown} & {"1 of 3", "2 of 3", "3 of 3"})
            assert talk.answer == "done: Long running operation completed. Duration: 0.6 seconds, Steps: 3."

    run(story)


def test_input_is_checked_before_anybody_is_asked_and_failures_have_the_servers_words(
    tmp_path: Path, every: Every
) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every())) as host:
            talk = await Talk.begin(host)
            said, _ = await called(talk, 'every_echo {"message": 5}')
            wrong = "$.message: expected a string, found the number 5"
            assert said == f"failed: every_echo was not run: {wrong}"
            gzip = 'every_gzip-file-as-resource {"data": "file:///etc/passwd"}'
            await talk.send(gzip)
            await talk.approve(await talk.hear_one("toolCallReady"))
            done = (await talk.finish()).of("toolCallComplete")[0]
            assert not done["result"]["success"]
            assert "Unsupported URL protocol" in done["result"]["error"]["message"]

    run(story)


def test_what_a_result_refers_to_can_be_read(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every(trust=["read_resource"]))) as host:
            talk = await Talk.begin(host)
            uri = "demo://resource/dynamic/text/3"
            said, _ = await called(talk, f'every_read_resource {{"uri": "{uri}"}}')
            assert said.startswith("done: Resource 3: This is a plaintext resource")
            said, _ = await called(talk, 'every_read_resource {"uri": "demo://nothing"}')
            assert said == "failed: MCP error -32602: Resource demo://nothing not found"

    run(story)


def test_a_cancelled_turn_cancels_its_call_and_the_server_goes_on(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every())) as host:
            talk = await Talk.begin(host)
            await talk.send(f'every_{LONG} {{"duration": 60, "steps": 600}}')
            await talk.hear_one("toolCallContentChanged")
            await talk.cancel()
            await talk.finish()
            said, _ = await called(talk, 'every_echo {"message": "still here"}')
            assert said == "done: Echo: still here"

    run(story)


def hints(talk: Talk) -> dict[str, Any]:
    return {one["name"]: one["annotations"] for one in talk.state["serverTools"] if "annotations" in one}


def test_tools_that_change_nothing_and_reach_nowhere_run_at_once_and_others_ask(
    tmp_path: Path, every: Every
) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every())) as host:
            await host.parts.tool_sources.wait(host.agents["demo"])
            talk = await Talk.begin(host)
            await until(talk, lambda _: "every_trigger-url-elicitation" in hints(talk))
            assert hints(talk)["every_echo"] == {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            }
            await talk.send('every_gzip-file-as-resource {"data": "data:text/plain,x"}')
            ready = await talk.hear_one("toolCallReady")
            assert "confirmed" not in ready
            await talk.deny(ready)
            await talk.finish()
            strict = await Talk.begin(host, tools={"every_echo": False})
            await strict.send('every_echo {"message": "x"}')
            await strict.deny(await strict.hear_one("toolCallReady"), "not now")
            await strict.finish()
            assert strict.answer == "failed: Tool call denied: not now"

    run(story)


def test_only_the_tools_that_are_wanted_are_there_under_the_wanted_names(
    tmp_path: Path, every: Every, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        server = every(tools=["get-sum", "gzip-file-as-resource", "nope"], trust=True, prefix="x.")
        async with talking(tmp_path, caller(server)) as host:
            await host.parts.tool_sources.wait(host.agents["demo"])
            talk = await Talk.begin(host)
            assert [one["name"] for one in talk.state["serverTools"]] == [
                "x_get-sum",
                "x_gzip-file-as-resource",
            ]
            said, _ = await called(talk, 'x_gzip-file-as-resource {"data": "data:text/plain,x"}')
            assert said.startswith("done: [README.md.gz, application/gzip, demo://resource/session/")

    run(story)
    assert "MCP server every has no tool nope; it has echo, get-annotated-message" in caplog.text
