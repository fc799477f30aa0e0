"""Turns and the parts of an answer."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import ContentRef, ErrorInfo, Meta, StringOrMarkdown, Timestamp, UsageInfo
from agenthost.wire.ahp.enums import ChatInputResponseKind, TurnState
from agenthost.wire.ahp.input import ChatInputRequest
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.toolcall import ToolCallState
from agenthost.wire.annotations import Tag


class MarkdownResponsePart(TypedDict):
    """Text of the answer; `chat/delta` appends to it."""

    kind: Literal["markdown"]
    id: str
    content: str


class ReasoningResponsePart(TypedDict):
    """The model's thinking; `chat/reasoning` appends to it."""

    kind: Literal["reasoning"]
    id: str
    content: str


class ResourceResponsePart(ContentRef):
    """Large content of the answer, by reference."""

    kind: Literal["contentRef"]


class ToolCallResponsePart(TypedDict):
    """A tool call, in whatever state it is."""

    kind: Literal["toolCall"]
    toolCall: ToolCallState


class SystemNotificationResponsePart(TypedDict):
    """A message from the host to both agent and user."""

    kind: Literal["systemNotification"]
    content: StringOrMarkdown
    _meta: NotRequired[Meta]


class InputRequestResponsePart(TypedDict):
    """Questions for the user; they are open until there is a response."""

    kind: Literal["inputRequest"]
    request: ChatInputRequest
    response: NotRequired[ChatInputResponseKind]


class ErrorResponsePart(TypedDict):
    """Why the turn failed; it is the last part."""

    kind: Literal["error"]
    error: ErrorInfo
    resumable: NotRequired[bool]  # true: `chat/turnResume` continues the turn


ResponsePart: TypeAlias = Annotated[
    MarkdownResponsePart
    | ResourceResponsePart
    | ToolCallResponsePart
    | ReasoningResponsePart
    | SystemNotificationResponsePart
    | InputRequestResponsePart
    | ErrorResponsePart,
    Tag("kind"),
]
"""A part of an answer."""


class Turn(TypedDict):
    """A turn that has ended."""

    id: str
    startedAt: NotRequired[Timestamp]
    duration: NotRequired[float]  # ms
    message: Message
    responseParts: list[ResponsePart]
    usage: NotRequired[UsageInfo]
    state: TurnState


class ActiveTurn(TypedDict):
    """The turn that is running."""

    id: str
    startedAt: Timestamp
    message: Message
    responseParts: list[ResponsePart]
    usage: NotRequired[UsageInfo]
