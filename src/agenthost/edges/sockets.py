"""WebSockets of uvicorn, with an end for those who do not read. Knows no protocol above."""

import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from agenthost.edges.connections import VISITOR, Visitor

__all__ = ["WebSocketProtocol"]

log = logging.getLogger("agenthost.http")

LINGER_SECONDS = 10.0
"""How long a peer may take to read what was sent before the end."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed although its peer does not read."""

    def __init__(self, *given: Any, visitor: Visitor | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._visitor = visitor
        self._seconds = 0
        if visitor is not None:
            visitor.peer = self

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered: the one to connect, as long as nobody was let in."""
        return self.handshake_initiated

    def check_time(self) -> None:
        """End the connection if it does not begin, or does not end. Called once a second."""
        is_done = self.handshake_complete and not self.transport.is_closing()
        self._seconds = 0 if is_done else self._seconds + 1
        if self._seconds > LINGER_SECONDS:
            self.transport.abort()

    def handle_parser_exception(self) -> None:
        """End the connection of a peer that sends what is no frame, or no text."""
        super().handle_parser_exception()
        log.debug("a WebSocket was ended with %s: its peer sent what is no frame", self.conn.close_sent)

    async def run_asgi(self) -> None:
        """Serve the WebSocket."""
        self.scope[VISITOR] = self._visitor  # type: ignore[literal-required]
        await super().run_asgi()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of all that was held for the peer."""
        super().connection_lost(exc)
        if self._visitor is not None:
            self._visitor.leave()

    def eof_received(self) -> None:
        """Take a peer that sends nothing more for gone, though it may never read what waits for it."""
        self.disconnected = True
        self.writable.set()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def send(self, message: Any) -> None:
        """Send a message; the last one waits for nobody, it stands behind what the peer has not read yet."""
        is_last = message["type"] == "websocket.close"
        if is_last:
            self.writable.set()
        await super().send(message)
        if is_last and self.close_timer is not None:
            # Not `close`, as uvicorn would: that waits until all is read, which may be never.
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        """End the connection of a peer that does not answer pings, even if it has something to read."""
        super().keepalive_timeout()
        self.loop.call_later(1.0, self.transport.abort)
