"""Whether a tool call may be allowed, refused, shown at work or completed, and by whom."""

from typing import Any

from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.core.decisions.turns import running_turn
from agenthost.wire.ahp.actions.toolcall import (
    SessionToolCallCompleteAction,
    SessionToolCallConfirmedAction,
    SessionToolCallContentChangedAction,
    SessionToolCallResultConfirmedAction,
)
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import JsonObject, check_density
from agenthost.wire.mismatch import quote


def tool_call_confirmed(state: SessionState, action: SessionToolCallConfirmedAction, by: Dispatch) -> None:
    """Refuse all answers but the first, what was not offered, and a yes that the client may not give."""
    for call in _calls_meant(state, action, "pending-confirmation"):
        _check_option(call, action)
        if action["approved"] and "editedToolInput" in action and call.get("editable") is not True:
            raise Refused(f"the input of tool call {quote(action['toolCallId'])} may not be edited")
        if action["approved"] and by.context.call_grant is not None:
            by.context.rights.check_grant(by.context.call_grant(call), f"approving {quote(call['toolName'])}")
        if action["approved"]:
            check_density(action.get("editedToolInput", ""))


def _check_option(call: JsonObject, action: SessionToolCallConfirmedAction) -> None:
    option_id = action.get("selectedOptionId")
    if option_id is None:
        return
    # As the reducer does: the first of that id is the one meant.
    option = next((option for option in call.get("options", []) if option.get("id") == option_id), None)
    if option is None:
        raise Refused(f"tool call {quote(action['toolCallId'])} offers no option {quote(option_id)}")
    needed = "approve" if action["approved"] else "deny"
    if option.get("kind") != needed:
        raise Refused(f"option {quote(option_id)} is to {option.get('kind')}, but the answer is to {needed}")


def tool_call_complete(state: SessionState, action: SessionToolCallCompleteAction, by: Dispatch) -> None:
    """Refuse to complete calls of others, and calls that do not run.

    The reducer would complete one that still waits for confirmation too: that would go round the approval.
    """
    for call in _calls_meant(state, action, "running", "pending-confirmation"):
        _check_owner(call, by)
        if call["status"] != "running":
            raise Refused(f"tool call {quote(action['toolCallId'])} still waits for confirmation")


def tool_call_content_changed(
    state: SessionState, action: SessionToolCallContentChangedAction, by: Dispatch
) -> None:
    """Refuse news of a call that does not run, or that others run."""
    for call in _calls_meant(state, action, "running"):
        _check_owner(call, by)


def tool_call_result_confirmed(
    state: SessionState, action: SessionToolCallResultConfirmedAction, _by: Dispatch
) -> None:
    """Refuse an answer about a result that does not wait for one."""
    _calls_meant(state, action, "pending-result-confirmation")


def _calls_meant(state: SessionState, action: Any, *statuses: str) -> list[JsonObject]:
    """Give the calls that the reducer would change: those of that id in one of these states.

    Raises:
        Refused: there is none.
    """
    call_id = action["toolCallId"]
    parts: list[Any] = running_turn(state, action["turnId"]).get("responseParts", [])
    calls = [part.get("toolCall", {}) for part in parts if part.get("kind") == "toolCall"]
    named = [call for call in calls if call.get("toolCallId") == call_id]
    if not named:
        raise Refused(f"turn {quote(action['turnId'])} has no tool call {quote(call_id)}")
    meant = [call for call in named if call.get("status") in statuses]
    if not meant:
        status = quote(named[-1].get("status"))
        raise Refused(f"tool call {quote(call_id)} is {status}, not {quote(statuses[0])}")
    return meant


def _check_owner(call: JsonObject, by: Dispatch) -> None:
    owner = call.get("toolClientId")
    if owner != by.client_id:
        whose = "the host" if owner is None else f"client {quote(owner)}"
        raise Refused(f"tool call {quote(call.get('toolCallId'))} is run by {whose}")
