"""Whether a session may have this model, this active client with these tools, these plug-ins on or off."""

from collections.abc import Sequence
from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.core.decisions.turns import held_turn
from agenthost.wire.ahp.actions.session import (
    SessionActiveClientChangedAction,
    SessionActiveClientToolsChangedAction,
    SessionCustomizationToggledAction,
    SessionModelChangedAction,
)
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject
from agenthost.wire.mismatch import quote

BEHIND_TURNS = frozenset({"session/turnCancelled", "session/truncated", "session/modelChanged"})
"""What must not come before a turn that was started earlier and waits."""


def model_changed(_state: SessionState, action: SessionModelChangedAction, by: Dispatch) -> None:
    """Refuse a model that is not on offer. A running turn is no reason: see `is_deferred`."""
    models = by.context.models
    if models is not None and action["model"]["id"] not in models:
        raise Refused(f"there is no model {quote(action['model']['id'])}")


def is_deferred(state: SessionState, action: JsonObject, waiting: Sequence[Any] = ()) -> bool:
    """Tell whether an action that was not refused has to wait.

    A model waits for the end of the running turn. A turn waits until the session is ready, and what is about
    turns waits behind it.
    """
    kind = action.get("type")
    if state.get("activeTurn") is not None:
        return kind == "session/modelChanged"
    if state.get("lifecycle") != "creating":
        return False
    return kind == "session/turnStarted" or (kind in BEHIND_TURNS and held_turn(waiting) is not None)


def active_client_changed(
    state: SessionState, action: SessionActiveClientChangedAction, by: Dispatch
) -> None:
    """Refuse to speak for others: a client takes a free role, renews its own, gives it up."""
    active = state.get("activeClient")
    if active is not None and active.get("clientId") != by.client_id:
        raise Refused(f"client {quote(active.get('clientId'))} is active")
    new = action["activeClient"]
    if new is None and active is None:
        raise Refused("no client is active")
    if new is not None and new["clientId"] != by.client_id:
        raise Refused(f"a client can only make itself active, not {quote(new['clientId'])}")
    _check_names(state, [] if new is None else new["tools"])


def active_client_tools_changed(
    state: SessionState, action: SessionActiveClientToolsChangedAction, by: Dispatch
) -> None:
    """Refuse whoever is not the active client, and names that are taken."""
    active = state.get("activeClient")
    if active is None or active.get("clientId") != by.client_id:
        raise Refused("only the active client can change its tools")
    _check_names(state, action["tools"])


def _check_names(state: SessionState, tools: list[ToolDefinition]) -> None:
    """Refuse two tools of one name: a model calls them by nothing else."""
    taken = {tool.get("name") for tool in state.get("serverTools", [])}
    for tool in tools:
        if tool["name"] in taken:
            raise Refused(f"there is a tool {quote(tool['name'])} already")
        taken.add(tool["name"])


def customization_toggled(
    state: SessionState, action: SessionCustomizationToggledAction, _by: Dispatch
) -> None:
    """Refuse what the session does not have; any client may switch the rest."""
    entries = state.get("customizations", [])
    if action["uri"] not in [entry.get("customization", {}).get("uri") for entry in entries]:
        raise Refused(f"the session has no customization {quote(action['uri'])}")
