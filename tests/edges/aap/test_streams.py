"""Streams in bad weather: readers that leave, sleep or are slow, and long silences."""

import http.client
import socket
import threading
from contextlib import suppress
from typing import Any

import pytest

from aap_here import Here
from aap_talking import Listening, Speaker, assistant, decode_events, user
from agenthost.edges.aap import turns
from agenthost.errors import SlowConsumer
from agenthost.host.access.identity import Identity
from agenthost.wire.json import encode_json
from rules import rule
from serving import TIMEOUT


def wait_ended(here: Here, session: str) -> None:
    """Wait until a turn has ended, by subscribing to its session."""

    async def wait() -> None:
        host = here.site.host
        found = await host.parts.engine.sessions.named(session)
        while "activeTurn" in found.shown_chat.state:
            feed = host.parts.engine.feed(Identity("watcher"))
            await feed.subscribe(found.row.uri)
            with suppress(SlowConsumer):
                while "activeTurn" in found.shown_chat.state:
                    await feed.subscriber.wait_next()
            feed.close()

    here.run(wait())


@rule("Z1")
def test_the_turn_of_an_application_that_leaves_goes_on(here: Here, app: Speaker) -> None:
    session = app.begin("Hello").session
    listening = app.start(session, "/wait 0.5", stream="delta")
    listening.read_until(b'"."')
    listening.leave()
    assert app.turn(session, "Hello").status == 409
    wait_ended(here, session)
    assert app.history(session)[2:] == [user("/wait 0.5"), assistant("." * 10)]
    assert app.turn(session, "Hello").text == "You said: Hello"


@rule("Z1")
def test_the_turn_of_an_application_that_leaves_before_its_body_comes_goes_on(
    here: Here, newest: Speaker
) -> None:
    session = newest.make().session
    body = encode_json({"messages": [user("/wait 0.3")]})
    host, port = newest.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as sock:
        head = f"POST {newest.turns(session)} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n"
        sock.sendall(head.encode() + body)
        while not newest.history(session):
            pass
    wait_ended(here, session)
    assert newest.history(session) == [user("/wait 0.3"), assistant("." * 6)]


@rule("Z2")
def test_a_quiet_stream_sends_a_comment_now_and_then(app: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    session = app.begin("Hello", {"tools": [{"name": "sleep", "trust": True}]}).session
    monkeypatch.setattr(turns, "HEARTBEAT_SECONDS", 0.05)
    reply = app.turn(session, '/call sleep {"seconds": 0.4}', stream="message")
    assert reply.body.count(b": still here\n\n") >= 2
    assert [event["event"] for event in reply.events] == [
        "turn_start",
        "tool_call",
        "tool_result",
        "text",
        "turn_stop",
    ]


COUNT = 200_000


@rule("Z3")
def test_a_reader_that_sleeps_gets_all_of_a_long_turn_in_order_and_slows_nobody(
    here: Here, newest: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught_up: list[int] = []
    catch_up = turns.Exchange._catch_up

    async def counting(exchange: turns.Exchange) -> bytes:
        caught_up.append(1)
        return await catch_up(exchange)

    monkeypatch.setattr(turns.Exchange, "_catch_up", counting)
    session, other = newest.make().session, newest.make().session
    host, port = newest.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.sock.settimeout(TIMEOUT)
    connection.sock.connect((host, int(port)))
    body = encode_json({"messages": [user(f"/stream {COUNT}")], "stream": "delta"})
    connection.request("POST", newest.turns(session), body)
    # Nobody reads: the turn runs to its end all the same, and others are answered meanwhile.
    while not newest.history(session):
        pass
    assert newest.turn(other, "Hello").text == "You said: Hello"
    wait_ended(here, session)
    assert len(newest.history(session)[1]["content"]) == COUNT * len("hello world ")
    stream = Listening(connection, 3).rest().body
    assert caught_up
    delta = b'event: text_delta\ndata: {"delta":"hello world "}\n\n'
    assert stream.count(delta) == COUNT
    assert stream.replace(delta, b"") == (
        b'event: turn_start\ndata: {}\n\nevent: turn_stop\ndata: {"stopReason":"end_turn"}\n\n'
    )


@rule("Z3")
@pytest.mark.parametrize("mode", ["none", "message"])
def test_a_long_turn_is_complete_in_every_mode(newest: Speaker, mode: str) -> None:
    reply = newest.begin("/stream 30000", stream=mode)
    assert (reply.stop, reply.text) == ("end_turn", "hello world " * 30_000)


@rule("Z7")
@pytest.mark.parametrize("mode", ["none", "message", "delta"])
def test_a_session_that_is_deleted_in_the_middle_of_a_turn_ends_its_stream(app: Speaker, mode: str) -> None:
    session = app.begin("Hello").session
    replies: list[Any] = []
    sent = threading.Thread(target=lambda: replies.append(app.turn(session, "/wait 30", stream=mode)))
    sent.start()
    while len(app.history(session)) < 3:
        pass
    assert app.ask("DELETE", app.one(session)).status == 204
    sent.join(TIMEOUT)
    assert (replies[0].status, replies[0].stop) == (200, "error")
    assert app.ask("GET", app.one(session)).status == 404


@rule("T2")
def test_events_come_while_the_agent_is_still_speaking(app: Speaker) -> None:
    session = app.begin("Hello").session
    listening = app.start(session, "/wait 0.3", stream="delta")
    begun = decode_events(listening.read_until(b'"."'), app.number)
    assert begun[-1]["event"] == "text_delta"
    assert app.turn(session, "Hello").status == 409
    assert listening.rest().text == "." * 6
