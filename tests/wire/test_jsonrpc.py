"""JSON-RPC framing: what kind of message a frame holds, and the answer to one that holds none."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.wire.json import Json, JsonObject, decode_json, encode_json
from agenthost.wire.jsonrpc import (
    BadFrame,
    Failure,
    Message,
    MessageId,
    Notification,
    Request,
    RpcCode,
    Success,
    decode_message,
    encode_message,
)
from strategies import json_objects, json_values, share


def decoded(**fields: Json) -> Message:
    return decode_message(encode_json({"jsonrpc": "2.0", **fields}))


def refusal(data: bytes | str) -> BadFrame:
    with pytest.raises(BadFrame) as refused:
        decode_message(data)
    return refused.value


def test_the_codes_are_those_of_json_rpc() -> None:
    assert {code.name: code.value for code in RpcCode} == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
    }


# Bad input to the host: the frame, then the code, id and sentence of the answer.
ANSWERED: list[tuple[str, int, MessageId | None, str]] = [
    ("", -32700, None, "not JSON: Input data was truncated"),
    ("{", -32700, None, "not JSON: Input data was truncated"),
    ("nope", -32700, None, "not JSON: JSON is malformed: invalid character (byte 4)"),
    ('{"jsonrpc":"2.0","id":7,', -32700, None, "not JSON: Input data was truncated"),
    ("[" * 129 + "]" * 129, -32700, None, "nested deeper than 128 levels"),
    ("[]", -32600, None, "$: expected one message, found a list"),
    ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None, "$: expected one message, found a list"),
    ("null", -32600, None, "$: expected one message, found null"),
    ('"ping"', -32600, None, "$: expected one message, found a string"),
    ("1", -32600, None, "$: expected one message, found the number 1"),
    ("{}", -32600, None, '$.jsonrpc: expected "2.0", found nothing'),
    ('{"id":3,"method":"ping"}', -32600, 3, '$.jsonrpc: expected "2.0", found nothing'),
    ('{"method":"ping"}', -32600, None, '$.jsonrpc: expected "2.0", found nothing'),
    (
        '{"jsonrpc":2.0,"id":"a","method":"ping"}',
        -32600,
        "a",
        '$.jsonrpc: expected "2.0", found the number 2.0',
    ),
    ('{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3, '$.jsonrpc: expected "2.0", found a string'),
    ('{"jsonrpc":"2.0"}', -32600, None, "$.method: expected a string, found nothing"),
    ('{"jsonrpc":"2.0","id":3}', -32600, 3, "$.method: expected a string, found nothing"),
    ('{"jsonrpc":"2.0","id":3,"method":null}', -32600, 3, "$.method: expected a string, found null"),
    ('{"jsonrpc":"2.0","id":3,"method":7}', -32600, 3, "$.method: expected a string, found the number 7"),
    ('{"jsonrpc":"2.0","method":[]}', -32600, None, "$.method: expected a string, found a list"),
    # `method` decides first: this is a bad request, not an answer.
    (
        '{"jsonrpc":"2.0","id":3,"method":{},"result":1}',
        -32600,
        3,
        "$.method: expected a string, found an object",
    ),
    (
        '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        -32600,
        None,
        "$.id: expected a number or a string, found null",
    ),
    (
        '{"jsonrpc":"2.0","id":true,"method":"ping"}',
        -32600,
        None,
        "$.id: expected a number or a string, found true",
    ),
    (
        '{"jsonrpc":"2.0","id":{},"method":"ping"}',
        -32600,
        None,
        "$.id: expected a number or a string, found an object",
    ),
    (
        '{"jsonrpc":"2.0","id":[1],"method":"ping"}',
        -32600,
        None,
        "$.id: expected a number or a string, found a list",
    ),
    (
        '{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}',
        -32602,
        3,
        "$.params: expected an object, found a list",
    ),
    (
        '{"jsonrpc":"2.0","id":"a","method":"ping","params":"x"}',
        -32602,
        "a",
        "$.params: expected an object, found a string",
    ),
    (
        '{"jsonrpc":"2.0","id":1.5,"method":"ping","params":0}',
        -32602,
        1.5,
        "$.params: expected an object, found the number 0",
    ),
    (
        '{"jsonrpc":"2.0","id":0,"method":"ping","params":false}',
        -32602,
        0,
        "$.params: expected an object, found false",
    ),
]


@pytest.mark.parametrize(("frame", "code", "message_id", "sentence"), ANSWERED)
def test_a_frame_that_is_no_message_is_answered_with_an_error(
    frame: str, code: int, message_id: MessageId | None, sentence: str
) -> None:
    refused = refusal(frame)
    assert refused.reply == Failure(message_id, code, sentence)
    assert str(refused) == sentence
    assert decode_json(encode_message(refused.reply)) == {
        "jsonrpc": "2.0",
        "id": message_id,
        "error": {"code": code, "message": sentence},
    }


@pytest.mark.parametrize("frame", [b"\xff", b'{"jsonrpc":"2.0","method":"\xff"}', '{"jsonrpc":"\ud800"}'])
def test_a_frame_that_is_not_utf8_is_answered_as_not_json(frame: bytes | str) -> None:
    reply = refusal(frame).reply
    assert reply is not None
    assert (reply.id, reply.code) == (None, -32700)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        # A notification with bad params.
        ('{"jsonrpc":"2.0","method":"m","params":[1]}', "$.params: expected an object, found a list"),
        ('{"jsonrpc":"2.0","method":"m","params":"x"}', "$.params: expected an object, found a string"),
        ('{"jsonrpc":"2.0","method":"m","params":1}', "$.params: expected an object, found the number 1"),
        ('{"jsonrpc":"2.0","method":"m","params":true}', "$.params: expected an object, found true"),
        # Answers that are none.
        ('{"jsonrpc":"2.0","result":1}', "$.id: expected a number or a string, found nothing"),
        ('{"jsonrpc":"2.0","id":null,"result":1}', "$.id: expected a number or a string, found null"),
        ('{"jsonrpc":"2.0","id":true,"result":1}', "$.id: expected a number or a string, found true"),
        ('{"jsonrpc":"2.0","id":{},"result":1}', "$.id: expected a number or a string, found an object"),
        ('{"jsonrpc":"2.0","id":1,"error":"x"}', "$.error: expected an object with a `code` and a `message`"),
        ('{"jsonrpc":"2.0","id":1,"error":{}}', "$.error: expected an object with a `code` and a `message`"),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}',
            "$.error: expected an object with a `code` and a `message`",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":"x"}}',
            "$.error: expected an object with a `code` and a `message`",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}',
            "$.error: expected an object with a `code` and a `message`",
        ),
    ],
)
def test_bad_notifications_and_bad_answers_are_not_answered(frame: str, sentence: str) -> None:
    refused = refusal(frame)
    assert refused.reply is None
    assert str(refused) == sentence


@pytest.mark.parametrize("message_id", [0, 1, -1, 2**64, 1.5, "1", ""])
def test_the_id_of_a_message_is_kept_as_it_is(message_id: MessageId) -> None:
    messages = [
        decoded(id=message_id, method="ping"),
        decoded(id=message_id, result={}),
        decoded(id=message_id, error={"code": 1, "message": "x"}),
    ]
    for message in messages:
        assert not isinstance(message, Notification)
        assert repr(message.id) == repr(message_id)


def test_method_and_id_make_a_request() -> None:
    assert decoded(id=1, method="ping", params={"a": 1}) == Request(1, "ping", {"a": 1})


def test_method_without_id_makes_a_notification() -> None:
    assert decoded(method="action", params={"a": 1}) == Notification("action", {"a": 1})


@pytest.mark.parametrize("other", [{"result": None}, {"error": {"code": 1, "message": "x"}}])
def test_a_message_with_a_method_is_never_a_response(other: JsonObject) -> None:
    assert decoded(id=1, method="m", **other) == Request(1, "m", {})
    assert decoded(method="m", **other) == Notification("m", {})


@pytest.mark.parametrize("params", [{}, {"params": {}}, {"params": None}])
def test_params_that_are_missing_or_null_are_empty(params: JsonObject) -> None:
    assert decoded(id=1, method="ping", **params) == Request(1, "ping", {})
    assert decoded(method="ping", **params) == Notification("ping", {})


@pytest.mark.parametrize("result", [None, {}, [], 0, False, "", {"a": None}])
def test_a_result_is_kept_whatever_it_is(result: Json) -> None:
    message = decoded(id=1, result=result)
    assert message == Success(1, result)
    assert encode_message(message) == encode_json({"jsonrpc": "2.0", "id": 1, "result": result})


def test_an_error_carries_code_message_and_data() -> None:
    error = {"code": -32005, "message": "no", "data": {"supportedVersions": []}, "more": 1}
    assert decoded(id=7, error=error) == Failure(7, -32005, "no", {"supportedVersions": []})
    assert decoded(id=7, error={"code": 1, "message": ""}) == Failure(7, 1, "", None)
    # As a whole number, however it was written: 1.0 equals 1, so the types are compared.
    found = decoded(id=7, error={"code": -32005.0, "message": ""})
    assert isinstance(found, Failure)
    assert (found.code, type(found.code)) == (-32005, int)


@pytest.mark.parametrize("fields", [{}, {"id": None}, {"id": True}, {"id": {}}])
def test_an_error_whose_id_cannot_be_read_has_none(fields: JsonObject) -> None:
    assert decoded(**fields, error={"code": -32700, "message": "x"}) == Failure(None, -32700, "x")


def test_an_answer_with_result_and_error_is_an_error() -> None:
    assert decoded(id=1, result={}, error={"code": 1, "message": "x"}) == Failure(1, 1, "x")


def test_unknown_keys_beside_the_envelope_are_ignored() -> None:
    assert decoded(id=1, method="ping", trace="x") == Request(1, "ping", {})
    assert decoded(id=1, result=None, trace="x") == Success(1, None)


def test_bytes_and_text_are_read_alike() -> None:
    frame = '{"jsonrpc":"2.0","method":"m","params":{"a":"ä"}}'
    assert decode_message(frame) == decode_message(frame.encode()) == Notification("m", {"a": "ä"})


@pytest.mark.parametrize(
    ("message", "frame"),
    [
        (Request(1, "ping", {}), b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'),
        (Notification("m", {"a": 1}), b'{"jsonrpc":"2.0","method":"m","params":{"a":1}}'),
        (Success("a", None), b'{"jsonrpc":"2.0","id":"a","result":null}'),
        (
            Failure(2, RpcCode.INVALID_PARAMS, "x"),
            b'{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"x"}}',
        ),
        (
            Failure(None, -32700, "x", {"a": []}),
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x","data":{"a":[]}}}',
        ),
        (Failure(1, 1, "", 0), b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":0}}'),
    ],
)
def test_a_message_is_written_with_exactly_its_keys(message: Message, frame: bytes) -> None:
    assert encode_message(message) == frame


def test_bytes_that_are_json_already_are_included_as_they_are() -> None:
    raw: Any = msgspec.Raw(b'{ "a" : 1.50, "a":2 }')
    assert encode_message(Notification("m", raw)) == b'{"jsonrpc":"2.0","method":"m","params":%s}' % raw
    assert encode_message(Request(1, "m", {"action": raw})).endswith(b'"params":{"action":%s}}' % raw)
    assert encode_message(Success(1, raw)) == b'{"jsonrpc":"2.0","id":1,"result":%s}' % raw
    assert b'"data":%s' % raw in encode_message(Failure(1, 1, "x", raw))


ids = st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Request, ids, st.text(), json_objects),
    st.builds(Notification, st.text(), json_objects),
    st.builds(Success, ids, json_values),
    st.builds(Failure, st.none() | ids, st.integers(), st.text(), json_values),
)


@given(messages)
@settings(max_examples=share(150))
def test_every_message_survives_being_written_and_read(message: Message) -> None:
    assert repr(decode_message(encode_message(message))) == repr(message)


frames = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": ids | json_values,
        "method": st.text() | json_values,
        "params": json_values,
        "result": json_values,
        "error": json_values | st.fixed_dictionaries({"code": json_values, "message": json_values}),
    },
)


@given(frames | json_values)
@settings(max_examples=share(200))
def test_any_frame_is_a_message_or_a_bad_frame_and_answers_are_never_answered(value: Json) -> None:
    is_answer = (
        isinstance(value, dict) and "method" not in value and not {"result", "error"}.isdisjoint(value)
    )
    reply = reply_to(encode_json(value))
    assert reply is None or not is_answer
    if reply is not None:
        encode_message(reply)


def reply_to(frame: bytes) -> Failure | None:
    try:
        decode_message(frame)
    except BadFrame as refused:
        return refused.reply
    return None


def test_an_answer_whose_error_is_null_is_a_success() -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}'
    assert decode_message(frame) == Success(1, {"a": 1})
