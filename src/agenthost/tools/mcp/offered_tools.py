"""The tools that a server lists, as tools of an agent: names, limits, hints, and approval."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from agenthost.errors import NotJson
from agenthost.host.authoring.tool import Tool, ToolOptions
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.tools.mcp.names import tool_names
from agenthost.tools.mcp.settings import ServerSettings
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.error_messages import Mismatch
from agenthost.wire.json import JsonObject, check_depth, encode_json
from agenthost.wire.shape import STRICT, Shape

if TYPE_CHECKING:
    import mcp_types as mcp

__all__ = ["READ_RESOURCE", "CallTool", "ReadResource", "build_tools", "same_tools"]

log = logging.getLogger("agenthost.mcp")

READ_RESOURCE = "read_resource"
"""Our tool for reading resources that results refer to: a model can only call tools."""

MAX_TOOLS = 256
"""How many tools of one server an agent gets."""

MAX_TOTAL_BYTES = 1024 * 1024
MAX_DEFINITION_BYTES = 64 * 1024
"""How large the definitions of a server's tools may be, in total and each: every session shows them."""

MAX_SCHEMA_DEPTH = 64

_DEFINITION: Shape[ToolDefinition] = Shape(ToolDefinition, STRICT)
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "The URI of the resource, as it was given."}},
    "required": ["uri"],
}


class CallTool(Protocol):
    """Calls a tool by the server's name of it."""

    def __call__(
        self, name: str, arguments: dict[str, Any], context: ToolContext, *, is_repeatable: bool
    ) -> Awaitable[ToolResult]:
        """Call the tool. `is_repeatable` says whether calling it twice does no harm."""


ReadResource: TypeAlias = Callable[[str, ToolContext], Awaitable[ToolResult]]


def build_tools(
    listed: "Sequence[mcp.Tool]", settings: ServerSettings, call: CallTool, read: ReadResource | None = None
) -> list[Tool]:
    """Build the tools for what a server lists. `read` reads a resource of the server."""
    wanted = _first_tools([one for one in listed if _is_wanted(one, settings)], settings.name)
    names = tool_names(settings.prefix, [*(one.name for one in wanted), READ_RESOURCE])
    made = [_tool(one, names[one.name], settings, call) for one in wanted]
    if (
        read is not None
        and all(one.name != READ_RESOURCE for one in listed)
        and _is_enabled(READ_RESOURCE, settings)
    ):
        made.append(_resource_tool(names[READ_RESOURCE], settings, read))
    _warn_of_missing([one.name for one in listed], settings)
    return _within_limits([one for one in made if _is_valid(one, settings.name)], settings.name)


def _first_tools(wanted: "list[mcp.Tool]", server: str) -> "list[mcp.Tool]":
    if len(wanted) > MAX_TOOLS:
        log.warning(
            "MCP server %s lists %d tools; only the first %d are used; name those you want with `tools`",
            *(server, len(wanted), MAX_TOOLS),
        )
    return wanted[:MAX_TOOLS]


def _within_limits(made: list[Tool], server: str) -> list[Tool]:
    """Leave out tools whose definitions are too large."""
    fitting, left = [], MAX_TOTAL_BYTES
    for one in made:
        size = len(encode_json(one.definition()))
        if size > min(left, MAX_DEFINITION_BYTES):
            log.warning("MCP server %s: the tool %s is left out: it has %d bytes", server, one.name, size)
        else:
            fitting.append(one)
            left -= size
    return fitting


def _is_enabled(name: str, settings: ServerSettings) -> bool:
    return settings.tools is None or name in settings.tools


def _is_wanted(one: "mcp.Tool", settings: ServerSettings) -> bool:
    # MCP: such tools can be called only as tasks, which we do not support.
    is_task = one.execution is not None and one.execution.task_support == "required"
    return _is_enabled(one.name, settings) and not is_task


def _warn_of_missing(listed: Sequence[str], settings: ServerSettings) -> None:
    known = {*listed, READ_RESOURCE}
    trusted = () if settings.trust is None or isinstance(settings.trust, bool) else settings.trust
    if missing := sorted({*(settings.tools or ()), *trusted} - known):
        known_names = ", ".join(sorted(listed)) or "none"
        log.warning(
            "MCP server %s has no tool %s; it has %.2000s", settings.name, ", ".join(missing), known_names
        )


def _tool(one: "mcp.Tool", name: str, settings: ServerSettings, call: CallTool) -> Tool:
    hints = one.annotations
    said: dict[str, Any] = {"title": one.title or (hints and hints.title)}
    if hints is not None:
        said |= {"read_only": hints.read_only_hint, "destructive": hints.destructive_hint}
        said |= {"idempotent": hints.idempotent_hint, "open_world": hints.open_world_hint}
    is_repeatable = settings.trusted and bool(said.get("read_only") or said.get("idempotent"))
    # MCP's defaults: without a hint, a tool is not read-only and has an open world.
    is_harmless = said.get("read_only") is True and said.get("open_world") is False
    said["trusted"] = settings.trusts(one.name, is_harmless=is_harmless)

    async def run(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return await call(one.name, arguments, context, is_repeatable=is_repeatable)

    said |= {"name": name, "description": one.description or "", "source": settings.tool_source(one.name)}
    return _make_tool(run, one.input_schema, settings, **said)


def _resource_tool(name: str, settings: ServerSettings, read: ReadResource) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return await read(arguments["uri"], context)

    described = f"Read a resource of {settings.name}, by a URI that one of its tools gave."
    trusted = settings.trusts(READ_RESOURCE, is_harmless=False)
    said: ToolOptions = {"name": name, "description": described, "read_only": True, "trusted": trusted}
    return _make_tool(run, _SCHEMA, settings, source=settings.tool_source(READ_RESOURCE), **said)


def _make_tool(
    run: Callable[[JsonObject, ToolContext], Awaitable[ToolResult]],
    schema: JsonObject,
    settings: ServerSettings,
    **said: Any,
) -> Tool:
    said |= {"timeout": settings.timeout, "believed": settings.trusted}
    return Tool.by_schema(run, schema, **said)


def _is_valid(one: Tool, server: str) -> bool:
    try:
        check_depth(one.schema, MAX_SCHEMA_DEPTH)
        _DEFINITION.check(one.definition())
    except (NotJson, Mismatch) as error:
        why = error.at("$") if isinstance(error, Mismatch) else error
        log.warning("MCP server %s: the tool %s is left out: %.300s", server, one.name, why)
        return False
    return True


def same_tools(old: Sequence[Tool], new: Sequence[Tool]) -> bool:
    """Tell whether two lists have the same definitions and the same trust."""
    return [(one.definition(), one.trusted) for one in old] == [
        (one.definition(), one.trusted) for one in new
    ]
