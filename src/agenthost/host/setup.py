"""How a session is set up: which tools it has, which of them it trusts, its options and its model.

Some of it is in the state, for everybody to see; the rest in the session's private data (see `Private`). All
of it is read at the moment of use: a tool that is not switched on cannot run, whatever the history says.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict, cast

from agenthost.core.decisions.grants import Grant, Rights
from agenthost.errors import InvalidValue
from agenthost.host.agent import Agent
from agenthost.host.consent import SANDBOX
from agenthost.host.options import Option
from agenthost.host.pins import Pin, pin_of, pins_of
from agenthost.host.session import Session
from agenthost.host.tools import Tool
from agenthost.host.toolset import ToolSet
from agenthost.wire.ahp.config import SessionConfigPropertySchema, SessionConfigState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.mismatch import describe, quote


class Private(TypedDict):
    """What a session keeps and shows to nobody.

    `tools` are those switched on, and whether each is trusted; without it all exposed ones are on, trusted
    as they say themselves. `trusted` are those that somebody approved for the whole session, `scopes` what
    was approved of others (see `consent`). `pins` are the definitions that those approvals are good for,
    `shown` those that open calls were asked for with (see `pins`). `children` are the sessions that were
    made for its calls, by turn and call, `parent` is the call that it was made for itself (see
    `delegating`). `secrets` are option values, sealed. `stops` has the turns that ended with a reason that
    the state has no word for. `asked` holds the answers that the running turn got, `held` the large results
    that wait for approval, as the model will read them. `config` are the settings of the state, `app` is
    the client id of an application that is never connected, and `app_tools` the tools that it brought, as
    it did. `deferred` are the actions that wait for the end of the turn or for the session to be ready,
    with their origins and what their receipts are kept of. `guests` are the ids of clients without an
    owner, in the session of one. `taken` are the messages that waited of late, by kind and id. `kept` is
    what its agent keeps with it. `crashes` counts the ends of the host while the running turn ran (see
    `crashes`), `tasks` the tasks that were given in it and below it (see `tasks`).
    """

    tools: NotRequired[dict[str, bool]]
    trusted: NotRequired[list[str]]
    scopes: NotRequired[dict[str, list[str]]]
    pins: NotRequired[dict[str, Pin]]
    shown: NotRequired[dict[str, Pin]]
    children: NotRequired[dict[str, str]]
    parent: NotRequired[JsonObject]
    secrets: NotRequired[dict[str, str]]
    stops: NotRequired[dict[str, str]]
    asked: NotRequired[dict[str, JsonObject]]
    held: NotRequired[dict[str, Json]]
    config: NotRequired[dict[str, str]]
    app: NotRequired[str]
    app_tools: NotRequired[list[JsonObject]]
    deferred: NotRequired[list[list[Any]]]
    guests: NotRequired[list[str]]
    taken: NotRequired[list[str]]
    kept: NotRequired[JsonObject]
    crashes: NotRequired[JsonObject]
    tasks: NotRequired[JsonObject]


def private_of(session: Session) -> Private:
    """Give a session's private data."""
    return cast("Private", session.private)


def changed(session: Session, **values: Json) -> JsonObject | None:
    """Give the private data with these values, where `None` removes; nothing if that is no change."""
    kept = session.private
    if all(kept.get(key) == value for key, value in values.items()):
        return None
    return {key: value for key, value in {**kept, **values}.items() if value is not None}


def enabled_tools(toolset: ToolSet, session: Session) -> dict[str, Tool]:
    """Give the host's tools that this session has, by name: the exposed ones it switched on, all others."""
    wanted = private_of(session).get("tools")
    return {name: one for name, one in toolset.items() if not one.exposed or wanted is None or name in wanted}


def is_trusted(session: Session, one: Tool, arguments: JsonObject, *, is_sandboxed: bool = False) -> bool:
    """Tell whether this tool may run with these arguments in this session without anybody being asked.

    `is_sandboxed` tells whether commands run in a sandbox now: only then an approval of all of them holds.
    """
    private = private_of(session)
    if not one.exposed or is_trusted_always(private, one):
        return True
    keys = approved_scopes(private, one)
    scope = one.scope_of(arguments) if keys else None
    if scope is None:
        return False
    return scope.key in keys or (scope.is_command and is_sandboxed and SANDBOX in keys)


def is_trusted_always(private: Private, one: Tool) -> bool:
    """Tell whether all calls of this tool may run in a session with this private data."""
    return (private.get("tools") is None and one.trusted) or is_approved(private, one)


def is_approved(private: Private, one: Tool) -> bool:
    """Tell whether a session was told to trust this tool, and the tool is still what it was then."""
    is_named = private.get("tools", {}).get(one.name, False) or one.name in private.get("trusted", [])
    return is_named and _is_as_approved(private, one)


def approved_scopes(private: Private, one: Tool) -> list[str]:
    """Give the keys of the scopes that were approved of this tool, if it is still what it was then."""
    keys = private.get("scopes", {}).get(one.name, [])
    return keys if keys and _is_as_approved(private, one) else []


def _is_as_approved(private: Private, one: Tool) -> bool:
    pin = pin_of(one)
    return pin is None or private.get("pins", {}).get(one.name) == pin


def pins_for(toolset: ToolSet, private: Mapping[str, Any]) -> dict[str, Pin]:
    """Give the pins that approvals need which are made at this moment."""
    tools: Mapping[str, bool] = private.get("tools", {})
    trusted = [name for name, is_set in tools.items() if is_set]
    return pins_of(toolset, [*trusted, *private.get("trusted", []), *private.get("scopes", {})])


def client_tools(state: SessionState) -> dict[str, ToolDefinition]:
    """Give the tools that the active client brings, by name; the host's own go before them."""
    client = state.get("activeClient")
    return {definition["name"]: definition for definition in client["tools"]} if client else {}


def offered_tools(agent: Agent, toolset: ToolSet, session: Session) -> list[ToolDefinition]:
    """Describe all tools that the model may call in this session, of this set and the client's."""
    own = {name: one.definition() for name, one in enabled_tools(toolset, session).items()}
    brought = client_tools(session.state) if agent.client_tools else {}
    return list({**brought, **own}.values())


def server_tools(agent: Agent, wanted: Iterable[str] | None) -> list[ToolDefinition]:
    """Describe the exposed tools that are switched on, as the state shows them; `None` means all."""
    names = None if wanted is None else set(wanted)
    return [one.definition() for one in agent.toolset.exposed() if names is None or one.name in names]


def server_tools_changed(agent: Agent, session: Session, wanted: Iterable[str] | None) -> JsonObject:
    """Make the action that shows the exposed tools that are switched on in a session."""
    kind = "session/serverToolsChanged"
    return {"type": kind, "session": session.row.uri, "tools": server_tools(agent, wanted)}


def option_values(agent: Agent, state: SessionState) -> dict[str, str]:
    """Give the values of all options but the secret ones: what is set, else the default."""
    values: Mapping[str, Any] = state["config"]["values"] if "config" in state else {}
    return {
        option.name: str(values.get(option.name, option.default))
        for option in agent.options
        if option.kind != "secret"
    }


def option_grants(agent: Agent) -> dict[str, Grant]:
    """Return what setting an option needs, for those that need something."""
    return {option.name: option.grant for option in agent.options if option.grant is not None}


def check_option_grants(agent: Agent, values: Mapping[str, Json], rights: Rights) -> None:
    """Refuse values for a new session that whoever makes it may not choose; a default is for everybody.

    Raises:
        GrantMissing: with what is missing.
    """
    for option in agent.options:
        if option.grant is not None and values.get(option.name, option.default) != option.default:
            rights.check_grant(option.grant, f"setting {quote(option.name)}")


def config_state(agent: Agent, values: Mapping[str, str]) -> SessionConfigState | None:
    """Give the options, but the secret ones, as settings that everybody sees; nothing if there are none."""
    shown = [option for option in agent.options if option.kind != "secret"]
    if not shown:
        return None
    properties = {option.name: _property(option) for option in shown}
    chosen: JsonObject = {option.name: values.get(option.name, option.default) for option in shown}
    return {"schema": {"type": "object", "properties": properties}, "values": chosen}


def _property(option: Option) -> SessionConfigPropertySchema:
    schema: SessionConfigPropertySchema = {
        "type": "string",
        "title": option.title or option.name,
        "default": option.default,
        "sessionMutable": option.mutable,
    }
    if option.description is not None:
        schema["description"] = option.description
    if option.kind == "select":
        schema["enum"] = list(option.choices)
        if option.labels:
            schema["enumLabels"] = list(option.labels)
        if option.descriptions:
            schema["enumDescriptions"] = list(option.descriptions)
    if option.suggest is not None:
        schema["enumDynamic"] = True
    return schema


def check_options(agent: Agent, values: Mapping[str, Json], at: str) -> dict[str, str]:
    """Check values for an agent's options; `at` is the path of what holds them.

    Raises:
        InvalidValue: an option that there is not, or a value that it cannot have.
    """
    options = {option.name: option for option in agent.options}
    for name, value in values.items():
        option = options.get(name)
        if option is None:
            known = f"one of {', '.join(map(quote, options))}" if options else "no option, as there are none"
            raise InvalidValue(f"{at}.{name}", known, quote(name))
        if not isinstance(value, str):
            raise InvalidValue(f"{at}.{name}", "text", describe(value))
        if option.kind == "select" and value not in option.choices:
            raise InvalidValue(
                f"{at}.{name}", f"one of {', '.join(map(quote, option.choices))}", quote(value)
            )
    return dict(values)


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


def check_model(agent: Agent, model_id: str, at: str) -> None:
    """Refuse a model that the agent does not have.

    Raises:
        InvalidValue: it is not among its models.
    """
    if agent.model(model_id) is None:
        known = f"one of {', '.join(quote(model.id) for model in agent.models)}"
        raise InvalidValue(at, known if agent.models else "no model, as the agent has none", quote(model_id))
