"""Enumerations: every constant of the protocol, as literals."""

from typing import Literal, TypeAlias

from agenthost.wire.ahp.enums import (
    AuthRequiredReason,
    ConfirmationOptionKind,
    PolicyState,
    SessionStatus,
    ToolCallConfirmationReason,
)

__all__ = [
    "ActionType",
    "AuthRequiredReason",
    "ClientActionType",
    "CompletionItemKind",
    "ConfirmationOptionKind",
    "ContentEncoding",
    "CustomizationStatus",
    "MessageAttachmentKind",
    "NotificationType",
    "PendingMessageKind",
    "PolicyState",
    "ReconnectResultType",
    "ResponsePartKind",
    "RootActionType",
    "SessionActionType",
    "SessionInputAnswerState",
    "SessionInputAnswerValueKind",
    "SessionInputQuestionKind",
    "SessionInputResponseKind",
    "SessionLifecycle",
    "SessionStatus",
    "TerminalActionType",
    "TerminalClaimKind",
    "ToolCallCancellationReason",
    "ToolCallConfirmationReason",
    "ToolCallStatus",
    "ToolResultContentType",
    "TurnState",
]

PendingMessageKind: TypeAlias = Literal["steering", "queued"]
"""What a pending message is for: the running turn, or a turn after it."""

SessionLifecycle: TypeAlias = Literal["creating", "ready", "creationFailed"]
"""How far the creation of a session is."""

SessionInputResponseKind: TypeAlias = Literal["accept", "decline", "cancel"]
"""How the user responded to an input request."""

SessionInputQuestionKind: TypeAlias = Literal[
    "text", "number", "integer", "boolean", "single-select", "multi-select"
]
"""The kinds of question."""

SessionInputAnswerValueKind: TypeAlias = Literal["text", "number", "boolean", "selected", "selected-many"]
"""The kinds of answer."""

SessionInputAnswerState: TypeAlias = Literal["draft", "submitted", "skipped"]
"""How final an answer is."""

TurnState: TypeAlias = Literal["complete", "cancelled", "error"]
"""How a turn ended."""

MessageAttachmentKind: TypeAlias = Literal["simple", "embeddedResource", "resource"]
"""The kinds of attachment."""

ResponsePartKind: TypeAlias = Literal["markdown", "contentRef", "toolCall", "reasoning", "systemNotification"]
"""The kinds of response part."""

ToolCallStatus: TypeAlias = Literal[
    "streaming", "pending-confirmation", "running", "pending-result-confirmation", "completed", "cancelled"
]
"""The states of a tool call; the last two are final."""

ToolCallCancellationReason: TypeAlias = Literal["denied", "skipped", "result-denied"]
"""Why a tool call did not run, or its result was withheld."""

ToolResultContentType: TypeAlias = Literal[
    "text", "embeddedResource", "resource", "fileEdit", "terminal", "subagent"
]
"""The kinds of block in a tool result."""

CustomizationStatus: TypeAlias = Literal["loading", "loaded", "degraded", "error"]
"""How far the loading of a customization is."""

TerminalClaimKind: TypeAlias = Literal["client", "session"]
"""The kinds of holder of a terminal."""

ReconnectResultType: TypeAlias = Literal["replay", "snapshot"]
"""The kinds of answer to a reconnection."""

ContentEncoding: TypeAlias = Literal["base64", "utf-8"]
"""How data is encoded in JSON."""

CompletionItemKind: TypeAlias = Literal["userMessage"]
"""What completions are wanted for."""

NotificationType: TypeAlias = Literal[
    "notify/sessionAdded", "notify/sessionRemoved", "notify/sessionSummaryChanged", "notify/authRequired"
]
"""The kinds of notification."""

RootActionType: TypeAlias = Literal[
    "root/agentsChanged", "root/activeSessionsChanged", "root/terminalsChanged", "root/configChanged"
]

SessionActionType: TypeAlias = Literal[
    "session/ready",
    "session/creationFailed",
    "session/turnStarted",
    "session/delta",
    "session/responsePart",
    "session/toolCallStart",
    "session/toolCallDelta",
    "session/toolCallReady",
    "session/toolCallConfirmed",
    "session/toolCallComplete",
    "session/toolCallResultConfirmed",
    "session/toolCallContentChanged",
    "session/turnComplete",
    "session/turnCancelled",
    "session/error",
    "session/titleChanged",
    "session/usage",
    "session/reasoning",
    "session/modelChanged",
    "session/serverToolsChanged",
    "session/activeClientChanged",
    "session/activeClientToolsChanged",
    "session/pendingMessageSet",
    "session/pendingMessageRemoved",
    "session/queuedMessagesReordered",
    "session/inputRequested",
    "session/inputAnswerChanged",
    "session/inputCompleted",
    "session/customizationsChanged",
    "session/customizationToggled",
    "session/customizationUpdated",
    "session/truncated",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/activityChanged",
    "session/diffsChanged",
    "session/configChanged",
    "session/metaChanged",
]

TerminalActionType: TypeAlias = Literal[
    "terminal/data",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cwdChanged",
    "terminal/exited",
    "terminal/cleared",
    "terminal/commandDetectionAvailable",
    "terminal/commandExecuted",
    "terminal/commandFinished",
]

ActionType: TypeAlias = RootActionType | SessionActionType | TerminalActionType
"""The types of all actions."""

ClientActionType: TypeAlias = Literal[
    "session/turnStarted",
    "session/toolCallConfirmed",
    "session/toolCallComplete",
    "session/toolCallResultConfirmed",
    "session/toolCallContentChanged",
    "session/turnCancelled",
    "session/titleChanged",
    "session/modelChanged",
    "session/activeClientChanged",
    "session/activeClientToolsChanged",
    "session/pendingMessageSet",
    "session/pendingMessageRemoved",
    "session/queuedMessagesReordered",
    "session/inputAnswerChanged",
    "session/inputCompleted",
    "session/customizationToggled",
    "session/truncated",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/configChanged",
    "root/configChanged",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cleared",
]
"""The actions that a client may dispatch; all others are for the host only."""
