"""The ASGI application: what every request goes through, and where the protocols are mounted.

A request is counted, authenticated (`access`), and then checked in this order: its `Host` header, its origin
(`cors`), its rate (`rates`), its key, and whether the host is open. Then it is routed. Refusals have one
form: `{"error": {"code", "message"}}`. Other nodes of the host have an endpoint that checks them itself.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Collection, Mapping, Sequence
from typing import NamedTuple

from starlette._utils import get_route_path
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
from agenthost.edges.ahp.wire_log import WireLog
from agenthost.edges.cors import Cors, OriginCheck, changes_something
from agenthost.edges.health import NOT_OPEN, Phase, find_trouble
from agenthost.edges.metrics import CONTENT_TYPE, Metrics
from agenthost.edges.page import Page
from agenthost.edges.peer import serve_peer
from agenthost.edges.rates import Rates, client_source
from agenthost.edges.responses import (
    error_response,
    failed,
    failure,
    http_error,
    json_response,
    not_found,
    refuse,
)
from agenthost.errors import GrantMissing
from agenthost.host.cluster.websocket import PEER_PATH
from agenthost.host.host import Host
from agenthost.settings import MAX_BODY

__all__ = ["META_PATHS", "App"]

log = logging.getLogger("agenthost.http")

CORS_HEADERS = "agenthost.readable"
"""The entry of the scope with the headers that let a page read the response."""

RESPONSE_STARTED = "agenthost.has_begun"
"""The entry of the scope that is set once a response has started, so that no other can be sent."""

ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that are served even while the host is not open."""

AHP_PATHS = ("/ahp", "/ahp/")
"""Where AHP is served. Plain HTTP requests get an explanation."""

META_PATHS = frozenset({"/aap/meta", *(f"/aap/v{version.number}/meta" for version in VERSIONS)})
"""Where AAP describes what is served."""


class Refusal(NamedTuple):
    """Why a request is refused: a status, a stable code, a message, and headers."""

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
    """Everything that is served, as one ASGI application.

    Attributes:
        phase: whether the server is starting, ready or stopping. The server sets it.
        stopping: set when the server stops, so that endless streams end.
        requests: how many requests were answered, by route and status.
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
        """Create the application for a host.

        Args:
            host: the host. `phase` says whether it is open.
            names: what the `Host` header may name; empty allows any name.
            extra: additional routes.
            allowed: additional names. If keys are required, any name is allowed unless this is set.
            access: who has access; by default everybody.
            cors: which origins are allowed; by default pages of this machine.
            rates: the rate limit; by default none.
            max_body: the largest body of a request.
            wire: the log of AHP messages; by default none.
            page: the page for browsers; by default the one that was built.
        """
        self.phase = Phase.STARTING
        self.stopping = asyncio.Event()
        self.requests: Counter[tuple[str, int]] = Counter()
        self._host = host
        self._names = frozenset(name.lower() for name in (*names, *(allowed if names else ())))
        self._are_names_set = bool(allowed)
        self._access = access or Access()
        self._cors = cors or Cors()
        self._rates = rates if rates is not None and rates.is_on else None
        self._max_body = max_body
        self._metrics = Metrics(host, self.requests)
        self._page = Page() if page is None else page
        self._ahp = WebSocketApp(host, Peers(), self.stopping, wire)
        # Longest first: `/aap/v1` is also below `/aap`.
        mounted = sorted(self._mounted().items(), key=lambda item: len(item[0]), reverse=True)
        self._mounts = [(f"{path}/", path, app) for path, app in mounted]
        self._routed_app = self._routed([*self._routes(), *extra])

    def _routes(self) -> list[BaseRoute]:
        """Return the routes, with the protocols."""
        return [
            Route("/healthz", self._healthz, methods=["GET"]),
            Route("/readyz", self._readyz, methods=["GET"]),
            Route("/metrics", self._show_metrics, methods=["GET"]),
            Route("/openapi.json", self._show_openapi, methods=["GET"]),
            # Clients that know only the address of the server connect to `/`.
            *(WebSocketRoute(path, self._ahp) for path in (*AHP_PATHS, "/")),
            *(Route(path, self._ahp) for path in AHP_PATHS),
            *self._page.routes(lambda: self._access.needs_key),
        ]

    def _mounted(self) -> dict[str, ASGIApp]:
        """Return the versions of AAP by their base URLs."""
        versions = {f"/aap/v{version.number}": version for version in VERSIONS}
        found = {**versions, "/aap": NEWEST}
        return {
            path: routes_of(self._host, version, self._max_body, not_found) for path, version in found.items()
        }

    def _routed(self, routes: list[BaseRoute]) -> ASGIApp:
        app = Starlette(routes=routes, exception_handlers={HTTPException: http_error, Exception: failed})
        app.router.redirect_slashes = False  # a redirect would echo the `Host` header
        app.router.default = not_found
        return app

    # Plain functions instead of coroutines: an extra frame would be resumed for each event of a turn.

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve a request or a WebSocket."""
        if scope["type"] != "http":
            peers = self._host.peers
            if peers is not None and scope["path"] == PEER_PATH and self.phase is not Phase.STARTING:
                options = self._host.peer_options
                return serve_peer(peers, scope, receive, send, is_plain_allowed=options.is_plain_allowed)
            return self._checked(scope, receive, send)

        def answer(message: Message) -> Awaitable[None]:
            """Send, count the response, and add the headers that let a page read it."""
            if message["type"] == "http.response.start":
                self.requests[_route_name(scope), message["status"]] += 1
                scope[RESPONSE_STARTED] = True
                if CORS_HEADERS in scope:
                    message = {**message, "headers": [*message.get("headers", ()), *scope[CORS_HEADERS]]}
            return send(message)

        return self._checked(scope, receive, answer)

    def _checked(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Refuse the request, or pass it on."""
        admission = self._access.admit(scope)
        if self._names and self._is_misdirected(scope):
            return refuse(scope, receive, send, *_MISDIRECTED)
        origin = self._cors.no_page
        for name, _ in scope["headers"]:
            if name == b"origin":
                origin = self._cors.check(scope)
                break
        if scope["type"] == "http":
            scope[CORS_HEADERS] = origin.headers
        refusal = self._refusal(scope, admission, origin)
        if refusal is not None:
            return refuse(scope, receive, send, *refusal)
        if origin.is_preflight:
            return Response(status_code=204, headers=self._cors.allow(scope))(scope, receive, send)
        if scope["type"] == "http":
            # Starlette would do the same in five layers, each of which wraps `send`.
            path = get_route_path(scope)
            for head, root, app in self._mounts:
                if path.startswith(head):
                    scope["root_path"] = scope.get("root_path", "") + root
                    return self._guarded(app, scope, receive, send)
        return self._routed_app(scope, receive, send)

    async def _guarded(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond if the application fails before it has. The error is raised again, for the server's log."""
        try:
            await app(scope, receive, send)
        except Exception:
            if not scope.get(RESPONSE_STARTED):
                await failure(scope, receive, send)
            raise

    def _is_misdirected(self, scope: Scope) -> bool:
        """Return whether a request is addressed to another server.

        A page in a browser can reach a server on the same machine under a name of its own (DNS rebinding),
        but it cannot send a `Host` header with another name. If keys are required, the page has none.
        """
        if self._access.has_keys and not self._are_names_set:
            return False
        return _host_name(scope) not in self._names

    def _refusal(self, scope: Scope, admission: Admission | None, origin: OriginCheck) -> Refusal | None:
        """Return why a request is refused, if it is."""
        if not origin.is_allowed and (
            origin.is_preflight or (not self._access.needs_key and changes_something(scope))
        ):
            self._cors.report(scope)
            return _FOREIGN
        if origin.is_preflight:
            return None  # browsers send no key with it
        if self._rates is not None and scope["path"] not in HEALTH:
            seconds = self._rates.take(_rate_key(scope, admission))
            if seconds:
                sentence = f"too many requests; try again in {seconds} s"
                return Refusal(429, "too_many_requests", sentence, {"Retry-After": str(seconds)})
        if admission is not None and self.phase.is_open:
            return None
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
        return error_response(503, trouble.code, trouble.message)

    async def _show_metrics(self, request: Request) -> Response:
        try:
            self._access.check(request.scope, METRICS)
        except GrantMissing as error:
            return error_response(403, "grant_missing", str(error))
        return Response(self._metrics.text(is_open=self.phase.is_open), media_type=CONTENT_TYPE)

    async def _show_openapi(self, _request: Request) -> Response:
        return json_response(openapi())


def _rate_key(scope: Scope, admission: Admission | None) -> str:
    """Return the name under which requests are counted: that of the key, or of the address."""
    if admission is not None and admission.key_id is not None:
        return f"key:{admission.key_id}"
    client = scope.get("client")
    return f"address:{client_source(client[0])}" if client else "address:"


def _host_name(scope: Scope) -> str:
    """Return the name in the `Host` header, without the port; empty if it is missing or repeated."""
    found = [str(value, "latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(found) != 1:
        return ""
    host = found[0].strip().lower()
    end = host.rfind("]") if host.startswith("[") else -1
    return host[: end + 1] if end >= 0 else host.partition(":")[0]


def _route_name(scope: Scope) -> str:
    """Return the route as it was declared. Raw paths would be an unbounded set of labels."""
    route, root = scope.get("route"), scope.get("root_path", "")
    if isinstance(route, Mount):
        return str(root) or "/"
    return f"{root}{route.path}" if isinstance(route, Route) else "other"
