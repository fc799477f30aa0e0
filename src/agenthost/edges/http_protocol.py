"""uvicorn's HTTP protocol, with limits on size and time until a request is complete.

Time limits are checked once a second for all connections (`check_time`), so a request needs no timer.
"""

import asyncio
import logging
from enum import Enum, auto
from functools import partial
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from agenthost.edges.connections import SLOT, Connections, ConnectionSlot
from agenthost.wire.json import encode_json

__all__ = ["HttpProtocol"]

log = logging.getLogger("agenthost.http")

MAX_HEAD_BYTES = 64 * 1024
"""The largest request line and headers together. Trailers and chunk headers count too."""

MAX_HEADERS = 100
MAX_PIPELINED = 32
"""How many requests may wait on one connection while an earlier one is answered."""

HEAD_SECONDS = 10
"""How long the headers of a request may take, from the start of the connection."""

KEEP_ALIVE_SECONDS = 5
"""How long a connection may be idle between two requests."""

BODY_SECONDS = 20
"""How long a body may take at any rate. After that it needs an average rate of `MIN_BODY_RATE`."""

MIN_BODY_RATE = 1024
LINGER_SECONDS = 5
"""How long a peer may still send a refused body, or read what was sent before the end."""

UNAUTHENTICATED_SECONDS = 60
"""How long an unauthenticated peer may take to read its response."""

STALL_SECONDS = 60
"""How long a peer may read nothing of what is sent to it."""


class _Refusal(Exception):
    """A request that is refused before it is complete."""

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
_SLOW_HEAD = _Refusal(408, "request_timeout", f"the headers were not complete within {HEAD_SECONDS} seconds")
_SLOW_BODY = _Refusal(408, "request_timeout", f"the body came at less than {MIN_BODY_RATE} bytes a second")
_PIPELINED = _Refusal(400, "bad_request", f"more than {MAX_PIPELINED} requests wait for their answers")
_FULL = _Refusal(503, "too_many_connections", "there are too many connections; try again later")


class HttpProtocol(HttpToolsProtocol):
    """One connection that speaks HTTP."""

    def __init__(self, *given: Any, connections: Connections, **named: Any) -> None:
        super().__init__(*given, **named)
        self._connections = connections
        self._slot: ConnectionSlot | None = None
        self._unused = 0
        """Bytes received since the headers, or a piece of the body, were last complete."""
        self._body_bytes = 0
        self._is_open = self._is_in_body = False
        self._begun = 0
        self._answered: RequestResponseCycle | None = None
        """The request being answered. With pipelining it is not the last one that was read."""
        self._seen: Any = None
        self._seconds = 0

    # Connection

    def connection_made(self, transport: Any) -> None:
        """Accept the connection, if there is room."""
        super().connection_made(transport)
        self._slot = self._connections.admit(transport, self)
        if self._slot is None:
            self._refuse(_FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything that was held for the peer."""
        super().connection_lost(exc)
        self._notify_disconnect()
        if self._slot is not None:
            self._slot.leave()

    def eof_received(self) -> None:
        """Treat a peer that has closed its side as disconnected, as uvicorn does."""
        self._notify_disconnect()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the WebSocket protocol."""
        made: Any = self.ws_protocol_class
        self.ws_protocol_class = partial(made, slot=self._slot)  # type: ignore[assignment] # it is only called
        super().handle_websocket_upgrade()
        websocket: Any = self.transport.get_protocol()
        if websocket.conn.handshake_exc is not None:  # its parser is stricter, and sends no response
            self._refuse(_NOT_HTTP)

    def _notify_disconnect(self) -> None:
        """Notify the code that answers the peer that it is gone."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        self.flow.resume_writing()
        if self._slot is not None:
            self._slot.notify_disconnect()

    # Parsing

    def data_received(self, data: bytes) -> None:
        """Parse more data. Anything that is not a valid request is refused."""
        self._unused += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            return  # other upgrades are ignored; the request is answered as HTTP/1.1
        except httptools.HttpParserError as error:
            self._refuse(error.__context__ if isinstance(error.__context__, _Refusal) else _NOT_HTTP)
            return
        if self._unused > MAX_HEAD_BYTES:
            self._refuse(_HEAD)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope[SLOT] = self._slot  # type: ignore[literal-required]
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
            self.headers = []  # trailers are parsed into this list: nobody must take them for headers

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        cycle.transport = _Head(cycle, self.loop)  # type: ignore[assignment] # all that a cycle uses
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        """Receive a piece of the body."""
        self._unused = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_open = self._is_in_body = False
        self._unused = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the next request, if there is one. uvicorn would set a timer here each time."""
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())

    # Time limits

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
        """Return how many seconds the connection may stay in this phase."""
        if phase is _Phase.HEAD:
            return HEAD_SECONDS if self._is_open or not self._begun else KEEP_ALIVE_SECONDS
        if phase is _Phase.BODY:
            return max(BODY_SECONDS, self._body_bytes / MIN_BODY_RATE)
        if phase in (_Phase.CLOSING, _Phase.UNWANTED_BODY):
            return LINGER_SECONDS
        if self._slot is None or not self._slot.is_authenticated:
            return UNAUTHENTICATED_SECONDS
        return STALL_SECONDS if phase is _Phase.STALLED else float("inf")

    def _unread(self) -> int:
        return self.transport.get_write_buffer_size()

    # Refusals

    def _has_begun(self) -> bool:
        """Return whether a response has started, or another request has to be answered first."""
        return bool(self.pipeline) or (self._answered is not None and self._answered.response_started)

    def _refuse(self, refusal: _Refusal) -> None:
        """Close the connection, with a response if a request was sent and none has started."""
        log.debug("a connection was closed: %s", refusal.message)
        self._notify_disconnect()
        is_silent = refusal is _SLOW_HEAD and not self._is_open
        if not is_silent and not (self.is_answering and self._has_begun()):
            self.transport.write(_answer(refusal))
        self.transport.close()


class _Head:
    """The transport of a response whose body has not begun. Its head is written together with the body.

    Each write is a system call. A head whose body does not follow at once is written without it.
    """

    __slots__ = ("_cycle", "_data", "_loop", "_transport")

    def __init__(self, cycle: RequestResponseCycle, loop: asyncio.AbstractEventLoop) -> None:
        self._cycle = cycle
        self._transport = cycle.transport
        self._loop = loop
        self._data = b""

    def write(self, data: bytes) -> None:
        """Keep the head for a moment, or write it with the beginning of the body."""
        if self._data:
            self._data += data
            self._flush()
        else:
            self._data = data
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        data, self._data = self._data, b""
        if data:
            self._cycle.transport = self._transport
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Return whether nothing more can be written."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Write what is left, and close."""
        self._flush()
        self._transport.close()


def _size(url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) + 4 for name, value in headers)


def _answer(refusal: _Refusal) -> bytes:
    body = encode_json({"error": {"code": refusal.code, "message": refusal.message}})
    lines = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
    return STATUS_LINE[refusal.status] + lines + body
