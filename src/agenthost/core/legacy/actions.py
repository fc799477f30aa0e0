"""Every action that our client dispatches to a host of the legacy protocol: one typed constructor for each.

The wire names of legacy actions are here and in `wire/ahp/legacy/actions`.
"""

from collections.abc import Mapping

from agenthost.wire.ahp.legacy.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionPendingMessageRemovedAction,
    SessionPendingMessageSetAction,
    SessionQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.legacy.actions.root import (
    RootConfigChangedAction,
)
from agenthost.wire.ahp.legacy.actions.session import (
    SessionActiveClientChangedAction,
    SessionActiveClientToolsChangedAction,
    SessionConfigChangedAction,
    SessionCustomizationToggledAction,
    SessionIsArchivedChangedAction,
    SessionIsReadChangedAction,
    SessionModelChangedAction,
    SessionTitleChangedAction,
)
from agenthost.wire.ahp.legacy.actions.terminal import (
    TerminalClaimedAction,
    TerminalClearedAction,
    TerminalInputAction,
    TerminalResizedAction,
    TerminalTitleChangedAction,
)
from agenthost.wire.ahp.legacy.actions.toolcall import (
    SessionToolCallApprovedAction,
    SessionToolCallCompleteAction,
    SessionToolCallContentChangedAction,
    SessionToolCallDeniedAction,
    SessionToolCallResultConfirmedAction,
)
from agenthost.wire.ahp.legacy.actions.turn import (
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnStartedAction,
)
from agenthost.wire.ahp.legacy.common import StringOrMarkdown
from agenthost.wire.ahp.legacy.enums import (
    PendingMessageKind,
    SessionInputResponseKind,
    ToolCallConfirmationReason,
)
from agenthost.wire.ahp.legacy.input import SessionInputAnswer
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.root import ModelSelection
from agenthost.wire.ahp.legacy.session import SessionActiveClient
from agenthost.wire.ahp.legacy.terminal import TerminalClaim
from agenthost.wire.ahp.legacy.tool import ToolDefinition, ToolResultContent
from agenthost.wire.ahp.legacy.toolcall import ToolCallResult
from agenthost.wire.json import JsonObject

# The root


def root_config_changed(config: JsonObject, *, replace: bool = False) -> RootConfigChangedAction:
    """Settings of the host have new values; with `replace`, these are all values."""
    action: RootConfigChangedAction = {"type": "root/configChanged", "config": config}
    if replace:
        action["replace"] = True
    return action


# A session as a whole


def title_changed(session: str, title: str) -> SessionTitleChangedAction:
    """The session has a new title."""
    return {"type": "session/titleChanged", "session": session, "title": title}


def is_read_changed(session: str, *, is_read: bool) -> SessionIsReadChangedAction:
    """The session was read, or is unread again."""
    return {"type": "session/isReadChanged", "session": session, "isRead": is_read}


def is_archived_changed(session: str, *, is_archived: bool) -> SessionIsArchivedChangedAction:
    """The session was archived, or brought back."""
    return {"type": "session/isArchivedChanged", "session": session, "isArchived": is_archived}


def model_changed(session: str, model: ModelSelection) -> SessionModelChangedAction:
    """The session has a new model."""
    return {"type": "session/modelChanged", "session": session, "model": model}


def config_changed(session: str, config: JsonObject, *, replace: bool = False) -> SessionConfigChangedAction:
    """Settings of the session have new values; with `replace`, these are all values."""
    action: SessionConfigChangedAction = {
        "type": "session/configChanged",
        "session": session,
        "config": config,
    }
    if replace:
        action["replace"] = True
    return action


def active_client_changed(
    session: str, client: SessionActiveClient | None
) -> SessionActiveClientChangedAction:
    """Another client brings the session's tools, or none does."""
    return {"type": "session/activeClientChanged", "session": session, "activeClient": client}


def active_client_tools_changed(
    session: str, tools: list[ToolDefinition]
) -> SessionActiveClientToolsChangedAction:
    """The active client brings these tools now."""
    return {"type": "session/activeClientToolsChanged", "session": session, "tools": tools}


def customization_toggled(session: str, uri: str, *, enabled: bool) -> SessionCustomizationToggledAction:
    """A customization was switched on or off."""
    return {"type": "session/customizationToggled", "session": session, "uri": uri, "enabled": enabled}


# A turn


def turn_started(
    session: str, turn_id: str, message: UserMessage, *, queued_message_id: str | None = None
) -> SessionTurnStartedAction:
    """A turn begins with a message, which may have waited in the queue."""
    action: SessionTurnStartedAction = {
        "type": "session/turnStarted",
        "session": session,
        "turnId": turn_id,
        "userMessage": message,
    }
    if queued_message_id is not None:
        action["queuedMessageId"] = queued_message_id
    return action


def turn_cancelled(session: str, turn_id: str) -> SessionTurnCancelledAction:
    """The turn was cancelled."""
    return {"type": "session/turnCancelled", "session": session, "turnId": turn_id}


def truncated(session: str, turn_id: str | None) -> SessionTruncatedAction:
    """The turns after this one are gone; without one, all of them."""
    action: SessionTruncatedAction = {"type": "session/truncated", "session": session}
    if turn_id is not None:
        action["turnId"] = turn_id
    return action


# A tool call


def tool_call_approved(
    session: str,
    turn_id: str,
    call_id: str,
    *,
    confirmed: ToolCallConfirmationReason = "user-action",
    edited_input: str | None = None,
    option_id: str | None = None,
) -> SessionToolCallApprovedAction:
    """A call was approved, perhaps with another input."""
    action: SessionToolCallApprovedAction = {
        "type": "session/toolCallConfirmed",
        "session": session,
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
    session: str,
    turn_id: str,
    call_id: str,
    *,
    message: StringOrMarkdown | None = None,
    suggestion: UserMessage | None = None,
    option_id: str | None = None,
    is_skipped: bool = False,
) -> SessionToolCallDeniedAction:
    """A call was denied or skipped."""
    action: SessionToolCallDeniedAction = {
        "type": "session/toolCallConfirmed",
        "session": session,
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
    session: str, turn_id: str, call_id: str, content: list[ToolResultContent]
) -> SessionToolCallContentChangedAction:
    """A tool shows how far it is."""
    return {
        "type": "session/toolCallContentChanged",
        "session": session,
        "turnId": turn_id,
        "toolCallId": call_id,
        "content": content,
    }


def tool_call_complete(
    session: str, turn_id: str, call_id: str, result: ToolCallResult, *, needs_confirmation: bool = False
) -> SessionToolCallCompleteAction:
    """A tool is done; with `needs_confirmation` its result waits for approval."""
    action: SessionToolCallCompleteAction = {
        "type": "session/toolCallComplete",
        "session": session,
        "turnId": turn_id,
        "toolCallId": call_id,
        "result": result,
    }
    if needs_confirmation:
        action["requiresResultConfirmation"] = True
    return action


def tool_call_result_confirmed(
    session: str, turn_id: str, call_id: str, *, approved: bool
) -> SessionToolCallResultConfirmedAction:
    """The result of a call was released or withheld."""
    return {
        "type": "session/toolCallResultConfirmed",
        "session": session,
        "turnId": turn_id,
        "toolCallId": call_id,
        "approved": approved,
    }


# Questions, and messages that wait


def input_answer_changed(
    session: str, request_id: str, question_id: str, answer: SessionInputAnswer | None
) -> SessionInputAnswerChangedAction:
    """An answer was drafted or given; `None` takes it back."""
    action: SessionInputAnswerChangedAction = {
        "type": "session/inputAnswerChanged",
        "session": session,
        "requestId": request_id,
        "questionId": question_id,
    }
    if answer is not None:
        action["answer"] = answer
    return action


def input_completed(
    session: str,
    request_id: str,
    response: SessionInputResponseKind,
    answers: Mapping[str, SessionInputAnswer] | None = None,
) -> SessionInputCompletedAction:
    """The questions of a request are answered, declined or cancelled."""
    action: SessionInputCompletedAction = {
        "type": "session/inputCompleted",
        "session": session,
        "requestId": request_id,
        "response": response,
    }
    if answers is not None:
        action["answers"] = dict(answers)
    return action


def pending_message_set(
    session: str, kind: PendingMessageKind, message_id: str, message: UserMessage
) -> SessionPendingMessageSetAction:
    """A message waits, or its text changed."""
    return {
        "type": "session/pendingMessageSet",
        "session": session,
        "kind": kind,
        "id": message_id,
        "userMessage": message,
    }


def pending_message_removed(
    session: str, kind: PendingMessageKind, message_id: str
) -> SessionPendingMessageRemovedAction:
    """A message waits no longer."""
    return {"type": "session/pendingMessageRemoved", "session": session, "kind": kind, "id": message_id}


def queued_messages_reordered(session: str, order: list[str]) -> SessionQueuedMessagesReorderedAction:
    """The queue has a new order."""
    return {"type": "session/queuedMessagesReordered", "session": session, "order": order}


# A terminal


def terminal_input(terminal: str, data: str) -> TerminalInputAction:
    """A client types into the terminal."""
    return {"type": "terminal/input", "terminal": terminal, "data": data}


def terminal_resized(terminal: str, cols: int, rows: int) -> TerminalResizedAction:
    """The terminal has a new size."""
    return {"type": "terminal/resized", "terminal": terminal, "cols": cols, "rows": rows}


def terminal_claimed(terminal: str, claim: TerminalClaim) -> TerminalClaimedAction:
    """The terminal has another holder."""
    return {"type": "terminal/claimed", "terminal": terminal, "claim": claim}


def terminal_title_changed(terminal: str, title: str) -> TerminalTitleChangedAction:
    """The terminal has a new title."""
    return {"type": "terminal/titleChanged", "terminal": terminal, "title": title}


def terminal_cleared(terminal: str) -> TerminalClearedAction:
    """The screen and the scrollback are gone."""
    return {"type": "terminal/cleared", "terminal": terminal}
