"""Actions on tool calls."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import Meta, StringOrMarkdown
from agenthost.wire.ahp.enums import ToolCallConfirmationReason, ToolCallDenialReason
from agenthost.wire.ahp.mcp import McpAuthRequirement
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.tool import FileEditCollection, ToolResultContent
from agenthost.wire.ahp.toolcall import (
    ConfirmationOption,
    ToolCallContributor,
    ToolCallResult,
    ToolCallRiskAssessment,
    ToolInput,
)
from agenthost.wire.annotations import Tag


class ToolCallActionBase(TypedDict):
    """The fields of every action on a tool call."""

    turnId: str
    toolCallId: str
    _meta: NotRequired[Meta]


class ChatToolCallStartAction(ToolCallActionBase):
    """The model begins to call a tool."""

    type: Literal["chat/toolCallStart"]
    toolName: str
    displayName: str
    intention: NotRequired[str]
    contributor: NotRequired[ToolCallContributor]


class ChatToolCallDeltaAction(ToolCallActionBase):
    """More of the call's input."""

    type: Literal["chat/toolCallDelta"]
    content: NotRequired[str]
    invocationMessage: NotRequired[StringOrMarkdown]


class ChatToolCallReadyAction(ToolCallActionBase):
    """The call's input is complete: it runs, or asks for confirmation."""

    type: Literal["chat/toolCallReady"]
    contributor: NotRequired[ToolCallContributor]
    intention: NotRequired[str]
    invocationMessage: StringOrMarkdown
    toolInput: NotRequired[ToolInput]
    confirmationTitle: NotRequired[StringOrMarkdown]
    riskAssessment: NotRequired[ToolCallRiskAssessment]
    edits: NotRequired[FileEditCollection]
    editable: NotRequired[bool]
    confirmed: NotRequired[ToolCallConfirmationReason]  # set = skip confirmation, go to running
    options: NotRequired[list[ConfirmationOption]]


class ChatToolCallApprovedAction(ToolCallActionBase):
    """The call was approved."""

    type: Literal["chat/toolCallConfirmed"]
    approved: Literal[True]
    confirmed: ToolCallConfirmationReason
    editedToolInput: NotRequired[str]
    selectedOptionId: NotRequired[str]


class ChatToolCallDeniedAction(ToolCallActionBase):
    """The call was denied or skipped."""

    type: Literal["chat/toolCallConfirmed"]
    approved: Literal[False]
    reason: ToolCallDenialReason
    userSuggestion: NotRequired[Message]
    reasonMessage: NotRequired[StringOrMarkdown]
    selectedOptionId: NotRequired[str]


ChatToolCallConfirmedAction: TypeAlias = Annotated[
    ChatToolCallApprovedAction | ChatToolCallDeniedAction, Tag("approved")
]
"""The call was approved, denied or skipped."""


class ChatToolCallCompleteAction(ToolCallActionBase):
    """The tool is done."""

    type: Literal["chat/toolCallComplete"]
    result: ToolCallResult
    requiresResultConfirmation: NotRequired[bool]  # true = stop in pending-result-confirmation


class ChatToolCallResultConfirmedAction(ToolCallActionBase):
    """The result was released or withheld."""

    type: Literal["chat/toolCallResultConfirmed"]
    approved: bool


class ChatToolCallContentChangedAction(ToolCallActionBase):
    """The tool shows its progress."""

    type: Literal["chat/toolCallContentChanged"]
    content: list[ToolResultContent]


class ChatToolCallAuthRequiredAction(ToolCallActionBase):
    """The tool's MCP server needs a token."""

    type: Literal["chat/toolCallAuthRequired"]
    auth: McpAuthRequirement


class ChatToolCallAuthResolvedAction(ToolCallActionBase):
    """The tool's MCP server has its token."""

    type: Literal["chat/toolCallAuthResolved"]
