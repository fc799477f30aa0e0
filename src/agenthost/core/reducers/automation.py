"""The automation reducer: the catalogue of automations (AU1 to AU3)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import put, upserted
from agenthost.wire.ahp.actions import AutomationAction
from agenthost.wire.ahp.actions.automation import AutomationRemovedAction, AutomationSetAction
from agenthost.wire.ahp.automation import AutomationState


def reduce_automation(live: Live[AutomationState], action: AutomationAction) -> Live[AutomationState]:
    """Apply one action. AU3: a request changes nothing; the host answers it with another action."""
    return handle(HANDLERS, live, action)


def _set(state: AutomationState, action: AutomationSetAction) -> AutomationState:
    """AU1: an automation that is known stays in its place."""
    entry: Any = action.get("automation")
    return (
        state if entry is None else put(state, entries=upserted(state.get("entries", []), entry, "resource"))
    )


def _removed(state: AutomationState, action: AutomationRemovedAction) -> AutomationState:
    """AU2: an automation that is not known changes nothing."""
    entries = state.get("entries", [])
    left = [entry for entry in entries if entry.get("resource") != action.get("resource")]
    return state if len(left) == len(entries) else put(state, entries=left)


HANDLERS: dict[str, Callable[[AutomationState, Any], AutomationState]] = {
    "automation/set": _set,
    "automation/removed": _removed,
}
