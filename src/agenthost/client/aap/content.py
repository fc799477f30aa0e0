"""Content: text and images as a message has them. Knows neither agents nor what they accept."""

from base64 import b64encode
from collections.abc import Sequence
from typing import TypeAlias

from agenthost.wire.aap.message import Content, ContentBlock, ImageContentBlock

__all__ = ["Said", "content_of", "image"]

Said: TypeAlias = str | Sequence[str | ContentBlock]
"""What an application says: text, or several pieces of text and images."""

_MAGIC: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


def image(source: str | bytes, media_type: str | None = None) -> ImageContentBlock:
    """Make an image of its URL (`https:` or `data:`), or of its bytes.

    Raises:
        ValueError: `media_type` is not given, and the bytes do not begin like a PNG, JPEG, GIF or WebP.
    """
    if isinstance(source, str):
        return {"type": "image", "url": source}
    kind = media_type or _media_type(source)
    return {"type": "image", "url": f"data:{kind};base64,{b64encode(source).decode()}"}


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    raise ValueError("not a PNG, JPEG, GIF or WebP: say what it is with media_type='image/…'")


def content_of(said: Said) -> Content:
    """Turn what an application says into the content of a message."""
    if isinstance(said, str):
        return said
    return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in said]
