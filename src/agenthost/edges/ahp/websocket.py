"""AHP over WebSocket: one JSON-RPC message per text frame (HR-T02). Raw ASGI, for speed."""

import asyncio

from starlette.types import Receive, Scope, Send

from agenthost.edges.access import ADMISSION, caller_of
from agenthost.edges.ahp.negotiation import serve
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.transport import Transport
from agenthost.edges.ahp.wire_log import WireLog
from agenthost.host.host import Host

__all__ = ["WebSocketApp"]

SUBPROTOCOL = "ahp"

SWEEP_SECONDS = 2.0
"""How often admissions are checked again."""


class _Socket:
    """A WebSocket as a transport."""

    __slots__ = ("_is_open", "_receive", "_send")

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_open = True

    async def receive(self) -> str | bytes | None:
        message = await self._receive()
        if message["type"] != "websocket.receive":
            self._is_open = False
            return None
        text: str | bytes | None = message.get("text")
        # HR-T02: binary frames are accepted.
        return text if text is not None else message.get("bytes") or b""

    async def send(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def close(self, code: int, reason: str) -> None:
        if self._is_open:
            self._is_open = False
            # A close frame has room for 123 bytes of reason.
            short = reason.encode()[:120].decode(errors="ignore")
            await self._send({"type": "websocket.close", "code": code, "reason": short})


class WebSocketApp:
    """The ASGI application that serves AHP to WebSockets."""

    def __init__(
        self, host: Host, peers: Peers, stopping: asyncio.Event, wire: WireLog | None = None
    ) -> None:
        self._host = host
        self._peers = peers
        self._stopping = stopping
        self._wire = wire
        self._watching: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, until either side ends it."""
        if scope["type"] != "websocket":
            await _refuse_http(send)
            return
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch_connections())
        await receive()  # the request to connect
        # A browser that offers subprotocols, as it must to send a key, needs one of them to be accepted.
        protocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": protocol})
        transport: Transport = _Socket(receive, send)
        if self._wire is not None:
            transport = self._wire.wrap(transport)
        await serve(self._host, self._peers, transport, caller_of(scope), scope[ADMISSION])

    async def _watch_connections(self) -> None:
        """Watch all connections: check their keys, and end them when the server stops."""
        while not self._stopping.is_set():
            try:
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._stopping.wait()
            except TimeoutError:
                self._peers.sweep()  # keys are in a file, which sends no events
        self._peers.stop()


async def _refuse_http(send: Send) -> None:
    body = b'{"error":{"code":"upgrade_required","message":"AHP is spoken over WebSocket here"}}'
    headers = [
        (b"content-type", b"application/json"),
        (b"upgrade", b"websocket"),
        (b"connection", b"upgrade"),
    ]
    await send({"type": "http.response.start", "status": 426, "headers": headers})
    await send({"type": "http.response.body", "body": body})
