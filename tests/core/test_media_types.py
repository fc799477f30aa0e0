"""Media types, recognized by the first bytes."""

import pytest

from agenthost.core.media_types import sniff_media_type


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF0000WEBP", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        (b"RIFF0000WAVE", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_media_type(data: bytes, media_type: str | None) -> None:
    assert sniff_media_type(data) == media_type
