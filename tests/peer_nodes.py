"""Nodes for tests of calls between them: each is a real server on loopback with nothing but `/peer`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from agenthost.edges.peer import serve_peer
from agenthost.edges.server import _config, _Server, listen
from agenthost.host.access.vault import Vault
from agenthost.host.cluster.peers import Peers
from agenthost.host.cluster.websocket import Dialer, PeerOptions

SECRET = b"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
OTHER_SECRET = b"ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


class Nodes:
    """Several nodes, by their ids."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.urls: dict[int, str] = {}
        self._stack = stack
        self._stops: dict[int, Callable[[], Awaitable[None]]] = {}

    async def start(self, node: int, secret: bytes = SECRET, **options: Any) -> Peers:
        """Start a node."""

        async def find_url(wanted: int) -> str | None:
            return self.urls.get(wanted)

        peers = Peers(Vault(secret, "a test").derive("peer"), node, find_url, Dialer(PeerOptions(**options)))

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await serve_peer(peers, scope, receive, send)

        listener = listen("127.0.0.1", 0)
        server = _Server(_config(app))  # type: ignore[arg-type]
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await server.listening.wait()
        self.urls[node] = f"http://127.0.0.1:{listener.getsockname()[1]}"

        async def stop() -> None:
            await peers.close()
            server.should_exit = True
            await running

        self._stops[node] = stop
        self._stack.push_async_callback(self.stop, node)
        return peers

    async def stop(self, node: int) -> None:
        """Stop a node, if it runs."""
        stop = self._stops.pop(node, None)
        if stop is not None:
            await stop()

    def connect(self, node: int) -> Any:
        """Connect to a node as somebody who need not be one."""
        return connect(f"{self.urls[node].replace('http', 'ws')}/peer", compression=None)


@asynccontextmanager
async def nodes() -> AsyncIterator[Nodes]:
    async with AsyncExitStack() as stack:
        yield Nodes(stack)


__all__ = ["OTHER_SECRET", "SECRET", "ClientConnection", "Nodes", "nodes"]
