"""Messages and their content. Which message may follow which is decided elsewhere."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.aap.tool import ToolCall
from agenthost.wire.annotations import Tag

__all__ = [
    "AgentMessage",
    "ApplicationMessage",
    "AssistantMessage",
    "Content",
    "ContentBlock",
    "HistoryMessage",
    "ImageContentBlock",
    "SystemMessage",
    "TextContentBlock",
    "ThinkingContentBlock",
    "ToolMessage",
    "ToolPermissionMessage",
    "ToolResult",
    "ToolUseContentBlock",
    "UserMessage",
]


class TextContentBlock(TypedDict):
    """Plain text."""

    type: Literal["text"]
    text: str


class ThinkingContentBlock(TypedDict):
    """What the model thought before it spoke."""

    type: Literal["thinking"]
    thinking: str


class ToolUseContentBlock(ToolCall):
    """A tool call, at its position in the assistant's message."""

    type: Literal["tool_use"]


class ImageContentBlock(TypedDict):
    """An image, at an `https://` URL or inside a base64 `data:` URL."""

    type: Literal["image"]
    url: str


ContentBlock: TypeAlias = Annotated[
    TextContentBlock | ThinkingContentBlock | ToolUseContentBlock | ImageContentBlock, Tag("type")
]
"""A block of a message."""

Content: TypeAlias = str | list[ContentBlock]
"""The content of a message: plain text, or blocks of several kinds."""


class ToolResult(TypedDict):
    """The result of a call."""

    toolCallId: str
    content: Content


class SystemMessage(TypedDict):
    """Instructions to the agent."""

    role: Literal["system"]
    content: str


class UserMessage(TypedDict):
    """What the user says."""

    role: Literal["user"]
    content: Content


class AssistantMessage(TypedDict):
    """What the agent says, thinks and asks for."""

    role: Literal["assistant"]
    content: Content


class ToolMessage(ToolResult):
    """The result of a call, as a message."""

    role: Literal["tool"]


class ToolPermissionMessage(TypedDict):
    """The client permits the server to run a tool, or does not. Never part of the history."""

    role: Literal["tool_permission"]
    toolCallId: str
    granted: bool
    reason: NotRequired[str]


HistoryMessage: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Tag("role")
]
"""A message of a session's history."""

AgentMessage: TypeAlias = Annotated[AssistantMessage | ToolMessage, Tag("role")]
"""A message that a turn produces."""

ApplicationMessage: TypeAlias = Annotated[UserMessage | ToolMessage | ToolPermissionMessage, Tag("role")]
"""A message that a client sends to start or resume a turn."""
