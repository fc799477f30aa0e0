"""Without the extras: what needs one says so in a sentence, and everything else works."""

import subprocess
import sys

import pytest

LIBRARIES = ["mcp", "acp", "pydantic_ai", "langgraph", "langchain_core"]
GONE = f"import sys; sys.modules.update(dict.fromkeys({LIBRARIES}))\n"


def told(code: str) -> str:
    """Run Python where the libraries of the extras are not there, and give the last line that it prints."""
    ended = subprocess.run([sys.executable, "-c", GONE + code], capture_output=True, text=True, check=False)
    return (ended.stdout + ended.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("from agenthost.tools.mcp import McpServer; McpServer('x', command='y')", "'agenthost[mcp]'"),
        ("from agenthost.agents.adapters import PydanticAgent", "'agenthost[llm]'"),
        ("from agenthost.agents.adapters import LangGraphAgent", "pip install langgraph"),
    ],
)
def test_what_needs_a_library_names_it(code: str, sentence: str) -> None:
    assert sentence in told(code)


def test_the_rest_needs_none_of_them() -> None:
    modules = "agenthost.agents.declared.building, agenthost.cli.serve, agenthost.agents.adapters.functions"
    assert told(f"import {modules}; print('fine')") == "fine"
