"""The input that a session waits for, over all of its chats (S19, S20)."""

from typing import Any

from agenthost.core.reducers.records import put, upserted
from agenthost.wire.ahp.actions.session import SessionInputNeededRemovedAction, SessionInputNeededSetAction
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState


def input_needed_set(state: SessionState, action: SessionInputNeededSetAction) -> SessionState:
    """S19: a request that is known stays in its place."""
    request: Any = action.get("request")
    return state if request is None else _waiting(state, upserted(state.get("inputNeeded", []), request))


def input_needed_removed(state: SessionState, action: SessionInputNeededRemovedAction) -> SessionState:
    """S20: an empty list is dropped."""
    requests = state.get("inputNeeded", [])
    left = [request for request in requests if request.get("id") != action.get("id")]
    return state if len(left) == len(requests) else _waiting(state, left)


def _waiting(state: SessionState, requests: list[Any]) -> SessionState:
    """S19: a call that a client executes needs no user."""
    status = state.get("status", 0)
    if any(request.get("kind") != "toolClientExecution" for request in requests):
        status = (status & ~SessionStatus.ACTIVITY) | SessionStatus.INPUT_NEEDED
    else:
        # The bits of INPUT_NEEDED include those of IN_PROGRESS, which may stay.
        status &= ~(SessionStatus.INPUT_NEEDED ^ SessionStatus.IN_PROGRESS)
    return put(state, inputNeeded=requests or None, status=status)
