"""Without the extras: what needs one says so in a sentence, and everything else works."""

import subprocess
import sys
from pathlib import Path

import pytest

from agenthost.commands import install_command

LIBRARIES = ["mcp", "acp", "pydantic_ai", "langgraph", "langchain_core", "asyncpg"]
GONE = f"import sys; sys.modules.update(dict.fromkeys({LIBRARIES}))\n"


def told(code: str) -> str:
    """Run Python where the libraries of the extras are not there, and return the last line that it prints."""
    ended = subprocess.run([sys.executable, "-c", GONE + code], capture_output=True, text=True, check=False)
    return (ended.stdout + ended.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("from agenthost.tools.mcp import McpServer; McpServer('x', command='y')", "'agenthost[mcp]'"),
        ("from agenthost.agents.adapters import PydanticAgent", "'agenthost[llm]'"),
        ("from agenthost.agents.adapters import LangGraphAgent", "pip install langgraph"),
        (
            "from agenthost.host.storage.stores import shared_store; shared_store('postgresql:///agents')",
            "install agenthost[postgres]",
        ),
    ],
)
def test_what_needs_a_library_names_it(code: str, sentence: str) -> None:
    assert sentence in told(code)


@pytest.mark.parametrize(
    ("agent", "library", "package"),
    [
        ("langgraph_agent.py", "langchain_core", "langgraph"),
        ("pydantic_agent.py", "pydantic_ai", "agenthost[llm]"),
    ],
)
def test_a_file_that_needs_a_library_is_told_with_what_to_install(
    agent: str, library: str, package: str
) -> None:
    path = str(Path(__file__).parents[1] / "examples" / agent)
    code = f"sys.argv[1:] = ['serve', {path!r}]; from agenthost.cli import main; main()"
    assert told(code) == f"agenthost: {path} cannot be loaded: it needs {library}: {install_command(package)}"


def test_in_a_clone_it_is_installed_into_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AGENTHOST_CALLED_AS", "./run")
    assert install_command("langgraph") == "./run python -m pip install langgraph"
    assert install_command("agenthost[llm]") == "./run python -m pip install --editable '.[llm]'"


def test_the_rest_needs_none_of_them() -> None:
    modules = "agenthost.agents.declared.builder, agenthost.cli.serve, agenthost.cli.copy"
    modules += ", agenthost.agents.adapters.text_agent"
    assert told(f"import {modules}; print('fine')") == "fine"
