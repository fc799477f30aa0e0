"""Agents in TOML as people serve them: the examples, with a model service and an MCP server, over AAP."""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agenthost.client import AapClient, Permission, ToolCall
from mcp_serving import EVERYTHING
from modelling import Service, model_service
from peering import peer
from serving import run_serve, serving

EXAMPLES = Path(__file__).parents[3] / "examples" / "agents"


def say(said: str, response: Any, **match: Any) -> Any:
    return {"match": {"userMessage": said, **match}, "response": response}


def call(name: str, **given: Any) -> Any:
    return {"toolCalls": [{"name": name, "arguments": given}]}


FIXTURES = [
    say("add", call("everything_get-sum", a=2, b=3), hasToolResult=False),
    say("add", {"content": "It is five."}, toolResultContains="The sum of 2 and 3 is 5."),
    say("remember", call("note", text="buy milk"), hasToolResult=False),
    say("remember", {"content": "I will."}, toolResultContains="noted"),
    say("look", call("read_file", path="hello.py"), hasToolResult=False),
    say("look", {"content": "It prints a greeting."}, toolResultContains="good morning"),
    say("delegate", call("researcher", task="add up"), hasToolResult=False),
    say("delegate", {"content": "They say five."}, toolResultContains="It is five."),
    say("hello", {"content": "Hello."}),
]


@dataclass(frozen=True)
class Running:
    url: str
    service: Service
    workspace: Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("examples")
    agents, workspace = folder / "agents", folder / "workspace"
    shutil.copytree(EXAMPLES, agents)
    researcher = agents / "researcher.toml"
    command = "npx -y @modelcontextprotocol/server-everything"
    assert command in researcher.read_text()
    researcher.write_text(researcher.read_text().replace(command, peer(EVERYTHING)))
    workspace.mkdir()
    (workspace / "hello.py").write_text("print('good morning')\n")
    config = folder / "server.toml"
    config.write_text(
        '[agents.extra]\ntitle = "Extra"\nmodel = "openai:gpt-5-mini"\nsystem_file = "extra.md"\n'
    )
    (folder / "extra.md").write_text("You are extra.")
    words = (agents, "--config", config, "--data", folder / "data", "--workspace", workspace)
    with model_service(folder, FIXTURES) as service:
        url = f"{service.url}/v1"
        with serving(*words, OPENAI_API_KEY="key-for-tests", OPENAI_BASE_URL=url) as served:
            yield Running(served.wait_url(), service, workspace)


def ask(running: Running, agent: str, text: str, **how: Any) -> str:
    """Return the answer of an agent, with everything allowed."""

    async def allow(_call: ToolCall) -> Permission:
        return Permission(granted=True)

    async def story() -> str:
        async with AapClient(f"{running.url}/aap", permission=allow) as client:
            session = await client.create(agent, **how)
            return (await session.ask(text)).text

    return asyncio.run(story())


def test_the_agents_of_a_folder_and_of_the_settings_are_served(running: Running) -> None:
    async def story() -> Any:
        async with AapClient(f"{running.url}/aap") as client:
            return (await client.meta())["agents"]

    shown = {one["name"]: one for one in asyncio.run(story())}
    assert list(shown) == ["extra", "coder", "researcher"]
    assert shown["coder"]["title"] == "Coder"
    assert [one["name"] for one in shown["coder"]["options"]] == ["style", "model"]
    assert ask(running, "extra", "Say hello") == "Hello."
    assert "You are extra." in str(running.service.requests("Say hello")[0])


def test_a_model_uses_the_tools_of_an_mcp_server_and_of_a_python_file(running: Running) -> None:
    tools = ["everything_get-sum", "note"]
    assert ask(running, "researcher", "Please add", server_tools=tools) == "It is five."
    assert ask(running, "researcher", "Please remember", server_tools=tools) == "I will."
    assert (running.workspace / "notes.md").read_text() == "- buy milk\n"


def test_a_model_works_on_files_gives_tasks_away_and_is_told_the_options(running: Running) -> None:
    how: Any = {"server_tools": ["read_file", "researcher"], "options": {"style": "terse"}}
    assert ask(running, "coder", "Have a look", **how) == "It prints a greeting."
    assert "in a terse style" in str(running.service.requests("Have a look")[0])
    assert ask(running, "coder", "Please delegate", **how) == "They say five."


def test_an_error_ends_the_command_and_names_its_location(tmp_path: Path) -> None:
    file = tmp_path / "coder.toml"
    file.write_text('model = "openai:gpt-5"\ntool = ["workspace"]\n')
    ended = run_serve(file)
    assert ended.returncode == 2
    assert f"{file}: tool: there is no such key; did you mean tools?" in ended.stderr
    config = tmp_path / "server.toml"
    config.write_text('[agents.a]\nmodel = "openai:gpt-5"\nsystem = 5\n')
    ended = run_serve("--config", config)
    assert ended.returncode == 2
    assert f"{config}: agents.a.system: expected a string, found the number 5" in ended.stderr
    assert "Traceback" not in ended.stderr
