"""Whether a turn may start, stop, or be cut off."""

from collections.abc import Sequence
from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused, check_size, check_tokens
from agenthost.wire.ahp.actions.turn import (
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnStartedAction,
)
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.mismatch import quote


def running_turn(state: SessionState, turn_id: str) -> ActiveTurn:
    """Give the turn that is running.

    Raises:
        Refused: none is, or another one.
    """
    turn = state.get("activeTurn")
    if turn is None:
        raise Refused("no turn is running")
    if turn.get("id") != turn_id:
        raise Refused(f"the turn that is running is {quote(turn.get('id'))}, not {quote(turn_id)}")
    return turn


def turn_started(state: SessionState, action: SessionTurnStartedAction, by: Dispatch) -> None:
    """Refuse a second turn at a time, an id twice, a want of tokens, and sessions that will not be ready.

    One that is still being made is no reason: see `is_deferred`.
    """
    if state.get("lifecycle") not in ("ready", "creating"):
        raise Refused(f"the session is not ready: its lifecycle is {quote(state.get('lifecycle'))}")
    check_tokens(by)
    held = held_turn(by.context.waiting)
    if held is not None:
        raise Refused(f"turn {quote(held)} waits until the session is ready")
    turn = state.get("activeTurn")
    if turn is not None:
        raise Refused(f"turn {quote(turn.get('id'))} is still running")
    if not action["turnId"]:
        raise Refused("the id of a turn may not be empty")
    if _has_ended(state, action["turnId"], by):
        raise Refused(f"this session had a turn {quote(action['turnId'])} before")
    message_id = action.get("queuedMessageId")
    if message_id is not None and message_id not in _pending_messages(state):
        raise Refused(f"no message {quote(message_id)} is pending")
    check_size(action["userMessage"], by)


def held_turn(waiting: Sequence[Any]) -> str | None:
    """Return the id of the turn that waits until the session is ready."""
    return next((one["turnId"] for one in waiting if one["type"] == "session/turnStarted"), None)


def turn_cancelled(state: SessionState, action: SessionTurnCancelledAction, by: Dispatch) -> None:
    """Refuse to stop any turn but the running one, or the one that waits to be started."""
    if held_turn(by.context.waiting) != action["turnId"]:
        running_turn(state, action["turnId"])


def truncated(state: SessionState, action: SessionTruncatedAction, by: Dispatch) -> None:
    """Refuse to cut after a turn that is not among those that ended."""
    turn_id = action.get("turnId")
    if turn_id is not None and not _has_ended(state, turn_id, by):
        raise Refused(f"this session has no turn {quote(turn_id)} that has ended")


def _has_ended(state: SessionState, turn_id: str, by: Dispatch) -> bool:
    # A session may have had thousands of turns, and each new one asks.
    if by.context.had_turn is not None:
        return by.context.had_turn(turn_id)
    return turn_id in [turn.get("id") for turn in state.get("turns", ())]


def _pending_messages(state: SessionState) -> list[str | None]:
    """Give the ids of all that waits: a turn may come from the steering message too."""
    steering = state.get("steeringMessage")
    waiting = [*state.get("queuedMessages", []), *([] if steering is None else [steering])]
    return [message.get("id") for message in waiting]
