"""What a tool returned or raised, as content and as text for the model."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from agenthost.host.authoring.tool_results import ToolResult, embed, failure, outcome_of, text_block
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.shape import STRICT, Shape


@dataclass
class Size:
    width: int


class Point(msgspec.Struct):
    x: int


def result_of(value: Any) -> ToolCallResult:
    """Return the result on the wire, checked there."""
    result = outcome_of(value, title="Look up").result()
    Shape[ToolCallResult](ToolCallResult, STRICT).take(dict(result))
    return result


@pytest.mark.parametrize(("value", "text"), [("hello", "hello"), (None, ""), ("", ""), ("a\udc80", "a?")])
def test_text_stays_text_and_none_is_empty_text(value: str | None, text: str) -> None:
    assert result_of(value) == {
        "success": True,
        "pastTenseMessage": "Ran Look up",
        "content": [{"type": "text", "text": text}],
    }


@pytest.mark.parametrize(
    ("value", "structured", "text"),
    [
        ({"a": 1}, {"a": 1}, '{"a":1}'),
        (Size(2), {"width": 2}, '{"width":2}'),
        (Point(3), {"x": 3}, '{"x":3}'),
        ([1, 2], {"result": [1, 2]}, "[1,2]"),
        ([], {"result": []}, "[]"),
        (1.5, {"result": 1.5}, "1.5"),
        (True, {"result": True}, "true"),
        (float("nan"), {"result": None}, "null"),
        ([{"type": "text"}], {"result": [{"type": "text"}]}, '[{"type":"text"}]'),
    ],
)
def test_data_is_structured_content_and_its_json_as_text(
    value: Any, structured: dict[str, Any], text: str
) -> None:
    result = result_of(value)
    assert result["structuredContent"] == structured
    assert result["content"] == [text_block(text)]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"RIFF0000WEBP", "image/webp"),
        (b"anything", "application/octet-stream"),
    ],
)
def test_bytes_are_embedded_with_the_type_of_their_first_bytes(data: bytes, kind: str) -> None:
    block = {"type": "embeddedResource", "data": b64encode(data).decode(), "contentType": kind}
    assert result_of(data)["content"] == [block]


def test_content_blocks_are_passed_on_as_a_copy() -> None:
    blocks: list[ToolResultContent] = [
        text_block("see"),
        {"type": "terminal", "resource": "t:/1", "title": "T"},
    ]
    outcome = outcome_of(blocks, title="run")
    assert outcome.content == blocks
    assert outcome.structured is None
    assert outcome.content[0] is not blocks[0]


def test_a_tool_result_says_everything_itself() -> None:
    result = result_of(ToolResult(["one", embed(b"GIF89a")], {"n": 1}, "Looked up 1 thing"))
    assert result["pastTenseMessage"] == "Looked up 1 thing"
    assert [block["type"] for block in result["content"]] == ["text", "embeddedResource"]
    assert result["structuredContent"] == {"n": 1}


def test_a_tool_result_may_be_a_failure_that_keeps_its_content() -> None:
    outcome = outcome_of(ToolResult("two of three lines", error="the disk is full"), title="Write")
    assert not outcome.success
    assert outcome.message == "Write failed"
    assert outcome.text == "the disk is full\ntwo of three lines"


def test_the_model_reads_text_and_is_told_of_what_it_cannot_read() -> None:
    content: list[ToolResultContent] = [
        text_block("done"),
        {"type": "fileEdit"},
        embed(b"abc", "image/png"),
        {"type": "resource", "uri": "file:///x"},
    ]
    texts = outcome_of(content, title="t").texts()
    assert [block["text"] for block in texts] == ["done", "[image/png, about 3 bytes]", "[file:///x]"]


def test_the_model_always_gets_something_to_read() -> None:
    assert outcome_of(ToolResult(), title="t").texts() == [text_block("")]


@pytest.mark.parametrize(
    "value",
    [object(), {"a": object()}, ToolResult([{"type": "odd"}]), ToolResult(structured={"a": object()})],  # type: ignore[list-item]
)
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        outcome_of(value, title="t")


def test_text_that_utf8_cannot_hold_is_refused_inside_of_data() -> None:
    with pytest.raises(UnicodeError):
        outcome_of({"name": "\udc80"}, title="t")


def test_a_failure_has_its_sentence_and_a_code() -> None:
    assert failure("no", title="Look up", code="failed").result() == {
        "success": False,
        "pastTenseMessage": "Look up failed",
        "error": {"message": "no", "code": "failed"},
    }
