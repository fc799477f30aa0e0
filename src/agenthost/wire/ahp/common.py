"""Small types that many others use."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.json import JsonObject

URI: TypeAlias = str
"""Any URI, compared as an exact string."""

Timestamp: TypeAlias = str
"""A moment: ISO 8601 in UTC, with milliseconds and `Z`."""

Meta: TypeAlias = JsonObject
"""Free-form data, passed on unchanged."""

JsonPrimitive: TypeAlias = str | float | bool | None
"""A JSON value that contains no other."""


class MarkdownText(TypedDict):
    """Text to be rendered as Markdown."""

    markdown: str


StringOrMarkdown: TypeAlias = str | MarkdownText
"""Text for people: plain, or Markdown."""


class Icon(TypedDict):
    """An image to show next to a name."""

    src: URI
    contentType: NotRequired[str]
    sizes: NotRequired[list[str]]  # `WxH` strings or `any`
    theme: NotRequired[Literal["light", "dark"]]


class ProtectedResourceMetadata(TypedDict):
    """A resource that a token is needed for, as RFC 9728 describes it."""

    resource: str  # https URL without fragment; the correlation key
    resource_name: NotRequired[str]
    authorization_servers: NotRequired[list[str]]
    jwks_uri: NotRequired[str]
    scopes_supported: NotRequired[list[str]]
    bearer_methods_supported: NotRequired[list[str]]
    resource_signing_alg_values_supported: NotRequired[list[str]]
    resource_documentation: NotRequired[str]
    resource_policy_uri: NotRequired[str]
    resource_tos_uri: NotRequired[str]
    required: NotRequired[bool]  # AHP extension; absent means true


class ContentRef(TypedDict):
    """Content that is stored elsewhere: read it with `resourceRead`."""

    uri: URI
    sizeHint: NotRequired[float]
    contentType: NotRequired[str]
    nonce: NotRequired[str]  # another one says that the content changed


class UsageInfo(TypedDict):
    """What a turn cost, in tokens."""

    inputTokens: NotRequired[float]
    outputTokens: NotRequired[float]
    model: NotRequired[str]
    cacheReadTokens: NotRequired[float]
    _meta: NotRequired[Meta]


class ErrorInfo(TypedDict):
    """An error as people see it."""

    errorType: str
    message: str
    stack: NotRequired[str]
    _meta: NotRequired[Meta]


class TextPosition(TypedDict):
    """A position in a text: line and character, both from 0."""

    line: int
    character: int


class TextRange(TypedDict):
    """A range of a text."""

    start: TextPosition
    end: TextPosition


class TextSelection(TypedDict):
    """The selected part of an attached resource."""

    range: TextRange
