"""CORS: which pages in a browser may read our answers, and which may make us do something.

A browser sends a page's requests to any server, this machine's own too, and says from which page in `Origin`.
Where keys are needed that is harmless: a page without one gets nothing. Without keys whoever can reach the
server is trusted, so what a foreign page sends must not change anything, and it may open no WebSocket.
"""

import logging
import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from starlette.datastructures import Headers
from starlette.types import Scope

from agenthost.settings import LOCAL_PAGES

__all__ = ["ANY", "Cors", "Visit", "changes_something"]

log = logging.getLogger("agenthost.http")

ANY = "*"

DESKTOP = frozenset({"vscode-file://vscode-app"})
"""Windows of programs on this machine: that of VS Code. No page on the web can have such an origin."""

METHODS = "GET, HEAD, POST, PUT, DELETE"
HEADERS = "Authorization, Content-Type, Accept"
EXPOSED = "Retry-After, WWW-Authenticate"
MAX_AGE = "600"

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

MAX_ORIGIN = 200
"""How much of an origin is written to the log."""

MAX_REPORTED = 100
"""For how many origins it is said that they were refused."""

_PORT = re.compile(r":\d{1,5}$")
_HEADER_LIST = re.compile(r"[A-Za-z0-9_, -]{1,1000}")


Added: TypeAlias = list[tuple[bytes, bytes]]
"""Headers to answer with."""


class Visit(NamedTuple):
    """What a request is in the eyes of a browser.

    Attributes:
        is_welcome: whether it may come from the page it comes from. One that names none is no page's.
        is_preflight: whether a browser asks what a page may send.
        added: the headers to answer with, so that a page which is welcome can read it.
    """

    is_welcome: bool
    is_preflight: bool
    added: Added


class Cors:
    """The origins that are welcome."""

    def __init__(self, origins: Iterable[str] = LOCAL_PAGES) -> None:
        """Welcome these: `https://app.example`, `http://localhost:*` for any port, or `*` for all."""
        given = {origin.lower() for origin in origins}
        self._is_any = ANY in given
        self._any_port = frozenset(origin.removesuffix(":*") for origin in given if origin.endswith(":*"))
        self._exact = frozenset(origin for origin in given if not origin.endswith(":*"))
        self._vary: Added = [] if self._is_any else [(b"vary", b"Origin")]
        self._of_no_page = Visit(is_welcome=True, is_preflight=False, added=self._vary)
        self._reported: set[str] = set()

    def look(self, scope: Scope) -> Visit:
        """Look from which page a request comes, if from any."""
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if not origins:
            return self._of_no_page
        headers = Headers(scope=scope)
        is_welcome = len(origins) == 1 and self._is_welcome(origins[0].lower(), headers)
        is_asking = scope["type"] == "http" and scope["method"] == "OPTIONS"
        is_preflight = is_asking and "access-control-request-method" in headers
        return Visit(is_welcome, is_preflight, self._added(origins[0]) if is_welcome else self._vary)

    def _is_welcome(self, origin: str, headers: Headers) -> bool:
        if (
            self._is_any
            or origin in self._exact
            or origin in DESKTOP
            or _PORT.sub("", origin) in self._any_port
        ):
            return True
        # Our own page, under the name that the `Host` header was checked for.
        return origin.partition("://")[2] == headers.get("host", "").lower() != ""

    def report(self, scope: Scope) -> None:
        """Say in the log that a page was refused, and which setting would let it in: once for each origin."""
        origin = b", ".join(value for name, value in scope["headers"] if name == b"origin").decode("latin-1")
        shown = ascii(origin[:MAX_ORIGIN])
        if shown in self._reported or len(self._reported) >= MAX_REPORTED:
            return
        self._reported.add(shown)
        log.warning("a page of origin %s was refused: cors_origins (--cors-origins) does not name it", shown)

    def allow(self, scope: Scope) -> dict[str, str]:
        """Answer a preflight: what a page may send. No header is worth more than another here."""
        asked = Headers(scope=scope).get("access-control-request-headers", "")
        return {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": asked if _HEADER_LIST.fullmatch(asked) else HEADERS,
            "Access-Control-Max-Age": MAX_AGE,
        }

    def _added(self, origin: str) -> Added:
        allowed = ANY if self._is_any else origin
        return [
            *self._vary,
            (b"access-control-allow-origin", allowed.encode("latin-1")),
            (b"access-control-expose-headers", EXPOSED.encode()),
        ]


def changes_something(scope: Scope) -> bool:
    """Tell whether a request could change anything. A WebSocket can, though it begins as a `GET`."""
    return scope["type"] == "websocket" or scope["method"] not in SAFE
