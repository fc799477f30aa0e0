"""Client tools in AHP: how they are declared, and the results of their calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.client.tools import ClientTool, ToolContent, ToolFailure
from agenthost.errors import NotJson
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.json import decode_json

__all__ = ["active_client", "failed_result", "run_tool", "tool_definition"]


def tool_definition(tool: ClientTool) -> ToolDefinition:
    """Return the declaration of a tool."""
    schema: Any = tool.signature.schema
    definition: ToolDefinition = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema,
    }
    if tool.title:
        definition["title"] = tool.title
    return definition


def active_client(
    client_id: str, name: str | None, tools: Mapping[str, ClientTool], customizations: Sequence[Any] = ()
) -> SessionActiveClient:
    """Return the description of this client for a session."""
    client: SessionActiveClient = {
        "clientId": client_id,
        "tools": [tool_definition(tool) for tool in tools.values()],
    }
    if name is not None:
        client["displayName"] = name
    if customizations:
        client["customizations"] = list(customizations)
    return client


async def run_tool(tool: ClientTool, text: str | None) -> ToolCallResult:
    """Run a tool with the input of a call and return the result. Raises only if it is cancelled."""
    try:
        arguments = decode_json(text) if text else {}
    except NotJson as error:
        return failed_result(tool.name, ToolFailure(f"{tool.name} was not run: {error}", "invalid-input"))
    result = await tool.run(arguments)
    return failed_result(tool.name, result) if isinstance(result, ToolFailure) else _succeeded(tool, result)


def _succeeded(tool: ClientTool, content: ToolContent) -> ToolCallResult:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(map(_block, content))
    return {"success": True, "pastTenseMessage": f"Ran {tool.title or tool.name}", "content": blocks}  # type: ignore[typeddict-item] # blocks fit


def _block(block: Any) -> Any:
    """Convert a block to AHP. An image is embedded if its bytes are in the URL, else referred to."""
    if block["type"] != "image":
        return {"type": "text", "text": block["text"]}
    head, _, data = block["url"].partition(",")
    if head.startswith("data:") and head.endswith(";base64"):
        kind = head.removeprefix("data:").removesuffix(";base64")
        return {"type": "embeddedResource", "data": data, "contentType": kind}
    return {"type": "resource", "uri": block["url"]}


def failed_result(name: str, failure: ToolFailure) -> ToolCallResult:
    """Return the result of a call that failed."""
    return {
        "success": False,
        "pastTenseMessage": f"{name} failed",
        "error": {"message": failure.message, "code": failure.code},
    }
