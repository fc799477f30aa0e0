"""The events of a turn, as server-sent events."""

import pytest
from hypothesis import given, settings

from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.aap import v1, v2, v3
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.sse import SseDecoder, SseEvent
from strategies import json_objects, values_of

SAMPLES: list[tuple[Json, bytes]] = [
    ({"event": "turn_start"}, b"event: turn_start\ndata: {}\n\n"),
    ({"event": "text_delta", "delta": "It"}, b'event: text_delta\ndata: {"delta":"It"}\n\n'),
    ({"event": "thinking_delta", "delta": "a\nb"}, b'event: thinking_delta\ndata: {"delta":"a\\nb"}\n\n'),
    ({"event": "text", "text": "18°C"}, 'event: text\ndata: {"text":"18°C"}\n\n'.encode()),
    ({"event": "thinking", "thinking": "Hm."}, b'event: thinking\ndata: {"thinking":"Hm."}\n\n'),
    (
        {"event": "tool_call", "toolCallId": "c", "name": "n", "input": {"a": 1}},
        b'event: tool_call\ndata: {"toolCallId":"c","name":"n","input":{"a":1}}\n\n',
    ),
    (
        {"event": "tool_result", "toolCallId": "c", "content": [{"type": "text", "text": "x"}]},
        b'event: tool_result\ndata: {"toolCallId":"c","content":[{"type":"text","text":"x"}]}\n\n',
    ),
    (
        {"event": "turn_stop", "stopReason": "end_turn"},
        b'event: turn_stop\ndata: {"stopReason":"end_turn"}\n\n',
    ),
]


def only_event(data: bytes) -> SseEvent:
    [event] = SseDecoder().feed(data)
    return event


@pytest.mark.parametrize(("event", "data"), SAMPLES)
def test_the_name_of_an_event_is_sent_separately_from_its_data(event: v3.SSEEvent, data: bytes) -> None:
    assert v3.encode_event(event) == data
    assert v3.decode_event(only_event(data)) == event


@settings(deadline=None)
@given(values_of(v3.SSEEvent, unknown_keys=True))
def test_an_event_comes_back_with_all_its_keys(event: v3.SSEEvent) -> None:
    assert v3.decode_event(only_event(v3.encode_event(event))) == event


@settings(deadline=None)
@given(values_of(v1.SSEEvent, unknown_keys=True))
def test_an_event_of_the_older_versions_comes_back_too(event: v1.SSEEvent) -> None:
    for older in (v1, v2):
        assert older.decode_event(only_event(older.encode_event(event))) == event


@given(json_objects)
def test_an_event_that_we_do_not_know_is_kept_as_it_is(fields: JsonObject) -> None:
    event = {**fields, "event": "turn_paused"}
    assert v3.decode_event(only_event(v3.encode_event(event))) == event


def test_the_start_of_a_session_is_an_event_of_the_older_versions() -> None:
    bare = SseEvent("session_start", "{}")
    assert v3.decode_event(bare) == {"event": "session_start"}
    for older in (v1, v2):
        started = older.decode_event(SseEvent("session_start", '{"sessionId": "s"}'))
        assert started == {"event": "session_start", "sessionId": "s"}
        with pytest.raises(InvalidValue, match=r"^\$\.sessionId: expected a string, found nothing$"):
            older.decode_event(bare)


def test_the_name_beside_the_data_wins_over_one_inside() -> None:
    assert v3.decode_event(SseEvent("turn_start", '{"event":"turn_stop"}')) == {"event": "turn_start"}


def test_an_event_without_a_name_may_have_it_in_its_data() -> None:
    event = only_event(b'data: {"event":"text","text":"hi"}\n\n')
    assert v3.decode_event(event) == {"event": "text", "text": "hi"}
    assert v3.decode_event(SseEvent("message", "{}")) == {"event": "message"}


def test_a_name_from_data_cannot_inject_fields() -> None:
    event = v3.decode_event(SseEvent("message", r'{"event":"a\ndata: b"}'))
    with pytest.raises(ValueError, match="must be one line"):
        v3.encode_event(event)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("text", "{}", "$.text: expected a string, found nothing"),
        ("text", "[]", "$: expected an object, found a list"),
        ("turn_stop", '{"stopReason":3}', "$.stopReason: expected "),
        (
            "tool_result",
            '{"toolCallId":"c","content":5}',
            "$.content: expected a string or a list, found the number 5",
        ),
        (
            "tool_call",
            '{"toolCallId":"c","name":"n","input":[]}',
            "$.input: expected an object, found a list",
        ),
    ],
)
def test_an_event_of_the_wrong_shape_is_refused(name: str, data: str, message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        v3.decode_event(SseEvent(name, data))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("data", ["", "{", "{}{}", "\ufffd"])
def test_data_that_are_not_json_are_refused(data: str) -> None:
    with pytest.raises(NotJson):
        v3.decode_event(SseEvent("text", data))


def test_encoding_leaves_the_event_as_it_was() -> None:
    event: v3.TextEvent = {"event": "text", "text": "x"}
    v3.encode_event(event)
    assert event == {"event": "text", "text": "x"}
