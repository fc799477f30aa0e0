"""Content: text and images of messages. Knows no agents and not what they accept."""

from base64 import b64encode
from collections.abc import Sequence
from typing import TypeAlias

from agenthost.core.media_types import sniff_media_type
from agenthost.wire.aap.message import Content, ContentBlock, ImageContentBlock

__all__ = ["UserContent", "image", "message_content"]

UserContent: TypeAlias = str | Sequence[str | ContentBlock]
"""The content of an application's message: text, or several pieces of text and images."""


def image(source: str | bytes, media_type: str | None = None) -> ImageContentBlock:
    """Return an image block for a URL (`https:` or `data:`) or for the bytes of an image.

    Raises:
        ValueError: `media_type` is missing, and the bytes are not a PNG, JPEG, GIF or WebP.
    """
    if isinstance(source, str):
        return {"type": "image", "url": source}
    kind = media_type or sniff_media_type(source) or ""
    if not media_type and not kind.startswith("image/"):
        raise ValueError("not a PNG, JPEG, GIF or WebP: say what it is with media_type='image/…'")
    return {"type": "image", "url": f"data:{kind};base64,{b64encode(source).decode()}"}


def message_content(said: UserContent) -> Content:
    """Return what an application says as the content of a message."""
    if isinstance(said, str):
        return said
    return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in said]
