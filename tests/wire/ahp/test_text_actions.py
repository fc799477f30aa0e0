"""Text actions of AHP 1.0 as structs: faster to decode, otherwise like the objects they stand for."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.actions.text import (
    TEXTS,
    ChatDelta,
    ChatReasoning,
    ChatToolCallDelta,
    TerminalData,
    TextAction,
    as_text,
    decode_action,
)
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json
from strategies import share, values_of

PLAIN: list[JsonObject] = [
    {"type": "chat/delta", "turnId": "t", "partId": "p", "content": "Oh"},
    {"type": "chat/reasoning", "turnId": "t", "partId": "p", "content": "Hm\n"},
    {"type": "chat/toolCallDelta", "turnId": "t", "toolCallId": "c", "content": '{"x'},
    {"type": "terminal/data", "data": "\x1b[1m$ "},
]
STRUCTS: list[TextAction] = [
    ChatDelta("t", "p", "Oh"),
    ChatReasoning("t", "p", "Hm\n"),
    ChatToolCallDelta("t", "c", '{"x'),
    TerminalData("\x1b[1m$ "),
]
every_text = pytest.mark.parametrize(("plain", "struct"), list(zip(PLAIN, STRUCTS, strict=True)))


@every_text
def test_a_plain_text_action_becomes_a_struct(plain: JsonObject, struct: TextAction) -> None:
    assert decode_action(encode_json(plain)) == struct
    assert decode_action(encode_json(dict(reversed(plain.items())))) == struct
    assert as_text(plain) == struct


@every_text
def test_a_struct_is_written_like_its_object(plain: JsonObject, struct: TextAction) -> None:
    assert encode_json(struct) == encode_json(plain)
    assert encode_json({"action": struct, "serverSeq": 1}) == encode_json({"action": plain, "serverSeq": 1})


@every_text
def test_a_struct_reads_like_its_object(plain: JsonObject, struct: TextAction) -> None:
    for key, value in plain.items():
        assert struct[key] == struct.get(key) == struct.get(key, "other") == value
    assert [struct.get(key) for key in ("nope", "get", "__class__")] == [None, None, None]
    assert struct.get("nope", 7) == 7
    with pytest.raises(KeyError, match="nope"):
        struct["nope"]


def test_the_four_types_are_known_by_name() -> None:
    assert {name: TEXTS[name] for name in TEXTS} == {
        plain["type"]: type(struct) for plain, struct in zip(PLAIN, STRUCTS, strict=True)
    }


@pytest.mark.parametrize(
    "more", [{"x-trace": [1, None]}, {"_meta": {"a": None}}, {"": 0}, {"session": "x:/"}]
)
@pytest.mark.parametrize("plain", PLAIN)
def test_a_text_action_that_carries_more_stays_an_object(plain: JsonObject, more: JsonObject) -> None:
    action: Any = decode_action(encode_json({**plain, **more}))
    assert action == {**plain, **more}


@pytest.mark.parametrize("message", ["Reading", {"markdown": "*Reading*"}])
def test_a_tool_call_delta_with_a_message_stays_an_object_and_needs_no_text(message: Json) -> None:
    value = {**PLAIN[2], "invocationMessage": message}
    with_text: Any = decode_action(encode_json(value))
    assert with_text == value
    del value["content"]
    without: Any = decode_action(encode_json(value))
    assert without == value
    assert as_text(value) == ChatToolCallDelta("t", "c", "")


@pytest.mark.parametrize(
    "value",
    [
        {"type": "session/ready"},
        {"type": "terminal/input", "data": "ls"},
        {"type": "root/activeSessionsChanged", "activeSessions": 2},
        {"type": "chat/fromTheFuture", "turnId": None, "content": [1]},
        {"type": "future/action", "foo": 42},
    ],
)
def test_every_other_action_is_an_object(value: JsonObject) -> None:
    action: Any = decode_action(encode_json(value))
    assert action == value


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "$: expected an object, found a list"),
        ({}, "$.type: expected a string, found nothing"),
        ({"type": 1}, "$.type: expected a string, found the number 1"),
        ({**PLAIN[0], "content": 1}, "$.content: expected a string, found the number 1"),
        ({**PLAIN[0], "turnId": None}, "$.turnId: expected a string, found null"),
        ({**PLAIN[2], "_meta": []}, "$._meta: expected an object, found a list"),
        (
            {**PLAIN[2], "invocationMessage": 1},
            "$.invocationMessage: expected a string or an object, found the number 1",
        ),
        ({"type": "terminal/data"}, "$.data: expected a string, found nothing"),
        ({"type": "chat/turnComplete", "turnId": "t"}, "$.duration: expected a number, found nothing"),
        (
            {"type": "chat/pendingMessageRemoved", "kind": "later", "id": "m"},
            "$.kind: expected 'steering' or 'queued', found 'later'",
        ),
        (
            {
                "type": "chat/inputAnswerChanged",
                "requestId": "r",
                "questionId": "q",
                "answer": {"state": "x"},
            },
            "$.answer.state: expected 'draft' or 'submitted' or 'skipped', found 'x'",
        ),
        (
            {
                "type": "chat/toolCallConfirmed",
                "turnId": "t",
                "toolCallId": "c",
                "approved": False,
                "reason": "",
            },
            "$.reason: expected 'denied' or 'skipped', found ''",
        ),
    ],
)
def test_an_action_that_does_not_fit_is_refused_with_the_path(value: Json, sentence: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        decode_action(encode_json(value))
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"type":"terminal/data","data":"x"} x',
        b'{"type":"terminal/data","data":"\xff"}',
        rb'{"type":"terminal/data","data":"\ud800"}',
        b'{"type":"terminal/data","data":"x","x":' + b"[" * 200_000,
    ],
)
def test_what_is_not_json_is_not_an_action(data: bytes) -> None:
    with pytest.raises(NotJson):
        decode_action(data)


every_action = values_of(StateAction, unknown_keys=True) | st.sampled_from(PLAIN).map(deepcopy)


@given(every_action)
@settings(max_examples=share(100), suppress_health_check=[HealthCheck.too_slow])
def test_any_action_is_written_again_as_it_was_read(value: JsonObject) -> None:
    action = decode_action(encode_json(value))
    assert decode_json(encode_json(action)) == value


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=share(60))
def test_any_text_makes_the_same_struct_as_object(plain: JsonObject, data: st.DataObject) -> None:
    value = {key: text if key == "type" else data.draw(st.text()) for key, text in plain.items()}
    action = decode_action(encode_json(value))
    assert isinstance(action, TextAction)
    assert action == as_text(value)
    assert encode_json(action) == encode_json(value)
