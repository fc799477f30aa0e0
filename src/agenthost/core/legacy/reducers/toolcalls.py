"""Tool calls: from streaming input to a result or a refusal (S12 to S19, H3, H6, H10, H11).

At each change of status a call is rebuilt from the fields that its new state has, and no others (G6).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.legacy.reducers.status import refresh_status
from agenthost.core.queries import ENDED_CALL_STATUSES
from agenthost.core.reducers.records import pick, put, without_none
from agenthost.wire.ahp.legacy.actions.toolcall import (
    SessionToolCallCompleteAction,
    SessionToolCallConfirmedAction,
    SessionToolCallContentChangedAction,
    SessionToolCallDeltaAction,
    SessionToolCallReadyAction,
    SessionToolCallResultConfirmedAction,
    SessionToolCallStartAction,
)
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.turn import ResponsePart
from agenthost.wire.json import JsonObject

Call: TypeAlias = JsonObject
"""A tool call in any state, known or not."""

# H10: these come from the start of a call and never change.
IDENTITY = ("toolCallId", "toolName", "displayName", "toolClientId", "_meta")
PARAMETERS = ("invocationMessage", "toolInput")
CONSENT = ("confirmed", "selectedOption")
READY = (*PARAMETERS, "confirmed")
ALLOWED = (*PARAMETERS, *CONSENT)
# S17, S18: of a result only these are copied; a peer's extra field must not overwrite the call's status.
RESULT = ("success", "pastTenseMessage", "content", "structuredContent", "error")


def tool_call_start(state: SessionState, action: SessionToolCallStartAction, _now: float) -> SessionState:
    """S12: append a streaming call. A repeated id starts another call."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):
        return state
    part = {"kind": "toolCall", "toolCall": _call(action, "streaming", {})}
    parts: list[Any] = [*turn.get("responseParts", []), part]
    return {**state, "activeTurn": {**turn, "responseParts": parts}}


def tool_call_delta(state: SessionState, action: SessionToolCallDeltaAction, _now: float) -> SessionState:
    """S13, for an action that brings a new message too; `text` handles the usual case."""

    def grow(call: Call) -> Call:
        grown = call.get("partialInput", "") + action.get("content", "")
        return {**call, "partialInput": grown, **pick(action, "invocationMessage")}

    return _changed(state, action, ("streaming",), grow)


def tool_call_ready(state: SessionState, action: SessionToolCallReadyAction, _now: float) -> SessionState:
    """S14: the call runs, or asks for confirmation."""

    def make_ready(call: Call) -> Call:
        if action.get("confirmed"):  # G7: tested for truth
            return _call(call, "running", {key: action[key] for key in READY if action.get(key) is not None})  # type: ignore[literal-required]
        asked = pick(action, *PARAMETERS, "confirmationTitle", "edits", "editable", "options")
        return _call(call, "pending-confirmation", asked)

    # H6: recompute even if no call was affected.
    return refresh_status(_changed(state, action, ("streaming", "running"), make_ready))


def tool_call_confirmed(
    state: SessionState, action: SessionToolCallConfirmedAction, _now: float
) -> SessionState:
    """S15, S16: the call was approved or denied."""
    decide = _approved if action.get("approved") else _denied
    return refresh_status(
        _changed(state, action, ("pending-confirmation",), lambda call: decide(call, action))
    )


def _approved(call: Call, action: Any) -> Call:
    edited = without_none({"toolInput": action.get("editedToolInput")})
    granted = {**pick(call, *PARAMETERS), **edited, **pick(action, "confirmed")}
    return _call(call, "running", {**granted, **_selected(call, action)})


def _denied(call: Call, action: Any) -> Call:
    refused = {**pick(call, *PARAMETERS), **pick(action, "reason", "reasonMessage", "userSuggestion")}
    return _call(call, "cancelled", {**refused, **_selected(call, action)})


def _selected(call: Call, action: Any) -> Call:
    """H11: return the chosen option as a whole, if it was on offer."""
    option_id = action.get("selectedOptionId")
    options = call.get("options", []) if option_id else []
    return without_none(
        {"selectedOption": next((option for option in options if option.get("id") == option_id), None)}
    )


def tool_call_complete(
    state: SessionState, action: SessionToolCallCompleteAction, _now: float
) -> SessionState:
    """S17: a call that was never confirmed counts as one that needed no confirmation."""
    status = "pending-result-confirmation" if action.get("requiresResultConfirmation") else "completed"

    def complete(call: Call) -> Call:
        # `pick`, inlined: every call that runs comes here.
        fields = {key: call[key] for key in ALLOWED if call.get(key) is not None}
        if call["status"] != "running":
            fields = {**pick(call, *PARAMETERS), "confirmed": "not-needed"}
        result: Any = action.get("result", {})
        fields.update({key: result[key] for key in RESULT if result.get(key) is not None})
        return _call(call, status, fields)

    return refresh_status(_changed(state, action, ("running", "pending-confirmation"), complete))


def tool_call_result_confirmed(
    state: SessionState, action: SessionToolCallResultConfirmedAction, _now: float
) -> SessionState:
    """S18: the result is released or withheld."""

    def confirm(call: Call) -> Call:
        if action.get("approved"):
            return _call(call, "completed", pick(call, *PARAMETERS, *CONSENT, *RESULT))
        withheld = pick(call, *PARAMETERS, "selectedOption")
        return _call(call, "cancelled", {**withheld, "reason": "result-denied"})

    return refresh_status(_changed(state, action, ("pending-result-confirmation",), confirm))


def tool_call_content_changed(
    state: SessionState, action: SessionToolCallContentChangedAction, _now: float
) -> SessionState:
    """S19: progress replaces what was shown before."""
    return _changed(state, action, ("running",), lambda call: put(call, content=action.get("content")))


def skipped(part: ResponsePart) -> ResponsePart:
    """H9: cancel a call that was open when its turn ended; other parts stay as they are."""
    if part.get("kind") != "toolCall":
        return part
    call: Any = part.get("toolCall", {})
    if call.get("status") in ENDED_CALL_STATUSES:
        return part
    if call.get("status") == "streaming":
        # Its input was never complete, so none is kept.
        kept = {"invocationMessage": "", **pick(call, "invocationMessage")}
    else:
        kept = pick(call, *PARAMETERS)
    closed: Any = _call(call, "cancelled", {**kept, "reason": "skipped"})
    return {"kind": "toolCall", "toolCall": closed}


def _call(identity: Any, status: str, fields: JsonObject) -> Call:
    # `pick`, inlined: every action of a call comes here.
    call = {key: identity[key] for key in IDENTITY if identity.get(key) is not None}
    call["status"] = status
    call.update(fields)
    return call


def _changed(
    state: SessionState, action: Any, statuses: tuple[str, ...], change: Callable[[Call], Call]
) -> SessionState:
    """H1, H3: change every call with the id that is in one of these states."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):
        return state
    call_id = action.get("toolCallId")
    parts: list[Any] = turn.get("responseParts", [])
    changed = None
    for place, part in enumerate(parts):
        if part.get("kind") == "toolCall":
            call = part.get("toolCall", {})
            if call.get("toolCallId") == call_id and call.get("status") in statuses:
                changed = list(parts) if changed is None else changed
                changed[place] = {**part, "toolCall": change(call)}
    return state if changed is None else {**state, "activeTurn": {**turn, "responseParts": changed}}
