"""Offers: what a server lists, as tools of ours, with its hints and what they mean for asking first."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from agenthost.errors import NotJson
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import Tool, ToolOptions
from agenthost.tools.mcp.names import our_names
from agenthost.tools.mcp.settings import Settings
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject, check_depth, encode_json
from agenthost.wire.mismatch import Mismatch
from agenthost.wire.shape import STRICT, Shape

if TYPE_CHECKING:
    import mcp_types as mcp

__all__ = ["READ_RESOURCE", "Call", "Read", "is_same", "tools_of"]

log = logging.getLogger("agenthost.mcp")

READ_RESOURCE = "read_resource"
"""Our tool for what results refer to: a model cannot read a resource, but it can call a tool."""

MAX_TOOLS = 256
"""How many tools of one server are offered."""

MAX_BYTES = 1024 * 1024
MAX_DEFINITION = 64 * 1024
"""How large the definitions of a server's tools may be, all and each: every session shows them."""

MAX_SCHEMA_DEPTH = 64

_DEFINITION: Shape[ToolDefinition] = Shape(ToolDefinition, STRICT)
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "The URI of the resource, as it was given."}},
    "required": ["uri"],
}


class Call(Protocol):
    """Calls a tool by the server's name for it."""

    def __call__(
        self, name: str, arguments: dict[str, Any], context: ToolContext, *, is_repeatable: bool
    ) -> Awaitable[ToolResult]:
        """Call it; `is_repeatable` says whether calling it twice does no harm."""


Read: TypeAlias = Callable[[str, ToolContext], Awaitable[ToolResult]]


def tools_of(
    listed: "Sequence[mcp.Tool]", settings: Settings, call: Call, read: Read | None = None
) -> list[Tool]:
    """Make tools of what a server lists; `read` reads a resource of it."""
    wanted = _bounded([one for one in listed if _is_wanted(one, settings)], settings.name)
    names = our_names(settings.prefix, [*(one.name for one in wanted), READ_RESOURCE])
    made = [_tool(one, names[one.name], settings, call) for one in wanted]
    if (
        read is not None
        and all(one.name != READ_RESOURCE for one in listed)
        and _is_on(READ_RESOURCE, settings)
    ):
        made.append(_reader(names[READ_RESOURCE], settings, read))
    _tell_missing([one.name for one in listed], settings)
    return _fitting([one for one in made if _is_sound(one, settings.name)], settings.name)


def _bounded(wanted: "list[mcp.Tool]", server: str) -> "list[mcp.Tool]":
    if len(wanted) > MAX_TOOLS:
        log.warning(
            "MCP server %s offers %d tools, of which the first %d are taken; `tools` names those you want",
            *(server, len(wanted), MAX_TOOLS),
        )
    return wanted[:MAX_TOOLS]


def _fitting(made: list[Tool], server: str) -> list[Tool]:
    """Leave out what is too much to be shown in every session."""
    fitting, left = [], MAX_BYTES
    for one in made:
        size = len(encode_json(one.definition()))
        if size > min(left, MAX_DEFINITION):
            log.warning("MCP server %s: the tool %s is left out: it has %d bytes", server, one.name, size)
        else:
            fitting.append(one)
            left -= size
    return fitting


def _is_on(name: str, settings: Settings) -> bool:
    return settings.tools is None or name in settings.tools


def _is_wanted(one: "mcp.Tool", settings: Settings) -> bool:
    # A task is a call that goes on without us; those that are nothing else cannot be called.
    is_task = one.execution is not None and one.execution.task_support == "required"
    return _is_on(one.name, settings) and not is_task


def _tell_missing(listed: Sequence[str], settings: Settings) -> None:
    known = {*listed, READ_RESOURCE}
    trusted = () if settings.trust is None or isinstance(settings.trust, bool) else settings.trust
    if missing := sorted({*(settings.tools or ()), *trusted} - known):
        there = ", ".join(sorted(listed)) or "none"
        log.warning("MCP server %s has no tool %s; it has %.2000s", settings.name, ", ".join(missing), there)


def _tool(one: "mcp.Tool", name: str, settings: Settings, call: Call) -> Tool:
    hints = one.annotations
    said: dict[str, Any] = {"title": one.title or (hints and hints.title)}
    if hints is not None:
        said |= {"read_only": hints.read_only_hint, "destructive": hints.destructive_hint}
        said |= {"idempotent": hints.idempotent_hint, "open_world": hints.open_world_hint}
    is_repeatable = settings.trusted and bool(said.get("read_only") or said.get("idempotent"))
    # What it does not say of itself counts as the worse, as the protocol has it.
    is_harmless = said.get("read_only") is True and said.get("open_world") is False
    said["trusted"] = settings.trusts(one.name, is_harmless=is_harmless)

    async def run(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return await call(one.name, arguments, context, is_repeatable=is_repeatable)

    said |= {"name": name, "description": one.description or "", "source": settings.source_of(one.name)}
    return _made(run, one.input_schema, settings, **said)


def _reader(name: str, settings: Settings, read: Read) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return await read(arguments["uri"], context)

    described = f"Read a resource of {settings.name}, by a URI that one of its tools gave."
    trusted = settings.trusts(READ_RESOURCE, is_harmless=False)
    said: ToolOptions = {"name": name, "description": described, "read_only": True, "trusted": trusted}
    return _made(run, _SCHEMA, settings, source=settings.source_of(READ_RESOURCE), **said)


def _made(
    run: Callable[[JsonObject, ToolContext], Awaitable[ToolResult]],
    schema: JsonObject,
    settings: Settings,
    **said: Any,
) -> Tool:
    said |= {"timeout": settings.timeout, "believed": settings.trusted}
    return Tool.by_schema(run, schema, **said)


def _is_sound(one: Tool, server: str) -> bool:
    try:
        check_depth(one.schema, MAX_SCHEMA_DEPTH)
        _DEFINITION.check(one.definition())
    except (NotJson, Mismatch) as error:
        why = error.at("$") if isinstance(error, Mismatch) else error
        log.warning("MCP server %s: the tool %s is left out: %.300s", server, one.name, why)
        return False
    return True


def is_same(old: Sequence[Tool], new: Sequence[Tool]) -> bool:
    """Tell whether two lists offer the same."""
    return [(one.definition(), one.trusted) for one in old] == [
        (one.definition(), one.trusted) for one in new
    ]
