"""Tools: what they are, and what their results hold."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ContentRef, Meta
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class ObjectSchema(TypedDict):
    """The JSON Schema of a tool's input or output; further keywords may be there."""

    type: Literal["object"]
    properties: NotRequired[dict[str, JsonObject]]
    required: NotRequired[list[str]]


class FileVersion(TypedDict):
    """A file at one moment."""

    uri: URI
    content: ContentRef


class DiffCounts(TypedDict):
    """How many lines came and went."""

    added: NotRequired[int]
    removed: NotRequired[int]


class ToolAnnotations(TypedDict):
    """Hints about what a tool does to the world."""

    title: NotRequired[str]
    readOnlyHint: NotRequired[bool]  # default false
    destructiveHint: NotRequired[bool]  # default true
    idempotentHint: NotRequired[bool]  # default false
    openWorldHint: NotRequired[bool]  # default true


class ToolDefinition(TypedDict):
    """A tool that the model may call."""

    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    inputSchema: NotRequired[ObjectSchema]
    outputSchema: NotRequired[ObjectSchema]
    annotations: NotRequired[ToolAnnotations]
    _meta: NotRequired[Meta]


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
    """Bytes that ride along."""

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
