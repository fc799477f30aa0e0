"""uvicorn's WebSocket protocol, which also closes connections whose peer does not read."""

import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from agenthost.edges.connections import SLOT, ConnectionSlot

__all__ = ["WebSocketProtocol"]

log = logging.getLogger("agenthost.http")

LINGER_SECONDS = 10.0
"""How long a peer may take to read what was sent before the end."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed even if its peer does not read."""

    def __init__(self, *given: Any, slot: ConnectionSlot | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._slot = slot
        self._seconds = 0
        if slot is not None:
            slot.peer = self

    @property
    def is_answering(self) -> bool:
        """Whether the request to connect is being answered."""
        return self.handshake_initiated

    def limit_messages(self, size: int) -> None:
        """Close the connection if its peer sends a larger message from now on."""
        self.conn.max_message_size = size

    def check_time(self) -> None:
        """End the connection if opening or closing it takes too long. Called once a second."""
        is_done = self.handshake_complete and not self.transport.is_closing()
        self._seconds = 0 if is_done else self._seconds + 1
        if self._seconds > LINGER_SECONDS:
            self.transport.abort()

    def handle_parser_exception(self) -> None:
        """Close the connection of a peer that sends an invalid frame, or invalid text."""
        super().handle_parser_exception()
        log.debug("a WebSocket was closed with %s: its peer sent an invalid frame", self.conn.close_sent)

    async def run_asgi(self) -> None:
        """Serve the WebSocket."""
        self.scope[SLOT] = self._slot  # type: ignore[literal-required]
        await super().run_asgi()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything that was held for the peer."""
        super().connection_lost(exc)
        if self._slot is not None:
            self._slot.leave()

    def eof_received(self) -> None:
        """Treat a peer that has closed its side as disconnected, even if it never reads what is left."""
        self.disconnected = True
        self.writable.set()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def send(self, message: Any) -> None:
        """Send a message. A close does not wait until the peer has read what was sent before."""
        is_last = message["type"] == "websocket.close"
        if is_last:
            self.writable.set()
        await super().send(message)
        if is_last and self.close_timer is not None:
            # `abort`, not `close` as uvicorn does: that waits until everything is read, possibly forever.
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        """End the connection of a peer that does not answer pings, even if it has data to read."""
        super().keepalive_timeout()
        self.loop.call_later(1.0, self.transport.abort)
