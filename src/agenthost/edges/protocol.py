"""HTTP of uvicorn, with limits on what a request may take before it is whole. Knows no protocol above.

Who takes too long is looked for once a second, on all connections (`check_time`): a request needs no timer.
"""

import logging
from enum import Enum, auto
from functools import partial
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from agenthost.edges.connections import VISITOR, Connections, Visitor
from agenthost.wire.json import encode_json

__all__ = ["HttpProtocol"]

log = logging.getLogger("agenthost.http")

MAX_HEAD_BYTES = 64 * 1024
"""How large the first line and the headers of a request may be, together; trailers and chunk heads, too."""

MAX_HEADERS = 100
MAX_PIPELINED = 32
"""How many requests may wait on one connection while an earlier one is answered."""

HEAD_SECONDS = 10
"""How long it may take until the headers of a request are whole, from the connection's first moment on."""

KEEP_ALIVE_SECONDS = 5
"""How long a connection may be silent between two requests."""

BODY_SECONDS = 20
"""How long a body may take at any rate; from then on it has to come at `MIN_BODY_RATE` in the mean."""

MIN_BODY_RATE = 1024
LINGER_SECONDS = 5
"""How long a peer may still send a body that was refused, or read what was sent before the end."""

UNAUTHENTICATED_SECONDS = 60
"""How long an answer may take if no key was shown: to be read, as none of them takes time to be made."""

STALL_SECONDS = 60
"""How long a peer may read nothing of what is sent to it."""


class _Refusal(Exception):
    """A request that is refused before it is whole."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class _Phase(Enum):
    HEAD = auto()
    BODY = auto()
    UNWANTED_BODY = auto()
    ANSWER = auto()
    STALLED = auto()
    CLOSING = auto()


_NOT_HTTP = _Refusal(400, "bad_request", "this is not a valid HTTP/1.1 request")
_HEAD = _Refusal(431, "headers_too_large", f"the headers are larger than {MAX_HEAD_BYTES} bytes")
_HEADERS = _Refusal(431, "headers_too_large", f"there are more than {MAX_HEADERS} headers")
_SLOW_HEAD = _Refusal(408, "request_timeout", f"the headers were not whole within {HEAD_SECONDS} seconds")
_SLOW_BODY = _Refusal(408, "request_timeout", f"the body came at less than {MIN_BODY_RATE} bytes a second")
_PIPELINED = _Refusal(400, "bad_request", f"more than {MAX_PIPELINED} requests wait for their answers")
_FULL = _Refusal(503, "too_many_connections", "there are too many connections; try again later")


class HttpProtocol(HttpToolsProtocol):
    """One connection that speaks HTTP."""

    def __init__(self, *given: Any, connections: Connections, **named: Any) -> None:
        super().__init__(*given, **named)
        self._connections = connections
        self._visitor: Visitor | None = None
        self._unused = 0
        """Bytes that came since the last header or piece of a body was whole."""
        self._body_bytes = 0
        self._is_open = self._is_in_body = False
        self._begun = 0
        self._answered: RequestResponseCycle | None = None
        """The request that is being answered; with pipelining, not the one that was read last."""
        self._seen: Any = None
        self._seconds = 0

    # The life of the connection

    def connection_made(self, transport: Any) -> None:
        """Take the connection in, if there is room."""
        super().connection_made(transport)
        self._visitor = self._connections.admit(transport, self)
        if self._visitor is None:
            self._refuse(_FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of all that was held for the peer."""
        super().connection_lost(exc)
        self._let_go()
        if self._visitor is not None:
            self._visitor.leave()

    def eof_received(self) -> None:
        """Take a peer that sends nothing more for gone, as uvicorn does; and also what waits for it."""
        self._let_go()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection on."""
        made: Any = self.ws_protocol_class
        self.ws_protocol_class = partial(made, visitor=self._visitor)  # type: ignore[assignment] # it is only called
        super().handle_websocket_upgrade()
        websocket: Any = self.transport.get_protocol()
        if websocket.conn.handshake_exc is not None:  # its own parser is stricter, and says nothing
            self._refuse(_NOT_HTTP)

    def _let_go(self) -> None:
        """Have whoever answers the peer notice that it is gone."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        self.flow.resume_writing()
        if self._visitor is not None:
            self._visitor.tell_gone()

    # The bytes of requests

    def data_received(self, data: bytes) -> None:
        """Read on; what is no request is refused in one line, as strangers may send anything."""
        self._unused += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            return  # to anything else we do not change; the request was answered as it is
        except httptools.HttpParserError as error:
            self._refuse(error.__context__ if isinstance(error.__context__, _Refusal) else _NOT_HTTP)
            return
        if self._unused > MAX_HEAD_BYTES:
            self._refuse(_HEAD)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope[VISITOR] = self._visitor  # type: ignore[literal-required]
        self._begun += 1
        self._is_open, self._is_in_body = True, False

    def on_headers_complete(self) -> None:
        """Check the headers, and let the request be answered."""
        if len(self.headers) > MAX_HEADERS:
            raise _HEADERS
        if self._unused > MAX_HEAD_BYTES and _size(self.url, self.headers) > MAX_HEAD_BYTES:
            raise _HEAD
        if len(self.pipeline) >= MAX_PIPELINED:
            raise _PIPELINED
        self._unused = self._body_bytes = 0
        self._is_in_body = True
        super().on_headers_complete()
        if not self.parser.should_upgrade():
            self.headers = []  # trailers go here: they come after all that they could decide

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._unused = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_open = self._is_in_body = False
        self._unused = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, if there is one. uvicorn would set a timer here each time."""
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())

    # Time

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self._answered is not None and not self._answered.response_complete

    def check_time(self) -> None:
        """End the connection if the peer takes too long. Called once a second."""
        phase = self._phase()
        seen = (phase, self._begun, self._unread() if phase is _Phase.STALLED else 0)
        if seen != self._seen:
            self._seen, self._seconds = seen, 0
            return
        self._seconds += 1
        if self._seconds < self._limit(phase):
            return
        if phase in (_Phase.HEAD, _Phase.BODY):
            self._refuse(_SLOW_HEAD if phase is _Phase.HEAD else _SLOW_BODY)
        else:
            self.transport.abort()

    def _phase(self) -> _Phase:
        if self.transport.is_closing():
            return _Phase.CLOSING
        if self._is_in_body and not self.flow.read_paused:
            return _Phase.BODY if self.is_answering else _Phase.UNWANTED_BODY
        if not self.is_answering:
            return _Phase.HEAD
        return _Phase.STALLED if self.flow.write_paused else _Phase.ANSWER

    def _limit(self, phase: _Phase) -> float:
        """Return after how many seconds of the same phase the connection ends."""
        if phase is _Phase.HEAD:
            return HEAD_SECONDS if self._is_open or not self._begun else KEEP_ALIVE_SECONDS
        if phase is _Phase.BODY:
            return max(BODY_SECONDS, self._body_bytes / MIN_BODY_RATE)
        if phase in (_Phase.CLOSING, _Phase.UNWANTED_BODY):
            return LINGER_SECONDS
        if self._visitor is None or not self._visitor.is_signed_in:
            return UNAUTHENTICATED_SECONDS
        return STALL_SECONDS if phase is _Phase.STALLED else float("inf")

    def _unread(self) -> int:
        return self.transport.get_write_buffer_size()

    # Refusals

    def _has_begun(self) -> bool:
        """Whether bytes of an answer are out, or another request is to be answered first."""
        return bool(self.pipeline) or (self._answered is not None and self._answered.response_started)

    def _refuse(self, why: _Refusal) -> None:
        """End the connection, with an answer if none was begun and something was asked."""
        log.debug("a connection was ended: %s", why.message)
        self._let_go()
        is_silent = why is _SLOW_HEAD and not self._is_open
        if not is_silent and not (self.is_answering and self._has_begun()):
            self.transport.write(_answer(why))
        self.transport.close()


def _size(url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) + 4 for name, value in headers)


def _answer(why: _Refusal) -> bytes:
    body = encode_json({"error": {"code": why.code, "message": why.message}})
    lines = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
    return STATUS_LINE[why.status] + lines + body
