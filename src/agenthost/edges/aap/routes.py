"""Routes: the endpoints of AAP. Each decodes, makes one call, and encodes.

Raw ASGI inside, because a turn is the hot path: the events of one tick are one write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from starlette._utils import get_route_path
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agenthost.edges.aap.agents import meta
from agenthost.edges.aap.problems import Problem, problem_of
from agenthost.edges.aap.sessions import Sessions
from agenthost.edges.aap.turns import Exchange, begin_turn
from agenthost.edges.aap.versions import Version
from agenthost.edges.access import ADMISSION, Admission, caller_of
from agenthost.edges.bodies import read_body
from agenthost.edges.connections import VISITOR
from agenthost.edges.health import NOT_OPEN, Phase
from agenthost.errors import HostError
from agenthost.host.host import Host
from agenthost.wire.aap.event import encode_event
from agenthost.wire.aap.older import create_to_v3
from agenthost.wire.aap.v3 import PostSessionTurnResponse
from agenthost.wire.json import Json, encode_json

__all__ = ["routes_of"]

log = logging.getLogger("agenthost.aap")

Handler: TypeAlias = Callable[["Call"], Awaitable[None]]

_STOPPING = Problem(503, *NOT_OPEN[Phase.STOPPING])
META = "meta"
"""A command that AHP does not have: to describe what is served."""

_ID = "{id}"
"""What stands in the paths for the id of a session."""

_TURN_STOP = encode_event({"event": "turn_stop", "stopReason": "error"})


class Call:
    """One request: who asks, for what, and the way to answer."""

    def __init__(self, host: Host, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self.host = host
        self.caller = caller_of(scope)
        self.sessions = Sessions(host, self.caller)
        self._scope = scope
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self.has_begun = False

    @property
    def id(self) -> str:
        """The id of the session, from the path."""
        return str(self._scope["path_params"]["id"])

    def query(self, name: str) -> str | None:
        """Give a parameter of the query; the last, if there are several."""
        values = parse_qs(self._scope["query_string"].decode("latin-1"), keep_blank_values=True).get(name)
        return values[-1] if values else None

    def body(self) -> Awaitable[bytes]:
        """Read the body.

        Raises:
            TooLarge: it is larger than the host takes.
        """
        return read_body(self._scope, self._receive, self._max_bytes)

    async def answer(self, body: Json, status: int = 200, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Answer with JSON; nothing at all for 204. `more` are headers."""
        if status == 204:
            await self._begin(status, [])
            await self._send({"type": "http.response.body", "body": b""})
            return
        data = encode_json(body)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(data)), *more]
        await self._begin(status, headers)
        await self._send({"type": "http.response.body", "body": data})

    async def stream(self, exchange: Exchange, first: bytes = b"") -> None:
        """Answer with events, until the turn stops or the application leaves; the turn goes on without it."""
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache, no-transform"),
            (b"x-accel-buffering", b"no"),
        ]
        await self._begin(200, headers)
        self._follow(exchange)
        try:
            async for chunk in exchange.events():
                await self.write(first + chunk)
                first = b""
                if not self._is_allowed():
                    await self.write(_TURN_STOP)
                    break
        except asyncio.CancelledError:  # the server stops; the turn goes on when it is back
            await self.write(first + _TURN_STOP)
        except Exception:  # whatever it was, a stream has an end
            log.exception("a stream broke")
            await self.write(first + _TURN_STOP)
        await self._send({"type": "http.response.body", "body": b""})

    def _is_allowed(self) -> bool:
        """Tell whether who asked would still be let in: the key may expire, or be revoked."""
        admission: Admission = self._scope[ADMISSION]
        return admission.is_valid

    async def wait_answer(self, exchange: Exchange) -> PostSessionTurnResponse:
        """Wait for the turn to stop, and give all of it."""
        self._follow(exchange)
        return await exchange.answer()

    def _follow(self, exchange: Exchange) -> None:
        """Have the exchange know when the application leaves."""
        visitor = self._scope.get(VISITOR)
        if visitor is not None:
            visitor.when_gone = exchange.lose_reader

    def write(self, chunk: bytes) -> Awaitable[None]:
        """Send a piece of the body."""
        return self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> Awaitable[None]:
        self.has_begun = True
        return self._send({"type": "http.response.start", "status": status, "headers": headers})


def routes_of(host: Host, version: Version, max_bytes: int, nothing: ASGIApp) -> ASGIApp:
    """Give the endpoints of one version, below its base URL; `nothing` answers for all other paths."""
    endpoints: list[tuple[str, str, str, Handler]] = [
        ("GET", "/meta", META, lambda call: get_meta(call, version)),
        ("GET", "/sessions", "listSessions", lambda call: get_sessions(call, version)),
        ("GET", version.one, "fetchTurns", lambda call: get_session(call, version)),
        ("DELETE", version.one, "disposeSession", delete_session),
        ("POST", version.turns, "session/turnStarted", lambda call: post_turn(call, version)),
    ]
    if version.opens_with_turn:
        endpoints.append(("PUT", "/session", "createSession", lambda call: put_session(call, version)))
    else:
        endpoints.append(("POST", "/sessions", "createSession", lambda call: post_sessions(call, version)))
    if version.has_history:
        endpoints.append(("GET", f"{version.one}/history", "fetchTurns", get_history))
    paths: dict[str, dict[str, tuple[str, Handler]]] = {}
    for method, path, command, handler in endpoints:
        paths.setdefault(path, {})[method] = command, handler
    found = {path: _Endpoint(host, version, methods, max_bytes) for path, methods in paths.items()}
    return _Paths(found, nothing)


class _Paths:
    """The endpoints of one version by their paths, in one look: a name, the id of a session, another name."""

    def __init__(self, endpoints: dict[str, "_Endpoint"], nothing: ASGIApp) -> None:
        self._nothing = nothing
        self._routes = {path: Route(path, one) for path, one in endpoints.items()}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        parts = get_route_path(scope).split("/")
        params = {}
        if len(parts) > 2:
            params["id"], parts[2] = parts[2], _ID
        route = self._routes.get("/".join(parts))
        if route is None or params.get("id") == "":
            return self._nothing(scope, receive, send)
        scope["route"] = route  # for the metrics
        scope["path_params"] = params
        return route.app(scope, receive, send)


class _Endpoint:
    """One path: its handlers, by method, with the commands that they are, and what all have in common."""

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
            problem = Problem(405, "method_not_allowed", f"this path takes {allowed}")
            await call.answer(problem.body(), 405, [(b"allow", allowed.encode())])
            return
        command, handler = found
        try:
            call.caller.rights.check(command)
            await handler(call)
        except asyncio.CancelledError:
            if call.has_begun:
                raise
            await call.answer(_STOPPING.body(), _STOPPING.status)  # the turn goes on when the server is back
        except Problem as problem:
            await call.answer(problem.body(), problem.status)
        except HostError as error:
            told = problem_of(self._version.told(error))
            if told.status >= 500:
                log.warning("a request failed: %s", error)
            await call.answer(told.body(), told.status)


async def get_meta(call: Call, version: Version) -> None:
    """`GET /meta`: what is served here."""
    await call.answer(version.meta(meta(call.host.agents.values())))


async def get_sessions(call: Call, version: Version) -> None:
    """`GET /sessions`: a page of sessions, newest first."""
    await call.answer(version.page(await call.sessions.page(call.query("after"))))


async def get_session(call: Call, version: Version) -> None:
    """`GET` of one session: how it is set up; in version 1, with its history."""
    info = call.sessions.show(await call.sessions.find(call.id))
    if version.has_history:
        await call.answer(version.session(info))
        return
    session = await call.sessions.get(call.id)
    history = await call.sessions.history(session, call.query("history"), "history")
    told: Any = {**version.session(info), **({"history": history} if history else {})}
    await call.answer(told)


async def get_history(call: Call) -> None:
    """`GET` of the history: what was said, exactly, or as the model now sees it."""
    session = await call.sessions.get(call.id)
    await call.answer({"history": await call.sessions.history(session, call.query("type"))})


async def delete_session(call: Call) -> None:
    """`DELETE` of one session, with all that belongs to it."""
    await call.sessions.delete(call.id)
    await call.answer(None, 204)


async def post_sessions(call: Call, version: Version) -> None:
    """`POST /sessions`: open a session; nothing is run."""
    session = await call.sessions.create(version.create.decode(await call.body()))
    await call.answer({"sessionId": session.row.name}, 201)


async def put_session(call: Call, version: Version) -> None:
    """`PUT /session`: open a session and run its first turn."""
    create, turn = create_to_v3(version.create.decode(await call.body()))
    call.sessions.check_turn(create, turn)
    session = await call.sessions.create(create)
    try:
        exchange = await begin_turn(call.host, session, turn, call.caller.rights)
    except (HostError, Problem):
        await call.host.dispose_session(session.row.uri)  # nobody will ever know its id
        raise
    started = {"sessionId": session.row.name}
    if turn.get("stream", "none") == "none":
        await call.answer({**started, **await call.wait_answer(exchange)})
    else:
        await call.stream(exchange, encode_event({"event": "session_start", **started}))


async def post_turn(call: Call, version: Version) -> None:
    """Hand over messages, and give what follows.

    Ends when the agent is done, or needs a result or a permission of the application.
    """
    body = version.turn_to_v3(version.turn.decode(await call.body()))
    session = await call.sessions.get(call.id)
    # Awaited before the first byte, so a refusal is still a status code.
    exchange = await begin_turn(call.host, session, body, call.caller.rights)
    if body.get("stream", "none") == "none":
        await call.answer(await call.wait_answer(exchange))
    else:
        await call.stream(exchange)
