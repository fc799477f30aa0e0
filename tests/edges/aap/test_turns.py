"""Turns over AAP, in all three response modes and all versions: what comes back, byte by byte."""

import json

import pytest

from aap_talking import MODES, Speaker, assistant, user
from rules import rule

HELLO = b"""event: turn_start
data: {}

event: text_delta
data: {"delta":"You "}

event: text_delta
data: {"delta":"said: "}

event: text_delta
data: {"delta":"Hello"}

event: turn_stop
data: {"stopReason":"end_turn"}

"""


@rule("T2", "T5")
def test_deltas_are_sent_as_they_come_in_exactly_these_bytes(app: Speaker) -> None:
    session = app.begin("first").session
    reply = app.turn(session, "Hello", stream="delta")
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache, no-transform"
    assert reply.body == HELLO


@rule("T2")
def test_thoughts_are_deltas_of_their_own(app: Speaker) -> None:
    reply = app.begin("/think Yes", stream="delta")
    words = ["I ", "was ", "asked ", "to ", "say: ", "Yes"]
    assert reply.of("thinking_delta") == [{"delta": word} for word in words]
    assert reply.of("text_delta") == [{"delta": "Yes"}]


@rule("T2")
def test_line_ends_and_odd_characters_stay_inside_one_line_of_data(app: Speaker) -> None:
    odd = "a\nb\r\nc\u2028d\x85e\x00f \U0001f989 data: {} \n\nevent: turn_stop"
    reply = app.begin(odd, stream="delta")
    assert (reply.text, reply.stop) == (f"You said: {odd}", "end_turn")
    assert all(line.startswith((b"event: ", b"data: {")) or not line for line in reply.body.split(b"\n"))
    assert app.history(reply.session) == [user(odd), assistant(f"You said: {odd}")]


@rule("T3")
def test_messages_are_sent_whole_in_exactly_these_bytes(app: Speaker) -> None:
    session = app.begin("first").session
    reply = app.turn(session, "/think Yes", stream="message")
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.body == (
        b"event: turn_start\ndata: {}\n\n"
        b'event: thinking\ndata: {"thinking":"I was asked to say: Yes"}\n\n'
        b'event: text\ndata: {"text":"Yes"}\n\n'
        b'event: turn_stop\ndata: {"stopReason":"end_turn"}\n\n'
    )


@rule("T1", "T5")
def test_without_a_mode_a_turn_is_one_json_body(app: Speaker) -> None:
    session = app.begin("first").session
    reply = app.turn(session, "/think Yes")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    thought = {"type": "thinking", "thinking": "I was asked to say: Yes"}
    assert reply.json == {
        "stopReason": "end_turn",
        "messages": [assistant([thought, {"type": "text", "text": "Yes"}])],
    }
    assert app.turn(session, "Hello", stream="none").json["messages"] == [assistant("You said: Hello")]


@rule("T7")
def test_the_mode_changes_nothing_of_what_is_said(app: Speaker) -> None:
    agent = {"name": "stepper", "tools": [{"name": "note", "trust": True}]}
    told = [app.begin('[["note", {"text": "same"}]]', agent, stream=mode) for mode in MODES]
    histories = []
    for reply in told:
        (call_id,) = reply.calls.values()
        assert (reply.stop, reply.results) == ("end_turn", {call_id: "noted same"})
        assert reply.thoughts == "Let me see. "
        assert json.loads(reply.text.removeprefix("One moment. "))[1] == {
            "role": "tool",
            "toolCallId": call_id,
            "content": "noted same",
        }
        histories.append(json.dumps(app.history(reply.session)).replace(call_id, "ID"))
    assert len(set(histories)) == 1


@rule("T4")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("word", "stop", "text"),
    [
        ("/refuse", "refusal", "I would rather not answer that."),
        ("/full", "max_tokens", "This answer ends in the middle of a"),
        ("/error", "error", "Something is about to go wrong. "),
    ],
)
def test_a_turn_says_why_it_stopped(app: Speaker, mode: str, word: str, stop: str, text: str) -> None:
    reply = app.begin(word, stream=mode)
    assert (reply.status, reply.stop, reply.text) == (200, stop, text)
    assert app.history(reply.session) == [user(word), assistant(text)]
    assert app.turn(reply.session, "Still there?").stop == "end_turn"


@rule("T6")
@pytest.mark.parametrize("mode", MODES)
def test_a_failure_in_a_turn_is_an_error_at_its_end_without_internals(app: Speaker, mode: str) -> None:
    reply = app.begin("Hello", {"name": "broken"}, stream=mode)
    assert (reply.status, reply.stop, reply.text) == (200, "error", "So far so good. ")
    assert b"secret of ours" not in reply.body
    assert app.history(reply.session) == [user("Hello"), assistant("So far so good. ")]


@rule("T8")
@pytest.mark.parametrize(
    ("url", "counted"),
    [("https://a.example/b.png", "1 http"), ("data:image/png;base64,iVBORw0KGgo=", "1 data")],
)
def test_an_image_reaches_the_agent_and_stays_in_the_history(app: Speaker, url: str, counted: str) -> None:
    content = [{"type": "text", "text": "/image"}, {"type": "image", "url": url}]
    reply = app.begin(content)
    assert reply.text == f"1 image: {counted}"
    assert app.history(reply.session)[0] == user(content)


@rule("T9")
def test_two_sessions_do_not_get_each_others_events(app: Speaker) -> None:
    first, second = app.begin("one").session, app.begin("two").session
    listening = app.start(first, "/wait 0.5", stream="delta")
    listening.read_until(b'"."')
    assert app.turn(second, "Hello", stream="delta").body == HELLO
    assert set(listening.rest().text) == {"."}
    assert app.history(second)[-1] == assistant("You said: Hello")


@rule("T10")
def test_what_is_unknown_in_a_message_is_kept(app: Speaker) -> None:
    message = {**user([{"type": "text", "text": "Hello", "lang": "en"}]), "at": "noon"}
    session = app.begin("first").session
    assert app.turn(session, message).status == 200
    assert app.history(session)[2] == message
