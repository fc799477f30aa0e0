"""Tool calls: one type for each of their states."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import ContentRef, Meta, StringOrMarkdown
from agenthost.wire.ahp.enums import (
    ConfirmationOptionKind,
    ToolCallCancellationReason,
    ToolCallConfirmationReason,
    ToolCallRiskAssessmentKind,
)
from agenthost.wire.ahp.mcp import McpAuthRequirement
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.tool import FileEditCollection, ToolResultContent
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject

ToolInput: TypeAlias = str | ContentRef
"""The input of a tool call: its text, or where to read it."""


class ToolCallError(TypedDict):
    """Why a tool failed."""

    message: str
    code: NotRequired[str]


class ConfirmationOption(TypedDict):
    """A way to answer a confirmation."""

    id: str
    label: str
    kind: ConfirmationOptionKind
    group: NotRequired[int]


class ToolCallRiskAssessmentBase(TypedDict):
    """The fields of every assessment."""

    kind: ToolCallRiskAssessmentKind


class ToolCallRiskAssessmentLoadingState(ToolCallRiskAssessmentBase):
    """The risk is being assessed."""

    status: Literal["loading"]


class ToolCallRiskAssessmentCompleteState(ToolCallRiskAssessmentBase):
    """How safe the call is, and why."""

    status: Literal["complete"]
    reason: StringOrMarkdown
    safety: float


ToolCallRiskAssessment: TypeAlias = Annotated[
    ToolCallRiskAssessmentLoadingState | ToolCallRiskAssessmentCompleteState, Tag("status")
]
"""What is known about the risk of a call."""


class ToolCallClientContributor(TypedDict):
    """A client has the tool, and runs it."""

    kind: Literal["client"]
    clientId: str


class ToolCallMcpContributor(TypedDict):
    """An MCP server has the tool."""

    kind: Literal["mcp"]
    customizationId: str


ToolCallContributor: TypeAlias = Annotated[ToolCallClientContributor | ToolCallMcpContributor, Tag("kind")]
"""Who has the tool that is called, if not the agent."""


class ToolCallNames(TypedDict):
    """Which call it is, of which tool, and what for."""

    toolCallId: str
    toolName: str
    displayName: str
    intention: NotRequired[str]
    _meta: NotRequired[Meta]  # well-known key: `ptyTerminal` = { input, output } strings with escapes


class ToolCallBase(ToolCallNames):
    """The identity of a tool call, the same in all its states."""

    contributor: NotRequired[ToolCallContributor]


class ToolCallParameterFields(TypedDict):
    """What a tool call is about to do."""

    invocationMessage: StringOrMarkdown
    toolInput: NotRequired[ToolInput]


class ToolCallPostConfirmationFields(TypedDict):
    """Why a tool call may run."""

    confirmed: ToolCallConfirmationReason
    selectedOption: NotRequired[ConfirmationOption]


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
    riskAssessment: NotRequired[ToolCallRiskAssessment]
    edits: NotRequired[FileEditCollection]
    editable: NotRequired[bool]
    options: NotRequired[list[ConfirmationOption]]


class ToolCallRunningState(ToolCallBase, ToolCallParameterFields, ToolCallPostConfirmationFields):
    """The tool is running."""

    status: Literal["running"]
    content: NotRequired[list[ToolResultContent]]


class ToolCallAuthRequiredState(ToolCallNames, ToolCallParameterFields, ToolCallPostConfirmationFields):
    """The tool's MCP server waits for a token."""

    status: Literal["auth-required"]
    contributor: ToolCallMcpContributor
    auth: McpAuthRequirement
    content: NotRequired[list[ToolResultContent]]


class ToolCallPendingResultConfirmationState(
    ToolCallBase, ToolCallParameterFields, ToolCallPostConfirmationFields, ToolCallResult
):
    """The tool is done; its result waits for approval."""

    status: Literal["pending-result-confirmation"]


class ToolCallCompletedState(
    ToolCallBase, ToolCallParameterFields, ToolCallPostConfirmationFields, ToolCallResult
):
    """The tool is done, successfully or not."""

    status: Literal["completed"]


class ToolCallCancelledState(ToolCallBase, ToolCallParameterFields):
    """The call was denied, skipped, or its result withheld."""

    status: Literal["cancelled"]
    reason: ToolCallCancellationReason
    reasonMessage: NotRequired[StringOrMarkdown]
    userSuggestion: NotRequired[Message]
    selectedOption: NotRequired[ConfirmationOption]


ToolCallConfirmationState: TypeAlias = Annotated[
    ToolCallPendingConfirmationState | ToolCallPendingResultConfirmationState, Tag("status")
]
"""A tool call that waits for approval, of itself or of its result."""

ToolCallState: TypeAlias = Annotated[
    ToolCallStreamingState
    | ToolCallPendingConfirmationState
    | ToolCallRunningState
    | ToolCallAuthRequiredState
    | ToolCallPendingResultConfirmationState
    | ToolCallCompletedState
    | ToolCallCancelledState,
    Tag("status"),
]
"""A tool call in any of its states."""
