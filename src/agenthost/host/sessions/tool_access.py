"""Which tools a session has, and which of them it trusts.

Read at the moment of use: a tool that is not switched on cannot run, whatever the history says.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from agenthost.core import actions
from agenthost.errors import InvalidValue
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_pins import Pin, pin_of, pins_of
from agenthost.host.authoring.toolset import ToolSet
from agenthost.host.sessions.approvals import SANDBOX
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.session import SessionServerToolsChangedAction
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject


def enabled_tools(toolset: ToolSet, wanted: Mapping[str, bool] | None) -> dict[str, Tool]:
    """Return the host's tools in a session, by name: the wanted exposed ones, and all that are not exposed.

    `wanted` are the tools that the session names, see `Private`; `None` means all.
    """
    return {name: one for name, one in toolset.items() if wanted is None or not one.exposed or name in wanted}


def is_trusted(private: Private, tool: Tool, arguments: JsonObject, *, is_sandboxed: bool = False) -> bool:
    """Return whether this tool may run with these arguments without asking.

    `is_sandboxed` says whether commands run in a sandbox now: only then is an approval of all of them valid.
    """
    # P10: users are not asked about tools that they are not shown.
    if not tool.exposed or is_trusted_always(private, tool):
        return True
    keys = approved_scopes(private, tool)
    scope = tool.scope_of(arguments) if keys else None
    if scope is None:
        return False
    return scope.key in keys or (scope.is_command and is_sandboxed and SANDBOX in keys)


def is_trusted_always(private: Private, one: Tool) -> bool:
    """Return whether all calls of this tool may run without asking."""
    return (private.get("tools") is None and one.trusted) or is_approved(private, one)


def is_approved(private: Private, one: Tool) -> bool:
    """Return whether a session was told to trust this tool, and the tool has not changed since."""
    is_named = private.get("tools", {}).get(one.name, False) or one.name in private.get("given", ())
    # Commands cannot be approved all at once, but older stores have such approvals.
    if not is_named and not one.runs_commands:
        is_named = one.name in private.get("trusted", ())
    return is_named and (one.source is None or _is_as_approved(private, one))


def approved_scopes(private: Private, one: Tool) -> list[str]:
    """Return the keys of the approved scopes of this tool; none if the tool has changed since."""
    keys = private.get("scopes", {}).get(one.name, [])
    return keys if keys and (one.source is None or _is_as_approved(private, one)) else []


def _is_as_approved(private: Private, one: Tool) -> bool:
    return private.get("pins", {}).get(one.name) == pin_of(one)


def pins_for(toolset: ToolSet, private: Mapping[str, Any]) -> dict[str, Pin]:
    """Return the pins for approvals that are made now."""
    tools: Mapping[str, bool] = private.get("tools", {})
    trusted = [name for name, is_set in tools.items() if is_set]
    names = [name for key in ("trusted", "given", "scopes") for name in private.get(key, ())]
    return pins_of(toolset, [*trusted, *names])


class ClientTool(NamedTuple):
    """A tool that a client brings, and the client that runs it."""

    definition: ToolDefinition
    client_id: str


def client_tools(session: Session) -> dict[str, ClientTool]:
    """Return the tools of the active clients, by name. The host's own tools take precedence.

    If several clients bring a tool, the one that began the newest turn runs it, else the first.
    """
    clients = session.state["activeClients"]
    if len(clients) > 1:
        # A stable sort: the others stay in the order in which they became active.
        clients = sorted(clients, key=lambda one: one["clientId"] != session.speaker)
    found: dict[str, ClientTool] = {}
    for client in clients:
        for definition in client["tools"]:
            found.setdefault(definition["name"], ClientTool(definition, client["clientId"]))
    return found


def offered_tools(agent: Agent, toolset: ToolSet, session: Session) -> list[ToolDefinition]:
    """Return the definitions of all tools that the model may call: those of this set, and the client's."""
    own = {
        name: one.definition() for name, one in enabled_tools(toolset, session.private.get("tools")).items()
    }
    brought = client_tools(session) if agent.client_tools else {}
    # HR-U08: the host's own tools come last, so that they win.
    return list({**{name: tool.definition for name, tool in brought.items()}, **own}.values())


def server_tools(agent: Agent, wanted: Iterable[str] | None) -> list[ToolDefinition]:
    """Return the definitions of the exposed tools that are switched on, for the state; `None` means all."""
    names = None if wanted is None else set(wanted)
    return [one.definition() for one in agent.toolset.exposed() if names is None or one.name in names]


def server_tools_changed(
    agent: Agent, session: Session, wanted: Iterable[str] | None
) -> SessionServerToolsChangedAction:
    """Return the action that updates the exposed tools in the state of a session."""
    return actions.server_tools_changed(server_tools(agent, wanted))


def check_tool_names(agent: Agent, names: Iterable[str], at: str) -> None:
    """Refuse tools that the agent does not expose.

    Raises:
        InvalidValue: there is no such tool.
    """
    exposed = [one.name for one in agent.toolset.exposed()]
    for name in names:
        if name not in exposed:
            known = f"one of {', '.join(map(quote, exposed))}" if exposed else "no tool, as there are none"
            raise InvalidValue(f"{at}.{name}", known, quote(name))
