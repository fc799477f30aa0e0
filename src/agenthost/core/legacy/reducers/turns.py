"""Turns: how they start, end and are truncated (S3, S5 to S9, S11)."""

from typing import Any

from agenthost.core.legacy.reducers.status import compute_status, update_summary
from agenthost.core.legacy.reducers.toolcalls import skipped
from agenthost.core.reducers.records import put, without_none
from agenthost.wire.ahp.legacy.actions.turn import (
    SessionErrorAction,
    SessionResponsePartAction,
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnCompleteAction,
    SessionTurnStartedAction,
    SessionUsageAction,
)
from agenthost.wire.ahp.legacy.common import ErrorInfo
from agenthost.wire.ahp.legacy.enums import SessionStatus, TurnState
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.turn import ActiveTurn, Turn


def matching_turn(state: SessionState, action: Any) -> ActiveTurn | None:
    """H1: return the running turn, if it is the one that the action means."""
    turn = state.get("activeTurn")
    return turn if turn is not None and turn.get("id") == action.get("turnId") else None


def turn_started(state: SessionState, action: SessionTurnStartedAction, now: float) -> SessionState:
    """S3: replace any turn that is still running, and remove the pending message it came from."""
    turn: Any = {"id": action.get("turnId"), "userMessage": action.get("userMessage"), "responseParts": []}
    if None in turn.values():  # G1; rare, so most turns skip the copy
        turn = without_none(turn)
    state = {**state, "activeTurn": turn}
    state = update_summary(state, status=compute_status(state) & ~SessionStatus.IS_READ, modifiedAt=now)
    message_id = action.get("queuedMessageId")
    return _without_pending(state, message_id) if message_id else state  # G7: tested for truth


def _without_pending(state: SessionState, message_id: str) -> SessionState:
    steering = state.get("steeringMessage")
    if steering is not None and steering.get("id") == message_id:
        state = put(state, steeringMessage=None)
    if "queuedMessages" not in state:
        return state
    left = [message for message in state["queuedMessages"] if message.get("id") != message_id]
    return put(state, queuedMessages=left or None)


def response_part(state: SessionState, action: SessionResponsePartAction, _now: float) -> SessionState:
    """S5: append the part unchanged (G6)."""
    turn = state.get("activeTurn")
    part: Any = action.get("part")
    if turn is None or part is None or turn.get("id") != action.get("turnId"):  # H1
        return state
    return {**state, "activeTurn": {**turn, "responseParts": [*turn.get("responseParts", []), part]}}


def usage(state: SessionState, action: SessionUsageAction, _now: float) -> SessionState:
    """S9: replace the usage of the running turn."""
    turn = matching_turn(state, action)
    return state if turn is None else put(state, activeTurn=put(turn, usage=action.get("usage")))


def turn_complete(state: SessionState, action: SessionTurnCompleteAction, now: float) -> SessionState:
    """S6: end the turn as complete."""
    return _ended(state, action, now, "complete")


def turn_cancelled(state: SessionState, action: SessionTurnCancelledAction, now: float) -> SessionState:
    """S7: end the turn as cancelled."""
    return _ended(state, action, now, "cancelled")


def error(state: SessionState, action: SessionErrorAction, now: float) -> SessionState:
    """S8: end the turn with an error, and force the status (H4)."""
    return _ended(state, action, now, "error", SessionStatus.ERROR, action.get("error"))


def _ended(
    state: SessionState,
    action: Any,
    now: float,
    outcome: TurnState,
    activity: int | None = None,
    error: ErrorInfo | None = None,
) -> SessionState:
    """H9: move the running turn to `turns`; calls that are still open are cancelled."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):
        return state
    # G6: the record is built from known fields; others of the running turn do not survive.
    record: Any = {key: turn.get(key) for key in ("id", "userMessage") if turn.get(key) is not None}
    parts: list[Any] = turn.get("responseParts", [])
    record["responseParts"] = [skipped(part) if part.get("kind") == "toolCall" else part for part in parts]
    if turn.get("usage") is not None:
        record["usage"] = turn["usage"]
    record["state"] = outcome
    if error is not None:
        record["error"] = error
    ended: Any = {**state, "turns": [*state.get("turns", []), record]}
    del ended["activeTurn"]
    ended.pop("inputRequests", None)
    state = ended
    return update_summary(state, status=compute_status(state, activity), modifiedAt=now)


def truncated(state: SessionState, action: SessionTruncatedAction, now: float) -> SessionState:
    """S11: keep the turns up to the named one, or none; a running turn is dropped."""
    kept = _turns_up_to(state.get("turns", []), action.get("turnId"))
    if kept is None:
        return state  # an id that is not in `turns` changes nothing
    state = put(state, turns=kept, activeTurn=None, inputRequests=None)
    return update_summary(state, status=compute_status(state), modifiedAt=now)


def _turns_up_to(turns: list[Turn], turn_id: str | None) -> list[Turn] | None:
    if turn_id is None:
        return []
    place = next((place for place, turn in enumerate(turns) if turn.get("id") == turn_id), None)
    return None if place is None else turns[: place + 1]
