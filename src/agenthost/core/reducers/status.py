"""The summary of a session: its status bits and when it last changed (H4 to H8)."""

from typing import Any

from agenthost.core.reducers.records import put
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState

WAITING = ("pending-confirmation", "pending-result-confirmation")


def summarised(state: SessionState, **changes: Any) -> SessionState:
    """Give the state with these fields of the summary; `None` takes a field out."""
    return {**state, "summary": put(state.get("summary", {}), **changes)}


def status_of(state: SessionState, activity: int | None = None) -> int:
    """H5: give the status with its activity worked out anew, or as given; the flags stay."""
    if activity is None:
        activity = _activity(state)
    return (state.get("summary", {}).get("status", 0) & ~SessionStatus.ACTIVITY) | activity


def refreshed(state: SessionState) -> SessionState:
    """Give the state with its status worked out anew."""
    status = status_of(state)
    return state if status == _status(state) else summarised(state, status=status)


def flagged(state: SessionState, flag: int, *, on: bool) -> SessionState:
    """H7: set or clear one flag."""
    status = _status(state)
    return summarised(state, status=status | flag if on else status & ~flag)


def _status(state: SessionState) -> int:
    return state.get("summary", {}).get("status", 0)


def _activity(state: SessionState) -> int:
    """H4: what the session is doing."""
    turn = state.get("activeTurn")
    if state.get("inputRequests") or (turn and _is_waiting(turn.get("responseParts", []))):
        return SessionStatus.INPUT_NEEDED
    return SessionStatus.IN_PROGRESS if turn else SessionStatus.IDLE


def _is_waiting(parts: list[Any]) -> bool:
    return bool(parts) and any(
        part.get("kind") == "toolCall" and part.get("toolCall", {}).get("status") in WAITING for part in parts
    )
