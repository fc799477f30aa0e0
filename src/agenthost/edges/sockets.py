"""WebSockets of uvicorn, with an end for those who do not read. Knows no protocol above."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["WebSocketProtocol"]

LINGER_SECONDS = 10.0
"""How long a peer may take to read what was sent before the end."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed although its peer does not read."""

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
