"""Escape sequences are taken out of text, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.ansi import strip_escapes


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07prompt", "prompt"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice control\x1b\\after", "after"),
        ("\x1b(Bcharset\x1b7saved\x1b8", "charsetsaved"),
        ("cut off \x1b]0;no end", "cut off "),
        ("tabs\tand\r\nlines\x08", "tabs\tand\r\nlines\x08"),
    ],
)
def test_escape_sequences_go_and_other_text_stays(text: str, plain: str) -> None:
    assert strip_escapes(text) == plain


@given(st.text(st.characters(exclude_characters="\x1b")))
def test_text_without_escapes_is_left_as_it_is(text: str) -> None:
    assert strip_escapes(text) == text
