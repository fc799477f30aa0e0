"""Servers that die, are not there, or never say a word: one clear sentence, and another start."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthost.logs import masked
from agenthost.tools.mcp import McpServer, server
from hosting import run
from mcp_calling import caller
from mcp_serving import LONG, at_url, free_port, kill_on_pipes, on_pipes
from talking import Talk, talking


def test_a_call_whose_server_is_killed_fails_with_a_sentence_and_the_next_finds_it_again(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(on_pipes(trust=True))) as host:
            talk = await Talk.begin(host)
            await talk.send("every_trigger-elicitation-request")
            await talk.hear_one("inputRequested")
            assert kill_on_pipes() == 1
            heard = await talk.finish()
            assert heard.of("inputCompleted")[0]["response"] == "cancel"
            assert talk.answer == (
                "failed: the MCP server every was lost during trigger-elicitation-request (it"
                " ended); whether that was done is unknown. The server is being restarted"
            )
            await talk.say('every_echo {"message": "back"}')
            assert talk.answer == "done: Echo: back"

    run(story)


def test_a_call_whose_server_at_a_url_is_killed_fails_with_a_sentence(tmp_path: Path) -> None:
    async def story() -> None:
        with at_url() as (url, process):
            async with talking(tmp_path, caller(McpServer("every", url=url, trust=True))) as host:
                talk = await Talk.begin(host)
                await talk.send("every_trigger-elicitation-request")
                await talk.hear_one("inputRequested")
                process.kill()
                await talk.finish()
                sentence = "failed: the MCP server every was lost during trigger-elicitation-request"
                assert talk.answer.startswith(sentence)

    run(story)


def test_a_server_that_refuses_us_is_named_with_its_status(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            agent = caller(McpServer("x", url=f"http://127.0.0.1:{port}/mcp"))
            async with talking(tmp_path, agent) as host:
                await host.parts.tool_sources.wait(agent)

    run(story)
    assert "MCP server x: it answered with status 401" in caplog.text


def test_a_call_that_may_be_repeated_is_made_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(on_pipes())) as host:
            talk = await Talk.begin(host)
            await talk.send(f'every_{LONG} {{"duration": 1, "steps": 10}}')
            await talk.hear_one("toolCallContentChanged")
            assert kill_on_pipes() == 1
            await talk.finish()
            assert talk.answer.startswith("done: Long running operation completed.")

    run(story)


def test_a_server_at_a_url_that_was_started_anew_is_found_again(tmp_path: Path) -> None:
    port = free_port()

    async def story() -> None:
        with at_url(port) as (url, process):
            agent = caller(McpServer("every", url=url, trusted=True))
            host = talking(tmp_path, agent)
            opened = await host.__aenter__()
            talk = await Talk.begin(opened)
            await talk.say('every_echo {"message": "one"}')
            assert talk.answer == "done: Echo: one"
            process.kill()
        with at_url(port):
            await talk.say('every_echo {"message": "two"}')
            assert talk.answer == "done: Echo: two"
            await host.__aexit__(None, None, None)

    run(story)


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (lambda: McpServer("x", command="no-such-program"), "there is no program 'no-such-program' to run"),
        (
            lambda: McpServer("x", command=[sys.executable], env={"TOKEN": "$NO_SUCH_VARIABLE"}),
            "the variable NO_SUCH_VARIABLE is not set where this host runs, but TOKEN needs it",
        ),
        (
            lambda: McpServer(
                "x", url="http://127.0.0.1:9/mcp", headers={"Authorization": "Bearer $NO_SUCH_V"}
            ),
            "the variable NO_SUCH_V is not set where this host runs, but the header Authorization needs it",
        ),
        (lambda: McpServer("x", url=f"http://127.0.0.1:{free_port()}/mcp"), "All connection attempts failed"),
        (lambda: McpServer("x", command=[sys.executable, "-c", "exit(3)"]), "it ended with exit code 3;"),
    ],
)
def test_a_server_that_cannot_be_started_is_logged_and_delays_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, declare: Callable[[], McpServer], sentence: str
) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(declare())) as host:
            talk = await Talk.begin(host)
            await talk.say("x_anything")
            assert talk.answer == "failed: there is no tool 'x_anything' in this session"

    run(story)
    assert "MCP server x: " in caplog.text
    assert sentence in caplog.text


def test_a_server_that_never_answers_times_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START_SECONDS", 0.5)
    silent = McpServer("x", command=[sys.executable, "-c", "import sys; sys.stdin.read()"])

    async def story() -> None:
        async with talking(tmp_path, caller(silent)) as host:
            await host.parts.tool_sources.wait(host.agents["demo"])

    run(story)
    assert "MCP server x: it did not start within 0.5 seconds" in caplog.text


def test_a_server_gets_little_of_our_environment_and_the_secrets_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cret-value")
    monkeypatch.setenv("OTHER_KEY", "not-for-you")

    async def story() -> None:
        async with talking(tmp_path, caller(on_pipes(env={"TOKEN": "$MY_TOKEN", "MODE": "test"}))) as host:
            talk = await Talk.begin(host)
            await talk.say("every_get-env")
            assert '"TOKEN": "s3cret-value"' in talk.answer
            assert '"MODE": "test"' in talk.answer
            assert "not-for-you" not in talk.answer

    caplog.set_level("DEBUG", logger="agenthost")
    run(story)
    ours = [record for record in caplog.records if record.name.startswith("agenthost.mcp")]
    assert "s3cret-value" not in "".join(record.getMessage() for record in ours)
    assert masked("it is s3cret-value") == "it is ***"  # whoever would write it down
    assert "Starting default (STDIO) server" in caplog.text  # what it writes to its standard error


def test_two_agents_share_one_server(tmp_path: Path) -> None:
    shared = on_pipes()

    async def story() -> None:
        async with talking(tmp_path, caller(shared), caller(shared, name="other")) as host:
            for name in ("demo", "other"):
                talk = await Talk.begin(host, name)
                await talk.say('every_echo {"message": "hi"}')
                assert talk.answer == "done: Echo: hi"
            assert kill_on_pipes() == 1

    run(story)
