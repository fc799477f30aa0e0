"""How the client copes with servers that misbehave."""

from collections.abc import Callable
from typing import Any

import pytest

from aap_servers import CUT, HANG, META, PAUSE, START, STOP, OddServer, answer, odd_server, stream
from agenthost.client import (
    AapClient,
    AapError,
    Answer,
    Conflict,
    NotAap,
    NotFound,
    Refused,
    ServerError,
    StreamError,
    TimedOut,
    Timeouts,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from agenthost.wire.aap.event import encode_event
from agenthost.wire.json import decode_json
from hosting import run

TURNS = "post_sessions_s1_turns"
DELTA: Any = {"event": "text_delta", "delta": "hello "}
HTML = answer(b"<html>welcome</html>", content_type="text/html")


def asked(server: OddServer, **settings: Any) -> Answer:
    """Ask a server something in a new session."""
    answers = []

    async def story() -> None:
        async with AapClient(server.url, **settings) as client:
            session = await client.create("odd")
            answers.append(await session.ask("hi"))

    run(story)
    return answers[0]


def error_of(call: Callable[[], object]) -> AapError:
    with pytest.raises(AapError) as caught:
        call()
    return caught.value


# Streams


def test_unknown_fields_and_events_are_kept_and_do_no_harm() -> None:
    newer: Any = {"event": "mood", "value": 5}
    stop: Any = {"event": "turn_stop", "stopReason": "tired", "since": "noon"}
    odd = [START, newer, b": a comment\n\n", {**DELTA, "more": [1]}, b"data: {}\n\n", stop]

    async def story() -> None:
        async with AapClient(server.url) as client:
            turn = (await client.create("odd")).send("hi")
            events: list[Any] = [event async for event in turn]
            assert [event["event"] for event in events] == [
                "turn_start",
                "mood",
                "text_delta",
                "message",
                "turn_stop",
            ]
            assert (events[1]["value"], events[2]["more"], events[4]["since"]) == (5, [1], "noon")
            answer = await turn.answer()
            assert (answer.text, answer.stop_reason) == ("hello ", "tired")

    with odd_server(**{TURNS: [stream(*odd)]}) as server:
        run(story)


def test_a_stream_may_be_split_anywhere() -> None:
    data = b"".join(encode_event(event) for event in (START, {**DELTA, "delta": "grüße\r\n"}, STOP))
    pieces = [data[place : place + 1] for place in range(len(data))]
    chunked = [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"]
    chunked += [b"transfer-encoding: chunked\r\n\r\n", *(b"1\r\n" + one + b"\r\n" for one in pieces)]
    for told in (stream(*pieces), [*chunked, b"0\r\n\r\n"], stream(data.replace(b"\n", b"\r\n"))):
        with odd_server(**{TURNS: [told]}) as server:
            assert asked(server).text == "grüße\r\n"


@pytest.mark.parametrize("rest", [[], [CUT], [b"event: turn_stop\n"]], ids=["ended", "cut", "half an event"])
def test_a_stream_without_its_end_is_an_error(rest: list[bytes]) -> None:
    with odd_server(**{TURNS: [stream(START, DELTA, *rest)]}) as server:
        assert isinstance(error_of(lambda: asked(server)), StreamError)
        assert server.asked().count("POST /sessions/s1/turns") == 1


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"delta": 5}'])
def test_an_invalid_event_is_an_error(data: bytes) -> None:
    with odd_server(**{TURNS: [stream(START, b"event: text_delta\ndata: " + data + b"\n\n")]}) as server:
        error = error_of(lambda: asked(server))
        assert isinstance(error, StreamError)
        assert "'text_delta' is not valid" in str(error)


def test_a_stop_for_tools_without_open_calls_is_an_error() -> None:
    stop: Any = {"event": "turn_stop", "stopReason": "tool_use"}
    with odd_server(**{TURNS: [stream(START, stop)]}) as server:
        assert isinstance(error_of(lambda: asked(server)), StreamError)


def test_a_whole_answer_instead_of_a_stream_is_accepted() -> None:
    messages: Any = [{"role": "assistant", "content": [{"type": "text", "text": "hi"}, {"type": "song"}]}]
    with odd_server(**{TURNS: [answer({"stopReason": "end_turn", "messages": messages})]}) as server:
        answered = asked(server)
        assert (answered.text, answered.messages) == ("hi", messages)


def test_an_agent_without_stream_modes_is_asked_not_to_stream() -> None:
    meta = {"version": 3, "agents": [{"name": "odd", "version": "1"}]}
    with odd_server(meta, **{TURNS: [answer({"stopReason": "end_turn", "messages": []})]}) as server:
        assert asked(server).text == ""
        assert decode_json(server.requests[-1][2])["stream"] == "none"


def test_a_stream_that_stays_open_after_its_end_delays_nobody() -> None:
    with odd_server(**{TURNS: [stream(START, DELTA, STOP, HANG)]}) as server:
        assert asked(server).text == "hello "


# Silence


def test_a_silent_stream_times_out_but_heartbeats_count() -> None:
    short = Timeouts(read=1.0)
    beats = [PAUSE, b": still here\n\n"] * 7
    with odd_server(**{TURNS: [stream(START, *beats, DELTA, STOP)]}) as server:
        assert asked(server, timeouts=short).text == "hello "
    with odd_server(**{TURNS: [stream(START, HANG)]}) as server:
        error = error_of(lambda: asked(server, timeouts=Timeouts(read=0.2)))
        assert isinstance(error, TimedOut)
        assert str(error) == f"{server.url} sent nothing for 0.2 seconds"


def test_a_server_that_never_answers_times_out_without_a_retry() -> None:
    with odd_server(get_meta=[[HANG]]) as server:
        assert isinstance(error_of(lambda: asked(server, timeouts=Timeouts(read=0.2))), TimedOut)
        assert server.asked() == ["GET /meta"]


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with odd_server() as server:
        pass
    error = error_of(lambda: asked(server))
    assert isinstance(error, Unreachable)
    assert str(error) == f"cannot connect to {server.url}: Connection refused"


# Errors


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("400 Bad Request", Refused),
        ("401 Unauthorized", Unauthorized),
        ("403 Forbidden", Unauthorized),
        ("404 Not Found", NotFound),
        ("409 Conflict", Conflict),
        ("413 Too Large", Refused),
        ("422 Unprocessable", Refused),
        ("429 Too Many Requests", TooManyRequests),
        ("500 Internal Server Error", ServerError),
        ("503 Service Unavailable", ServerError),
    ],
)
def test_each_status_has_its_error_with_what_the_server_says(status: str, kind: type) -> None:
    told = {"error": {"code": "no", "message": "not like this", "path": "$.agent"}}
    with odd_server(post_sessions=[answer(told, status)]) as server:
        error = error_of(lambda: asked(server))
        assert type(error) is kind
        assert (error.status, error.code, error.path) == (int(status[:3]), "no", "$.agent")
        assert str(error) == "$.agent: not like this"
        assert server.asked().count("POST /sessions") == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"message": "one"}, "one"),
        ({"detail": "two"}, "two"),
        ({"error": "three"}, "three"),
        ("four", "four"),
        ([5], None),
        ({"error": {"message": 6}}, None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_errors_of_other_forms_are_understood_or_described_by_their_status(
    body: Any, sentence: str | None
) -> None:
    with odd_server(post_sessions=[answer(body, "500 Broken")]) as server:
        error = error_of(lambda: asked(server))
        assert str(error) == (sentence or f"POST {server.url}/sessions returned 500 Broken")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("soon", None), ("", None)],
)
def test_a_rate_limit_may_say_when_to_retry(header: str, seconds: float | None) -> None:
    told = answer({}, "429 Too Many Requests", retry_after=header)
    with odd_server(post_sessions=[told]) as server:
        assert error_of(lambda: asked(server)).retry_after == seconds


def test_reading_is_retried_and_posting_a_turn_is_not() -> None:
    busy = answer({"error": {"code": "starting", "message": "wait"}}, "503 Unavailable", retry_after="0")
    with odd_server(get_meta=[busy, [CUT], answer(META)], **{TURNS: [busy]}) as server:
        assert error_of(lambda: asked(server)).code == "starting"
        counts = [server.asked().count(line) for line in ("GET /meta", "POST /sessions/s1/turns")]
        assert counts == [3, 1]


def test_a_turn_whose_connection_is_lost_before_the_answer_is_not_sent_again() -> None:
    with odd_server(**{TURNS: [[CUT]]}) as server:
        assert isinstance(error_of(lambda: asked(server)), StreamError)
        assert server.asked().count("POST /sessions/s1/turns") == 1


# What is no AAP server


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        (HTML, "there is no AAP server at URL: GET URL/meta returned text/html, not JSON"),
        (answer([]), "the server at URL violates AAP: $: expected an object"),
        (answer({"version": 4, "agents": []}), "AAP version 4; this client speaks 1, 2 and 3"),
        (answer({"version": 2.5, "agents": []}), "AAP version 2.5"),
        (answer({"version": 3}), "$.agents"),
        (answer(b"", "302 Found", location="https://x.org/"), "GET URL/meta redirects to https://x.org/"),
        (answer({}, "404 Not Found"), "there is no AAP server at URL: it has no /meta"),
    ],
)
def test_what_is_not_an_aap_server_gets_a_clear_error(meta: list[bytes], sentence: str) -> None:
    with odd_server(get_meta=[meta]) as server:
        error = error_of(lambda: asked(server))
        assert isinstance(error, NotAap)
        assert sentence.replace("URL", server.url) in str(error)


@pytest.mark.parametrize("made", [HTML, answer({"id": 5}), answer(b"", "204 No Content")])
def test_a_session_without_an_id_is_an_error(made: list[bytes]) -> None:
    with odd_server(post_sessions=[made]) as server:
        assert isinstance(error_of(lambda: asked(server)), NotAap)


def test_a_version_1_server_that_does_not_name_the_session_is_an_error() -> None:
    meta = {**META, "version": 1}
    with odd_server(meta, put_session=[stream(START, DELTA, STOP)]) as server:
        assert isinstance(error_of(lambda: asked(server)), StreamError)


def test_a_list_with_a_repeated_cursor_ends() -> None:
    info = {"sessionId": "s1", "agent": {"name": "odd"}}
    pages = [answer({"sessions": [info], "next": "a"}), answer({"sessions": [info], "next": "a"})]

    async def story() -> None:
        async with AapClient(server.url) as client:
            assert [one["sessionId"] async for one in client.sessions()] == ["s1", "s1"]
        assert server.asked()[1:] == ["GET /sessions", "GET /sessions?after=a"]

    with odd_server(get_sessions=pages) as server:
        run(story)


# The request


def test_the_key_goes_with_every_request_and_never_into_an_error() -> None:
    with odd_server(**{TURNS: [answer({}, "401 Unauthorized")]}) as server:
        error = error_of(lambda: asked(server, key="sesame"))
        assert {headers["authorization"] for _, headers, _ in server.requests} == {"Bearer sesame"}
        assert "sesame" not in f"{error!r}"


def test_ids_cannot_lead_to_other_paths() -> None:
    async def story() -> None:
        async with AapClient(server.url) as client:
            with pytest.raises(NotFound):
                await client.session("../meta?x#y").info()
        assert server.asked()[-1] == "GET /sessions/..%2Fmeta%3Fx%23y"

    with odd_server() as server:
        run(story)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("localhost", None),
        ("ftp://localhost", None),
        ("", None),
        ("http://", None),
        ("http://me:secret@localhost", None),
        ("http://localhost/aap?x=1", None),
        ("http://localhost:x/", None),
        ("http://localhost", ""),
        ("http://localhost", "a b"),
        ("http://localhost", "a\nb"),
        ("http://localhost", "ключ"),
    ],
)
def test_an_unusable_url_or_key_is_refused_at_once(url: str, key: str | None) -> None:
    with pytest.raises(ValueError, match=r"URL|key"):
        AapClient(url, key=key)
