"""Turns: how they start, end and are cut off (S3, S5 to S9, S11)."""

from typing import Any

from agenthost.core.reducers.records import chosen, present, put
from agenthost.core.reducers.status import status_of, summarised
from agenthost.core.reducers.toolcalls import skipped
from agenthost.wire.ahp.actions.turn import (
    SessionErrorAction,
    SessionResponsePartAction,
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnCompleteAction,
    SessionTurnStartedAction,
    SessionUsageAction,
)
from agenthost.wire.ahp.common import ErrorInfo
from agenthost.wire.ahp.enums import SessionStatus, TurnState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import ActiveTurn, Turn


def matching_turn(state: SessionState, action: Any) -> ActiveTurn | None:
    """H1: the running turn, if it is the one that the action means."""
    turn = state.get("activeTurn")
    return turn if turn is not None and turn.get("id") == action.get("turnId") else None


def turn_started(state: SessionState, action: SessionTurnStartedAction, now: float) -> SessionState:
    """S3: it takes the place of a turn that is still running; the message leaves the queue."""
    turn: Any = {"id": action.get("turnId"), "userMessage": action.get("userMessage"), "responseParts": []}
    if None in turn.values():
        turn = present(turn)
    state = {**state, "activeTurn": turn}
    state = summarised(state, status=status_of(state) & ~SessionStatus.IS_READ, modifiedAt=now)
    message_id = action.get("queuedMessageId")
    return _taken(state, message_id) if message_id else state


def _taken(state: SessionState, message_id: str) -> SessionState:
    steering = state.get("steeringMessage")
    if steering is not None and steering.get("id") == message_id:
        state = put(state, steeringMessage=None)
    if "queuedMessages" not in state:
        return state
    left = [message for message in state["queuedMessages"] if message.get("id") != message_id]
    return put(state, queuedMessages=left or None)


def response_part(state: SessionState, action: SessionResponsePartAction, _now: float) -> SessionState:
    """S5: append the part as it is."""
    turn = matching_turn(state, action)
    part = action.get("part")
    if turn is None or part is None:
        return state
    return {**state, "activeTurn": {**turn, "responseParts": [*turn.get("responseParts", []), part]}}


def usage(state: SessionState, action: SessionUsageAction, _now: float) -> SessionState:
    """S9: the newest count takes the place of the last."""
    turn = matching_turn(state, action)
    return state if turn is None else put(state, activeTurn=put(turn, usage=action.get("usage")))


def turn_complete(state: SessionState, action: SessionTurnCompleteAction, now: float) -> SessionState:
    """S6."""
    return _ended(state, action, now, "complete")


def turn_cancelled(state: SessionState, action: SessionTurnCancelledAction, now: float) -> SessionState:
    """S7."""
    return _ended(state, action, now, "cancelled")


def error(state: SessionState, action: SessionErrorAction, now: float) -> SessionState:
    """S8."""
    return _ended(state, action, now, "error", SessionStatus.ERROR, action.get("error"))


def _ended(
    state: SessionState,
    action: Any,
    now: float,
    outcome: TurnState,
    activity: int | None = None,
    error: ErrorInfo | None = None,
) -> SessionState:
    """H9: the running turn becomes a record; what was still open in it is closed."""
    turn = matching_turn(state, action)
    if turn is None:
        return state
    record: Any = chosen(turn, "id", "userMessage")
    record["responseParts"] = [skipped(part) for part in turn.get("responseParts", [])]
    if turn.get("usage") is not None:
        record["usage"] = turn["usage"]
    record["state"] = outcome
    if error is not None:
        record["error"] = error
    state = put(state, turns=[*state.get("turns", []), record], activeTurn=None, inputRequests=None)
    return summarised(state, status=status_of(state, activity), modifiedAt=now)


def truncated(state: SessionState, action: SessionTruncatedAction, now: float) -> SessionState:
    """S11: keep the turns up to the one named, or none; whatever was running is dropped."""
    kept = _turns_up_to(state.get("turns", []), action.get("turnId"))
    if kept is None:
        return state
    state = put(state, turns=kept, activeTurn=None, inputRequests=None)
    return summarised(state, status=status_of(state), modifiedAt=now)


def _turns_up_to(turns: list[Turn], turn_id: str | None) -> list[Turn] | None:
    if turn_id is None:
        return []
    place = next((place for place, turn in enumerate(turns) if turn.get("id") == turn_id), None)
    return None if place is None else turns[: place + 1]
