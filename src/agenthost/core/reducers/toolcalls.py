"""Tool calls: from streaming input to a result or a refusal (S12 to S19, H3, H6, H10, H11).

A call is built anew at each change of status, from the fields that its new state has and no others.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers.records import chosen, present, put
from agenthost.core.reducers.status import refreshed
from agenthost.wire.ahp.actions.toolcall import (
    SessionToolCallCompleteAction,
    SessionToolCallConfirmedAction,
    SessionToolCallContentChangedAction,
    SessionToolCallDeltaAction,
    SessionToolCallReadyAction,
    SessionToolCallResultConfirmedAction,
    SessionToolCallStartAction,
)
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject

Call: TypeAlias = JsonObject
"""A tool call in any state, known or not."""

IDENTITY = ("toolCallId", "toolName", "displayName", "toolClientId", "_meta")
PARAMETERS = ("invocationMessage", "toolInput")
CONSENT = ("confirmed", "selectedOption")
RESULT = ("success", "pastTenseMessage", "content", "structuredContent", "error")


def tool_call_start(state: SessionState, action: SessionToolCallStartAction, _now: float) -> SessionState:
    """S12: a repeated id starts another call."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):
        return state
    part = {"kind": "toolCall", "toolCall": _call(action, "streaming")}
    return put(state, activeTurn=put(turn, responseParts=[*turn.get("responseParts", []), part]))


def tool_call_delta(state: SessionState, action: SessionToolCallDeltaAction, _now: float) -> SessionState:
    """S13, for an action that brings a new message too; `text` has the usual case."""

    def grow(call: Call) -> Call:
        grown = call.get("partialInput", "") + action.get("content", "")
        return {**call, "partialInput": grown, **chosen(action, "invocationMessage")}

    return _changed(state, action, ("streaming",), grow)


def tool_call_ready(state: SessionState, action: SessionToolCallReadyAction, _now: float) -> SessionState:
    """S14: the call runs, or asks to."""

    def make_ready(call: Call) -> Call:
        if action.get("confirmed"):
            return _call(call, "running", chosen(action, *PARAMETERS, "confirmed"))
        asked = chosen(action, *PARAMETERS, "confirmationTitle", "edits", "editable", "options")
        return _call(call, "pending-confirmation", asked)

    return refreshed(_changed(state, action, ("streaming", "running"), make_ready))


def tool_call_confirmed(
    state: SessionState, action: SessionToolCallConfirmedAction, _now: float
) -> SessionState:
    """S15, S16: somebody allowed the call or did not."""
    decide = _approved if action.get("approved") else _denied
    return refreshed(_changed(state, action, ("pending-confirmation",), lambda call: decide(call, action)))


def _approved(call: Call, action: Any) -> Call:
    edited = present({"toolInput": action.get("editedToolInput")})
    granted = {**chosen(call, *PARAMETERS), **edited, **chosen(action, "confirmed")}
    return _call(call, "running", {**granted, **_selected(call, action)})


def _denied(call: Call, action: Any) -> Call:
    refused = {**chosen(call, *PARAMETERS), **chosen(action, "reason", "reasonMessage", "userSuggestion")}
    return _call(call, "cancelled", {**refused, **_selected(call, action)})


def _selected(call: Call, action: Any) -> Call:
    """H11: the option that was chosen, whole."""
    option_id = action.get("selectedOptionId")
    options = call.get("options", []) if option_id else []
    return present(
        {"selectedOption": next((option for option in options if option.get("id") == option_id), None)}
    )


def tool_call_complete(
    state: SessionState, action: SessionToolCallCompleteAction, _now: float
) -> SessionState:
    """S17: a call that was never confirmed counts as one that needed no confirmation."""
    status = "pending-result-confirmation" if action.get("requiresResultConfirmation") else "completed"

    def complete(call: Call) -> Call:
        consent = chosen(call, *CONSENT) if call["status"] == "running" else {"confirmed": "not-needed"}
        result = chosen(action.get("result", {}), *RESULT)
        return _call(call, status, {**chosen(call, *PARAMETERS), **consent, **result})

    return refreshed(_changed(state, action, ("running", "pending-confirmation"), complete))


def tool_call_result_confirmed(
    state: SessionState, action: SessionToolCallResultConfirmedAction, _now: float
) -> SessionState:
    """S18: the result is passed on, or withheld."""

    def settle(call: Call) -> Call:
        if action.get("approved"):
            return _call(call, "completed", chosen(call, *PARAMETERS, *CONSENT, *RESULT))
        withheld = chosen(call, *PARAMETERS, "selectedOption")
        return _call(call, "cancelled", {**withheld, "reason": "result-denied"})

    return refreshed(_changed(state, action, ("pending-result-confirmation",), settle))


def tool_call_content_changed(
    state: SessionState, action: SessionToolCallContentChangedAction, _now: float
) -> SessionState:
    """S19: progress, which takes the place of what was shown before."""
    return _changed(state, action, ("running",), lambda call: put(call, content=action.get("content")))


def skipped(part: ResponsePart) -> ResponsePart:
    """H9: close a call that was open when its turn ended; other parts stay as they are."""
    if part.get("kind") != "toolCall":
        return part
    call: Any = part.get("toolCall", {})
    if call.get("status") in ("completed", "cancelled"):
        return part
    if call.get("status") == "streaming":
        told = {"invocationMessage": "", **chosen(call, "invocationMessage")}
    else:
        told = chosen(call, *PARAMETERS)
    closed: Any = _call(call, "cancelled", {**told, "reason": "skipped"})
    return {"kind": "toolCall", "toolCall": closed}


def _call(identity: Any, status: str, fields: JsonObject | None = None) -> Call:
    return {**chosen(identity, *IDENTITY), "status": status, **(fields or {})}


def _changed(
    state: SessionState, action: Any, statuses: tuple[str, ...], change: Callable[[Call], Call]
) -> SessionState:
    """H3: change every call of that id which is in one of these states."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):
        return state
    parts: list[Any] = turn.get("responseParts", [])
    places = [place for place, part in enumerate(parts) if _is_meant(part, action, statuses)]
    if not places:
        return state
    parts = list(parts)
    for place in places:
        parts[place] = {**parts[place], "toolCall": change(parts[place]["toolCall"])}
    return put(state, activeTurn=put(turn, responseParts=parts))


def _is_meant(part: Any, action: Any, statuses: tuple[str, ...]) -> bool:
    if part.get("kind") != "toolCall":
        return False
    call = part.get("toolCall", {})
    return call.get("toolCallId") == action.get("toolCallId") and call.get("status") in statuses
