"""Tool calls: from streaming input to a result or a refusal (T1 to T8, H3, H6, H7).

At each change of status a call is rebuilt from the fields that its new state has, and no others (G5).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.queries import ENDED_CALL_STATUSES
from agenthost.core.reducers.records import pick, put, without_none
from agenthost.core.reducers.status import refresh_status
from agenthost.wire.ahp.actions.toolcall import (
    ChatToolCallAuthRequiredAction,
    ChatToolCallAuthResolvedAction,
    ChatToolCallCompleteAction,
    ChatToolCallConfirmedAction,
    ChatToolCallContentChangedAction,
    ChatToolCallDeltaAction,
    ChatToolCallReadyAction,
    ChatToolCallResultConfirmedAction,
    ChatToolCallStartAction,
)
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject

Call: TypeAlias = JsonObject
"""A tool call in any state, known or not."""

# H7: these stay with a call from its start to its end.
IDENTITY = ("toolCallId", "toolName", "displayName", "intention", "contributor", "_meta")
PARAMETERS = ("invocationMessage", "toolInput")
OFFER = ("confirmationTitle", "riskAssessment", "edits", "editable", "options")
CONSENT = ("confirmed", "selectedOption")
ALLOWED = (*PARAMETERS, *CONSENT)
# T6, T7: of a result only these are copied; a peer's extra field must not overwrite the call's status.
RESULT = ("success", "pastTenseMessage", "content", "structuredContent", "error")


def tool_call_start(state: ChatState, action: ChatToolCallStartAction) -> ChatState:
    """T1: append a streaming call. A repeated id starts another call."""
    turn = state.get("activeTurn")
    if turn is None or turn.get("id") != action.get("turnId"):  # H1
        return state
    part = {"kind": "toolCall", "toolCall": _call(action, {}, "streaming", {})}
    parts: list[Any] = [*turn.get("responseParts", []), part]
    return {**state, "activeTurn": {**turn, "responseParts": parts}}


def tool_call_delta(state: ChatState, action: ChatToolCallDeltaAction) -> ChatState:
    """T2, for an action that brings more than text; `text` handles the usual case."""
    changes = pick(action, "invocationMessage", "_meta")
    content = action.get("content")
    if content is None and not changes:
        return state

    def grow(call: Call) -> Call:
        if content is None:
            return {**call, **changes}
        return {**call, "partialInput": call.get("partialInput", "") + content, **changes}

    return _changed(state, action, ("streaming",), grow)


def tool_call_ready(state: ChatState, action: ChatToolCallReadyAction) -> ChatState:
    """T3: the call runs, or asks for confirmation; what it asked before holds where nothing new is said."""
    asked: Any = action

    def make_ready(call: Call) -> Call:
        kept = {} if call["status"] == "streaming" else pick(call, "toolInput")
        fields = {**kept, **pick(asked, *PARAMETERS)}
        if asked.get("confirmed"):  # G6: tested for truth
            status = "running"
            fields["confirmed"] = asked["confirmed"]
        else:
            status = "pending-confirmation"
            offered = pick(call, *OFFER) if call["status"] == status else {}
            fields.update({**offered, **pick(asked, *OFFER)})
        return _refined(_call(call, asked, status, fields), asked)

    # H6: recompute even if no call was affected.
    statuses = ("streaming", "running", "pending-confirmation")
    return refresh_status(_changed(state, action, statuses, make_ready))


def _refined(call: Call, action: Any) -> Call:
    """T3: add what is now known better. Which client runs a call is settled when it starts."""
    if action.get("intention") is not None:
        call["intention"] = action["intention"]
    if action.get("contributor") is not None and "client" not in (_contributor(call), _contributor(action)):
        call["contributor"] = action["contributor"]
    return call


def _contributor(record: Any) -> str | None:
    kind: str | None = record.get("contributor", {}).get("kind")
    return kind


def tool_call_confirmed(state: ChatState, action: ChatToolCallConfirmedAction) -> ChatState:
    """T4: the call was approved or denied."""
    decide = _approved if action.get("approved") else _denied
    return refresh_status(
        _changed(state, action, ("pending-confirmation",), lambda call: decide(call, action))
    )


def _approved(call: Call, action: Any) -> Call:
    granted = {**pick(call, *PARAMETERS), **pick(action, "confirmed"), **_selected(call, action)}
    # The text that a user edited cannot stand for an input that is stored elsewhere.
    if action.get("editedToolInput") is not None and type(call.get("toolInput")) is str:
        granted["toolInput"] = action["editedToolInput"]
    return _call(call, action, "running", granted)


def _denied(call: Call, action: Any) -> Call:
    refused = {**pick(call, *PARAMETERS), **pick(action, "reason", "reasonMessage", "userSuggestion")}
    return _call(call, action, "cancelled", {**refused, **_selected(call, action)})


def _selected(call: Call, action: Any) -> Call:
    """T4: return the chosen option as a whole, if it was on offer."""
    option_id = action.get("selectedOptionId")
    options = call.get("options", []) if option_id else []
    return without_none(
        {"selectedOption": next((option for option in options if option.get("id") == option_id), None)}
    )


def tool_call_content_changed(state: ChatState, action: ChatToolCallContentChangedAction) -> ChatState:
    """T5: progress replaces what was shown before."""
    changes = {"content": action.get("content"), **pick(action, "_meta")}
    return _changed(state, action, ("running",), lambda call: put(call, **changes))


def tool_call_complete(state: ChatState, action: ChatToolCallCompleteAction) -> ChatState:
    """T6: a call that was never confirmed counts as one that needed no confirmation."""
    result: Any = action.get("result", {})
    outcome = {key: result[key] for key in RESULT if result.get(key) is not None}
    ending = "pending-result-confirmation" if action.get("requiresResultConfirmation") else "completed"

    def complete(call: Call) -> Call:
        # `pick`, inlined: every call that runs comes here.
        fields = {key: call[key] for key in ALLOWED if call.get(key) is not None}
        if call["status"] == "auth-required":
            # Nobody signed in: the call can fail, and then there is no result to look at.
            return _call(call, action, "completed", {**fields, **pick(call, "content"), **outcome})
        if call["status"] != "running":
            fields = {**pick(call, *PARAMETERS), "confirmed": "not-needed"}
        fields.update(outcome)
        return _call(call, action, ending, fields)

    statuses: tuple[str, ...] = ("running", "pending-confirmation")
    # T6: a call that waits for a sign-in can only fail.
    if result.get("success") is False:
        statuses = (*statuses, "auth-required")
    return refresh_status(_changed(state, action, statuses, complete))


def tool_call_result_confirmed(state: ChatState, action: ChatToolCallResultConfirmedAction) -> ChatState:
    """T7: the result is released or withheld."""

    def confirm(call: Call) -> Call:
        if action.get("approved"):
            return _call(call, action, "completed", pick(call, *ALLOWED, *RESULT))
        withheld = pick(call, *PARAMETERS, "selectedOption")
        return _call(call, action, "cancelled", {**withheld, "reason": "result-denied"})

    return refresh_status(_changed(state, action, ("pending-result-confirmation",), confirm))


def tool_call_auth_required(state: ChatState, action: ChatToolCallAuthRequiredAction) -> ChatState:
    """T8: an MCP server requires a sign-in before the call goes on."""

    def require(call: Call) -> Call:
        # T8: nobody else asks for a sign-in.
        if _contributor(call) != "mcp":
            return call
        fields = {**pick(call, *ALLOWED, "content"), **pick(action, "auth")}
        return _call(call, action, "auth-required", fields)

    return refresh_status(_changed(state, action, ("running",), require))


def tool_call_auth_resolved(state: ChatState, action: ChatToolCallAuthResolvedAction) -> ChatState:
    """T8: the call goes on with what it had shown."""

    def resolve(call: Call) -> Call:
        return _call(call, action, "running", pick(call, *ALLOWED, "content"))

    return refresh_status(_changed(state, action, ("auth-required",), resolve))


def skipped(part: ResponsePart) -> ResponsePart:
    """H8: cancel a call that was open when its turn ended."""
    call: Any = part.get("toolCall", {})
    status = call.get("status")
    if status in ENDED_CALL_STATUSES:
        return part
    if status == "streaming":
        # Its input was never complete, so none is kept.
        kept = {"invocationMessage": "", **pick(call, "invocationMessage")}
    else:
        kept = pick(call, *PARAMETERS)
    closed: Any = _call(call, {}, "cancelled", {**kept, "reason": "skipped"})
    return {"kind": "toolCall", "toolCall": closed}


def _call(identity: Any, action: Any, status: str, fields: JsonObject) -> Call:
    """H7: rebuild the call; `_meta` is the action's, if it has one."""
    # `pick`, inlined: every action of a call comes here.
    call = {key: identity[key] for key in IDENTITY if identity.get(key) is not None}
    meta = action.get("_meta")
    if meta is not None:
        call["_meta"] = meta
    call["status"] = status
    call.update(fields)
    return call


def _changed(
    state: ChatState, action: Any, statuses: tuple[str, ...], change: Callable[[Call], Call]
) -> ChatState:
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
                after = change(call)
                if after is not call:
                    changed = list(parts) if changed is None else changed
                    changed[place] = {**part, "toolCall": after}
    return state if changed is None else {**state, "activeTurn": {**turn, "responseParts": changed}}
