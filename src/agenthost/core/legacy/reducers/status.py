"""The summary of a session: its status bits and when it last changed (H4 to H8)."""

from typing import Any

from agenthost.core.queries import WAITING_CALL_STATUSES
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.legacy.session import SessionState


def update_summary(state: SessionState, **changes: Any) -> SessionState:
    """Return the state with these fields of its summary changed; `None` removes a field."""
    summary: Any = {**state.get("summary", {}), **changes}
    for key, value in changes.items():
        if value is None:  # G1
            del summary[key]
    return {**state, "summary": summary}


def compute_status(state: SessionState, activity: int | None = None) -> int:
    """H5: return the status with its activity recomputed, or as given; the flags stay."""
    if activity is None:
        turn = state.get("activeTurn")
        # H4. An error is the caller's to say.
        activity = SessionStatus.IN_PROGRESS if turn else SessionStatus.IDLE
        if state.get("inputRequests") or (turn and _has_waiting_call(turn.get("responseParts", []))):
            activity = SessionStatus.INPUT_NEEDED
    return (state.get("summary", {}).get("status", 0) & ~SessionStatus.ACTIVITY) | activity


def refresh_status(state: SessionState) -> SessionState:
    """Return the state with its status recomputed."""
    status = compute_status(state)
    # Most calls change nothing: then the state stays the same object, so callers see that nothing changed.
    is_same = status == state.get("summary", {}).get("status", 0)
    return state if is_same else update_summary(state, status=status)


def set_flag(state: SessionState, flag: int, *, on: bool) -> SessionState:
    """H7: set or clear one flag."""
    status = state.get("summary", {}).get("status", 0)
    return update_summary(state, status=status | flag if on else status & ~flag)


def _has_waiting_call(parts: list[Any]) -> bool:
    # A plain loop: this runs at each change of a call, and a generator would cost another frame.
    for part in parts:
        if part.get("kind") == "toolCall" and part.get("toolCall", {}).get("status") in WAITING_CALL_STATUSES:
            return True
    return False
