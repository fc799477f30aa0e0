"""Every action that agenthost makes, made here: one typed constructor for each, named by the act.

The wire names of actions and their fields stand in this module and in `wire/ahp/actions`, and nowhere else on
the way of an action that we make. What clients send is decoded, decided and passed on as it came.
"""

from collections.abc import Mapping, Sequence

from agenthost.wire.ahp.legacy.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionInputRequestedAction,
    SessionPendingMessageRemovedAction,
    SessionPendingMessageSetAction,
    SessionQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.legacy.actions.root import (
    RootActiveSessionsChangedAction,
    RootAgentsChangedAction,
    RootConfigChangedAction,
    RootTerminalsChangedAction,
)
from agenthost.wire.ahp.legacy.actions.session import (
    SessionActiveClientChangedAction,
    SessionActiveClientToolsChangedAction,
    SessionActivityChangedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionCustomizationsChangedAction,
    SessionCustomizationToggledAction,
    SessionDiffsChangedAction,
    SessionIsArchivedChangedAction,
    SessionIsReadChangedAction,
    SessionModelChangedAction,
    SessionReadyAction,
    SessionServerToolsChangedAction,
    SessionTitleChangedAction,
)
from agenthost.wire.ahp.legacy.actions.terminal import (
    TerminalClaimedAction,
    TerminalClearedAction,
    TerminalCommandDetectionAvailableAction,
    TerminalCommandExecutedAction,
    TerminalCommandFinishedAction,
    TerminalCwdChangedAction,
    TerminalExitedAction,
    TerminalInputAction,
    TerminalResizedAction,
    TerminalTitleChangedAction,
)
from agenthost.wire.ahp.legacy.actions.toolcall import (
    SessionToolCallApprovedAction,
    SessionToolCallCompleteAction,
    SessionToolCallContentChangedAction,
    SessionToolCallDeniedAction,
    SessionToolCallReadyAction,
    SessionToolCallResultConfirmedAction,
    SessionToolCallStartAction,
)
from agenthost.wire.ahp.legacy.actions.turn import (
    SessionErrorAction,
    SessionResponsePartAction,
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnCompleteAction,
    SessionTurnStartedAction,
    SessionUsageAction,
)
from agenthost.wire.ahp.legacy.common import ErrorInfo, Meta, StringOrMarkdown, UsageInfo
from agenthost.wire.ahp.legacy.customization import SessionCustomization
from agenthost.wire.ahp.legacy.enums import (
    PendingMessageKind,
    SessionInputResponseKind,
    ToolCallConfirmationReason,
)
from agenthost.wire.ahp.legacy.input import SessionInputAnswer, SessionInputRequest
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.root import AgentInfo, ModelSelection
from agenthost.wire.ahp.legacy.session import SessionActiveClient
from agenthost.wire.ahp.legacy.terminal import TerminalClaim, TerminalInfo
from agenthost.wire.ahp.legacy.tool import FileEdit, ToolDefinition, ToolResultContent
from agenthost.wire.ahp.legacy.toolcall import ConfirmationOption, FileEdits, ToolCallResult
from agenthost.wire.ahp.legacy.turn import ResponsePart
from agenthost.wire.json import JsonObject

# The root


def agents_changed(agents: Sequence[AgentInfo]) -> RootAgentsChangedAction:
    """The host serves these agents now."""
    return {"type": "root/agentsChanged", "agents": list(agents)}


def active_sessions_changed(count: int) -> RootActiveSessionsChangedAction:
    """There are this many sessions now."""
    return {"type": "root/activeSessionsChanged", "activeSessions": count}


def terminals_changed(terminals: Sequence[TerminalInfo]) -> RootTerminalsChangedAction:
    """There are these terminals now."""
    return {"type": "root/terminalsChanged", "terminals": list(terminals)}


def root_config_changed(config: JsonObject, *, replace: bool = False) -> RootConfigChangedAction:
    """Settings of the host have new values; with `replace`, these are all values."""
    action: RootConfigChangedAction = {"type": "root/configChanged", "config": config}
    if replace:
        action["replace"] = True
    return action


# A session as a whole


def session_ready(session: str) -> SessionReadyAction:
    """The session can be used."""
    return {"type": "session/ready", "session": session}


def creation_failed(session: str, error: ErrorInfo) -> SessionCreationFailedAction:
    """The session could not be created."""
    return {"type": "session/creationFailed", "session": session, "error": error}


def title_changed(session: str, title: str) -> SessionTitleChangedAction:
    """The session has a new title."""
    return {"type": "session/titleChanged", "session": session, "title": title}


def activity_changed(session: str, activity: str | None) -> SessionActivityChangedAction:
    """The agent says what it is doing; `None` if nothing in particular."""
    action: SessionActivityChangedAction = {"type": "session/activityChanged", "session": session}
    if activity:
        action["activity"] = activity
    return action


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


def server_tools_changed(session: str, tools: list[ToolDefinition]) -> SessionServerToolsChangedAction:
    """The session has these tools of the host now."""
    return {"type": "session/serverToolsChanged", "session": session, "tools": tools}


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


def customizations_changed(
    session: str, customizations: list[SessionCustomization]
) -> SessionCustomizationsChangedAction:
    """The session has these customizations now."""
    return {
        "type": "session/customizationsChanged",
        "session": session,
        "customizations": customizations,
    }


def customization_toggled(session: str, uri: str, *, enabled: bool) -> SessionCustomizationToggledAction:
    """A customization was switched on or off."""
    return {"type": "session/customizationToggled", "session": session, "uri": uri, "enabled": enabled}


def diffs_changed(session: str, diffs: list[FileEdit]) -> SessionDiffsChangedAction:
    """The session has changed these files so far."""
    return {"type": "session/diffsChanged", "session": session, "diffs": diffs}


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


def response_part(session: str, turn_id: str, part: ResponsePart) -> SessionResponsePartAction:
    """The answer has a new part."""
    return {"type": "session/responsePart", "session": session, "turnId": turn_id, "part": part}


def usage(session: str, turn_id: str, used: UsageInfo) -> SessionUsageAction:
    """The turn has cost this much so far."""
    return {"type": "session/usage", "session": session, "turnId": turn_id, "usage": used}


def turn_complete(session: str, turn_id: str) -> SessionTurnCompleteAction:
    """The turn ended well."""
    return {"type": "session/turnComplete", "session": session, "turnId": turn_id}


def turn_cancelled(session: str, turn_id: str) -> SessionTurnCancelledAction:
    """Somebody stopped the turn."""
    return {"type": "session/turnCancelled", "session": session, "turnId": turn_id}


def turn_failed(session: str, turn_id: str, error: ErrorInfo) -> SessionErrorAction:
    """The turn ended with an error."""
    return {"type": "session/error", "session": session, "turnId": turn_id, "error": error}


def truncated(session: str, turn_id: str | None) -> SessionTruncatedAction:
    """The turns after this one are gone; without one, all of them."""
    action: SessionTruncatedAction = {"type": "session/truncated", "session": session}
    if turn_id is not None:
        action["turnId"] = turn_id
    return action


# A tool call


def tool_call_start(
    session: str,
    turn_id: str,
    call_id: str,
    *,
    name: str,
    label: str,
    client_id: str | None = None,
    meta: Meta | None = None,
) -> SessionToolCallStartAction:
    """The agent begins to call a tool: the host's, or with `client_id` that client's."""
    action: SessionToolCallStartAction = {
        "type": "session/toolCallStart",
        "session": session,
        "turnId": turn_id,
        "toolCallId": call_id,
        "toolName": name,
        "displayName": label,
    }
    if client_id is not None:
        action["toolClientId"] = client_id
    if meta is not None:
        action["_meta"] = meta
    return action


def tool_call_ready(
    session: str,
    turn_id: str,
    call_id: str,
    message: StringOrMarkdown,
    *,
    tool_input: str | None = None,
    confirmed: ToolCallConfirmationReason | None = None,
    title: StringOrMarkdown | None = None,
    options: list[ConfirmationOption] | None = None,
    edits: FileEdits | None = None,
    editable: bool = False,
) -> SessionToolCallReadyAction:
    """The input of a call is complete: it runs if it is `confirmed`, else somebody is asked."""
    action: SessionToolCallReadyAction = {
        "type": "session/toolCallReady",
        "session": session,
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
    session: str,
    turn_id: str,
    call_id: str,
    *,
    confirmed: ToolCallConfirmationReason = "user-action",
    edited_input: str | None = None,
    option_id: str | None = None,
) -> SessionToolCallApprovedAction:
    """Somebody allowed a call, perhaps with another input."""
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
    """Somebody denied a call, or it was skipped."""
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
    """A tool is done; with `needs_confirmation` somebody has to allow its result."""
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
    """Somebody allowed the result of a call, or withheld it."""
    return {
        "type": "session/toolCallResultConfirmed",
        "session": session,
        "turnId": turn_id,
        "toolCallId": call_id,
        "approved": approved,
    }


# Questions, and messages that wait


def input_requested(session: str, request: SessionInputRequest) -> SessionInputRequestedAction:
    """The agent asks the user something."""
    return {"type": "session/inputRequested", "session": session, "request": request}


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
    """Somebody types."""
    return {"type": "terminal/input", "terminal": terminal, "data": data}


def terminal_resized(terminal: str, cols: int, rows: int) -> TerminalResizedAction:
    """The terminal has a new size."""
    return {"type": "terminal/resized", "terminal": terminal, "cols": cols, "rows": rows}


def terminal_claimed(terminal: str, claim: TerminalClaim) -> TerminalClaimedAction:
    """Somebody else holds the terminal."""
    return {"type": "terminal/claimed", "terminal": terminal, "claim": claim}


def terminal_title_changed(terminal: str, title: str) -> TerminalTitleChangedAction:
    """The terminal has a new title."""
    return {"type": "terminal/titleChanged", "terminal": terminal, "title": title}


def terminal_cwd_changed(terminal: str, cwd: str) -> TerminalCwdChangedAction:
    """The shell is in another folder."""
    return {"type": "terminal/cwdChanged", "terminal": terminal, "cwd": cwd}


def terminal_cleared(terminal: str) -> TerminalClearedAction:
    """The screen and the scrollback are gone."""
    return {"type": "terminal/cleared", "terminal": terminal}


def terminal_exited(terminal: str, exit_code: int | None) -> TerminalExitedAction:
    """The program of the terminal has ended."""
    action: TerminalExitedAction = {"type": "terminal/exited", "terminal": terminal}
    if exit_code is not None:
        action["exitCode"] = exit_code
    return action


def command_detection_available(terminal: str) -> TerminalCommandDetectionAvailableAction:
    """The shell marks where commands begin and end."""
    return {"type": "terminal/commandDetectionAvailable", "terminal": terminal}


def command_executed(
    terminal: str, command_id: str, command_line: str, timestamp: float
) -> TerminalCommandExecutedAction:
    """A command began."""
    return {
        "type": "terminal/commandExecuted",
        "terminal": terminal,
        "commandId": command_id,
        "commandLine": command_line,
        "timestamp": timestamp,
    }


def command_finished(
    terminal: str, command_id: str, *, exit_code: int | None = None, duration_ms: float | None = None
) -> TerminalCommandFinishedAction:
    """A command ended."""
    action: TerminalCommandFinishedAction = {
        "type": "terminal/commandFinished",
        "terminal": terminal,
        "commandId": command_id,
    }
    if exit_code is not None:
        action["exitCode"] = exit_code
    if duration_ms is not None:
        action["durationMs"] = duration_ms
    return action
