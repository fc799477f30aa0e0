"""How a turn becomes messages of the transcript: user messages, answers, results."""

from base64 import b64encode
from typing import Any

import pytest

from agenthost.core.transcript import TRANSCRIPT, public
from agenthost.core.turn_transcript import (
    answer_message,
    covered_parts,
    denied_message,
    result_content,
    result_texts,
    user_message,
)
from chat_building import said

DATA = b64encode(b"hello").decode()
IMAGE = {"type": "image", "url": f"data:image/png;base64,{DATA}"}


def text(words: str) -> Any:
    return {"type": "text", "text": words}


def test_a_message_without_attachments_is_plain_text() -> None:
    plain: Any = said("Hi", model={"id": "large"})
    assert user_message(plain) == {"role": "user", "content": "Hi"}
    plain["attachments"] = []
    assert user_message(plain) == {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("attachment", "block"),
    [
        ({"type": "simple", "label": "sel", "modelRepresentation": "line 3"}, text("line 3")),
        ({"type": "simple", "label": "sel"}, text("[attached: sel]")),
        ({"type": "file", "displayName": "a", "uri": "file:///a"}, text("[attached: a, file:///a]")),
        ({"type": "file", "uri": "file:///a", "label": 5}, text("[attached: file:///a]")),
        ({"type": "odd", "modelRepresentation": "what it is"}, text("what it is")),
        ({"type": "odd", "uri": 7, "data": 5}, text("[attached: odd]")),
        ({"type": ""}, text("[attached: something]")),
        (
            {"type": "annotations", "label": "notes", "resource": "x:/notes", "annotationIds": ["a"]},
            text("[attached: notes, x:/notes]"),
        ),
        ({"type": "chat", "label": "", "resource": "ahp-chat:/2"}, text("[attached: chat, ahp-chat:/2]")),
        ({"type": "resource", "label": "a", "uri": "file:///a"}, text("[attached: a, file:///a]")),
        (
            {"type": "resource", "label": "a", "uri": "https://x/a.png", "displayKind": "image"},
            {"type": "image", "url": "https://x/a.png"},
        ),
        (
            {"type": "resource", "label": "a", "uri": "file:///a.png", "contentType": "image/png"},
            text("[attached: a, file:///a.png]"),
        ),
        ({"type": "embeddedResource", "label": "a", "data": DATA, "contentType": "image/png"}, IMAGE),
        (
            {"type": "embeddedResource", "label": "a", "data": DATA, "contentType": "text/plain"},
            text("[attached: a]\nhello"),
        ),
        (
            {"type": "embeddedResource", "label": "a", "data": "/w==", "contentType": "application/pdf"},
            text("[attached: a, application/pdf, about 3 bytes]"),
        ),
        (
            {"type": "embeddedResource", "label": "a", "data": "!", "contentType": "x/y"},
            text("[attached: a, x/y, about 0 bytes]"),
        ),
    ],
)
def test_an_attachment_becomes_text_or_an_image(attachment: Any, block: Any) -> None:
    sent: Any = said("See:", attachments=[attachment])
    message = user_message(sent)
    assert message == {"role": "user", "content": [text("See:"), block]}
    sent["text"] = ""
    assert user_message(sent)["content"] == [block]
    TRANSCRIPT.check([message])


def call(call_id: str, **more: Any) -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": call_id, "toolName": "look", **more}}


PARTS: Any = [
    {"kind": "reasoning", "id": "p1", "content": "Hm"},
    {"kind": "markdown", "id": "p2", "content": "Yes"},
    {"kind": "systemNotification", "content": "It is late."},
    {"kind": "inputRequest", "request": {"id": "r1", "message": "Blue?"}, "response": "accept"},
    {"kind": "markdown", "id": "p3", "content": ""},
    call("c1"),
    call("never whole"),
    {"kind": "error", "error": {"errorType": "Boom", "message": "It broke"}, "resumable": True},
]


def test_an_answer_has_thoughts_text_and_complete_calls_in_order() -> None:
    message = answer_message(PARTS, 0, {"c1": {"a": 1}}, {"p1": {"demo": 1}, "c1": {"demo": 2}})
    assert message is not None
    thought = {"type": "thinking", "thinking": "Hm", "_private": {"demo": 1}}
    used = {
        "type": "tool_use",
        "toolCallId": "c1",
        "name": "look",
        "input": {"a": 1},
        "_private": {"demo": 2},
    }
    assert message["content"] == [thought, text("Yes"), used]
    assert covered_parts([message]) == 8
    assert "_private" not in str(public([message]))
    TRANSCRIPT.check([message])


def test_text_alone_is_plain_unless_private_data_belongs_to_it() -> None:
    plain = answer_message(PARTS, 1, {}, {})
    kept = answer_message(PARTS, 1, {}, {"p2": {"demo": 1}})
    assert plain is not None
    assert kept is not None
    assert (plain["content"], kept["content"]) == ("Yes", [{**text("Yes"), "_private": {"demo": 1}}])


def test_without_content_there_is_no_message() -> None:
    assert answer_message(PARTS, 2, {}, {}) is None
    assert covered_parts([]) == covered_parts([{"role": "user", "content": "Hi"}]) == 0


def test_an_empty_thought_is_kept_if_private_data_belongs_to_it() -> None:
    empty: Any = [{"kind": "reasoning", "id": "p1", "content": ""}]
    assert answer_message(empty, 0, {}, {}) is None
    kept = answer_message(empty, 0, {}, {"p1": {"demo": 1}})
    assert kept is not None
    assert kept["content"] == [{"type": "thinking", "thinking": "", "_private": {"demo": 1}}]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({}, "Tool call denied"),
        ({"reasonMessage": "no"}, "Tool call denied: no"),
        ({"reason": "skipped"}, "Tool call denied: skipped by the user"),
        ({"reason": "skipped", "reasonMessage": "later"}, "Tool call denied: later"),
        ({"userSuggestion": said("Ask me.")}, "Tool call denied\nThe user suggests: Ask me."),
    ],
)
def test_a_denial_says_why_and_what_the_user_suggests(action: Any, said: str) -> None:
    message = denied_message({"toolCallId": "c", **action})
    assert message == {"role": "tool", "toolCallId": "c", "content": said}


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ({"success": True}, ""),
        ({"success": True, "content": [text("a"), text("b")]}, "a\nb"),
        ({"success": False}, "The tool failed."),
        ({"success": False, "error": {"message": "gone"}, "content": [text("half")]}, "gone\nhalf"),
        ({"success": True, "content": [{"type": "resource", "uri": "file:///a"}]}, "[file:///a]"),
        ({"success": True, "content": [{"type": "fileEdit"}, {"type": "terminal", "resource": "t"}]}, ""),
        ({"success": True, "content": [{"type": "subagent", "resource": "ahp-chat:/two"}]}, ""),
        ({"success": True, "content": [{"type": "unknown"}, text("a")]}, "a"),
    ],
)
def test_a_result_is_read_as_text(result: Any, read: str) -> None:
    result["pastTenseMessage"] = "Did it"
    assert result_content(result) == read


def test_images_of_a_result_come_after_its_texts() -> None:
    image: Any = {"type": "embeddedResource", "contentType": "image/png", "data": DATA}
    result: Any = {"success": True, "pastTenseMessage": "Did it", "content": [image, text("a sky")]}
    about = text("[image/png, about 6 bytes]")
    assert result_content(result) == [about, text("a sky"), IMAGE]
    edited = result_content(result, '{"x":1}')
    assert edited[0] == text('The user changed the input to {"x":1}')
    assert result_texts([image]) == ["[image/png, about 6 bytes]"]
