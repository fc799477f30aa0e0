"""Text actions of AHP 0.1.0 as structs: faster to decode, otherwise like the objects they stand for."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.ahp.legacy.actions import StateAction, action_resource
from agenthost.wire.ahp.legacy.actions.text import (
    TEXTS,
    SessionDelta,
    SessionReasoning,
    SessionToolCallDelta,
    TerminalData,
    TextAction,
    as_text,
    decode_action,
)
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json
from strategies import share, values_of

PLAIN: list[JsonObject] = [
    {"type": "session/delta", "session": "toy:/a", "turnId": "t", "partId": "p", "content": "Oh"},
    {"type": "session/reasoning", "session": "toy:/a", "turnId": "t", "partId": "p", "content": "Hm\n"},
    {
        "type": "session/toolCallDelta",
        "session": "toy:/a",
        "turnId": "t",
        "toolCallId": "c",
        "content": '{"x',
    },
    {"type": "terminal/data", "terminal": "terminal:/1", "data": "\x1b[1m$ "},
]
STRUCTS: list[TextAction] = [
    SessionDelta("toy:/a", "t", "p", "Oh"),
    SessionReasoning("toy:/a", "t", "p", "Hm\n"),
    SessionToolCallDelta("toy:/a", "t", "c", '{"x'),
    TerminalData("terminal:/1", "\x1b[1m$ "),
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
    assert struct.get("nope") is None
    assert struct.get("nope", 7) == 7
    with pytest.raises(KeyError, match="nope"):
        struct["nope"]


def test_a_struct_has_the_keys_of_its_own_type_only() -> None:
    assert SessionDelta("s", "t", "p", "c").get("toolCallId") is None
    assert TerminalData("t", "d").get("session") is None


def test_the_four_types_are_known_by_name() -> None:
    assert {name: TEXTS[name] for name in TEXTS} == {
        plain["type"]: type(struct) for plain, struct in zip(PLAIN, STRUCTS, strict=True)
    }


@pytest.mark.parametrize("more", [{"x-trace": [1, None]}, {"_meta": {"a": None}}, {"": 0}])
@pytest.mark.parametrize("plain", PLAIN)
def test_a_text_action_that_carries_more_stays_an_object(plain: JsonObject, more: JsonObject) -> None:
    action: Any = decode_action(encode_json({**plain, **more}))
    assert action == {**plain, **more}


@pytest.mark.parametrize("message", ["Reading", {"markdown": "*Reading*"}])
def test_a_tool_call_delta_with_a_message_stays_an_object(message: Json) -> None:
    value = {**PLAIN[2], "invocationMessage": message}
    action: Any = decode_action(encode_json(value))
    assert action == value


@pytest.mark.parametrize(
    "value",
    [
        {"type": "session/ready", "session": "toy:/a"},
        {"type": "terminal/input", "terminal": "terminal:/1", "data": "ls"},
        {"type": "root/activeSessionsChanged", "activeSessions": 2},
        {"type": "session/fromTheFuture", "session": None, "content": [1]},
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
        ({"type": "terminal/data", "terminal": "t"}, "$.data: expected a string, found nothing"),
        ({"type": "session/ready"}, "$.session: expected a string, found nothing"),
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
        b'{"type":"terminal/data","terminal":"t","data":"x"} x',
        b'{"type":"terminal/data","terminal":"t","data":"\xff"}',
        rb'{"type":"terminal/data","terminal":"t","data":"\ud800"}',
        b'{"type":"terminal/data","terminal":"t","x":' + b"[" * 200_000,
        b'{"x":' + b"[" * 200_000,
    ],
)
def test_what_is_not_json_is_not_an_action(data: bytes) -> None:
    with pytest.raises(NotJson):
        decode_action(data)


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ({"type": "root/agentsChanged", "agents": []}, "agenthost:/root"),
        ({"type": "root/fromTheFuture", "session": "toy:/a"}, "agenthost:/root"),
        ({"type": "session/ready", "session": "toy:/a"}, "toy:/a"),
        ({"type": "session/fromTheFuture", "session": "toy:/a", "terminal": "terminal:/1"}, "toy:/a"),
        ({"type": "terminal/claimed", "terminal": "terminal:/1", "session": "toy:/a"}, "terminal:/1"),
        (STRUCTS[0], "toy:/a"),
        (STRUCTS[1], "toy:/a"),
        (STRUCTS[2], "toy:/a"),
        (STRUCTS[3], "terminal:/1"),
        ({}, None),
        ({"type": None}, None),
        ({"type": 7, "session": "toy:/a"}, None),
        ({"type": ["session/ready"], "session": "toy:/a"}, None),
        ({"type": {}, "session": "toy:/a"}, None),
        ({"type": "", "": "toy:/a"}, None),
        ({"type": "type/x"}, None),
        ({"type": "client/x", "client": "toy:/a"}, None),
        ({"type": "Session/ready", "session": "toy:/a"}, None),
        ({"type": "session/ready"}, None),
        ({"type": "session/ready", "session": None}, None),
        ({"type": "session/ready", "session": ["toy:/a"]}, None),
        ({"type": "terminal/data", "session": "toy:/a"}, None),
    ],
)
def test_an_action_names_the_resource_that_it_changes(action: Any, resource: str | None) -> None:
    assert action_resource(action) == resource


every_action = values_of(StateAction, unknown_keys=True) | st.sampled_from(PLAIN).map(deepcopy)


@given(every_action)
@settings(max_examples=share(100), suppress_health_check=[HealthCheck.too_slow])
def test_any_action_is_written_again_as_it_was_read(value: JsonObject) -> None:
    action = decode_action(encode_json(value))
    assert decode_json(encode_json(action)) == value
    assert action_resource(action) == action_resource(value)


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=share(60))
def test_any_text_makes_the_same_struct_as_object(plain: JsonObject, data: st.DataObject) -> None:
    value = {key: text if key == "type" else data.draw(st.text()) for key, text in plain.items()}
    action = decode_action(encode_json(value))
    assert isinstance(action, TextAction)
    assert action == as_text(value)
    assert encode_json(action) == encode_json(value)


def test_a_struct_gives_no_attribute_of_its_class_for_a_key() -> None:
    action = SessionDelta("demo:/one", "t1", "p1", "text")
    assert [action.get(key) for key in ("get", "__class__", "invocationMessage")] == [None, None, None]
