"""Content: text and images of messages."""

import pytest

from agenthost.client import image
from agenthost.client.aap.content import message_content


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF0000WEBP", "image/webp"),
    ],
)
def test_the_media_type_of_an_image_is_recognized_by_its_bytes(data: bytes, kind: str) -> None:
    assert image(data)["url"].startswith(f"data:{kind};base64,")


def test_unrecognized_bytes_need_a_media_type() -> None:
    with pytest.raises(ValueError, match="media_type"):
        image(b"<svg/>")
    assert image(b"<svg/>", "image/svg+xml")["url"] == "data:image/svg+xml;base64,PHN2Zy8+"


def test_text_stays_text_and_pieces_become_blocks() -> None:
    assert message_content("hi") == "hi"
    url = image("https://example.org/a.png")
    assert message_content(["hi", url]) == [{"type": "text", "text": "hi"}, url]
