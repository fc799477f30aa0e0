"""What a peer that has shown no key can take, and what is left for those who have."""

import asyncio
import http.client
import resource
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import pytest

from agenthost.edges import connections, http_protocol, websocket_protocol
from agenthost.edges.connections import Connections
from agenthost.host.access.keys import KeyFile
from hosting import run
from serving import TIMEOUT, ask, serving
from sites import Site, site

HEAD = b"POST /aap/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\n"


class Raw:
    """A connection that says what it is told to."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.sock = socket.create_connection((host, int(port)), timeout=TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def say(self, data: bytes) -> None:
        self.sock.sendall(data)

    def is_answered(self, request: bytes) -> bool:
        """Return whether this is answered with 200, and all of the answer comes."""
        self.say(request)
        found = http.client.HTTPResponse(self.sock)
        found.begin()
        return found.status == 200 and found.read() != b""

    def say_for_ever(self, data: bytes, most: int) -> int:
        """Say it again and again until the server has enough; returns how many bytes that took."""
        said = 0
        with suppress(OSError):
            while said < most:
                self.sock.sendall(data)
                said += len(data)
        return said

    def read_all(self) -> bytes:
        """Read until the server ends the connection."""
        found = b""
        with suppress(ConnectionResetError):
            while chunk := self.sock.recv(65536):
                found += chunk
        return found

    def is_open(self) -> bool:
        self.sock.setblocking(False)
        try:
            return self.sock.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self.sock.settimeout(TIMEOUT)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all that takes seconds take tenths of them."""
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.1)
    for name in ("HEAD_SECONDS", "KEEP_ALIVE_SECONDS", "BODY_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(http_protocol, name, 3)
    monkeypatch.setattr(websocket_protocol, "LINGER_SECONDS", 3)


def on_a_site(folder: Path, story: Callable[[Site], None], **given: Any) -> None:
    async def serve() -> None:
        async with site(folder, **given) as here:
            await asyncio.to_thread(story, here)

    run(serve)


ENDLESS = {
    "a header": HEAD + b"x: ",
    "headers": HEAD,
    "the address": b"GET /",
    "a trailer": HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nx: ",
    "an extension of a chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n1;",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_request_is_refused_before_it_costs_memory(tmp_path: Path, kind: str) -> None:
    more = b"x: " + b"y" * 1000 + b"\r\n" if kind == "headers" else b"y" * 4096

    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(ENDLESS[kind])
            assert peer.say_for_ever(more, 32 * 1024 * 1024) < 16 * 1024 * 1024
        assert ask(here.url, "/healthz").status == 200

    on_a_site(tmp_path, story)


@pytest.mark.parametrize(
    "headers", [b"x: " + b"y" * 70_000 + b"\r\n", b"x: y\r\n" * 101], ids=["too large", "too many"]
)
def test_headers_that_are_too_large_or_too_many_are_refused_with_a_message(
    tmp_path: Path, headers: bytes
) -> None:
    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(HEAD + headers + b"\r\n")
            answer = peer.read_all()
            assert answer.startswith(b"HTTP/1.1 431 ")
            assert b'"code":"headers_too_large"' in answer
        fine = ask(here.url, "/healthz", x="y" * 60_000)
        assert fine.status == 200

    on_a_site(tmp_path, story)


def test_a_client_that_asks_before_it_sends_a_body_is_told_to_go_on(tmp_path: Path) -> None:
    body = b'{"agent":{"name":"demo"}}'
    head = b"content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n"
    with serving("--data", tmp_path, "--no-auth") as served, Raw(served.wait_url()) as raw:
        raw.say(b"POST /aap/v3/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\n" + head % len(body))
        assert raw.sock.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.say(body)
        found = http.client.HTTPResponse(raw.sock)
        found.begin()
        assert found.status == 201
        assert b"sessionId" in found.read()


def test_the_head_and_the_body_of_a_response_come_together(tmp_path: Path) -> None:
    with serving("--data", tmp_path, "--no-auth") as served, Raw(served.wait_url()) as raw:
        raw.say(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert raw.sock.recv(65_536).endswith(b'{"status":"ok"}')
        raw.say(b"HEAD /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        assert raw.read_all().endswith(b"\r\n\r\n")


def test_a_trailer_is_not_a_header(tmp_path: Path) -> None:
    _, key = KeyFile(tmp_path).create("ann")

    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(HEAD + b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n0\r\n")
            peer.say(b"authorization: bearer " + key.encode() + b"\r\n\r\n")
            assert peer.read_all().startswith(b"HTTP/1.1 401 ")

    on_a_site(tmp_path, story)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"", b""),
        (b"\r\n", b""),
        (b"GET / HT", b"HTTP/1.1 408 "),
        (HEAD + b"content-length: 5\r\n\r\n{}", b"HTTP/1.1 408 "),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{}", b"HTTP/1.1 408 "),
    ],
    ids=["silence", "a blank line", "half a head", "half a body", "half a chunk"],
)
def test_an_incomplete_request_times_out(tmp_path: Path, said: bytes, answer: bytes) -> None:
    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(said)
            assert peer.read_all().startswith(answer)

    on_a_site(tmp_path, story)


@pytest.mark.usefixtures("quick")
def test_a_second_request_has_no_more_time_than_the_first(tmp_path: Path) -> None:
    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET /healthz HT")
            answer = peer.read_all()
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert b"HTTP/1.1 408 " in answer

    on_a_site(tmp_path, story)


@pytest.mark.usefixtures("quick")
def test_an_idle_connection_is_closed_silently(tmp_path: Path) -> None:
    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            for _ in range(2):
                assert peer.is_answered(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            peer.say(b"\r\n")
            assert peer.read_all() == b""

    on_a_site(tmp_path, story)


@pytest.mark.usefixtures("quick")
def test_a_refused_body_is_not_read_forever(tmp_path: Path) -> None:
    KeyFile(tmp_path).create("ann")

    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say(HEAD + b"content-length: 999999999\r\n\r\n")
            assert peer.sock.recv(13) == b"HTTP/1.1 401 "
            peer.say_for_ever(b"x", sys.maxsize)  # ends because the server does

    on_a_site(tmp_path, story)


@pytest.mark.usefixtures("quick")
def test_a_handshake_that_cannot_be_read_is_answered(tmp_path: Path) -> None:
    handshake = b"GET /ahp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n"

    def story(here: Site) -> None:
        for more in (b"x: " + b"y" * 20_000 + b"\r\n", b"content-length: 5\r\n"):
            with Raw(here.url) as peer:
                peer.say(handshake + more + b"\r\n")
                assert peer.read_all().startswith(b"HTTP/1.1 400 ")

    on_a_site(tmp_path, story)


def test_too_many_pipelined_requests_end_the_connection(tmp_path: Path) -> None:
    def story(here: Site) -> None:
        with Raw(here.url) as peer:
            peer.say_for_ever(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 1000, 1)
            assert peer.read_all().count(b"HTTP/1.1 200 ") < 100

    on_a_site(tmp_path, story)


def opened(stack: ExitStack, url: str, count: int) -> list[Raw]:
    return [stack.enter_context(Raw(url)) for _ in range(count)]


def test_authenticated_clients_are_never_locked_out_by_others(tmp_path: Path) -> None:
    _, key = KeyFile(tmp_path).create("ann")
    request = b"GET /aap/meta HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer %s\r\n\r\n" % key.encode()

    def story(here: Site) -> None:
        with ExitStack() as stack, Raw(here.url) as known:
            assert known.is_answered(request)
            silent = opened(stack, here.url, 200)
            assert known.is_answered(request)
            with Raw(here.url) as newcomer:
                assert newcomer.is_answered(request)
            while sum(peer.is_open() for peer in silent) > 8:
                pass  # the oldest are dropped a moment later
            assert silent[-1].is_open()
            assert not silent[0].is_open()

    on_a_site(tmp_path, story, max_connections=64)


def test_one_address_cannot_use_the_whole_unauthenticated_budget() -> None:
    budget = Connections(64)
    assert (budget.max_unauthenticated, budget.max_for_one_address) == (16, 8)


def test_a_connection_beyond_the_limit_is_told_so(tmp_path: Path) -> None:
    def story(here: Site) -> None:
        with ExitStack() as stack:
            for _ in range(16):
                peer = stack.enter_context(Raw(here.url))
                assert peer.is_answered(b"GET /aap/meta HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            last = stack.enter_context(Raw(here.url))
            answer = last.read_all()
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b'"code":"too_many_connections"' in answer

    on_a_site(tmp_path, story, max_connections=16)


@pytest.fixture
def few_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1024) if hard < 0 else min(hard, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_files")
def test_a_server_with_few_descriptors_answers_despite_many_silent_connections(tmp_path: Path) -> None:
    _, key = KeyFile(tmp_path).create("ann")
    limited = 'ulimit -n 256; exec "$0" -m agenthost serve --port 0 --data "$1"'
    command = ["sh", "-c", limited, sys.executable, str(tmp_path)]
    with serving(command=command) as served, ExitStack() as stack:
        url = served.wait_url()
        opened(stack, url, 600)
        for _ in range(3):
            answer = ask(
                url, "/aap/sessions", "POST", {"agent": {"name": "demo"}}, Authorization=f"Bearer {key}"
            )
            assert answer.status == 201


RUBBISH = {
    "text that is no text": b"\x81\x82\0\0\0\0\xff\xfe",
    "no masks": b"\x81\x01x",
    "an opcode that there is not": b"\x83\x80\0\0\0\0",
    "a close frame of one byte": b"\x88\x81\0\0\0\0x",
    "a frame too large": b"\x81\xff" + struct.pack("!Q", 1 << 40) + b"\0\0\0\0",
}


def test_garbage_causes_no_traceback_in_the_log(tmp_path: Path) -> None:
    handshake = (
        b"GET /ahp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    with serving("--data", tmp_path) as served:
        url = served.wait_url()
        for rubbish in RUBBISH.values():
            with Raw(url) as peer:
                peer.say(handshake)
                assert peer.sock.recv(12) == b"HTTP/1.1 101"
                peer.say(rubbish)
                peer.read_all()
        for rubbish in (
            b"\0\0\0",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\x02\0\x01",
            handshake[:-2] + b"\xff\r\n\r\n",
        ):
            with Raw(url) as peer:
                peer.say(rubbish)
                assert peer.read_all().startswith(b"HTTP/1.1 400 ")
        served.stop(15)
        assert [line for line in served.err.rest() if "stopping" not in line] == []
