"""Enumerations: every constant of the protocol, as literals.

Newer peers may add to most of them, so an unknown value is kept. Those marked `CLOSED` have no others.
"""

from typing import Annotated, Final, Literal, TypeAlias

from agenthost.wire.annotations import CLOSED, OPEN

PolicyState: TypeAlias = Literal["enabled", "disabled", "unconfigured"]
"""Whether a policy lets a model be used."""

SessionLifecycle: TypeAlias = Literal["creating", "ready", "failed"]
"""How far the creation of a session is."""

ChatInteractivity: TypeAlias = Annotated[Literal["full", "read-only", "hidden"], CLOSED]
"""What the user may do in a chat; absent means full."""

TurnState: TypeAlias = Annotated[Literal["complete", "cancelled", "error"], CLOSED]
"""How a turn ended."""

MessageKind: TypeAlias = Literal["user", "agent", "tool", "automation", "systemNotification"]
"""Who wrote a message."""

PendingMessageKind: TypeAlias = Annotated[Literal["steering", "queued"], CLOSED]
"""What a pending message is for: the running turn, or a turn after it."""

ChatInputResponseKind: TypeAlias = Annotated[Literal["accept", "decline", "cancel"], CLOSED]
"""How the user responded to an input request."""

ToolCallStatus: TypeAlias = Literal[
    "streaming",
    "pending-confirmation",
    "running",
    "auth-required",
    "pending-result-confirmation",
    "completed",
    "cancelled",
]
"""The states of a tool call; the last two are final."""

ToolCallConfirmationReason: TypeAlias = Literal["not-needed", "user-action", "setting"]
"""Why a tool call may run."""

ToolCallCancellationReason: TypeAlias = Annotated[Literal["denied", "skipped", "result-denied"], CLOSED]
"""Why a tool call did not run, or its result was withheld."""

ToolCallDenialReason: TypeAlias = Annotated[Literal["denied", "skipped"], CLOSED]
"""How a tool call was kept from running."""

ToolCallRiskAssessmentKind: TypeAlias = Annotated[Literal["judge"], OPEN]
"""Who assesses the risk of a tool call."""

ConfirmationOptionKind: TypeAlias = Literal["approve", "deny"]
"""What choosing an option means."""

ChildCustomizationType: TypeAlias = Literal["agent", "skill", "prompt", "rule", "hook", "mcpServer"]
"""The types of customization that a plugin or a directory may contain."""

McpAuthRequiredReason: TypeAlias = Literal["required", "expired", "insufficientScope"]
"""Why an MCP server needs a token."""

AuthRequiredReason: TypeAlias = Literal["required", "expired"]
"""Why a token is needed."""

ChangesetStatus: TypeAlias = Literal["computing", "recomputing", "ready", "error"]
"""How far the computation of a changeset is."""

ChangesetOperationStatus: TypeAlias = Literal["idle", "running", "error", "disabled"]
"""Whether an operation on a changeset can be invoked, or runs."""

ChangesetOperationScope: TypeAlias = Literal["changeset", "resource", "range"]
"""What an operation may be invoked on."""

ChangesetSide: TypeAlias = Literal["before", "after"]
"""The version of a changed file."""

ContentEncoding: TypeAlias = Annotated[Literal["base64", "utf-8"], CLOSED]
"""How data is encoded in JSON."""

ResourceWriteMode: TypeAlias = Annotated[Literal["truncate", "append", "insert"], CLOSED]
"""Where written data goes: in place of what is there, after it, or into it."""

ResourceType: TypeAlias = Literal["file", "directory", "symlink"]
"""What a URI names in a file system."""

ResourceChangeType: TypeAlias = Literal["added", "updated", "deleted"]
"""What happened to a watched file."""

CompletionItemKind: TypeAlias = Annotated[Literal["userMessage"], OPEN]
"""What completions are wanted for."""

AutomationOperation: TypeAlias = Literal["update", "remove", "run"]
"""What a client may do with an automation."""

AutomationMisfirePolicy: TypeAlias = Literal["skip", "runOnce"]
"""What happens to runs that were missed."""

ClientActionType: TypeAlias = Literal[
    "root/configChanged",
    "session/titleChanged",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/configChanged",
    "session/activeClientSet",
    "session/activeClientRemoved",
    "session/workingDirectorySet",
    "session/workingDirectoryRemoved",
    "session/workingDirectoryReplaced",
    "session/customizationToggled",
    "session/mcpServerStartRequested",
    "session/mcpServerStopRequested",
    "session/mcpServerBackgroundRequested",
    "chat/turnStarted",
    "chat/turnCancelled",
    "chat/turnResume",
    "chat/toolCallConfirmed",
    "chat/toolCallComplete",
    "chat/toolCallResultConfirmed",
    "chat/toolCallContentChanged",
    "chat/inputAnswerChanged",
    "chat/inputCompleted",
    "chat/pendingMessageSet",
    "chat/pendingMessageRemoved",
    "chat/queuedMessagesReordered",
    "chat/draftChanged",
    "chat/truncated",
    "chat/isReadChanged",
    "chat/isArchivedChanged",
    "chat/workingDirectorySet",
    "chat/workingDirectoryRemoved",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cleared",
    "changeset/filesReviewChanged",
    "annotations/set",
    "annotations/updated",
    "annotations/removed",
    "annotations/entrySet",
    "annotations/entryRemoved",
    "automation/createRequested",
    "automation/updateRequested",
    "automation/removed",
    "automationRun/cancelRequested",
]
"""The actions that a client may dispatch; all others are for the host only."""


class SessionStatus:
    """The bits of the `status` of sessions and chats: one activity, and flags."""

    IDLE: Final = 1
    ERROR: Final = 2
    IN_PROGRESS: Final = 8
    INPUT_NEEDED: Final = 24
    IS_READ: Final = 32
    IS_ARCHIVED: Final = 64

    ACTIVITY: Final = 31
    """The mask of the activity; the bits above it are flags."""
