"""Queries: questions about the state of a session that many modules ask.

They take states as peers send them: a part or a call may lack any key.
"""

from collections.abc import Sequence
from typing import Any, Final, cast

from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.toolcall import ToolCallState

__all__ = [
    "ENDED_CALL_STATUSES",
    "TURN_ENDINGS",
    "WAITING_CALL_STATUSES",
    "active_calls",
    "find_active_call",
    "find_call",
    "has_ended",
    "is_tool_call",
    "tool_calls",
]

ENDED_CALL_STATUSES: Final = ("completed", "cancelled")
"""The final states of a tool call."""

WAITING_CALL_STATUSES: Final = ("pending-confirmation", "pending-result-confirmation")
"""The states in which a tool call needs somebody's approval: of itself, or of its result."""

TURN_ENDINGS: Final = frozenset({"session/turnComplete", "session/turnCancelled", "session/error"})
"""The types of the actions that end a turn and keep it (S6 to S8). `session/truncated` drops it instead."""


def is_tool_call(part: Any) -> bool:
    """Return whether a response part is a tool call."""
    return bool(part.get("kind") == "toolCall")


def has_ended(call: Any) -> bool:
    """Return whether a tool call has reached a final state."""
    return call.get("status") in ENDED_CALL_STATUSES


def tool_calls(parts: Sequence[Any]) -> list[ToolCallState]:
    """Return the tool calls among response parts, in order."""
    # Written out: `is_tool_call` would be a Python call for each part of a long turn.
    return [part.get("toolCall", {}) for part in parts if part.get("kind") == "toolCall"]


def active_calls(state: SessionState) -> list[ToolCallState]:
    """Return the tool calls of the running turn; none if no turn is running."""
    turn = state.get("activeTurn")
    return tool_calls(turn.get("responseParts", [])) if turn else []


def find_active_call(state: SessionState, call_id: str) -> ToolCallState | None:
    """Return the newest call of the running turn with this id."""
    turn = state.get("activeTurn")
    return find_call(turn.get("responseParts", []), call_id) if turn else None


def find_call(parts: Sequence[Any], call_id: str) -> ToolCallState | None:
    """Return the newest call with this id. A repeated id starts another call (S12)."""
    # From the end: whoever asks for a call mostly asks for the newest one.
    for part in reversed(parts):
        if part.get("kind") == "toolCall" and part.get("toolCall", {}).get("toolCallId") == call_id:
            return cast("ToolCallState", part["toolCall"])
    return None
