"""Questions to the user, which are parts of the running turn (C14 to C16)."""

from typing import Any

from agenthost.core.reducers.records import pick, put, replaced
from agenthost.core.reducers.status import compute_status, refresh_status
from agenthost.wire.ahp.actions.input import (
    ChatInputAnswerChangedAction,
    ChatInputCompletedAction,
    ChatInputRequestedAction,
)
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.enums import SessionStatus


def input_requested(state: ChatState, action: ChatInputRequestedAction) -> ChatState:
    """C14: a request that is repeated keeps its answers, unless it brings its own."""
    turn = state.get("activeTurn")
    request: Any = action.get("request")
    if turn is None or request is None:
        return state
    parts: list[Any] = turn.get("responseParts", [])
    place = _open_place(parts, request.get("id"))
    if place is None:
        parts = [*parts, {"kind": "inputRequest", "request": request}]
    else:
        kept = pick(parts[place]["request"], "answers")
        parts = replaced(parts, place, {**parts[place], "request": {**kept, **request}})
    state = {**state, "activeTurn": {**turn, "responseParts": parts}}
    # Somebody has to look at it, so it counts as unread.
    return {**state, "status": compute_status(state) & ~SessionStatus.IS_READ}


def input_answer_changed(state: ChatState, action: ChatInputAnswerChangedAction) -> ChatState:
    """C15: an action without an answer removes the old one."""
    question_id = action.get("questionId", "")

    def change(part: Any) -> Any:
        answers = put(part["request"].get("answers", {}), **{question_id: action.get("answer")})
        return {**part, "request": put(part["request"], answers=answers or None)}

    return _changed(state, action, change)


def input_completed(state: ChatState, action: ChatInputCompletedAction) -> ChatState:
    """C16: the request stays in the turn, with its response."""

    def change(part: Any) -> Any:
        answers = {**part["request"].get("answers", {}), **(action.get("answers") or {})}
        request = put(part["request"], answers=answers or None)
        return put(part, request=request, response=action.get("response"))

    changed = _changed(state, action, change)
    return state if changed is state else refresh_status(changed)


def _changed(state: ChatState, action: Any, change: Any) -> ChatState:
    """Change the open part with the request that the action names."""
    turn = state.get("activeTurn")
    parts: list[Any] = [] if turn is None else turn.get("responseParts", [])
    place = _open_place(parts, action.get("requestId"))
    if turn is None or place is None:
        return state
    return {
        **state,
        "activeTurn": {**turn, "responseParts": replaced(parts, place, change(parts[place]))},
    }


def _open_place(parts: list[Any], request_id: str | None) -> int | None:
    for place, part in enumerate(parts):
        if part.get("kind") == "inputRequest" and part.get("response") is None:
            request = part.get("request")
            if request is not None and request.get("id") == request_id:
                return place
    return None
