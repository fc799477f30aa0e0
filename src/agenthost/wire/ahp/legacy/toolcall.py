"""Tool calls: one type for each of their states."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import Meta, StringOrMarkdown
from agenthost.wire.ahp.legacy.enums import ToolCallCancellationReason, ToolCallConfirmationReason
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.tool import FileEdit, ToolResultContent
from agenthost.wire.ahp.toolcall import ConfirmationOption, ToolCallError
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject

__all__ = [
    "ConfirmationOption",
    "FileEdits",
    "ToolCallBase",
    "ToolCallCancelledState",
    "ToolCallCompletedState",
    "ToolCallError",
    "ToolCallParameterFields",
    "ToolCallPendingConfirmationState",
    "ToolCallPendingResultConfirmationState",
    "ToolCallResult",
    "ToolCallRunningState",
    "ToolCallState",
    "ToolCallStreamingState",
]


class FileEdits(TypedDict):
    """The changes that a call would make."""

    items: list[FileEdit]


class ToolCallBase(TypedDict):
    """The identity of a tool call, the same in all its states."""

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
    """The result of a tool call."""

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
    """The call waits for approval."""

    status: Literal["pending-confirmation"]
    confirmationTitle: NotRequired[StringOrMarkdown]
    edits: NotRequired[FileEdits]
    editable: NotRequired[bool]
    options: NotRequired[list[ConfirmationOption]]


class ToolCallRunningState(ToolCallBase, ToolCallParameterFields):
    """The tool is running."""

    status: Literal["running"]
    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]
    content: NotRequired[list[ToolResultContent]]


class ToolCallPendingResultConfirmationState(ToolCallBase, ToolCallParameterFields, ToolCallResult):
    """The tool is done; its result waits for approval."""

    status: Literal["pending-result-confirmation"]
    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]


class ToolCallCompletedState(ToolCallBase, ToolCallParameterFields, ToolCallResult):
    """The tool is done, successfully or not."""

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
