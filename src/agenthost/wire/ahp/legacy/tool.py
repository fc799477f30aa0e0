"""Tools: their definitions, and the content of their results."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI, ContentRef
from agenthost.wire.ahp.tool import ObjectSchema, ToolAnnotations, ToolDefinition
from agenthost.wire.annotations import Tag

__all__ = [
    "DiffCounts",
    "FileEdit",
    "FileVersion",
    "ObjectSchema",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolResultContent",
    "ToolResultEmbeddedResourceContent",
    "ToolResultFileEditContent",
    "ToolResultResourceContent",
    "ToolResultSubagentContent",
    "ToolResultTerminalContent",
    "ToolResultTextContent",
]


class FileVersion(TypedDict):
    """A file at one moment."""

    uri: URI
    content: ContentRef


class DiffCounts(TypedDict):
    """How many lines were added and removed."""

    added: NotRequired[int]
    removed: NotRequired[int]


class FileEdit(TypedDict):
    """A change of a file: before and after."""

    before: NotRequired[FileVersion]  # absent for a creation or an in-place edit
    after: NotRequired[FileVersion]  # absent for a deletion
    diff: NotRequired[DiffCounts]


class ToolResultTextContent(TypedDict):
    """Text."""

    type: Literal["text"]
    text: str


class ToolResultEmbeddedResourceContent(TypedDict):
    """Bytes that are included."""

    type: Literal["embeddedResource"]
    data: str  # base64
    contentType: str


class ToolResultResourceContent(ContentRef):
    """Content by reference."""

    type: Literal["resource"]


class ToolResultFileEditContent(FileEdit):
    """A change of a file."""

    type: Literal["fileEdit"]


class ToolResultTerminalContent(TypedDict):
    """A terminal to look into."""

    type: Literal["terminal"]
    resource: URI
    title: str


class ToolResultSubagentContent(TypedDict):
    """A session of another agent to look into."""

    type: Literal["subagent"]
    resource: URI
    title: str
    agentName: NotRequired[str]
    description: NotRequired[str]


ToolResultContent: TypeAlias = Annotated[
    ToolResultTextContent
    | ToolResultEmbeddedResourceContent
    | ToolResultResourceContent
    | ToolResultFileEditContent
    | ToolResultTerminalContent
    | ToolResultSubagentContent,
    Tag("type"),
]
"""A block of a tool's result."""
