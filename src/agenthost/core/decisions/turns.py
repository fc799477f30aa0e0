"""Whether a turn may start, be cancelled or be resumed, and whether turns may be truncated."""

from collections.abc import Sequence
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions.refusal import (
    Dispatch,
    Refused,
    check_model,
    check_origin,
    check_size,
    check_tokens,
)
from agenthost.core.times import unix_ms
from agenthost.errors import InvalidValue, SessionNotReady, TurnInProgress
from agenthost.wire.ahp.actions.turn import (
    ChatTruncatedAction,
    ChatTurnCancelledAction,
    ChatTurnResumeAction,
    ChatTurnStartedAction,
)
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.error_messages import quote

MAX_OVERHEAD = 64
"""The bytes of a message in JSON without its text, if it has nothing else."""

MAX_TIME = 40
"""The characters of a time. Those in use have 24; the fraction of a second could have any length."""


def running_turn(chat: ChatState, turn_id: str) -> ActiveTurn:
    """Return the running turn.

    Raises:
        Refused: no turn is running, or another one is.
    """
    turn = chat.get("activeTurn")
    if turn is None:
        raise Refused("no turn is running")
    if turn.get("id") != turn_id:
        raise Refused(f"the running turn is {quote(turn.get('id'))}, not {quote(turn_id)}")
    return turn


def turn_started(conversation: Conversation, action: ChatTurnStartedAction, by: Dispatch) -> None:
    """Refuse a second turn at a time, a repeated id, missing tokens, and sessions that failed to start.

    In a session that is still being created, the turn is deferred: see `is_deferred`.
    """
    session, chat = conversation
    if session.get("lifecycle") not in ("ready", "creating"):
        raise Refused(SessionNotReady(str(session.get("lifecycle"))))
    if by.context.lacks is not None:
        check_tokens(by)  # HR-P01
    waiting = by.context.waiting
    held = held_turn(waiting) if waiting else None
    if held is not None:
        raise Refused(f"turn {quote(held)} is waiting until the session is ready")
    turn = chat.get("activeTurn")
    # C1: the reducer would replace the running turn.
    if turn is not None:
        raise Refused(TurnInProgress(str(turn.get("id"))))
    if not action["turnId"]:
        raise Refused("the id of a turn may not be empty")
    # HR-C09: a turn that is sent again after a lost connection must not run twice.
    if _has_ended(chat, action["turnId"], by):
        raise Refused(f"this session already had a turn {quote(action['turnId'])}")
    message_id = action.get("queuedMessageId")
    # It may be gone by now: somebody removed it, or another turn took it.
    if message_id is not None and message_id not in _pending_messages(chat):
        raise Refused(f"no message {quote(message_id)} is pending")
    if len(action["startedAt"]) > MAX_TIME or unix_ms(action["startedAt"]) is None:
        raise InvalidValue("$.startedAt", "a time", quote(action["startedAt"]))
    message, limit = action["message"], by.context.message_bytes
    check_origin(message, "$.message")
    check_model(message.get("model"), by)
    # A character has at most 6 bytes in JSON: only a message that could be too large is encoded.
    is_plain = len(message) == 2 and len(message["origin"]) == 1  # a text, and whose it is
    if limit is not None and (not is_plain or 6 * len(message["text"]) + MAX_OVERHEAD > limit):
        check_size(message, by)


def held_turn(waiting: Sequence[Any]) -> str | None:
    """Return the id of the turn that is held until the session is ready; `None` if there is none."""
    return next((one["turnId"] for one in waiting if one["type"] == "chat/turnStarted"), None)


def turn_cancelled(conversation: Conversation, action: ChatTurnCancelledAction, by: Dispatch) -> None:
    """Refuse to cancel any turn but the running one, or the one that is held."""
    # HR-A05. A held turn has not started, so it is not in the state; cancelling it is fine.
    if held_turn(by.context.waiting) != action["turnId"]:
        running_turn(conversation.chat, action["turnId"])


def turn_resume(conversation: Conversation, action: ChatTurnResumeAction, by: Dispatch) -> None:
    """Refuse to resume any turn but the last one, if it failed and says that it can be resumed."""
    session, chat = conversation
    if session.get("lifecycle") != "ready":
        raise Refused(SessionNotReady(str(session.get("lifecycle"))))
    check_tokens(by)  # HR-P01: the agent is used again
    running = chat.get("activeTurn")
    if running is not None:
        raise Refused(TurnInProgress(str(running.get("id"))))
    # C6: the reducer would ignore all others.
    last: Any = next(reversed(chat.get("turns", [])), None)
    if last is None or last.get("id") != action["turnId"]:
        raise Refused(f"the last turn of this session is not {quote(action['turnId'])}")
    part: Any = next(reversed(last.get("responseParts", [])), {})
    is_resumable = part.get("kind") == "error" and part.get("resumable") is True
    if last.get("state") != "error" or not is_resumable:
        raise Refused(f"turn {quote(action['turnId'])} cannot be resumed")


def truncated(conversation: Conversation, action: ChatTruncatedAction, by: Dispatch) -> None:
    """Refuse to truncate after a turn that is not among those that have ended."""
    turn_id = action.get("turnId")
    if turn_id is not None and not _has_ended(conversation.chat, turn_id, by):
        raise Refused(f"this session has no ended turn {quote(turn_id)}")


def _has_ended(chat: ChatState, turn_id: str, by: Dispatch) -> bool:
    # A chat may have thousands of turns, and each new one is checked.
    if by.context.had_turn is not None:
        return by.context.had_turn(turn_id)
    return turn_id in [turn.get("id") for turn in chat.get("turns", ())]


def _pending_messages(chat: ChatState) -> list[str | None]:
    """Return the ids of all pending messages: a turn may start from the steering message too (C1)."""
    steering = chat.get("steeringMessage")
    waiting = [*chat.get("queuedMessages", []), *([] if steering is None else [steering])]
    return [message.get("id") for message in waiting]
