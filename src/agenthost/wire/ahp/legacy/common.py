"""Small types that many others use."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp import common
from agenthost.wire.ahp.common import (
    URI,
    Icon,
    MarkdownText,
    Meta,
    StringOrMarkdown,
    TextPosition,
    TextRange,
    TextSelection,
    UsageInfo,
)

__all__ = [
    "URI",
    "ContentRef",
    "ErrorInfo",
    "Icon",
    "MarkdownText",
    "Meta",
    "ProtectedResourceMetadata",
    "StringOrMarkdown",
    "TextPosition",
    "TextRange",
    "TextSelection",
    "UsageInfo",
]


class ProtectedResourceMetadata(common.ProtectedResourceMetadata):
    """A resource that an agent needs a token for, as RFC 9728 describes it."""

    resource_encryption_alg_values_supported: NotRequired[list[str]]
    resource_encryption_enc_values_supported: NotRequired[list[str]]


class ContentRef(TypedDict):
    """Content that is stored elsewhere: read it with `resourceRead`."""

    uri: URI
    sizeHint: NotRequired[float]
    contentType: NotRequired[str]


class ErrorInfo(TypedDict):
    """An error as people see it."""

    errorType: str
    message: str
    stack: NotRequired[str]
