"""The status of a chat or a session: one activity in the lowest five bits, and flags above them (H4, H5)."""

from typing import Any, Final

from agenthost.core.reducers.records import R, put
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.enums import SessionStatus

WAITING: Final = ("pending-confirmation", "pending-result-confirmation", "auth-required")
"""The states in which a tool call waits for a person: to approve it or its result, or to sign in."""


def compute_status(state: ChatState, activity: int | None = None) -> int:
    """H5: return the status with its activity recomputed, or as given; the flags stay."""
    if activity is None:
        turn = state.get("activeTurn")
        # H4. An error is the caller's to say.
        if turn is None:
            activity = SessionStatus.IDLE
        elif _waits(turn.get("responseParts", [])):
            activity = SessionStatus.INPUT_NEEDED
        else:
            activity = SessionStatus.IN_PROGRESS
    return (state.get("status", 0) & ~SessionStatus.ACTIVITY) | activity


def refresh_status(state: ChatState) -> ChatState:
    """Return the state with its status recomputed."""
    status = compute_status(state)
    # Most calls change nothing: then the state stays the same object, and nobody has to look at it again.
    return state if status == state.get("status", 0) else {**state, "status": status}


def set_flag(state: R, flag: int, *, on: bool) -> R:
    """S9, C18: set or clear one flag."""
    status = state.get("status", 0)
    return put(state, status=status | flag if on else status & ~flag)


def _waits(parts: list[Any]) -> bool:
    # A plain loop: this runs at each change of a call, and a generator would cost another frame.
    for part in parts:
        kind = part.get("kind")
        if kind == "toolCall":
            if part.get("toolCall", {}).get("status") in WAITING:
                return True
        elif kind == "inputRequest" and part.get("response") is None:
            return True
    return False
