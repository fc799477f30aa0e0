"""The reducer of one run of an automation: how far it is, and its sessions (AR1 to AR5)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import put
from agenthost.wire.ahp.actions import AutomationRunAction
from agenthost.wire.ahp.actions.automation import (
    AutomationRunSessionRemovedAction,
    AutomationRunSessionSetAction,
)
from agenthost.wire.ahp.automation import AutomationRunState


def reduce_automation_run(
    live: Live[AutomationRunState], action: AutomationRunAction
) -> Live[AutomationRunState]:
    """Apply one action. AR5: a request to cancel changes nothing; the host answers it."""
    return handle(HANDLERS, live, action)


def _session_set(state: AutomationRunState, action: AutomationRunSessionSetAction) -> AutomationRunState:
    """AR2: a session is there once."""
    sessions = state.get("sessions", [])
    session: str | None = action.get("session")
    return state if session is None or session in sessions else put(state, sessions=[*sessions, session])


def _session_removed(
    state: AutomationRunState, action: AutomationRunSessionRemovedAction
) -> AutomationRunState:
    """AR3: the primary session is no longer the primary one if it goes."""
    sessions = state.get("sessions", [])
    if action.get("session") not in sessions:
        return state
    if state.get("primarySession") == action.get("session"):
        state = put(state, primarySession=None)
    return put(state, sessions=[session for session in sessions if session != action.get("session")])


HANDLERS: dict[str, Callable[[AutomationRunState, Any], AutomationRunState]] = {
    "automationRun/lifecycleChanged": lambda state, action: put(  # AR1
        state, lifecycle=action.get("lifecycle")
    ),
    "automationRun/sessionSet": _session_set,
    "automationRun/sessionRemoved": _session_removed,
    "automationRun/primarySessionChanged": lambda state, action: put(  # AR4
        state, primarySession=action.get("primarySession")
    ),
}
