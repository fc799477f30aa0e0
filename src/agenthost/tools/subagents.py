"""Subagents: a tool that gives a task to another agent of the host. See docs/subagents.md."""

import re
from collections.abc import Collection
from typing import Annotated

from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import Tool
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.json import JsonObject

__all__ = ["subagent"]

DESCRIPTION = (
    "Give a task to the agent {agent!r}. It works by itself, in the same folder, knows nothing but the task, "
    "and answers once, with what it found or did."
)


def subagent(
    agent: str,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    trust: Collection[str] = (),
) -> Tool:
    """Make a tool that gives a task to this agent, in a session of its own, and gives back its final text.

    The tool is called `name`, the agent's unless told. `trust` names tools of that agent that run without
    asking in such sessions, beside those that need no asking in the session that calls.
    """
    label = title or agent

    async def delegate(
        task: Annotated[str, "what is to be done, with all that has to be known for it"], context: ToolContext
    ) -> ToolResult:
        done = await context.delegate(agent, task, trust=trust)
        structured: JsonObject = {"session": done.block["resource"]}
        if done.usage is not None:
            structured["usage"] = done.usage
        message = f"{label} {'answered' if done.error is None else 'did not get to the end'}"
        text = done.text or ("" if done.error else f"{label} ended without a word")
        content: list[ToolResultContent | str] = [done.block, *([text] if text else [])]
        return ToolResult(content, structured=structured, message=message, error=done.error)

    return Tool.of(
        delegate,
        name=name or re.sub(r"[^A-Za-z0-9_-]", "_", agent),
        title=label,
        description=description or DESCRIPTION.format(agent=agent),
        invocation=f"{label.replace('{', '{{').replace('}', '}}')}: {{task}}",
        # What the other agent does is asked for where it does it.
        trusted=True,
        resumable=True,
    )
