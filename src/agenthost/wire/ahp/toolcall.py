"""Tool calls: one type for each of their states."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import Meta, StringOrMarkdown
from agenthost.wire.ahp.enums import (
    ConfirmationOptionKind,
    ToolCallCancellationReason,
    ToolCallConfirmationReason,
)
from agenthost.wire.ahp.message import UserMessage
from agenthost.wire.ahp.tool import FileEdit, ToolResultContent
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class ToolCallError(TypedDict):
    """Why a tool failed."""

    message: str
    code: NotRequired[str]


class FileEdits(TypedDict):
    """The changes that a call would make."""

    items: list[FileEdit]


class ConfirmationOption(TypedDict):
    """A way to answer a confirmation."""

    id: str
    label: str
    kind: ConfirmationOptionKind
    group: NotRequired[int]


class ToolCallBase(TypedDict):
    """Who a tool call is: the same in all its states."""

    toolCallId: str
    toolName: str
    displayName: str
    toolClientId: NotRequired[str]  # set only for client-provided tools
    _meta: NotRequired[Meta]  # well-known key: `ptyTerminal` = { input, output } strings with escapes


class ToolCallParameterFields(TypedDict):
    """What a tool call is about to do."""

    invocationMessage: StringOrMarkdown
    toolInput: NotRequired[str]


class ToolCallResult(TypedDict):
    """What a tool call came to."""

    success: bool
    pastTenseMessage: StringOrMarkdown
    content: NotRequired[list[ToolResultContent]]
    structuredContent: NotRequired[JsonObject]
    error: NotRequired[ToolCallError]


class ToolCallStreamingState(ToolCallBase):
    """The model is still writing the call's input."""

    status: Literal["streaming"]
    partialInput: NotRequired[str]
    invocationMessage: NotRequired[StringOrMarkdown]


class ToolCallPendingConfirmationState(ToolCallBase, ToolCallParameterFields):
    """The call waits for somebody to allow it."""

    status: Literal["pending-confirmation"]
    confirmationTitle: NotRequired[StringOrMarkdown]
    edits: NotRequired[FileEdits]
    editable: NotRequired[bool]
    options: NotRequired[list[ConfirmationOption]]


class ToolCallRunningState(ToolCallBase, ToolCallParameterFields):
    """The tool is at work."""

    status: Literal["running"]
    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]
    content: NotRequired[list[ToolResultContent]]


class ToolCallPendingResultConfirmationState(ToolCallBase, ToolCallParameterFields, ToolCallResult):
    """The tool is done; its result waits for somebody to allow it."""

    status: Literal["pending-result-confirmation"]
    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]


class ToolCallCompletedState(ToolCallBase, ToolCallParameterFields, ToolCallResult):
    """The tool is done, well or not."""

    status: Literal["completed"]
    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]


class ToolCallCancelledState(ToolCallBase, ToolCallParameterFields):
    """The call was denied, skipped, or its result withheld."""

    status: Literal["cancelled"]
    reason: ToolCallCancellationReason
    reasonMessage: NotRequired[StringOrMarkdown]
    userSuggestion: NotRequired[UserMessage]
    selectedOption: NotRequired[ConfirmationOption]


ToolCallState: TypeAlias = Annotated[
    ToolCallStreamingState
    | ToolCallPendingConfirmationState
    | ToolCallRunningState
    | ToolCallPendingResultConfirmationState
    | ToolCallCompletedState
    | ToolCallCancelledState,
    Tag("status"),
]
"""A tool call in any of its states."""
