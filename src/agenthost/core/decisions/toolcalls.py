"""Whether a tool call may be approved, denied, updated or completed, and by whom."""

from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions.refusal import Dispatch, Refused, check_origin
from agenthost.core.decisions.turns import running_turn
from agenthost.core.queries import client_of, tool_calls
from agenthost.wire.ahp.actions.toolcall import (
    ChatToolCallCompleteAction,
    ChatToolCallConfirmedAction,
    ChatToolCallContentChangedAction,
    ChatToolCallResultConfirmedAction,
)
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject, check_density


def tool_call_confirmed(
    conversation: Conversation, action: ChatToolCallConfirmedAction, by: Dispatch
) -> None:
    """Refuse a second answer, options that were not offered, and approvals without the needed grant."""
    # HR-A04: the first answer counts; after it, the call is no longer pending.
    for call in _affected_calls(conversation, action, "pending-confirmation"):
        _check_option(call, action)
        if action["approved"] and "editedToolInput" in action and not _is_editable(call):
            raise Refused(f"the input of tool call {quote(action['toolCallId'])} may not be edited")
        # The grant of whoever approves counts, not of whoever asked the agent.
        if action["approved"] and by.context.call_grant is not None:
            by.context.rights.check_grant(by.context.call_grant(call), f"approving {quote(call['toolName'])}")
        if action["approved"]:
            # The input is JSON inside a string: it was not counted when the message was decoded.
            check_density(action.get("editedToolInput", ""))
    if not action["approved"] and "userSuggestion" in action:
        check_origin(action["userSuggestion"], "$.userSuggestion")


def _is_editable(call: JsonObject) -> bool:
    # T4: another text takes the place of a text only.
    return call.get("editable") is True and type(call.get("toolInput")) is str


def _check_option(call: JsonObject, action: ChatToolCallConfirmedAction) -> None:
    option_id = action.get("selectedOptionId")
    if option_id is None:
        return
    # T4: like the reducer, take the first option with the id.
    option = next((option for option in call.get("options", []) if option.get("id") == option_id), None)
    if option is None:
        raise Refused(f"tool call {quote(action['toolCallId'])} offers no option {quote(option_id)}")
    needed = "approve" if action["approved"] else "deny"
    if option.get("kind") != needed:
        raise Refused(f"option {quote(option_id)} is to {option.get('kind')}, but the answer is to {needed}")


def tool_call_complete(conversation: Conversation, action: ChatToolCallCompleteAction, by: Dispatch) -> None:
    """Refuse to complete calls that others run, and calls that are not running.

    The reducer would also complete a call that waits for confirmation or for a token (T6). From a client,
    that would bypass the approval.
    """
    for call in _affected_calls(conversation, action, "running", "pending-confirmation", "auth-required"):
        _check_owner(call, by)
        if call["status"] != "running":
            raise Refused(f"tool call {quote(action['toolCallId'])} is still waiting for confirmation")


def tool_call_content_changed(
    conversation: Conversation, action: ChatToolCallContentChangedAction, by: Dispatch
) -> None:
    """Refuse progress of a call that is not running, or that others run."""
    for call in _affected_calls(conversation, action, "running"):
        _check_owner(call, by)


def tool_call_result_confirmed(
    conversation: Conversation, action: ChatToolCallResultConfirmedAction, _by: Dispatch
) -> None:
    """Refuse an answer for a call whose result is not waiting for one."""
    _affected_calls(conversation, action, "pending-result-confirmation")


def _affected_calls(conversation: Conversation, action: Any, *statuses: str) -> list[JsonObject]:
    """Return the calls that the reducer would change (H3): those with the id, in one of these states.

    Raises:
        Refused: there is none.
    """
    call_id = action["toolCallId"]
    calls: list[Any] = tool_calls(running_turn(conversation.chat, action["turnId"]).get("responseParts", []))
    named = [call for call in calls if call.get("toolCallId") == call_id]
    if not named:
        raise Refused(f"turn {quote(action['turnId'])} has no tool call {quote(call_id)}")
    affected = [call for call in named if call.get("status") in statuses]
    if not affected:
        status = quote(named[-1].get("status"))
        raise Refused(f"tool call {quote(call_id)} is {status}, not {quote(statuses[0])}")
    return affected


def _check_owner(call: JsonObject, by: Dispatch) -> None:
    # HR-A12: only the client whose tool it is runs the call.
    owner = client_of(call)
    if owner != by.client_id:
        whose = "the host" if owner is None else f"client {quote(owner)}"
        raise Refused(f"tool call {quote(call.get('toolCallId'))} is run by {whose}")
