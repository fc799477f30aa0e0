"""Enumerations: every constant of the protocol, as literals."""

from typing import Final, Literal, TypeAlias

PolicyState: TypeAlias = Literal["enabled", "disabled", "unconfigured"]
"""Whether a policy lets a model be used."""

PendingMessageKind: TypeAlias = Literal["steering", "queued"]
"""What a waiting message waits for."""

SessionLifecycle: TypeAlias = Literal["creating", "ready", "creationFailed"]
"""How far the making of a session is."""

SessionInputResponseKind: TypeAlias = Literal["accept", "decline", "cancel"]
"""How the user settled an input request."""

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

ToolCallConfirmationReason: TypeAlias = Literal["not-needed", "user-action", "setting"]
"""Why a tool call may run."""

ToolCallCancellationReason: TypeAlias = Literal["denied", "skipped", "result-denied"]
"""Why a tool call did not run, or its result was withheld."""

ConfirmationOptionKind: TypeAlias = Literal["approve", "deny"]
"""What choosing an option means."""

ToolResultContentType: TypeAlias = Literal[
    "text", "embeddedResource", "resource", "fileEdit", "terminal", "subagent"
]
"""The kinds of block in a tool result."""

CustomizationStatus: TypeAlias = Literal["loading", "loaded", "degraded", "error"]
"""How the loading of a customization goes."""

TerminalClaimKind: TypeAlias = Literal["client", "session"]
"""The kinds of holder of a terminal."""

ReconnectResultType: TypeAlias = Literal["replay", "snapshot"]
"""The ways to come back."""

ContentEncoding: TypeAlias = Literal["base64", "utf-8"]
"""How data is written in JSON."""

CompletionItemKind: TypeAlias = Literal["userMessage"]
"""What completions are wanted for."""

NotificationType: TypeAlias = Literal[
    "notify/sessionAdded", "notify/sessionRemoved", "notify/sessionSummaryChanged", "notify/authRequired"
]
"""The kinds of notification."""

AuthRequiredReason: TypeAlias = Literal["required", "expired"]
"""Why a token is needed."""

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
"""Everything that can happen to a state."""

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
"""The actions that a client may dispatch; all others are the host's alone."""


class SessionStatus:
    """The bits of `SessionSummary.status`: one activity, and flags beside it."""

    IDLE: Final = 1
    ERROR: Final = 2
    IN_PROGRESS: Final = 8
    INPUT_NEEDED: Final = 24
    IS_READ: Final = 32
    IS_ARCHIVED: Final = 64

    ACTIVITY: Final = 31
    """The mask over the activity; what is above it are flags."""
