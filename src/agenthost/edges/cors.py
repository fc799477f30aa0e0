"""CORS: which pages in a browser may read our responses, and which may change something.

A browser sends a page's requests to any server, even on this machine, and names the page in `Origin`. If keys
are required that is harmless: a page without one gets nothing. Without keys, everybody who can reach the
server is trusted. So requests of foreign pages must not change anything, and may not open a WebSocket.
"""

import logging
import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from starlette.datastructures import Headers
from starlette.types import Scope

from agenthost.settings import LOCAL_ORIGINS

__all__ = ["ANY", "Cors", "OriginCheck", "changes_something"]

log = logging.getLogger("agenthost.http")

ANY = "*"

DESKTOP = frozenset({"vscode-file://vscode-app"})
"""Origins of desktop programs, such as VS Code. No page on the web can have such an origin."""

METHODS = "GET, HEAD, POST, PUT, DELETE"
HEADERS = "Authorization, Content-Type, Accept"
EXPOSED = "Retry-After, WWW-Authenticate"
MAX_AGE = "600"

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

MAX_ORIGIN = 200
"""How many characters of an origin are logged."""

MAX_REPORTED = 100
"""How many refused origins are logged."""

_PORT = re.compile(r":\d{1,5}$")
_HEADER_LIST = re.compile(r"[A-Za-z0-9_, -]{1,1000}")


HeaderList: TypeAlias = list[tuple[bytes, bytes]]
"""Headers of a response."""


class OriginCheck(NamedTuple):
    """The result of checking the origin of a request.

    Attributes:
        is_allowed: whether the origin is allowed, or there is none.
        is_preflight: whether a browser asks what a page may send.
        headers: the headers of the response, so that an allowed page can read it.
    """

    is_allowed: bool
    is_preflight: bool
    headers: HeaderList


class Cors:
    """The allowed origins."""

    def __init__(self, origins: Iterable[str] = LOCAL_ORIGINS) -> None:
        """Allow these: `https://app.example`, `http://localhost:*` for any port, or `*` for all."""
        given = {origin.lower() for origin in origins}
        self._is_any = ANY in given
        self._any_port = frozenset(origin.removesuffix(":*") for origin in given if origin.endswith(":*"))
        self._exact = frozenset(origin for origin in given if not origin.endswith(":*"))
        self._vary: HeaderList = [] if self._is_any else [(b"vary", b"Origin")]
        self.no_page = OriginCheck(is_allowed=True, is_preflight=False, headers=self._vary)
        self._reported: set[str] = set()

    def check(self, scope: Scope) -> OriginCheck:
        """Check the origin of a request."""
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if not origins:
            return self.no_page
        headers = Headers(scope=scope)
        is_allowed = len(origins) == 1 and self._is_allowed(origins[0].lower(), headers)
        is_asking = scope["type"] == "http" and scope["method"] == "OPTIONS"
        is_preflight = is_asking and "access-control-request-method" in headers
        return OriginCheck(
            is_allowed, is_preflight, self._allow_headers(origins[0]) if is_allowed else self._vary
        )

    def _is_allowed(self, origin: str, headers: Headers) -> bool:
        if (
            self._is_any
            or origin in self._exact
            or origin in DESKTOP
            or _PORT.sub("", origin) in self._any_port
        ):
            return True
        # Our own page: the origin is the `Host` header, which was checked before.
        return origin.partition("://")[2] == headers.get("host", "").lower() != ""

    def report(self, scope: Scope) -> None:
        """Log once per origin that a page was refused, and which setting would allow it."""
        origin = b", ".join(value for name, value in scope["headers"] if name == b"origin").decode("latin-1")
        shown = ascii(origin[:MAX_ORIGIN])
        if shown in self._reported or len(self._reported) >= MAX_REPORTED:
            return
        self._reported.add(shown)
        log.warning("a page of origin %s was refused: cors_origins (--cors-origins) does not name it", shown)

    def allow(self, scope: Scope) -> dict[str, str]:
        """Return the headers for a preflight. Any request header is allowed: none gives extra rights."""
        asked = Headers(scope=scope).get("access-control-request-headers", "")
        return {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": asked if _HEADER_LIST.fullmatch(asked) else HEADERS,
            "Access-Control-Max-Age": MAX_AGE,
        }

    def _allow_headers(self, origin: str) -> HeaderList:
        allowed = ANY if self._is_any else origin
        return [
            *self._vary,
            (b"access-control-allow-origin", allowed.encode("latin-1")),
            (b"access-control-expose-headers", EXPOSED.encode()),
        ]


def changes_something(scope: Scope) -> bool:
    """Return whether a request could change anything. A WebSocket can, although it starts as a `GET`."""
    return scope["type"] == "websocket" or scope["method"] not in SAFE
