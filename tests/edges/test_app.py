"""What every request goes through, on real sockets: health, readiness, errors, the Host header."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from agenthost.edges.app import App
from agenthost.edges.health import Phase
from hosting import new_session, run
from sites import site


async def fail(_request: Request) -> Response:
    raise RuntimeError("a secret of ours")


class Echo:
    """A WebSocket endpoint as the protocols have them: raw ASGI."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})


class Endless:
    """A stream that ends only when the server stops, if it does."""

    def __init__(self) -> None:
        self.app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun ", "more_body": True})
        if self.app is None:
            await asyncio.Event().wait()
        else:
            await self.app.stopping.wait()
            await send({"type": "http.response.body", "body": b"ended"})


def test_a_healthy_server_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            for path in ("/healthz", "/readyz"):
                answer = await here.ask(path)
                assert (answer.status, answer.json) == (200, {"status": "ok"})
                assert "server" not in answer.headers

    run(story)


@pytest.mark.parametrize(("phase", "code"), [(Phase.STARTING, "starting"), (Phase.STOPPING, "stopping")])
def test_while_the_host_is_not_open_the_server_is_alive_but_not_ready(
    tmp_path: Path, phase: Phase, code: str
) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            here.app.phase = phase
            assert (await here.ask("/healthz")).status == 200
            assert (await here.ask("/metrics")).status == 200
            for path in ("/readyz", "/anything"):
                answer = await here.ask(path)
                assert (answer.status, answer.json["error"]["code"]) == (503, code)

    run(story)


@pytest.mark.sqlite
def test_a_store_that_cannot_be_written_makes_it_not_ready_without_naming_files(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            breaking = sqlite3.connect(tmp_path / "agenthost.db")
            breaking.execute("ALTER TABLE snapshot RENAME TO hidden")
            making = asyncio.create_task(new_session(here.host.parts.engine, "demo:/1"))
            while (answer := await here.ask("/readyz")).status == 200:
                pass
            assert answer.status == 503
            assert answer.json["error"]["code"] == "store_unavailable"
            assert str(tmp_path) not in answer.body.decode()
            assert (await here.metrics())["agenthost_store_writable",] == 0
            breaking.execute("ALTER TABLE hidden RENAME TO snapshot")
            breaking.close()
            await making
            assert (await here.ask("/readyz")).status == 200

    run(story)


def test_an_unknown_path_is_answered_in_json(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            for path in ("/index.html", "/nothing", "/healthz/", "/%ff", "/assets/", "/assets/../"):
                answer = await here.ask(path)
                error = {"code": "not_found", "message": "there is nothing at this path"}
                assert (answer.status, answer.json) == (404, {"error": error})

    run(story)


def test_an_unsupported_method_is_answered_in_json(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            answer = await here.ask("/healthz", "DELETE")
            assert (answer.status, answer.json["error"]["code"]) == (405, "method_not_allowed")
            assert "GET" in answer.headers["allow"]

    run(story)


def test_an_unexpected_error_goes_to_the_log_and_not_to_the_peer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with site(tmp_path, Route("/fail", fail)) as here:
            answer = await here.ask("/fail")
            assert (answer.status, answer.json["error"]["code"]) == (500, "internal_error")
            assert b"secret of ours" not in answer.body
            assert (await here.ask("/healthz")).status == 200

    with caplog.at_level(logging.ERROR, "uvicorn.error"):
        logging.getLogger("uvicorn").propagate = True
        run(story)
    assert "RuntimeError: a secret of ours" in caplog.text


@pytest.mark.parametrize(
    "name", ["localhost", "LocalHost:99", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8642"]
)
def test_names_of_this_machine_are_allowed(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            assert (await here.ask("/healthz", Host=name)).status == 200

    run(story)


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example", "127.0.0.2", "[::2]", "", "[", "1"]
)
def test_other_names_are_refused_for_every_path(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/echo", Echo())) as here:
            for path in ("/healthz", "/nothing"):
                answer = await here.ask(path, Host=name)
                assert (answer.status, answer.json["error"]["code"]) == (421, "misdirected_request")

    run(story)


def test_a_websocket_is_served_without_compression(tmp_path: Path) -> None:
    def talk(url: str) -> None:
        with connect(url.replace("http", "ws") + "/echo") as socket:
            socket.send("hello")
            assert socket.recv(10) == "hello"
            assert socket.response
            assert "Sec-WebSocket-Extensions" not in socket.response.headers

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/echo", Echo())) as here:
            await asyncio.to_thread(talk, here.url)

    run(story)


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [("/nothing", {}, 404, "not_found"), ("/echo", {"Host": "evil.example"}, 421, "misdirected_request")],
)
def test_a_websocket_is_refused_in_the_same_format(
    tmp_path: Path, path: str, headers: dict[str, str], status: int, code: str
) -> None:
    def talk(url: str) -> None:
        address = url.replace("http", "ws") + path
        with pytest.raises(InvalidStatus) as caught, connect(address, additional_headers=headers):
            pass
        response = caught.value.response
        assert response.status_code == status
        assert json.loads(bytes(response.body or b""))["error"]["code"] == code

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/echo", Echo())) as here:
            await asyncio.to_thread(talk, here.url)

    run(story)


def test_a_websocket_is_notified_when_the_server_stops(tmp_path: Path) -> None:
    def talk(url: str, is_connected: Callable[[], object]) -> None:
        with connect(url.replace("http", "ws") + "/echo") as socket:
            is_connected()
            with pytest.raises(ConnectionClosed) as caught:
                socket.recv(10)
            assert caught.value.rcvd
            assert caught.value.rcvd.code == 1012

    async def story() -> None:
        connected, loop = asyncio.Event(), asyncio.get_running_loop()
        async with site(tmp_path, WebSocketRoute("/echo", Echo())) as here:
            hearing = asyncio.to_thread(talk, here.url, lambda: loop.call_soon_threadsafe(connected.set))
            talking = asyncio.create_task(hearing)
            await connected.wait()
        await talking

    run(story)


def test_a_stream_that_handles_the_stop_ends_cleanly(tmp_path: Path) -> None:
    async def story() -> None:
        endless = Endless()
        async with site(tmp_path, Route("/endless", endless)) as here:
            endless.app = here.app
            asking = asyncio.create_task(here.ask("/endless"))
            while not (await here.metrics()).get(("agenthost_http_requests_total", "/endless", "200")):
                pass
        assert (await asking).body == b"begun ended"

    run(story)


@pytest.mark.thorough
def test_a_stream_that_does_not_is_cut_off(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, Route("/endless", Endless())) as here:
            asking = asyncio.create_task(here.ask("/endless"))
            while not (await here.metrics()).get(("agenthost_http_requests_total", "/endless", "200")):
                pass
        with pytest.raises(Exception, match="IncompleteRead"):
            await asking

    run(story)


def test_ahp_without_websocket_is_explained_and_the_page_is_still_served(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            for path in ("/ahp", "/ahp/"):
                answer = await here.ask(path)
                assert (answer.status, answer.headers["upgrade"]) == (426, "websocket")
            page = await here.ask("/")
            assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")

    run(story)
