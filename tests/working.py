"""The tools of agents that work on files, called without a host: what they give, what they do to a folder."""

import asyncio
from pathlib import Path
from typing import Any

from agenthost import Tool, ToolContext
from agenthost.host.authoring.tool_results import ToolOutcome
from agenthost.tools.workspace import read_file

TIMEOUT = 20


def outcome(one: Tool, folder: Path, **arguments: Any) -> ToolOutcome:
    """Return the outcome of a call in this folder."""

    async def limited() -> ToolOutcome:
        async with asyncio.timeout(TIMEOUT):
            return await one.run(arguments, ToolContext(workspace=folder))

    return asyncio.run(limited())


def given(one: Tool, folder: Path, **arguments: Any) -> str:
    """Return the text for the model of a call that must succeed."""
    found = outcome(one, folder, **arguments)
    assert found.error is None, found.error
    return found.text


def refused(one: Tool, folder: Path, **arguments: Any) -> str:
    """Return the error of a call that must fail."""
    found = outcome(one, folder, **arguments)
    assert found.error is not None, found.text
    return found.error["message"]


def version(folder: Path, path: str) -> str:
    """Return the version of a file, as `read_file` reports it."""
    return given(read_file, folder, path=path).split("version ")[1][:8]
