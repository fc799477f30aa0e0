"""Turns and the parts of an answer."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import ContentRef, ErrorInfo, StringOrMarkdown, UsageInfo
from agenthost.wire.ahp.legacy.enums import TurnState
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.toolcall import ToolCallState
from agenthost.wire.annotations import Tag


class MarkdownResponsePart(TypedDict):
    """Text of the answer; `session/delta` appends to it."""

    kind: Literal["markdown"]
    id: str
    content: str


class ReasoningResponsePart(TypedDict):
    """The model's thinking; `session/reasoning` appends to it."""

    kind: Literal["reasoning"]
    id: str
    content: str


class ResourceReponsePart(ContentRef):
    """Large content of the answer, by reference. The misspelling is the protocol's."""

    kind: Literal["contentRef"]


class ToolCallResponsePart(TypedDict):
    """A tool call, in whatever state it is."""

    kind: Literal["toolCall"]
    toolCall: ToolCallState


class SystemNotificationResponsePart(TypedDict):
    """A message from the host to both agent and user."""

    kind: Literal["systemNotification"]
    content: StringOrMarkdown


ResponsePart: TypeAlias = Annotated[
    MarkdownResponsePart
    | ResourceReponsePart
    | ToolCallResponsePart
    | ReasoningResponsePart
    | SystemNotificationResponsePart,
    Tag("kind"),
]
"""A part of an answer."""


class Turn(TypedDict):
    """A turn that has ended."""

    id: str
    userMessage: UserMessage
    responseParts: list[ResponsePart]
    usage: NotRequired[UsageInfo]
    state: TurnState
    error: NotRequired[ErrorInfo]


class ActiveTurn(TypedDict):
    """The turn that is running."""

    id: str
    userMessage: UserMessage
    responseParts: list[ResponsePart]
    usage: NotRequired[UsageInfo]
