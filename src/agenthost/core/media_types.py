"""Media types, recognized by the first bytes of the data."""

__all__ = ["sniff_media_type"]

_MAGIC: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


def sniff_media_type(data: bytes) -> str | None:
    """Return the media type of a PNG, JPEG, GIF, WebP or PDF; None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
