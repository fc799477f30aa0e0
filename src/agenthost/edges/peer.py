"""The endpoint for other nodes of this host, over WebSocket. They prove who they are by the secret key."""

from starlette.types import Receive, Scope, Send

from agenthost.edges.connections import SLOT, sign_in
from agenthost.edges.websocket_protocol import WebSocketProtocol
from agenthost.host.cluster.channels import MAX_FRAME, MAX_GREETING, ChannelClosed
from agenthost.host.cluster.peers import Peers
from agenthost.host.store_address import is_near

__all__ = ["serve_peer"]


class ServerChannel:
    """The called side of a WebSocket as a channel."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_open = True
        self._limit(MAX_GREETING)

    def _limit(self, size: int) -> None:
        slot = self._scope.get(SLOT)
        if slot is not None and isinstance(slot.peer, WebSocketProtocol):
            slot.peer.limit_messages(size)

    async def receive(self) -> bytes:
        """Return the next message; see `Channel`."""
        message = await self._receive()
        if message["type"] != "websocket.receive":
            self._is_open = False
            raise ChannelClosed("the connection was closed")
        text: str | None = message.get("text")
        return message.get("bytes") or b"" if text is None else text.encode()

    async def send(self, message: bytes) -> None:
        """Send a message; see `Channel`."""
        if not self._is_open:
            raise ChannelClosed("the connection was closed")
        try:
            await self._send({"type": "websocket.send", "bytes": message})
        except OSError:
            self._is_open = False
            raise ChannelClosed("the connection was lost") from None

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        if self._is_open:
            self._is_open = False
            await self._send({"type": "websocket.close", "code": code, "reason": reason})

    def trust(self) -> None:
        """Accept large messages, and count the connection as one with a key."""
        sign_in(self._scope)
        self._limit(MAX_FRAME)


async def serve_peer(
    peers: Peers, scope: Scope, receive: Receive, send: Send, *, is_plain_allowed: bool = False
) -> None:
    """Serve one connection of another node, until either side ends it."""
    await receive()  # the request to connect
    client = scope.get("client")
    is_safe = scope["scheme"] == "wss" or (client is not None and is_near(client[0]))
    if not is_safe and not is_plain_allowed:
        await send({"type": "websocket.close", "code": 1008, "reason": "TLS is needed"})
        return
    await send({"type": "websocket.accept"})
    await peers.serve(ServerChannel(scope, receive, send))
