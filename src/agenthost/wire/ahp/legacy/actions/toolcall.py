"""Actions on tool calls."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI, Meta, StringOrMarkdown
from agenthost.wire.ahp.legacy.enums import ToolCallConfirmationReason
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.tool import ToolResultContent
from agenthost.wire.ahp.legacy.toolcall import ConfirmationOption, FileEdits, ToolCallResult
from agenthost.wire.annotations import Tag


class ToolCallActionBase(TypedDict):
    """The fields of every action on a tool call."""

    session: URI
    turnId: str
    toolCallId: str
    _meta: NotRequired[Meta]


class SessionToolCallStartAction(ToolCallActionBase):
    """The model begins to call a tool."""

    type: Literal["session/toolCallStart"]
    toolName: str
    displayName: str
    toolClientId: NotRequired[str]


class SessionToolCallDeltaAction(ToolCallActionBase):
    """More of the call's input."""

    type: Literal["session/toolCallDelta"]
    content: str
    invocationMessage: NotRequired[StringOrMarkdown]


class SessionToolCallReadyAction(ToolCallActionBase):
    """The call's input is complete: it runs, or asks for confirmation."""

    type: Literal["session/toolCallReady"]
    invocationMessage: StringOrMarkdown
    toolInput: NotRequired[str]
    confirmationTitle: NotRequired[StringOrMarkdown]
    edits: NotRequired[FileEdits]
    editable: NotRequired[bool]
    confirmed: NotRequired[ToolCallConfirmationReason]  # set = skip confirmation, go to running
    options: NotRequired[list[ConfirmationOption]]


class SessionToolCallApprovedAction(ToolCallActionBase):
    """The call was approved."""

    type: Literal["session/toolCallConfirmed"]
    approved: Literal[True]
    confirmed: ToolCallConfirmationReason
    editedToolInput: NotRequired[str]
    selectedOptionId: NotRequired[str]


class SessionToolCallDeniedAction(ToolCallActionBase):
    """The call was denied or skipped."""

    type: Literal["session/toolCallConfirmed"]
    approved: Literal[False]
    reason: Literal["denied", "skipped"]
    userSuggestion: NotRequired[UserMessage]
    reasonMessage: NotRequired[StringOrMarkdown]
    selectedOptionId: NotRequired[str]


SessionToolCallConfirmedAction: TypeAlias = Annotated[
    SessionToolCallApprovedAction | SessionToolCallDeniedAction, Tag("approved")
]
"""The call was approved, denied or skipped."""


class SessionToolCallCompleteAction(ToolCallActionBase):
    """The tool is done."""

    type: Literal["session/toolCallComplete"]
    result: ToolCallResult
    requiresResultConfirmation: NotRequired[bool]  # true = stop in pending-result-confirmation


class SessionToolCallResultConfirmedAction(ToolCallActionBase):
    """The result was released or withheld."""

    type: Literal["session/toolCallResultConfirmed"]
    approved: bool


class SessionToolCallContentChangedAction(ToolCallActionBase):
    """The tool shows its progress."""

    type: Literal["session/toolCallContentChanged"]
    content: list[ToolResultContent]
