"""Turns: how they start, end, are resumed, loaded and truncated (C1, C2, C4 to C6, C8 to C10)."""

from typing import Any

from agenthost.core.reducers.pending import without_pending
from agenthost.core.reducers.records import find_place, pick, put, without_none
from agenthost.core.reducers.status import compute_status
from agenthost.core.reducers.toolcalls import skipped
from agenthost.core.times import later
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
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.enums import SessionStatus, TurnState
from agenthost.wire.ahp.turn import ErrorResponsePart, Turn


def turn_started(state: ChatState, action: ChatTurnStartedAction) -> ChatState:
    """C1: replace any turn that is still running, and remove the pending message it came from."""
    started = action.get("startedAt")
    turn: Any = {"id": action.get("turnId"), "startedAt": started, "message": action.get("message")}
    if None in turn.values():  # G1; rare, so most turns skip the copy
        turn = without_none(turn)
    turn["responseParts"] = []
    state = {**state, "activeTurn": turn}
    state = put(state, status=compute_status(state) & ~SessionStatus.IS_READ, modifiedAt=started)
    message_id = action.get("queuedMessageId")
    return without_pending(state, message_id) if message_id else state  # G6: tested for truth


def response_part(state: ChatState, action: ChatResponsePartAction) -> ChatState:
    """C2: append the part unchanged (G5). An error ends its turn, so it comes by `chat/error` alone."""
    turn = state.get("activeTurn")
    part: Any = action.get("part")
    if turn is None or part is None or turn.get("id") != action.get("turnId"):  # H1
        return state
    if part.get("kind") == "error":
        return state
    return {**state, "activeTurn": {**turn, "responseParts": [*turn.get("responseParts", []), part]}}


def usage(state: ChatState, action: ChatUsageAction) -> ChatState:
    """C8: replace the usage of the running turn."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):  # H1
        return state
    return put(state, activeTurn=put(turn, usage=action.get("usage")))


def turn_complete(state: ChatState, action: ChatTurnCompleteAction) -> ChatState:
    """C4: end the turn as complete."""
    return _ended(state, action, "complete")


def turn_cancelled(state: ChatState, action: ChatTurnCancelledAction) -> ChatState:
    """C4: end the turn as cancelled."""
    return _ended(state, action, "cancelled")


def error(state: ChatState, action: ChatErrorAction) -> ChatState:
    """C5: end the turn with an error, and force the status (H4)."""
    return _ended(state, action, "error", SessionStatus.ERROR, action.get("part"))


def _ended(
    state: ChatState,
    action: Any,
    outcome: TurnState,
    activity: int | None = None,
    error: ErrorResponsePart | None = None,
) -> ChatState:
    """H8: move the running turn to `turns`; calls that are still open are cancelled."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):  # H1
        return state
    # G5: the record is built from known fields; others of the running turn do not survive.
    record: Any = pick(turn, "id", "startedAt", "message", "usage")
    duration = action.get("duration")
    if duration is not None:
        record["duration"] = max(0, duration)
    parts: list[Any] = turn.get("responseParts", [])
    parts = [skipped(part) if part.get("kind") == "toolCall" else part for part in parts]
    record["responseParts"] = parts if error is None else [*parts, error]
    record["state"] = outcome
    ended: Any = {**state, "turns": [*state.get("turns", []), record]}
    del ended["activeTurn"]
    ended["status"] = compute_status(ended, activity)
    # A start that is not a time says nothing about the end.
    end = later(record.get("startedAt", ""), record.get("duration", 0))
    if end is not None:
        ended["modifiedAt"] = end
    result: ChatState = ended
    return result


def turn_resume(state: ChatState, action: ChatTurnResumeAction) -> ChatState:
    """C6: reopen the last turn, if it failed in a way that can be resumed."""
    turns = state.get("turns", [])
    if state.get("activeTurn") is not None or not turns or not _is_resumable(turns[-1], action.get("turnId")):
        return state
    turn: Any = pick(turns[-1], "id", "startedAt", "message", "responseParts", "usage")
    if "startedAt" not in turn:
        turn.update(without_none({"startedAt": state.get("modifiedAt")}))
    state = put(state, turns=turns[:-1], activeTurn=turn)
    return {**state, "status": compute_status(state) & ~SessionStatus.IS_READ}


def _is_resumable(turn: Any, turn_id: str | None) -> bool:
    parts = turn.get("responseParts", [])
    if turn.get("id") != turn_id or turn.get("state") != "error" or not parts:
        return False
    return parts[-1].get("kind") == "error" and parts[-1].get("resumable") is True


def truncated(state: ChatState, action: ChatTruncatedAction) -> ChatState:
    """C9: keep the turns up to the named one, or none; a running turn is dropped."""
    turn_id = action.get("turnId")
    kept: list[Turn] = []
    changes: dict[str, Any] = {"turnsNextCursor": None}
    if turn_id is not None:
        turns = state.get("turns", [])
        place = find_place(turns, turn_id)
        if place is None:
            return state  # an id that is not in `turns` changes nothing
        kept = turns[: place + 1]
        changes = {}
    state = put(state, turns=kept, activeTurn=None, **changes)
    return {**state, "status": compute_status(state)}


def turns_loaded(state: ChatState, action: ChatTurnsLoadedAction) -> ChatState:
    """C10: older turns come before those that are there; none comes twice."""
    turns = state.get("turns", [])
    known = {turn.get("id") for turn in turns}
    older = [turn for turn in action.get("turns", []) if turn.get("id") not in known]
    return put(state, turns=[*older, *turns], turnsNextCursor=action.get("turnsNextCursor"))
