"""Pages in browsers: who may read answers, who may change something, and what a preflight is told."""

import asyncio
import http.client
import logging
from pathlib import Path

import pytest
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agenthost.agents.demo import demo
from agenthost.edges.cors import MAX_REPORTED
from agenthost.host.access.keys import KeyFile
from hosting import run
from sites import site

LOCAL = ["http://localhost:5173", "http://127.0.0.1:1", "http://[::1]:8080", "http://localhost"]
FOREIGN = [
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://localhost:1.evil.example",
    "http://evil.example:127.0.0.1",
    "https://localhost:5173",
    "http://127.0.0.1.evil.example:80",
    "http://localhost:*",
    "",
]
PREFLIGHT = {"Access_Control_Request_Method": "POST"}
SESSION = {"agent": {"name": "demo"}}
TEXT = {"Content_Type": "text/plain"}


class Welcome:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})


def test_pages_of_this_machine_may_read_and_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            for origin in LOCAL:
                for answer, status in (
                    (await here.ask("/aap/meta", Origin=origin), 200),
                    (await here.ask("/aap/sessions", "POST", SESSION, Origin=origin), 201),
                    (await here.ask("/nothing", Origin=origin), 404),
                ):
                    assert answer.status == status
                    assert answer.headers["access-control-allow-origin"] == origin
                    assert answer.headers["access-control-expose-headers"] == "Retry-After, WWW-Authenticate"
                    assert answer.headers["vary"] == "Origin"
                    assert "access-control-allow-credentials" not in answer.headers

    run(story)


def test_foreign_pages_can_neither_read_nor_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            for origin in FOREIGN:
                answer = await here.ask("/aap/meta", Origin=origin)
                assert (answer.status, answer.headers["vary"]) == (200, "Origin")
                assert "access-control-allow-origin" not in answer.headers
                for method in ("POST", "PUT", "DELETE", "PATCH"):
                    # A text needs no preflight: a page could send it without asking.
                    answer = await here.ask("/aap/sessions", method, SESSION, Origin=origin, **TEXT)
                    assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden_origin"), origin
                    assert "access-control-allow-origin" not in answer.headers
            assert (await here.ask("/aap/sessions")).json == {"sessions": []}

    run(story)


def test_a_client_that_is_not_a_page_may_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            answer = await here.ask("/aap/sessions", "POST", SESSION)
            assert (answer.status, answer.headers["vary"]) == (201, "Origin")
            assert "access-control-allow-origin" not in answer.headers

    run(story)


def test_our_own_page_may_change_under_every_allowed_name(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo], allowed_hosts="agents.local", cors_origins="") as here:
            for host, origin, status in (
                ("agents.local:8642", "http://agents.local:8642", 201),
                ("agents.local:8642", "http://agents.local:1", 403),
                ("evil.example", "http://evil.example", 421),
                ("127.0.0.1", "http://localhost", 403),
            ):
                answer = await here.ask("/aap/sessions", "POST", SESSION, Host=host, Origin=origin)
                assert answer.status == status

    run(story)


def test_a_preflight_is_told_what_a_page_may_send_with_and_without_keys(tmp_path: Path) -> None:
    async def story() -> None:
        for _ in range(2):
            async with site(tmp_path) as here:
                asked = {"Access_Control_Request_Headers": "authorization,content-type,x-mine", **PREFLIGHT}
                answer = await here.ask("/aap/sessions", "OPTIONS", Origin=LOCAL[0], **asked)
                assert (answer.status, answer.body) == (204, b"")
                assert answer.headers["access-control-allow-origin"] == LOCAL[0]
                assert answer.headers["access-control-allow-methods"] == "GET, HEAD, POST, PUT, DELETE"
                assert answer.headers["access-control-allow-headers"] == "authorization,content-type,x-mine"
                assert answer.headers["access-control-max-age"] == "600"
                assert answer.headers["vary"] == "Origin"
                answer = await here.ask("/aap/sessions", "OPTIONS", Origin=FOREIGN[0], **PREFLIGHT)
                assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden_origin")
                assert not any(name.startswith("access-control") for name in answer.headers)
            KeyFile(tmp_path).create()

    run(story)


def test_invalid_header_names_are_not_echoed(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            for asked in ("<script>", "", "x" * 2000):
                wanted = {"Access_Control_Request_Headers": asked, **PREFLIGHT}
                answer = await here.ask("/aap/sessions", "OPTIONS", Origin=LOCAL[0], **wanted)
                allowed = answer.headers["access-control-allow-headers"]
                assert allowed == "Authorization, Content-Type, Accept"

    run(story)


def test_configured_origins_replace_the_default(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo], cors_origins=["https://app.example"]) as here:
            for origin, status in (
                ("https://app.example", 201),
                ("https://app.example:444", 403),
                ("https://www.app.example", 403),
                (LOCAL[0], 403),
            ):
                answer = await here.ask("/aap/sessions", "POST", SESSION, Origin=origin)
                assert answer.status == status

    run(story)


def test_a_star_allows_every_page(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo], cors_origins="*") as here:
            for origin in ("https://evil.example", "null"):
                answer = await here.ask("/aap/sessions", "POST", SESSION, Origin=origin)
                assert (answer.status, answer.headers["access-control-allow-origin"]) == (201, "*")
                assert "vary" not in answer.headers

    run(story)


def test_with_keys_the_key_decides_and_an_allowed_page_can_read_the_refusal(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).create()[1]

    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            answer = await here.ask("/aap/sessions", "POST", SESSION, Origin=LOCAL[0])
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (401, LOCAL[0])
            given = {"Origin": FOREIGN[0], "Authorization": f"Bearer {key}"}
            answer = await here.ask("/aap/sessions", "POST", SESSION, **given)
            assert answer.status == 201
            assert "access-control-allow-origin" not in answer.headers

    run(story)


def test_a_foreign_page_opens_no_websocket_without_a_key(tmp_path: Path) -> None:
    def status_of(url: str, origin: str, query: str = "") -> int:
        headers = {"Origin": origin}
        try:
            with connect(f"{url.replace('http', 'ws')}/ahp{query}", additional_headers=headers):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/ahp", Welcome())) as here:
            assert await asyncio.to_thread(status_of, here.url, LOCAL[0]) == 101
            for origin in FOREIGN:
                assert await asyncio.to_thread(status_of, here.url, origin) == 403
        key = KeyFile(tmp_path).create()[1]
        async with site(tmp_path, WebSocketRoute("/ahp", Welcome())) as here:
            assert await asyncio.to_thread(status_of, here.url, FOREIGN[0], f"?tkn={key}") == 101
            assert await asyncio.to_thread(status_of, here.url, LOCAL[0]) == 401

    run(story)


def test_vs_code_is_always_allowed(tmp_path: Path) -> None:
    origin = "vscode-file://vscode-app"

    def talk(url: str) -> None:
        with connect(f"{url.replace('http', 'ws')}/ahp", additional_headers={"Origin": origin}):
            pass

    async def story() -> None:
        for origins in ("http://localhost:*", "https://app.example"):
            async with site(tmp_path, agents=[demo], cors_origins=[origins]) as here:
                await asyncio.to_thread(talk, here.url)
                answer = await here.ask("/aap/meta", Origin=origin)
                assert answer.headers["access-control-allow-origin"] == origin
                for other in (
                    "vscode-file://evil",
                    "vscode-webview://x",
                    "https://vscode-app",
                    f"{origin}:1",
                ):
                    assert (await here.ask("/aap/sessions", "POST", SESSION, Origin=other)).status == 403

    run(story)


def test_a_refused_origin_is_logged_once_with_the_setting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            for origin in ("https://evil.example", "https://evil.example", "\xe9\t" + "x" * 500):
                assert (await here.ask("/aap/sessions", "POST", SESSION, Origin=origin)).status == 403
            assert (await here.ask("/aap/meta", Origin="https://reader.example")).status == 200
            for number in range(2 * MAX_REPORTED):
                preflight = await here.ask("/aap/meta", "OPTIONS", Origin=f"https://{number}.x", **PREFLIGHT)
                assert preflight.status == 403

    with caplog.at_level(logging.WARNING, "agenthost.http"):
        run(story)
    said = [one.getMessage() for one in caplog.records if one.name == "agenthost.http"]
    sentence = "a page of origin {} was refused: cors_origins (--cors-origins) does not name it"
    assert said[:2] == [
        sentence.format(f"'{one}'") for one in ("https://evil.example", "\\xe9\\t" + "x" * 198)
    ]
    assert len(said) == MAX_REPORTED


def test_several_origin_headers_are_refused(tmp_path: Path) -> None:
    def talk(url: str) -> int:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.putrequest("POST", "/aap/sessions")
        for _ in range(2):
            connection.putheader("Origin", LOCAL[0])
        connection.putheader("Content-Length", "0")
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    async def story() -> None:
        async with site(tmp_path) as here:
            assert await asyncio.to_thread(talk, here.url) == 403

    run(story)
