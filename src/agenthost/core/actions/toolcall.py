"""Actions of a tool call."""

from agenthost.wire.ahp.actions.toolcall import (
    ChatToolCallApprovedAction,
    ChatToolCallCompleteAction,
    ChatToolCallContentChangedAction,
    ChatToolCallDeniedAction,
    ChatToolCallReadyAction,
    ChatToolCallResultConfirmedAction,
    ChatToolCallStartAction,
)
from agenthost.wire.ahp.common import Meta, StringOrMarkdown
from agenthost.wire.ahp.enums import ToolCallConfirmationReason
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.tool import FileEditCollection, ToolResultContent
from agenthost.wire.ahp.toolcall import ConfirmationOption, ToolCallResult

__all__ = [
    "tool_call_approved",
    "tool_call_complete",
    "tool_call_content_changed",
    "tool_call_denied",
    "tool_call_ready",
    "tool_call_result_confirmed",
    "tool_call_start",
]


def tool_call_start(
    turn_id: str,
    call_id: str,
    *,
    name: str,
    label: str,
    client_id: str | None = None,
    meta: Meta | None = None,
) -> ChatToolCallStartAction:
    """The agent begins to call a tool: the host's, or with `client_id` that client's."""
    action: ChatToolCallStartAction = {
        "type": "chat/toolCallStart",
        "turnId": turn_id,
        "toolCallId": call_id,
        "toolName": name,
        "displayName": label,
    }
    if client_id is not None:
        action["contributor"] = {"kind": "client", "clientId": client_id}
    if meta is not None:
        action["_meta"] = meta
    return action


def tool_call_ready(
    turn_id: str,
    call_id: str,
    message: StringOrMarkdown,
    *,
    tool_input: str | None = None,
    confirmed: ToolCallConfirmationReason | None = None,
    title: StringOrMarkdown | None = None,
    options: list[ConfirmationOption] | None = None,
    edits: FileEditCollection | None = None,
    editable: bool = False,
) -> ChatToolCallReadyAction:
    """The input of a call is complete: it runs if it is `confirmed`, otherwise it waits for approval."""
    action: ChatToolCallReadyAction = {
        "type": "chat/toolCallReady",
        "turnId": turn_id,
        "toolCallId": call_id,
        "invocationMessage": message,
    }
    if tool_input is not None:
        action["toolInput"] = tool_input
    if confirmed is not None:
        action["confirmed"] = confirmed
        return action
    if title is not None:
        action["confirmationTitle"] = title
    if options is not None:
        action["options"] = options
    if edits is not None:
        action["edits"] = edits
    if editable:
        action["editable"] = True
    return action


def tool_call_approved(
    turn_id: str,
    call_id: str,
    *,
    confirmed: ToolCallConfirmationReason = "user-action",
    edited_input: str | None = None,
    option_id: str | None = None,
) -> ChatToolCallApprovedAction:
    """A call was approved, perhaps with another input."""
    action: ChatToolCallApprovedAction = {
        "type": "chat/toolCallConfirmed",
        "turnId": turn_id,
        "toolCallId": call_id,
        "approved": True,
        "confirmed": confirmed,
    }
    if edited_input is not None:
        action["editedToolInput"] = edited_input
    if option_id is not None:
        action["selectedOptionId"] = option_id
    return action


def tool_call_denied(
    turn_id: str,
    call_id: str,
    *,
    message: StringOrMarkdown | None = None,
    suggestion: Message | None = None,
    option_id: str | None = None,
    is_skipped: bool = False,
) -> ChatToolCallDeniedAction:
    """A call was denied or skipped."""
    action: ChatToolCallDeniedAction = {
        "type": "chat/toolCallConfirmed",
        "turnId": turn_id,
        "toolCallId": call_id,
        "approved": False,
        "reason": "skipped" if is_skipped else "denied",
    }
    if message:
        action["reasonMessage"] = message
    if suggestion is not None:
        action["userSuggestion"] = suggestion
    if option_id is not None:
        action["selectedOptionId"] = option_id
    return action


def tool_call_content_changed(
    turn_id: str, call_id: str, content: list[ToolResultContent]
) -> ChatToolCallContentChangedAction:
    """A tool shows how far it is."""
    return {
        "type": "chat/toolCallContentChanged",
        "turnId": turn_id,
        "toolCallId": call_id,
        "content": content,
    }


def tool_call_complete(
    turn_id: str, call_id: str, result: ToolCallResult, *, needs_confirmation: bool = False
) -> ChatToolCallCompleteAction:
    """A tool is done; with `needs_confirmation` its result waits for approval."""
    action: ChatToolCallCompleteAction = {
        "type": "chat/toolCallComplete",
        "turnId": turn_id,
        "toolCallId": call_id,
        "result": result,
    }
    if needs_confirmation:
        action["requiresResultConfirmation"] = True
    return action


def tool_call_result_confirmed(
    turn_id: str, call_id: str, *, approved: bool
) -> ChatToolCallResultConfirmedAction:
    """The result of a call was released or withheld."""
    return {
        "type": "chat/toolCallResultConfirmed",
        "turnId": turn_id,
        "toolCallId": call_id,
        "approved": approved,
    }
