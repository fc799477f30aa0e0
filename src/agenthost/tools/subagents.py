"""A tool that gives a task to another agent of the host. See docs/subagents.md."""

import re
from collections.abc import Collection
from typing import Annotated

from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.json import JsonObject

__all__ = ["subagent"]

DESCRIPTION = (
    "Give a task to the agent {agent!r}. It works on its own, in the same folder, knows nothing but the "
    "task, and answers once, with what it found or did."
)


def subagent(
    agent: str,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    trust: Collection[str] = (),
) -> Tool:
    """Return a tool that gives a task to an agent, in a new session, and returns its final text.

    `name` is the name of the tool, by default that of the agent. `trust` names tools of that agent that need
    no approval in such sessions, in addition to those that need none in the calling session.
    """
    label = title or agent

    async def delegate(
        task: Annotated[str, "what to do, with everything that must be known for it"], context: ToolContext
    ) -> ToolResult:
        done = await context.delegate(agent, task, trust=trust)
        structured: JsonObject = {"session": done.session}
        if done.usage is not None:
            structured["usage"] = done.usage
        message = f"{label} {'answered' if done.error is None else 'did not finish'}"
        text = done.text or ("" if done.error else f"{label} ended without a final text")
        content: list[ToolResultContent | str] = [done.block, *([text] if text else [])]
        return ToolResult(content, structured=structured, message=message, error=done.error)

    return Tool.of(
        delegate,
        name=name or re.sub(r"[^A-Za-z0-9_-]", "_", agent),
        title=label,
        description=description or DESCRIPTION.format(agent=agent),
        invocation=f"{label.replace('{', '{{').replace('}', '}}')}: {{task}}",
        # The other agent's calls are approved in its own session.
        trusted=True,
        resumable=True,
    )
