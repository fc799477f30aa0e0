"""Who may ask for what, on real sockets: keys, owners, public paths, WebSockets, names, sizes."""

import asyncio
import http.client
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agenthost.agents.demo import demo
from agenthost.edges.access import Admission
from agenthost.host.access.keys import KeyFile
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from hosting import run
from serving import Answer
from sites import Site, site

QUESTION = {"role": "user", "content": "Hello"}
VERSIONS = ["", "/v1", "/v2", "/v3"]
META = [f"/aap{version}/meta" for version in VERSIONS]
PATHS = ["/metrics", "/nothing", "/healthz/", "/aap/sessions", "/aap/v1/session/x", *META]


async def who(request: Request) -> Response:
    return JSONResponse({"owner": request.scope["agenthost.caller"].owner})


class Telling:
    """A WebSocket endpoint as the coming ones: tells what it knows of its peer, then whether that holds."""

    def __init__(self) -> None:
        self.admissions: list[Admission] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.admissions.append(scope["agenthost.admission"])
        await receive()
        await send({"type": "websocket.accept"})
        known = {"owner": scope["agenthost.caller"].owner, "query": scope["query_string"].decode()}
        await send({"type": "websocket.send", "text": json.dumps(known)})
        await receive()


def key_of(folder: Path, owner: str = "") -> str:
    return KeyFile(folder).create(owner)[1]


def bearing(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def is_refused(answer: Answer) -> bool:
    error = {
        "code": "unauthorized",
        "message": "a valid API key, or the server's token, is needed: Authorization: Bearer KEY",
    }
    is_told = answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
    return is_told and answer.json == {"error": error}


def test_without_keys_everybody_on_this_machine_sees_everything(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, Route("/who", who)) as here:
            assert (await here.ask("/who")).json == {"owner": None}
            assert (await here.ask("/who", **bearing("whatever"))).json == {"owner": None}

    run(story)


def test_with_keys_every_path_but_health_needs_one(tmp_path: Path) -> None:
    key = key_of(tmp_path)

    async def story() -> None:
        async with site(tmp_path) as here:
            for path in PATHS:
                for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
                    assert is_refused(await here.ask(path, method)), (path, method)
                    assert (await here.ask(path, method, **bearing(key))).status != 401
            for path in ("/healthz", "/readyz"):
                assert (await here.ask(path)).status == 200
                assert is_refused(await here.ask(path, "POST"))

    run(story)


def test_only_a_complete_key_as_a_bearer_token_is_accepted(tmp_path: Path) -> None:
    key = key_of(tmp_path, "ann")
    revoked = key_of(tmp_path)
    KeyFile(tmp_path).revoke(revoked)
    expired = KeyFile(tmp_path).create(seconds=-1)[1]

    async def story() -> None:
        async with site(tmp_path, Route("/who", who)) as here:
            for right in (f"Bearer {key}", f"bearer {key}", f"BEARER  {key} "):
                assert (await here.ask("/who", Authorization=right)).json == {"owner": "ann"}
            wrong = ["", "Bearer", key, f"Basic {key}", f"Bearer {key[:-1]}", f"Bearer {key} x", "Bearer é"]
            for header in [*wrong, f"Bearer {revoked}", f"Bearer {expired}"]:
                assert is_refused(await here.ask("/who", Authorization=header)), header
            assert is_refused(await here.ask(f"/who?tkn={key}"))

    run(story)


def test_two_authorization_headers_are_refused(tmp_path: Path) -> None:
    key = key_of(tmp_path)

    def talk(url: str) -> int:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.putrequest("GET", "/aap/meta")
        for _ in range(2):
            connection.putheader("Authorization", f"Bearer {key}")
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    async def story() -> None:
        async with site(tmp_path) as here:
            assert await asyncio.to_thread(talk, here.url) == 401

    run(story)


def test_public_paths_can_be_read_without_a_key(tmp_path: Path) -> None:
    key_of(tmp_path)

    async def story() -> None:
        async with site(tmp_path, public_meta=True) as here:
            for path in META:
                assert (await here.ask(path)).status == 200
                assert is_refused(await here.ask(path, "POST"))
            assert is_refused(await here.ask("/metrics"))
            assert is_refused(await here.ask("/aap/sessions"))
        async with site(tmp_path, public_metrics=True) as here:
            assert (await here.ask("/metrics")).status == 200
            assert is_refused(await here.ask("/aap/meta"))

    run(story)


def test_a_websocket_takes_a_key_in_its_header_or_in_its_address(tmp_path: Path) -> None:
    key = key_of(tmp_path, "ann")
    telling = Telling()

    def talk(url: str, query: str, headers: dict[str, str]) -> Any:
        address = f"{url.replace('http', 'ws')}/told{query}"
        with connect(address, additional_headers=headers) as socket:
            return json.loads(socket.recv(10))

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/told", telling)) as here:
            for query, headers, rest in (
                ("", bearing(key), ""),
                (f"?tkn={key}", {}, ""),
                (f"?a=1&tkn={key}&b=%20", bearing(key), "a=1&b=+"),
            ):
                told = await asyncio.to_thread(talk, here.url, query, headers)
                assert told == {"owner": "ann", "query": rest}
            for query, headers in (
                ("", {}),
                ("?tkn=x", {}),
                (f"?tkn={key}&tkn={key}", {}),
                ("", bearing("x")),
            ):
                with pytest.raises(InvalidStatus) as caught:
                    await asyncio.to_thread(talk, here.url, query, headers)
                response = caught.value.response
                assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
                assert json.loads(bytes(response.body or b""))["error"]["code"] == "unauthorized"

    run(story)


def test_a_long_lived_connection_notices_that_its_key_was_revoked(tmp_path: Path) -> None:
    key = key_of(tmp_path, "ann")
    telling = Telling()

    def talk(url: str) -> None:
        with connect(f"{url.replace('http', 'ws')}/told?tkn={key}"):
            (admission,) = telling.admissions
            assert admission.is_valid
            KeyFile(tmp_path).revoke(key)
            end = time.monotonic() + 10
            while admission.is_valid:
                assert time.monotonic() < end

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/told", telling)) as here:
            await asyncio.to_thread(talk, here.url)

    run(story)


async def opened(here: Site, version: str, **headers: str) -> str:
    """Make a session, and return its id."""
    body: dict[str, Any] = {"agent": {"name": "demo"}}
    if version in {"/v1", "/v2"}:
        answer = await here.ask(
            f"/aap{version}/session", "PUT", body={**body, "messages": [QUESTION]}, **headers
        )
    else:
        answer = await here.ask(f"/aap{version}/sessions", "POST", body=body, **headers)
    assert answer.status in {200, 201}, answer.body
    return str(answer.json["sessionId"])


def endpoints(version: str, session: str) -> list[tuple[str, str, Any]]:
    """List what can be asked about one session; that it is removed comes last."""
    turn = {"messages": [QUESTION]}
    if version in {"/v1", "/v2"}:
        one = f"/aap{version}/session/{session}"
        history = [("GET", f"{one}?history=full", None)] if version == "/v1" else []
        turns = ("POST", one, turn)
    else:
        one = f"/aap{version}/sessions/{session}"
        history, turns = [], ("POST", f"{one}/turns", turn)
    if version != "/v1":
        history = [("GET", f"{one}/history?type=full", None)]
    return [("GET", one, None), *history, turns, ("DELETE", one, None)]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_is_visible_only_to_its_owner(tmp_path: Path, version: str) -> None:
    ann, also_ann, bob, nobody = (key_of(tmp_path, owner) for owner in ("ann", "ann", "bob", ""))

    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            session = await opened(here, version, **bearing(ann))
            for method, path, body in endpoints(version, session):
                for other in (bob, nobody):
                    answer = await here.ask(path, method, body, **bearing(other))
                    missing = await here.ask(path.replace(session, "x"), method, body, **bearing(other))
                    assert (answer.status, answer.json["error"]["code"]) == (404, "session_not_found")
                    # Not even the sentence tells it from one that never was.
                    assert answer.body.replace(session.encode(), b"x") == missing.body
            for key, count in ((ann, 1), (also_ann, 1), (bob, 0), (nobody, 0)):
                listed = await here.ask(f"/aap{version}/sessions", **bearing(key))
                assert len(listed.json["sessions"]) == count
            for method, path, body in endpoints(version, session):
                assert (await here.ask(path, method, body, **bearing(also_ann))).status in {200, 204}
            assert (await here.ask(endpoints(version, session)[0][1], **bearing(ann))).status == 404

    run(story)


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_sessions_from_before_there_were_keys_belong_to_keys_without_an_owner(
    tmp_path: Path, is_in_memory: bool
) -> None:
    async def story() -> None:
        async with site(tmp_path, agents=[demo]) as here:
            session = await opened(here, "")
            key, ann = key_of(tmp_path), key_of(tmp_path, "ann")
            path = f"/aap/sessions/{session}"
            if is_in_memory:
                while (await here.ask(path)).status != 401:
                    pass
                await check(here, path, key, ann)
        if not is_in_memory:
            async with site(tmp_path, agents=[demo]) as here:
                await check(here, path, key, ann)

    async def check(here: Site, path: str, key: str, ann: str) -> None:
        assert (await here.ask(path, **bearing(key))).status == 200
        assert len((await here.ask("/aap/sessions", **bearing(key))).json["sessions"]) == 1
        for asked in (path, f"{path}/history"):
            assert (await here.ask(asked, **bearing(ann))).status == 404

    run(story)


def test_with_keys_the_host_header_counts_only_if_names_are_set(tmp_path: Path) -> None:
    key = key_of(tmp_path)

    async def story() -> None:
        async with site(tmp_path) as here:
            assert (await here.ask("/aap/meta", Host="agents.example", **bearing(key))).status == 200
        async with site(tmp_path, allowed_hosts=["Agents.example"]) as here:
            for name, status in (("agents.example:80", 200), ("127.0.0.1", 200), ("evil.example", 421)):
                assert (await here.ask("/aap/meta", Host=name, **bearing(key))).status == status

    run(story)


def test_without_keys_names_can_be_added(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, allowed_hosts="agents.local, [fd00::1]") as here:
            for name in ("agents.local", "[fd00::1]:8642", "localhost"):
                assert (await here.ask("/aap/meta", Host=name)).status == 200
            assert (await here.ask("/aap/meta", Host="evil.example")).status == 421

    run(story)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_body_that_is_larger_than_set_is_refused(tmp_path: Path, version: str) -> None:
    def chunked(url: str, path: str, method: str) -> int:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request(method, path, iter([b"x" * 600] * 2), encode_chunked=True)
        status = connection.getresponse().status
        connection.close()
        return status

    async def story() -> None:
        async with site(tmp_path, agents=[demo], max_body=1000) as here:
            session = await opened(here, version)
            create = ("PUT", "session") if version in {"/v1", "/v2"} else ("POST", "sessions")
            turn = next(path for method, path, _ in endpoints(version, session) if method == "POST")
            for method, path in ((create[0], f"/aap{version}/{create[1]}"), ("POST", turn)):
                answer = await here.ask(path, method, "x" * 1000)
                assert (answer.status, answer.json["error"]["code"]) == (413, "too_large")
                assert await asyncio.to_thread(chunked, here.url, path, method) == 413

    run(story)


async def endless(turn: Turn) -> None:
    while True:
        await turn.say("on ")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_stream_of_events_ends_when_its_key_is_revoked(tmp_path: Path, how: str) -> None:
    key = KeyFile(tmp_path).create("ann", seconds=2 if how == "expired" else None)[1]

    def read(url: str, path: str) -> bytes:
        body = {"messages": [QUESTION], "stream": "delta"}
        with httpx.stream("POST", url + path, json=body, headers=bearing(key), timeout=20) as answer:
            assert answer.status_code == 200
            if how == "revoked":
                KeyFile(tmp_path).revoke(key)
            return b"".join(answer.iter_bytes())

    async def story() -> None:
        async with site(tmp_path, agents=[Agent("demo", endless)]) as here:
            session = await opened(here, "/v3", **bearing(key))
            heard = await asyncio.to_thread(read, here.url, f"/aap/v3/sessions/{session}/turns")
            assert heard.endswith(b'event: turn_stop\ndata: {"stopReason":"error"}\n\n')

    run(story)
