"""Results of MCP calls as tool results."""

from typing import Any

import mcp_types as mcp

from agenthost.host.authoring.tool_results import ToolResult
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.json import JsonObject, encode_json

UNKNOWN = "application/octet-stream"


def call_result(answer: mcp.CallToolResult) -> ToolResult:
    """Convert the result of a call. A failed call has the server's text as its error."""
    content = [_block(block) for block in answer.content]
    structured = _structured(answer.structured_content)
    if answer.is_error:
        return _failed(content, structured)
    if not content and structured is not None:
        content = [{"type": "text", "text": encode_json(answer.structured_content).decode()}]
    return ToolResult(content, structured)


def resource_result(answer: mcp.ReadResourceResult) -> ToolResult:
    """Convert the content of a resource."""
    return ToolResult([_held(contents) for contents in answer.contents])


def _failed(content: list[ToolResultContent], structured: JsonObject | None) -> ToolResult:
    # The text becomes the error, so it is removed from the content: models read both.
    texts = [block["text"] for block in content if block["type"] == "text"]
    rest = [block for block in content if block["type"] != "text"]
    return ToolResult(rest, structured, error="\n".join(texts) or "the tool failed without a reason")


def _structured(value: Any) -> JsonObject | None:
    if value is None or isinstance(value, dict):
        return value
    return {"result": value}


def _block(block: mcp.ContentBlock) -> ToolResultContent:
    match block:
        case mcp.TextContent():
            return {"type": "text", "text": block.text}
        case mcp.ImageContent() | mcp.AudioContent():
            return {"type": "embeddedResource", "data": block.data, "contentType": block.mime_type}
        case mcp.EmbeddedResource():
            return _held(block.resource)
        case mcp.ResourceLink():
            return _link(block)


def _held(contents: mcp.TextResourceContents | mcp.BlobResourceContents) -> ToolResultContent:
    if isinstance(contents, mcp.TextResourceContents):
        return {"type": "text", "text": contents.text}
    kind = contents.mime_type or UNKNOWN
    return {"type": "embeddedResource", "data": contents.blob, "contentType": kind}


def _link(link: mcp.ResourceLink) -> ToolResultContent:
    """Describe a resource link as text: only the server can read it, so clients cannot follow a reference."""
    kind = f", {link.mime_type}" if link.mime_type else ""
    described = f": {link.description}" if link.description else ""
    return {"type": "text", "text": f"[{link.title or link.name}{kind}, {link.uri}]{described}"}
