"""Queries: questions about the state of a session or a chat that many modules ask.

They take states as peers send them: a part or a call may lack any key.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.common import ErrorInfo
from agenthost.wire.ahp.session import SessionActiveClient, SessionState
from agenthost.wire.ahp.toolcall import ToolCallState

__all__ = [
    "ENDED_CALL_STATUSES",
    "TURN_ENDINGS",
    "WAITING_CALL_STATUSES",
    "active_calls",
    "client_of",
    "error_of",
    "find_active_call",
    "find_active_client",
    "find_call",
    "find_customization",
    "has_ended",
    "is_tool_call",
    "open_questions",
    "tool_calls",
    "working_directory",
]

ENDED_CALL_STATUSES: Final = ("completed", "cancelled")
"""The final states of a tool call."""

WAITING_CALL_STATUSES: Final = ("pending-confirmation", "pending-result-confirmation")
"""The states in which a tool call waits for approval, of itself or of its result."""

TURN_ENDINGS: Final = frozenset({"chat/turnComplete", "chat/turnCancelled", "chat/error"})
"""The types of the actions that end a turn and keep it (C4, C5). `chat/truncated` drops it instead."""


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


def active_calls(state: ChatState) -> list[ToolCallState]:
    """Return the tool calls of the running turn; none if no turn is running."""
    turn = state.get("activeTurn")
    return tool_calls(turn.get("responseParts", [])) if turn else []


def find_active_call(state: ChatState, call_id: str) -> ToolCallState | None:
    """Return the newest call of the running turn with this id."""
    turn = state.get("activeTurn")
    return find_call(turn.get("responseParts", []), call_id) if turn else None


def find_call(parts: Sequence[Any], call_id: str) -> ToolCallState | None:
    """Return the newest call with this id. A repeated id starts another call (T1)."""
    # From the end: most callers look for the newest call.
    for part in reversed(parts):
        if part.get("kind") == "toolCall" and part.get("toolCall", {}).get("toolCallId") == call_id:
            return cast("ToolCallState", part["toolCall"])
    return None


def client_of(call: Any) -> str | None:
    """Return the id of the client that runs a call; `None` if the host does."""
    contributor = call.get("contributor") or {}
    return contributor.get("clientId") if contributor.get("kind") == "client" else None


def open_questions(state: ChatState) -> list[Any]:
    """Return the requests for input of the running turn that nobody has completed."""
    turn = state.get("activeTurn")
    parts: Any = turn["responseParts"] if turn else []
    return [part["request"] for part in parts if part["kind"] == "inputRequest" and "response" not in part]


def find_active_client(state: SessionState, client_id: str) -> SessionActiveClient | None:
    """Return what a client brings to a session, if it takes part."""
    return next((one for one in state["activeClients"] if one["clientId"] == client_id), None)


def find_customization(state: SessionState, is_it: Callable[[Any], bool]) -> Any:
    """Return the first customization of a session that is meant, at any level; `None` if there is none."""
    entries: list[Any] = state.get("customizations", [])
    children = [one for entry in entries for one in entry.get("children", [])]
    return next(filter(is_it, [*entries, *children]), None)


def working_directory(state: SessionState) -> str | None:
    """Return the folder that a session works in, if it names one: the first of its list."""
    return next(iter(state.get("workingDirectories", ())), None)


def error_of(turn: Any) -> ErrorInfo | None:
    """Return the error that a turn ended with, if it failed."""
    last: Any = turn["responseParts"][-1] if turn["responseParts"] else {}
    return last.get("error") if turn["state"] == "error" and last.get("kind") == "error" else None
