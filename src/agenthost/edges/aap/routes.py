"""Routes: the endpoints of AAP. Each decodes, makes one call, and encodes.

Raw ASGI, because a turn is the hot path: the events of one tick are one write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from starlette._utils import get_route_path
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agenthost.core.decisions.grants import ALL_RIGHTS
from agenthost.edges.aap.agents import meta
from agenthost.edges.aap.problems import Problem, problem_of
from agenthost.edges.aap.sessions import APP, Sessions
from agenthost.edges.aap.turns import Exchange, begin_turn
from agenthost.edges.aap.versions import Version
from agenthost.edges.access import ADMISSION, CALLER, Admission
from agenthost.edges.connections import SLOT
from agenthost.edges.health import NOT_OPEN, Phase
from agenthost.errors import HostError, NotJson, TooLarge
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.client import HostClient
from agenthost.host.host import Host
from agenthost.host.lifecycle import new_id
from agenthost.wire.aap.event import encode_event
from agenthost.wire.aap.legacy import create_to_v3
from agenthost.wire.aap.v3 import PostSessionTurnResponse
from agenthost.wire.json import Json, check_density, encode_json

__all__ = ["routes_of"]

log = logging.getLogger("agenthost.aap")

Handler: TypeAlias = Callable[["Call"], Awaitable[None]]

_STOPPING = Problem(503, *NOT_OPEN[Phase.STOPPING])
META = "meta"
"""The command of `GET /meta`, which AHP does not have."""

_ID = "{id}"
"""The placeholder for the id of a session in paths."""

_TURN_STOP = encode_event({"event": "turn_stop", "stopReason": "error"})


class Call:
    """One request, and the means to answer it."""

    def __init__(self, host: Host, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self.host = host
        self.caller: Caller = scope[CALLER]
        self.id: str = scope["path_params"].get("id", "")
        """The id of the session, from the path."""
        owner = self.caller.owner
        self.client = host.client(Identity(f"{APP}{self.id}", owner or ""), self.caller)
        self._scope = scope
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self.has_begun = False

    def client_for(self, session_id: str) -> HostClient:
        """Return the client of a session's application."""
        return self.host.client(Identity(f"{APP}{session_id}", self.caller.owner or ""), self.caller)

    @property
    def sessions(self) -> Sessions:
        """The sessions that the caller may see."""
        return Sessions(self.host, self.client)

    def query(self, name: str) -> str | None:
        """Return a query parameter; the last one, if there are several."""
        values = parse_qs(self._scope["query_string"].decode("latin-1"), keep_blank_values=True).get(name)
        return values[-1] if values else None

    async def body(self) -> bytes:
        """Read the body.

        Raises:
            TooLarge: it is too large (X13). If `Content-Length` says so, it is not read at all.
            NotJson: the peer disconnected before the end, or it has too many values.
        """
        limit = self._max_bytes
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > limit:
                raise TooLarge("the body", limit)
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                raise NotJson("the request ended before its body was complete")
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > limit:
                raise TooLarge("the body", limit)
            chunks.append(chunk)
            if not message.get("more_body", False):
                body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
                check_density(body)
                return body

    async def answer(self, body: Json, status: int = 200, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Answer with JSON, or with no body for 204. `more` are further headers."""
        if status == 204:
            await self._begin(status, [])
            await self._send({"type": "http.response.body", "body": b""})
            return
        data = encode_json(body)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(data)), *more]
        await self._begin(status, headers)
        await self._send({"type": "http.response.body", "body": data})

    async def stream(self, exchange: Exchange, first: bytes = b"") -> None:
        """Answer with events, until the turn stops or the application leaves. The turn goes on (Z1)."""
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache, no-transform"),
            # T2: a proxy that buffers would hold events back.
            (b"x-accel-buffering", b"no"),
        ]
        self.has_begun = True
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        slot = self._scope.get(SLOT)
        if slot is not None:
            slot.on_disconnect = exchange.lose_reader
        admission: Admission = self._scope[ADMISSION]
        try:
            async for chunk in exchange.events():
                await self._send({"type": "http.response.body", "body": first + chunk, "more_body": True})
                first = b""
                if not admission.is_valid:  # the key has expired or was revoked
                    await self.write(_TURN_STOP)
                    break
        except asyncio.CancelledError:  # the server stops; the turn continues when it is back (Z8)
            await self.write(first + _TURN_STOP)
        except Exception:  # a stream always ends with `turn_stop` (T6)
            log.exception("a stream failed")
            await self.write(first + _TURN_STOP)
        await self._send({"type": "http.response.body", "body": b""})

    async def wait_answer(self, exchange: Exchange) -> PostSessionTurnResponse:
        """Wait for the turn to stop, and return all of it."""
        self._follow(exchange)
        return await exchange.answer()

    def _follow(self, exchange: Exchange) -> None:
        """Tell the exchange when the application leaves."""
        visitor = self._scope.get(SLOT)
        if visitor is not None:
            visitor.on_disconnect = exchange.lose_reader

    def write(self, chunk: bytes) -> Awaitable[None]:
        """Send a piece of the body."""
        return self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> Awaitable[None]:
        self.has_begun = True
        return self._send({"type": "http.response.start", "status": status, "headers": headers})


def routes_of(host: Host, version: Version, max_bytes: int, nothing: ASGIApp) -> ASGIApp:
    """Return the endpoints of one version, below its base URL; `nothing` answers all other paths."""
    endpoints: list[tuple[str, str, str, Handler]] = [
        ("GET", "/meta", META, partial(get_meta, version=version)),
        ("GET", "/sessions", "listSessions", partial(get_sessions, version=version)),
        ("GET", version.one, "fetchTurns", partial(get_session, version=version)),
        ("DELETE", version.one, "disposeSession", delete_session),
        ("POST", version.turns, "chat/turnStarted", partial(post_turn, version=version)),
    ]
    if version.opens_with_turn:
        endpoints.append(("PUT", "/session", "createSession", partial(put_session, version=version)))
    else:
        endpoints.append(("POST", "/sessions", "createSession", partial(post_sessions, version=version)))
    if version.has_history:
        endpoints.append(("GET", f"{version.one}/history", "fetchTurns", get_history))
    paths: dict[str, dict[str, tuple[str, Handler]]] = {}
    for method, path, command, handler in endpoints:
        paths.setdefault(path, {})[method] = command, handler
    found = {path: _Endpoint(host, version, methods, max_bytes) for path, methods in paths.items()}
    return _Paths(found, nothing)


class _Paths:
    """The endpoints of one version. One dict lookup finds them: all paths are `name[/{id}[/name]]`."""

    def __init__(self, endpoints: dict[str, "_Endpoint"], nothing: ASGIApp) -> None:
        self._nothing = nothing
        self._routes = {path: Route(path, one) for path, one in endpoints.items()}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        parts = get_route_path(scope).split("/")
        params = {}
        if len(parts) > 2:
            params["id"], parts[2] = parts[2], _ID
        route = self._routes.get("/".join(parts))
        # X11: an empty id is no session, and must not match the path with one.
        if route is None or params.get("id") == "":
            return self._nothing(scope, receive, send)
        scope["route"] = route  # for the metrics
        scope["path_params"] = params
        return route.app(scope, receive, send)


class _Endpoint:
    """One path: its handlers and their commands, by method."""

    def __init__(
        self, host: Host, version: Version, handlers: dict[str, tuple[str, Handler]], max_bytes: int
    ) -> None:
        self._host = host
        self._version = version
        self._handlers = handlers
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(self._host, scope, receive, send, self._max_bytes)
        found = self._handlers.get(scope["method"])
        if found is None:
            allowed = ", ".join(self._handlers)
            problem = Problem(405, "method_not_allowed", f"this path supports {allowed}")
            await call.answer(problem.body(), 405, [(b"allow", allowed.encode())])
            return
        command, handler = found
        try:
            if call.caller.rights is not ALL_RIGHTS:
                call.caller.rights.check(command)
            await handler(call)
        except asyncio.CancelledError:
            # The status is sent, so it is too late for a 503.
            if call.has_begun:
                raise
            # Z8: the turn continues when the server is back.
            await call.answer(_STOPPING.body(), _STOPPING.status)
        except Problem as problem:
            await call.answer(problem.body(), problem.status)
        except HostError as error:
            told = problem_of(self._version.told(error))
            if told.status >= 500:
                log.warning("a request failed: %s", error)
            await call.answer(told.body(), told.status)


async def get_meta(call: Call, version: Version) -> None:
    """`GET /meta`: the description of the server."""
    await call.answer(version.meta(meta(call.host.agents.values())))


async def get_sessions(call: Call, version: Version) -> None:
    """`GET /sessions`: a page of sessions, newest first."""
    await call.answer(version.page(await call.sessions.page(call.query("after"))))


async def get_session(call: Call, version: Version) -> None:
    """`GET` of one session: its settings; in version 1 also its history (L5)."""
    info = call.sessions.show(await call.client.get_row_named(call.id))
    if version.has_history:
        await call.answer(version.session(info))
        return
    session = await call.client.get_session_named(call.id)
    history = await call.sessions.history(session, call.query("history"), "history")
    told: Any = {**version.session(info), **({"history": history} if history else {})}
    await call.answer(told)


async def get_history(call: Call) -> None:
    """`GET` of the history: in full, or as the model gets it."""
    session = await call.client.get_session_named(call.id)
    await call.answer({"history": await call.sessions.history(session, call.query("type"))})


async def delete_session(call: Call) -> None:
    """`DELETE` of one session, with everything that belongs to it."""
    await call.sessions.delete(call.id)
    await call.answer(None, 204)


async def post_sessions(call: Call, version: Version) -> None:
    """`POST /sessions`: create a session, without running a turn (C1)."""
    body = version.create.decode(await call.body())
    session_id = new_id()
    session = await Sessions(call.host, call.client_for(session_id)).create(body, session_id)
    await call.answer({"sessionId": session.row.name}, 201)


async def put_session(call: Call, version: Version) -> None:
    """`PUT /session`: create a session and run its first turn (C2)."""
    create, turn = create_to_v3(version.create.decode(await call.body()))
    # C7: whatever can be refused is refused before there is a session.
    call.sessions.check_turn(create, turn)
    session_id = new_id()
    client = call.client_for(session_id)
    session = await Sessions(call.host, client).create(create, session_id)
    try:
        exchange = await begin_turn(call.host, client, session, turn)
    except (HostError, Problem):
        await client.dispose_session(session.row.uri)  # C7: it is not kept, because no client knows its id
        raise
    started = {"sessionId": session.row.name}
    if turn.get("stream", "none") == "none":
        await call.answer({**started, **await call.wait_answer(exchange)})
    else:
        await call.stream(exchange, encode_event({"event": "session_start", **started}))


async def post_turn(call: Call, version: Version) -> None:
    """`POST` of a turn: send messages, and answer with what follows.

    The answer ends when the agent is done, or needs a result or a permission from the application.
    """
    body = version.turn.decode(await call.body())
    if version.turn_to_v3 is not None:
        body = version.turn_to_v3(body)
    session = await call.client.get_session_named(call.id)
    # Awaited before the first byte, so that a refusal can still set the status (X1).
    exchange = await begin_turn(call.host, call.client, session, body)
    if body.get("stream", "none") == "none":
        await call.answer(await call.wait_answer(exchange))
    else:
        await call.stream(exchange)
