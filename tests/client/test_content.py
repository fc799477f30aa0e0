"""Content: text and images as a message has them."""

import pytest

from agenthost.client import image
from agenthost.client.aap.content import content_of


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF0000WEBP", "image/webp"),
    ],
)
def test_the_bytes_of_an_image_say_what_it_is(data: bytes, kind: str) -> None:
    assert image(data)["url"].startswith(f"data:{kind};base64,")


def test_bytes_that_say_nothing_need_a_type() -> None:
    with pytest.raises(ValueError, match="media_type"):
        image(b"<svg/>")
    assert image(b"<svg/>", "image/svg+xml")["url"] == "data:image/svg+xml;base64,PHN2Zy8+"


def test_text_stays_text_and_pieces_become_blocks() -> None:
    assert content_of("hi") == "hi"
    url = image("https://example.org/a.png")
    assert content_of(["hi", url]) == [{"type": "text", "text": "hi"}, url]
