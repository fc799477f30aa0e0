"""Small values that many others hold."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.json import JsonObject

URI: TypeAlias = str
"""Any URI, compared as an exact string."""

Meta: TypeAlias = JsonObject
"""Free-form data: passed on untouched."""


class MarkdownText(TypedDict):
    """Text to be rendered as Markdown."""

    markdown: str


StringOrMarkdown: TypeAlias = str | MarkdownText
"""Text for people: as it is, or Markdown."""


class Icon(TypedDict):
    """A picture to show beside a name."""

    src: URI
    contentType: NotRequired[str]
    sizes: NotRequired[list[str]]  # `WxH` strings or `any`
    theme: NotRequired[Literal["light", "dark"]]


class ProtectedResourceMetadata(TypedDict):
    """A resource that an agent needs a token for, in the words of RFC 9728."""

    resource: str  # https URL without fragment; the correlation key
    resource_name: NotRequired[str]
    authorization_servers: NotRequired[list[str]]
    jwks_uri: NotRequired[str]
    scopes_supported: NotRequired[list[str]]
    bearer_methods_supported: NotRequired[list[str]]
    resource_signing_alg_values_supported: NotRequired[list[str]]
    resource_encryption_alg_values_supported: NotRequired[list[str]]
    resource_encryption_enc_values_supported: NotRequired[list[str]]
    resource_documentation: NotRequired[str]
    resource_policy_uri: NotRequired[str]
    resource_tos_uri: NotRequired[str]
    required: NotRequired[bool]  # AHP extension; absent means true


class ContentRef(TypedDict):
    """Content that is kept elsewhere: read it with `resourceRead`."""

    uri: URI
    sizeHint: NotRequired[float]
    contentType: NotRequired[str]


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


class TextPosition(TypedDict):
    """A place in a text: line and character, both from 0."""

    line: int
    character: int


class TextRange(TypedDict):
    """A span of a text."""

    start: TextPosition
    end: TextPosition


class TextSelection(TypedDict):
    """The part of an attached resource that is meant."""

    range: TextRange
