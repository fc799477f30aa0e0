"""The transcript: exact through storage and public histories, private data kept in, calls and turns found."""

from typing import Annotated, Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.transcript import (
    MESSAGE,
    TRANSCRIPT,
    Message,
    check_imported_history,
    check_public,
    close_open_calls,
    denial,
    encode,
    open_calls,
    public,
    requested_calls,
    turn_starts,
)
from agenthost.errors import InvalidValue
from agenthost.wire.aap.message import HistoryMessage
from agenthost.wire.annotations import is_record, record_fields
from agenthost.wire.json import decode_json, encode_json
from agenthost.wire.shape import STRICT, Shape
from strategies import values_of
from transcripts import answer, call, calls, says, steering, system, transcripts, user

PRIVATE = {"anthropic": {"signature": "c2VjcmV0"}}
AAP_HISTORY: Shape[list[HistoryMessage]] = Shape(list[HistoryMessage], STRICT)

messages_with_all = st.lists(values_of(Message, unknown_keys=True), max_size=4)
aap_histories = st.lists(values_of(HistoryMessage, unknown_keys=True), max_size=4)


def form(kind: Any) -> Any:
    """Write an annotation out without names, and without `_private`, so that two can be compared."""
    if is_record(kind):
        fields = {key: (form(hint), needed) for key, (hint, needed) in record_fields(kind).items()}
        return {key: field for key, field in fields.items() if key != "_private"}
    if get_origin(kind) is Annotated:
        return [form(get_args(kind)[0]), kind.__metadata__]
    return [get_origin(kind), *map(form, get_args(kind))] if get_args(kind) else kind


def without_private(value: list[Any]) -> list[Any]:
    """Take private data out the plain way."""
    copy = decode_json(encode_json(value))
    for message in copy:
        for part in [message, *(message["content"] if isinstance(message["content"], list) else [])]:
            part.pop("_private", None)
    return list(copy)


# Exact.


@given(messages_with_all)
def test_what_is_encoded_comes_back_exactly(messages: list[Message]) -> None:
    assert TRANSCRIPT.decode(encode(messages)) == messages
    assert [MESSAGE.decode(encode(message)) for message in messages] == messages


def test_messages_have_the_form_of_those_in_a_history_of_aap() -> None:
    assert form(Message) == form(HistoryMessage)


@given(aap_histories)
def test_a_history_of_aap_is_a_transcript_and_comes_back_exactly(history: list[HistoryMessage]) -> None:
    sent = encode_json(history)
    taken = TRANSCRIPT.decode(encode(TRANSCRIPT.decode(sent)))
    assert encode_json(public(taken)) == sent


@given(messages_with_all)
def test_a_transcript_without_private_data_is_a_history_of_aap(messages: list[Message]) -> None:
    assert AAP_HISTORY.decode(encode_json(public(messages))) == public(messages)


@pytest.mark.parametrize("content", ["Hi", "", [], [{"type": "text", "text": "Hi"}]])
def test_plain_text_stays_plain_and_blocks_stay_blocks(content: Any) -> None:
    assert public(TRANSCRIPT.decode(encode([user(content)]))) == [user(content)]


# Private.


@given(messages_with_all)
def test_what_is_shown_lacks_all_private_data_and_nothing_else(messages: list[Message]) -> None:
    before = decode_json(encode(messages))
    assert public(messages) == without_private(messages)
    assert messages == before
    check_public(public(messages))


def test_private_data_is_taken_from_messages_and_blocks_but_not_from_the_input_of_a_call() -> None:
    deep = call("a", input={"_private": "a path"})
    message: Any = {"role": "assistant", "content": [{**deep, "_private": PRIVATE}], "_private": PRIVATE}
    assert public([message]) == [{"role": "assistant", "content": [deep]}]


def test_what_has_nothing_private_is_not_copied() -> None:
    message = user([{"type": "text", "text": "Hi"}])
    assert public([message])[0] is message


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([user(), says(_private=PRIVATE)], "$.messages[1]._private"),
        ([user([{"type": "text", "text": "Hi", "_private": None}])], "$.messages[0].content[0]._private"),
    ],
)
def test_nobody_outside_can_bring_private_data(messages: list[Message], path: str) -> None:
    for check in (check_public, check_imported_history):
        with pytest.raises(InvalidValue) as caught:
            check(messages, "$.messages")
        assert caught.value.path == path


# Calls.


def test_open_calls_are_those_of_the_last_turn_without_an_answer_in_order() -> None:
    messages = [user(), calls("old"), user(), calls("a", "b"), calls("c"), steering(), answer("b")]
    assert open_calls(messages) == [call("a"), call("c")]


def test_an_answer_to_an_earlier_call_of_the_same_id_does_not_count() -> None:
    assert open_calls([user(), calls("a"), answer("a"), calls("a")]) == [call("a")]


@pytest.mark.parametrize("messages", [[], [user()], [user(), says()], [user(), calls("a"), answer("a")]])
def test_often_no_call_is_open(messages: list[Message]) -> None:
    assert open_calls(messages) == []


def test_what_a_user_writes_is_never_a_call() -> None:
    assert requested_calls(user([call("a")])) == []
    assert open_calls([user([call("a")])]) == []


@pytest.mark.parametrize(
    ("reason", "text"),
    [(None, "Tool call denied"), ("", "Tool call denied"), ("no time", "Tool call denied: no time")],
)
def test_a_denied_call_is_closed_with_the_words_of_the_protocol(reason: str | None, text: str) -> None:
    messages = [user(), calls("a", "b"), answer("a")]
    assert close_open_calls(messages, denial(reason)) == [answer("b", text)]


@given(transcripts)
def test_after_closing_no_call_is_open(messages: list[Message]) -> None:
    assert open_calls([*messages, *close_open_calls(messages, denial())]) == []


# Seeds.


@given(transcripts)
def test_a_well_formed_history_is_accepted(messages: list[Message]) -> None:
    check_imported_history(public(messages))


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([answer("a")], "$[0].toolCallId"),
        ([user(), calls("a"), answer("b")], "$[2].toolCallId"),
        ([user(), calls("a"), answer("a"), answer("a")], "$[3].toolCallId"),
        ([user(), answer("a"), calls("a")], "$[1].toolCallId"),
        ([user([call("a")]), answer("a")], "$[0].content[0].type"),
        ([user(), calls("a"), answer("a", [call("b")])], "$[2].content[0].type"),
        ([user(), calls("a", "a")], "$[1].content[2].toolCallId"),
        ([user(), calls("a"), calls("a")], "$[2].content[1].toolCallId"),
    ],
    ids=["no call", "other call", "answered", "too early", "user calls", "tool calls", "twice", "still open"],
)
def test_a_malformed_history_is_refused_with_the_path(messages: Any, path: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_imported_history(messages)
    assert caught.value.path == path


# Turns.


def test_turns_start_at_user_messages_but_not_at_those_that_steer() -> None:
    messages = [system(), says(), user(), calls("a"), answer("a"), steering(), says(), user(), says()]
    assert turn_starts(messages) == [2, 7]
