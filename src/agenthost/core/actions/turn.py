"""Actions of a turn. Durations are in milliseconds."""

from agenthost.wire.ahp.actions.turn import (
    ChatErrorAction,
    ChatResponsePartAction,
    ChatTruncatedAction,
    ChatTurnCancelledAction,
    ChatTurnCompleteAction,
    ChatTurnResumeAction,
    ChatTurnsLoadedAction,
    ChatTurnStartedAction,
    ChatUsageAction,
)
from agenthost.wire.ahp.common import ErrorInfo, UsageInfo
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.turn import ErrorResponsePart, ResponsePart, Turn

__all__ = [
    "response_part",
    "truncated",
    "turn_cancelled",
    "turn_complete",
    "turn_failed",
    "turn_resumed",
    "turn_started",
    "turns_loaded",
    "usage",
]


def turn_started(
    turn_id: str, message: Message, started_at: str, *, queued_message_id: str | None = None
) -> ChatTurnStartedAction:
    """A turn begins with a message, which may have waited in the queue."""
    action: ChatTurnStartedAction = {
        "type": "chat/turnStarted",
        "turnId": turn_id,
        "startedAt": started_at,
        "message": message,
    }
    if queued_message_id is not None:
        action["queuedMessageId"] = queued_message_id
    return action


def response_part(turn_id: str, part: ResponsePart) -> ChatResponsePartAction:
    """The answer has a new part."""
    return {"type": "chat/responsePart", "turnId": turn_id, "part": part}


def usage(turn_id: str, used: UsageInfo) -> ChatUsageAction:
    """The turn has cost this much so far."""
    return {"type": "chat/usage", "turnId": turn_id, "usage": used}


def turn_complete(turn_id: str, duration: float) -> ChatTurnCompleteAction:
    """The turn ended well."""
    return {"type": "chat/turnComplete", "turnId": turn_id, "duration": duration}


def turn_cancelled(turn_id: str, duration: float) -> ChatTurnCancelledAction:
    """The turn was cancelled."""
    return {"type": "chat/turnCancelled", "turnId": turn_id, "duration": duration}


def turn_failed(
    turn_id: str, error: ErrorInfo, duration: float, *, is_resumable: bool = False
) -> ChatErrorAction:
    """The turn ended with an error; if it is resumable, a client may have it continued."""
    part: ErrorResponsePart = {"kind": "error", "error": error}
    if is_resumable:
        part["resumable"] = True
    return {"type": "chat/error", "turnId": turn_id, "duration": duration, "part": part}


def turn_resumed(turn_id: str) -> ChatTurnResumeAction:
    """The last turn, which failed, continues."""
    return {"type": "chat/turnResume", "turnId": turn_id}


def truncated(turn_id: str | None) -> ChatTruncatedAction:
    """The turns after this one are gone; without one, all of them."""
    action: ChatTruncatedAction = {"type": "chat/truncated"}
    if turn_id is not None:
        action["turnId"] = turn_id
    return action


def turns_loaded(turns: list[Turn], next_cursor: str | None) -> ChatTurnsLoadedAction:
    """These turns come before those that a client has; without a cursor, they are the oldest."""
    action: ChatTurnsLoadedAction = {"type": "chat/turnsLoaded", "turns": turns}
    if next_cursor is not None:
        action["turnsNextCursor"] = next_cursor
    return action
