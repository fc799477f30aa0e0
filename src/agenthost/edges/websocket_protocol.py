"""uvicorn's WebSocket protocol, which also closes connections whose peer does not read."""

import logging
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.protocol import OPEN

from agenthost.edges.connections import SLOT, ConnectionSlot

__all__ = ["WebSocketProtocol"]

log = logging.getLogger("agenthost.http")

LINGER_SECONDS = 10.0
"""How long a peer may take to read what was sent before the end."""

MAX_WAITING = 65_536
"""How many bytes are written together at most."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed even if its peer does not read."""

    def __init__(self, *given: Any, slot: ConnectionSlot | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._slot = slot
        self._seconds = 0
        self._waiting = 0  # how many bytes are still to be written
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
        text = message.get("text")
        if text is not None and self.conn.state is OPEN and not self.close_sent:
            await self._send_text(text)
            return
        is_last = message["type"] == "websocket.close"
        if is_last:
            self.writable.set()
        await super().send(message)
        if is_last and self.close_timer is not None:
            # `abort`, not `close` as uvicorn does: that waits until everything is read, possibly forever.
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    async def _send_text(self, text: str) -> None:
        """Send a text message, together with others of the same moment: each write is a system call."""
        if not self.writable.is_set():
            await self.writable.wait()
        if self.disconnected:
            raise ClientDisconnected
        data = text.encode()
        try:
            self.conn.send_text(data)
        except InvalidState:  # it was closed while this waited
            raise ClientDisconnected from None
        if not self._waiting:
            self.loop.call_soon(self._write)
        self._waiting += len(data)
        if self._waiting > MAX_WAITING:
            self._write()

    def _write(self) -> None:
        self._waiting = 0
        if frames := self.conn.data_to_send():
            self.transport.write(b"".join(frames))

    def keepalive_timeout(self) -> None:
        """End the connection of a peer that does not answer pings, even if it has data to read."""
        super().keepalive_timeout()
        self.loop.call_later(1.0, self.transport.abort)
