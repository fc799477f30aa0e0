"""A TCP proxy that cuts connections after an exact number of bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


class Proxy:
    """Stands between clients and a server.

    Attributes:
        url: where to connect to, in place of the server.
        cuts: how often a connection was cut.
        is_closed: whether all connections are refused now.
        piece: how many bytes are passed on at a time.
        budget: returns for each connection how many bytes it may carry, both ways together; None is no limit.
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.removeprefix("http://").rpartition(":")
        self._target = (host, int(port))
        self._links: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server
        self.url = ""
        self.cuts = 0
        self.connections = 0
        self.is_closed = False
        self.piece = 65536
        self.budget: Callable[[], int | None] = lambda: None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def aclose(self) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._links, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Cut all open connections."""
        for link in self._links:
            link.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        try:
            if not self.is_closed:
                await self._carry(reader, writer)
        finally:
            self._links.discard(task)
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        left = [self.budget()]
        with suppress(OSError, asyncio.CancelledError):
            far_reader, far_writer = await asyncio.open_connection(*self._target)
            ways = [
                asyncio.create_task(self._pump(reader, far_writer, left)),
                asyncio.create_task(self._pump(far_reader, writer, left)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                far_writer.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, left: list[int | None]
    ) -> None:
        with suppress(OSError):
            while data := await source.read(self.piece):
                budget = left[0]
                if budget is not None and len(data) >= budget:
                    sink.write(data[:budget])
                    with suppress(TimeoutError):
                        await asyncio.wait_for(sink.drain(), 1)
                    self.cuts += 1
                    return
                left[0] = None if budget is None else budget - len(data)
                sink.write(data)
                await sink.drain()


@asynccontextmanager
async def proxied(target: str) -> AsyncIterator[Proxy]:
    """Run a proxy in front of a server."""
    proxy = Proxy(target)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.aclose()
