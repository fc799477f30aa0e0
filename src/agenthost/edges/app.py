"""The application: what every request goes through, and where the protocols are mounted.

A request passes, in this order: the count, the check of its `Host` header, of the page that it comes from
(`cors`), of how often (`rates`) and by whom (`access`) we are asked, the question whether the host is open,
and the routes. What is refused is answered in one form: `{"error": {"code", "message"}}`.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agenthost.core.decisions.grants import METRICS
from agenthost.edges.aap.openapi import openapi
from agenthost.edges.aap.routes import routes_of
from agenthost.edges.aap.versions import NEWEST, VERSIONS
from agenthost.edges.access import HEALTH, Access, Admission
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.websocket import WebSocketApp
from agenthost.edges.ahp.wirelog import WireLog
from agenthost.edges.cors import Cors, Visit, changes_something
from agenthost.edges.health import NOT_OPEN, Phase, find_trouble
from agenthost.edges.metrics import CONTENT_TYPE, Metrics
from agenthost.edges.mounts import HAS_BEGUN, Mounts
from agenthost.edges.page import Page
from agenthost.edges.rates import Rates, source_of
from agenthost.errors import GrantMissing
from agenthost.host.host import Host
from agenthost.settings import MAX_BODY
from agenthost.wire.json import Json, encode_json

__all__ = ["META_PATHS", "App", "json_response", "refuse"]

log = logging.getLogger("agenthost.http")

READABLE = "agenthost.readable"
"""The entry of the scope with the headers that let a page read the answer."""

ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})
"""The paths that are answered while the host is not open, too."""

AHP_PATHS = ("/ahp", "/ahp/")
"""Where AHP is served, and says so to whoever asks without WebSocket."""

META_PATHS = frozenset({"/aap/meta", *(f"/aap/v{version.number}/meta" for version in VERSIONS)})
"""Where AAP describes what is served."""

_REFUSALS = {
    404: ("not_found", "there is nothing at this path"),
    405: ("method_not_allowed", "this path does not take that method"),
    500: ("internal_error", "something went wrong here; the server's log says what"),
}


class Refusal(NamedTuple):
    """Why a request is not answered: a status, a stable code, a sentence, and headers that belong to it."""

    status: int
    code: str
    message: str
    headers: Mapping[str, str] = {}


_MISDIRECTED = Refusal(
    421, "misdirected_request", "the Host header names another server; this one answers to localhost"
)
_FOREIGN = Refusal(
    403, "forbidden_origin", "pages of this origin may not do that here; see the setting cors_origins"
)
_WITHOUT_KEY = Refusal(
    401,
    "unauthorized",
    "a valid API key, or the server's token, is needed: Authorization: Bearer KEY",
    {"WWW-Authenticate": "Bearer"},
)


class App:
    """All that is served, as one ASGI application.

    Attributes:
        phase: how far the server is; it says so.
        stopping: set when the server stops: streams that would go on for ever have to end now.
        requests: how many were answered, by route and status.
    """

    def __init__(
        self,
        host: Host,
        names: Collection[str] = (),
        extra: Sequence[BaseRoute] = (),
        *,
        allowed: Collection[str] = (),
        access: Access | None = None,
        cors: Cors | None = None,
        rates: Rates | None = None,
        max_body: int = MAX_BODY,
        wire: WireLog | None = None,
        page: Page | None = None,
    ) -> None:
        """Make it for a host.

        Args:
            host: may be open or not; `phase` says which.
            names: what the `Host` header may name; empty means anything.
            extra: routes beside ours.
            allowed: more of such names. Where keys are needed, anything can be named unless there are some.
            access: who may ask; everybody, unless told.
            cors: from which pages; those of this machine, unless told.
            rates: how often; without limit, unless told.
            max_body: how large the body of a request may be.
            wire: where the messages of AHP are written down; nowhere, unless told.
            page: what people see in a browser; what was built, unless told.
        """
        self.phase = Phase.STARTING
        self.stopping = asyncio.Event()
        self.requests: Counter[tuple[str, int]] = Counter()
        self._host = host
        self._names = frozenset(name.lower() for name in (*names, *(allowed if names else ())))
        self._are_names_set = bool(allowed)
        self._access = access or Access()
        self._cors = cors or Cors()
        self._rates = rates or Rates("off")
        self._max_body = max_body
        self._metrics = Metrics(host, self.requests)
        self._page = Page() if page is None else page
        self._ahp = WebSocketApp(host, Peers(), self.stopping, wire)
        self._inner = Mounts(self._mounted(), self._routed([*self._routes(), *extra]), _failure)

    def _routes(self) -> list[BaseRoute]:
        """List what is served. The protocols are mounted here."""
        return [
            Route("/healthz", self._healthz, methods=["GET"]),
            Route("/readyz", self._readyz, methods=["GET"]),
            Route("/metrics", self._show_metrics, methods=["GET"]),
            Route("/openapi.json", self._show_openapi, methods=["GET"]),
            # Clients that are given only the address of the server ask at `/`.
            *(WebSocketRoute(path, self._ahp) for path in (*AHP_PATHS, "/")),
            *(Route(path, self._ahp) for path in AHP_PATHS),
            *self._page.routes(lambda: self._access.needs_key),
        ]

    def _mounted(self) -> dict[str, ASGIApp]:
        """Give the versions of AAP by their base URLs."""
        versions = {f"/aap/v{version.number}": version for version in VERSIONS}
        found = {**versions, "/aap": NEWEST}
        return {
            path: routes_of(self._host, version, self._max_body, _not_found)
            for path, version in found.items()
        }

    def _routed(self, routes: list[BaseRoute]) -> ASGIApp:
        app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error, Exception: _failed})
        app.router.redirect_slashes = False  # a redirect would repeat what the `Host` header says
        app.router.default = _not_found
        return app

    # What only hands on is no coroutine of its own: each would be gone through whenever a turn goes on.

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request or a WebSocket."""
        if scope["type"] == "http":
            send = self._answering(scope, send)
        return self._checked(scope, receive, send)

    def _answering(self, scope: Scope, send: Send) -> Send:
        """Give the way to answer so that it is counted, and that a page which is welcome can read it."""

        def answer(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                self.requests[_route_of(scope), message["status"]] += 1
                scope[HAS_BEGUN] = True
                if READABLE in scope:
                    message = {**message, "headers": [*message.get("headers", ()), *scope[READABLE]]}
            return send(message)

        return answer

    def _checked(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Let only those through who mean us, who may, and when we can."""
        admission = self._access.admit(scope)
        needs_key = self._access.needs_key
        if self._is_misdirected(scope):
            return refuse(scope, receive, send, *_MISDIRECTED)
        visit = self._cors.look(scope)
        if scope["type"] == "http":
            scope[READABLE] = visit.added
        refusal = self._refusal(scope, admission, visit, needs_key)
        if refusal is not None:
            return refuse(scope, receive, send, *refusal)
        if visit.is_preflight:
            return Response(status_code=204, headers=self._cors.allow(scope))(scope, receive, send)
        return self._inner(scope, receive, send)

    def _is_misdirected(self, scope: Scope) -> bool:
        """Tell whether a request is meant for another server.

        A page in a browser can reach a server on the same machine under a name of its own (DNS rebinding);
        what it cannot do is to send another `Host` header than that name. Where keys are needed, it has none.
        """
        if self._access.has_keys and not self._are_names_set:
            return False
        return bool(self._names) and _named(scope) not in self._names

    def _refusal(
        self,
        scope: Scope,
        admission: Admission | None,
        visit: Visit,
        needs_key: bool,  # noqa: FBT001
    ) -> Refusal | None:
        """Say why a request is not answered, if it is not."""
        if not visit.is_welcome and (visit.is_preflight or (not needs_key and changes_something(scope))):
            self._cors.report(scope)
            return _FOREIGN
        if visit.is_preflight:
            return None  # a browser sends no key with it
        is_counted = self._rates.is_on and scope["path"] not in HEALTH
        if is_counted and (seconds := self._rates.take(_who(scope, admission))):
            sentence = f"too many requests; try again in {seconds} s"
            return Refusal(429, "too_many_requests", sentence, {"Retry-After": str(seconds)})
        if self._page.serves(scope):
            return None
        if admission is None:
            return _WITHOUT_KEY
        if self.phase in NOT_OPEN and scope["path"] not in ALWAYS:
            return Refusal(503, *NOT_OPEN[self.phase])
        return None

    async def _healthz(self, _request: Request) -> Response:
        return json_response({"status": "ok"})

    async def _readyz(self, _request: Request) -> Response:
        trouble = find_trouble(self.phase, self._host)
        if trouble is None:
            return json_response({"status": "ok"})
        return _error(503, trouble.code, trouble.message)

    async def _show_metrics(self, request: Request) -> Response:
        try:
            self._access.check(request.scope, METRICS)
        except GrantMissing as error:
            return _error(403, "grant_missing", str(error))
        return Response(self._metrics.text(is_open=self.phase is Phase.READY), media_type=CONTENT_TYPE)

    async def _show_openapi(self, _request: Request) -> Response:
        return json_response(openapi())


def json_response(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(encode_json(body), status, headers, "application/json")


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    return json_response({"error": {"code": code, "message": message}}, status, headers)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer a request, or a WebSocket that is not accepted yet, with an error."""
    response = _error(status, code, message, dict(headers or {}))
    if scope["type"] == "http":
        await response(scope, receive, send)
        return
    start: dict[str, Any] = {"type": "websocket.http.response.start", "status": status}
    await send({**start, "headers": response.raw_headers})
    await send({"type": "websocket.http.response.body", "body": bytes(response.body)})


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    await refuse(scope, receive, send, 404, *_REFUSALS[404])


async def _http_error(_request: Request, error: Exception) -> Response:
    """Answer what a route refused by status."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as it was registered
    code, message = _REFUSALS.get(error.status_code, ("refused", error.detail))
    return _error(error.status_code, code, message, dict(error.headers or {}))


async def _failed(_request: Request, _error_: Exception) -> Response:
    """Answer what nobody expected, without a word of it: the traceback goes to the log, by the server."""
    return _error(500, *_REFUSALS[500])


async def _failure(scope: Scope, receive: Receive, send: Send) -> None:
    await refuse(scope, receive, send, 500, *_REFUSALS[500])


def _who(scope: Scope, admission: Admission | None) -> str:
    """Name whose requests are counted together: those of a key, or of an address."""
    if admission is not None and admission.key_id is not None:
        return f"key:{admission.key_id}"
    client = scope.get("client")
    return f"address:{source_of(client[0])}" if client else "address:"


def _named(scope: Scope) -> str:
    """Give what the `Host` header names, without the port; nothing if there is no such header, or several."""
    found = [str(value, "latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(found) != 1:
        return ""
    host = found[0].strip().lower()
    end = host.rfind("]") if host.startswith("[") else -1
    return host[: end + 1] if end >= 0 else host.partition(":")[0]


def _route_of(scope: Scope) -> str:
    """Give the route as it was declared: a path as it came could be anything, and any number of them."""
    route, root = scope.get("route"), scope.get("root_path", "")
    if isinstance(route, Mount):
        return str(root) or "/"
    return f"{root}{route.path}" if isinstance(route, Route) else "other"
