"""Stand between a store and PostgreSQL: cut connections at a chosen place, or mix them as a pool does."""

import asyncio
import struct
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, Literal, TypeVar

from databases import Postgres

T = TypeVar("T")

SOCKET = ".s.PGSQL.5432"
Moment = Literal["before", "half", "running", "answered"]


class Proxy:
    """Pass everything on, until a client sends the marked bytes.

    Then that connection is lost: before the server gets them, when it has the first half, while it works on
    them, or once it has answered, which the client never hears.
    """

    def __init__(self, server: Postgres, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.cuts = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._mark: tuple[bytes, Moment] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._listeners = [self._call(asyncio.start_unix_server(self._serve, folder / SOCKET))]

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def url(self, schema: str) -> str:
        """Return the URL of a store behind it."""
        return self.server.url(schema).replace(str(self.server.folder), str(self.folder))

    def listen_on_tcp(self) -> int:
        """Listen on a port of the loopback interface, too, and return its number."""
        self._listeners.append(self._call(asyncio.start_server(self._serve, "127.0.0.1", 0)))
        return int(self._listeners[-1].sockets[0].getsockname()[1])

    def cut(self, marked: bytes, moment: Moment) -> None:
        """Cut the next connection that sends these bytes, once."""
        self._mark = (marked, moment)

    def close(self) -> None:
        """End it, with all its connections."""

        async def end() -> None:
            for listener in self._listeners:
                listener.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.sleep(0.01)  # until they are closed

        self._call(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            from_server, to_server = await self._reach()
        except OSError:
            writer.close()
            return
        back = asyncio.create_task(self._copy(from_server, writer))
        with suppress(OSError):
            await self._forward(reader, to_server, writer, back)
        for one in (to_server, writer):
            one.close()
        back.cancel()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(self.server.folder / SOCKET)
        self._writers.append(writer)
        return reader, writer

    async def _forward(
        self,
        reader: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
        to_client: asyncio.StreamWriter,
        back: asyncio.Task[None],
    ) -> None:
        while data := await reader.read(2**20):
            if self._mark is None or self._mark[0] not in data:
                to_server.write(data)
                continue
            (_, moment), self._mark = self._mark, None
            self.cuts += 1
            back.cancel()  # the client hears no more
            if moment == "half":
                to_server.write(data[: len(data) // 2])
            elif moment != "before":
                to_server.write(data)
                await to_server.drain()
                await asyncio.sleep(0.2 if moment == "answered" else 0.02)
            to_client.transport.abort()
            return

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(2**20):
                writer.write(data)
        writer.close()


class TransactionPool(Proxy):
    """Give each transaction any server connection that is idle, as PgBouncer does in transaction mode."""

    _idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    _greeting = b""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self._idle = getattr(self, "_idle", [])
        (size,) = struct.unpack("!i", await reader.readexactly(4))
        startup = struct.pack("!i", size) + await reader.readexactly(size - 4)
        if not self._idle:
            self._idle.append(await self._connect(startup))
        writer.write(self._greeting)
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readexactly(5):
                backend = self._idle.pop() if self._idle else await self._connect(startup)
                backend[1].write(head + await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4))
                await self._transaction(reader, writer, backend)
                self._idle.append(backend)
        writer.close()

    async def _connect(self, startup: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        backend = await self._reach()
        backend[1].write(startup)
        self._greeting = b""
        while not self._greeting.endswith(b"Z\0\0\0\5I"):
            self._greeting += await backend[0].read(2**16)
        return backend

    async def _transaction(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        backend: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass on what is said until the server is out of a transaction."""
        more = asyncio.create_task(self._copy_on(reader, backend[1]))
        try:
            while True:
                head = await backend[0].readexactly(5)
                body = await backend[0].readexactly(struct.unpack("!i", head[1:])[0] - 4)
                writer.write(head + body)
                if head[:1] == b"Z" and body == b"I":
                    return
        finally:
            more.cancel()
            with suppress(asyncio.CancelledError):
                await more

    async def _copy_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**20):
            writer.write(data)


P = TypeVar("P", bound=Proxy)


@contextmanager
def in_front_of(server: Postgres, kind: type[P]) -> Iterator[P]:
    """Give a proxy of a kind in front of a server."""
    with tempfile.TemporaryDirectory(prefix="ah-pg-") as folder:
        proxy = kind(server, Path(folder))
        try:
            yield proxy
        finally:
            proxy.close()
