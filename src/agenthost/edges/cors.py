"""CORS: which pages in a browser may read our answers, and which may make us do something.

A browser sends a page's requests to any server, this machine's own too, and says from which page in `Origin`.
Where keys are needed that is harmless: a page without one gets nothing. Without keys whoever can reach the
server is trusted, so what a foreign page sends must not change anything, and it may open no WebSocket.
"""

import re
from collections.abc import Iterable, Sequence

from starlette.datastructures import Headers
from starlette.types import Message, Scope, Send

from agenthost.settings import LOCAL_PAGES

__all__ = ["ANY", "Cors", "changes_something"]

ANY = "*"

METHODS = "GET, HEAD, POST, PUT, DELETE"
HEADERS = "Authorization, Content-Type, Accept"
EXPOSED = "Retry-After, WWW-Authenticate"
MAX_AGE = "600"

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

_PORT = re.compile(r":\d{1,5}$")
_HEADER_LIST = re.compile(r"[A-Za-z0-9_, -]{1,1000}")


class Cors:
    """The origins that are welcome."""

    def __init__(self, origins: Iterable[str] = LOCAL_PAGES) -> None:
        """Welcome these: `https://app.example`, `http://localhost:*` for any port, or `*` for all."""
        given = {origin.lower() for origin in origins}
        self._is_any = ANY in given
        self._any_port = frozenset(origin.removesuffix(":*") for origin in given if origin.endswith(":*"))
        self._exact = frozenset(origin for origin in given if not origin.endswith(":*"))

    def welcomes(self, scope: Scope) -> bool:
        """Tell whether a request may come from the page it comes from. One that names none is no page's."""
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if not origins:
            return True
        return len(origins) == 1 and self._is_welcome(origins[0].lower(), headers)

    def _is_welcome(self, origin: str, headers: Headers) -> bool:
        if self._is_any or origin in self._exact or _PORT.sub("", origin) in self._any_port:
            return True
        # Our own page, under the name that the `Host` header was checked for.
        return origin.partition("://")[2] == headers.get("host", "").lower() != ""

    def is_preflight(self, scope: Scope) -> bool:
        """Tell whether a browser asks what a page may send."""
        headers = Headers(scope=scope)
        return (
            scope["type"] == "http"
            and scope["method"] == "OPTIONS"
            and "origin" in headers
            and "access-control-request-method" in headers
        )

    def allow(self, scope: Scope) -> dict[str, str]:
        """Answer a preflight: what a page may send. No header is worth more than another here."""
        asked = Headers(scope=scope).get("access-control-request-headers", "")
        return {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": asked if _HEADER_LIST.fullmatch(asked) else HEADERS,
            "Access-Control-Max-Age": MAX_AGE,
        }

    def opened(self, scope: Scope, send: Send) -> Send:
        """Give the way to answer so that a page which is welcome can read it."""
        added = self._added(scope)

        async def opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        return opened

    def _added(self, scope: Scope) -> Sequence[tuple[bytes, bytes]]:
        vary = [] if self._is_any else [(b"vary", b"Origin")]
        if all(name != b"origin" for name, _ in scope["headers"]) or not self.welcomes(scope):
            return vary
        origin = Headers(scope=scope)["origin"]
        allowed = ANY if self._is_any else origin
        return [
            *vary,
            (b"access-control-allow-origin", allowed.encode("latin-1")),
            (b"access-control-expose-headers", EXPOSED.encode()),
        ]


def changes_something(scope: Scope) -> bool:
    """Tell whether a request could change anything. A WebSocket can, though it begins as a `GET`."""
    return scope["type"] == "websocket" or scope["method"] not in SAFE
