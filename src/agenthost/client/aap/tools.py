"""Client tools in AAP: how they are declared, and the messages that answer their calls."""

from typing import cast

from agenthost.client.tools import ClientTool, ToolFailure
from agenthost.wire.aap.message import Content, ToolMessage
from agenthost.wire.aap.tool import ToolCall, ToolSpec

__all__ = ["run_call", "tool_spec", "unknown_tool"]


def tool_spec(tool: ClientTool) -> ToolSpec:
    """Return the declaration of a tool."""
    schema = tool.signature.schema
    spec: ToolSpec = {"name": tool.name, "description": tool.description, "parameters": schema}
    if tool.title:
        spec["title"] = tool.title
    return spec


async def run_call(tool: ClientTool, call: ToolCall, limit: float | None) -> ToolMessage:
    """Run a call and return the answer. A failure is reported to the model as text: AAP has no other way."""
    result = await tool.run(call["input"], limit)
    content = result.message if isinstance(result, ToolFailure) else cast("Content", result)
    return {"role": "tool", "toolCallId": call["toolCallId"], "content": content}


def unknown_tool(call: ToolCall) -> ToolMessage:
    """Return the answer to a call of a tool that the application declared earlier and does not have now."""
    sentence = f"the application has no tool {call['name']!r} at present"
    return {"role": "tool", "toolCallId": call["toolCallId"], "content": sentence}
