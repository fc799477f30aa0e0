"""Tools: their definitions, and the content of their results."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ContentRef, Meta
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class ObjectSchema(TypedDict):
    """The JSON Schema of a tool's input or output; other keywords are allowed."""

    type: Literal["object"]
    properties: NotRequired[dict[str, JsonObject]]
    required: NotRequired[list[str]]


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


class FileEditSide(TypedDict):
    """A file at one moment."""

    uri: URI
    content: ContentRef


class FileEditDiffStats(TypedDict):
    """How many lines were added and removed."""

    added: NotRequired[int]
    removed: NotRequired[int]


class FileEdit(TypedDict):
    """A change of a file: before and after."""

    before: NotRequired[FileEditSide]  # absent for a creation or an in-place edit
    after: NotRequired[FileEditSide]  # absent for a deletion
    diff: NotRequired[FileEditDiffStats]


class FileEditCollection(TypedDict):
    """The changes that a tool call would make."""

    items: list[FileEdit]


class TerminalCommandResult(TypedDict):
    """How the command of a tool ended, and the end of its output."""

    exitCode: NotRequired[int]
    preview: NotRequired[str]
    truncated: NotRequired[bool]  # true: the preview is not all of the output


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
    isPty: NotRequired[bool]
    result: NotRequired[TerminalCommandResult]  # present once the command ended


class ToolResultSubagentContent(TypedDict):
    """A chat of another agent to look into."""

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
