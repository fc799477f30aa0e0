"""What a model reads when a tool raises."""

import pytest

from agenthost.core.tool_text import describe_error, replace_surrogates
from agenthost.errors import NotJson, ToolError


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ToolError("no such zone: /Mars/North"), "no such zone: /Mars/North"),
        (NotJson("not JSON"), "not JSON"),
        (ToolError(), "t failed"),
        (ValueError("too\n  wide"), "t failed: ValueError: too wide"),
        (ValueError(), "t failed: ValueError"),
        (FileNotFoundError(2, "No such file", "/somewhere/x"), "t failed: FileNotFoundError: No such file"),
        (ValueError("cannot read '/etc/passwd', or ~/x"), "t failed: ValueError: cannot read '…', or …"),
        (ValueError(r"in C:\Users\me"), "t failed: ValueError: in …"),
        (
            ValueError("get https://a.org/b/c and/or 1/2"),
            "t failed: ValueError: get https://a.org/b/c and/or 1/2",
        ),
        (ValueError("x" * 500), "t failed: ValueError: " + "x" * 200 + "…"),
        (ValueError("red \x1b[31m\x00\u2028text"), "t failed: ValueError: red [31m text"),
        (OSError(5, 7), "t failed: OSError: 7"),
        (Unspeakable(), "t failed: Unspeakable"),
    ],
)
def test_an_error_is_one_short_sentence_without_paths(error: Exception, sentence: str) -> None:
    assert describe_error(error, "t") == sentence


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("the password is 1234"), "t failed: ValueError"),
        (FileNotFoundError(2, "No such file", "/somewhere/x"), "t failed: FileNotFoundError"),
        (ToolError("there is no such zone"), "there is no such zone"),
        (NotJson("not JSON"), "not JSON"),
    ],
)
def test_a_masked_error_is_its_class_unless_it_was_meant_to_be_read(error: Exception, sentence: str) -> None:
    assert describe_error(error, "t", masked=True) == sentence


def test_what_utf8_cannot_encode_is_replaced() -> None:
    assert replace_surrogates("a\udc80b") == "a?b"
    assert replace_surrogates("größe") == "größe"
