"""Queries about legacy states, as clients of the legacy protocol need them.

They take states as peers send them: a part or a call may lack any key.
"""

from typing import Final, cast

from agenthost.core.queries import tool_calls
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.toolcall import ToolCallState

__all__ = ["TURN_ENDINGS", "active_calls"]

TURN_ENDINGS: Final = frozenset({"session/turnComplete", "session/turnCancelled", "session/error"})
"""The types of the actions that end a turn and keep it (S6 to S8). `session/truncated` drops it instead."""


def active_calls(state: SessionState) -> list[ToolCallState]:
    """Return the tool calls of the running turn; none if no turn is running."""
    turn = state.get("activeTurn")
    return cast("list[ToolCallState]", tool_calls(turn.get("responseParts", []))) if turn else []
