"""Client tools in the words of AHP: how they are described, and what a call of one comes to."""

import asyncio
import inspect
import logging
from typing import Any

from agenthost.client.aap.tools import ClientTool, content_of_result, in_thread
from agenthost.errors import HostError, InvalidValue, NotJson
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.json import decode_json

__all__ = ["definition_of", "failed", "run_tool"]

log = logging.getLogger("agenthost.client")


def definition_of(tool: ClientTool) -> ToolDefinition:
    """Describe a tool to the host."""
    schema: Any = tool.signature.schema
    told: ToolDefinition = {"name": tool.name, "description": tool.description, "inputSchema": schema}
    if tool.title:
        told["title"] = tool.title
    return told


async def run_tool(tool: ClientTool, text: str | None) -> ToolCallResult:
    """Run a tool with the input of a call; what goes wrong is a result too, unless we are cancelled."""
    clock = asyncio.timeout(tool.timeout)
    try:
        values = tool.signature.read(decode_json(text) if text else {})
        async with clock:
            content = content_of_result(await _called(tool, values))
    except (InvalidValue, NotJson) as error:
        return failed(tool.name, f"{tool.name} was not run: {error}", "invalid-input")
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        return failed(tool.name, f"{tool.name} failed: it was cancelled")
    except Exception as error:
        if isinstance(error, TimeoutError) and clock.expired():
            return failed(tool.name, f"{tool.name} took longer than {tool.timeout:g} seconds", "timed-out")
        return failed(tool.name, _told(tool, error))
    return _succeeded(tool, content)


async def _called(tool: ClientTool, values: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(**values)
    value = await in_thread(lambda: tool.function(**values), f"tool {tool.name}")
    return await value if inspect.isawaitable(value) else value


def _told(tool: ClientTool, error: Exception) -> str:
    """Tell the model in a sentence and the log in full; what is said on purpose needs no traceback."""
    if isinstance(error, HostError):
        return str(error) or f"{tool.name} failed"
    log.error("tool %s failed", tool.name, exc_info=error)
    said = (isinstance(error, OSError) and error.strerror) or str(error)
    short = " ".join(said.split())[:200]
    return f"{tool.name} failed: {type(error).__name__}" + (f": {short}" if short else "")


def _succeeded(tool: ClientTool, content: Any) -> ToolCallResult:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(map(_block, content))
    return {"success": True, "pastTenseMessage": f"Ran {tool.title or tool.name}", "content": blocks}  # type: ignore[typeddict-item] # blocks fit


def _block(block: Any) -> Any:
    """Put a block into this protocol's words: an image is bytes that ride along, or a reference."""
    if block["type"] != "image":
        return {"type": "text", "text": block["text"]}
    head, _, data = block["url"].partition(",")
    if head.startswith("data:") and head.endswith(";base64"):
        kind = head.removeprefix("data:").removesuffix(";base64")
        return {"type": "embeddedResource", "data": data, "contentType": kind}
    return {"type": "resource", "uri": block["url"]}


def failed(name: str, sentence: str, code: str = "failed") -> ToolCallResult:
    """Give the result of a tool that failed: why, for the model and for programs."""
    return {
        "success": False,
        "pastTenseMessage": f"{name} failed",
        "error": {"message": sentence, "code": code},
    }
