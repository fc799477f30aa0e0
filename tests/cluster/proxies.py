"""A proxy in front of PostgreSQL, or of a node, that can do to connections what networks do."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["pass", "delay", "stall", "cut"]

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]

DELAY_SECONDS = 0.05


class FaultyProxy:
    """Passes bytes on, both ways; or late, or not at all, or refuses and ends all connections."""

    def __init__(self, reach: Callable[[], Awaitable[Streams]]) -> None:
        self._reach = reach
        self._mode: Mode = "pass"
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    @property
    def is_faulty(self) -> bool:
        return self._mode != "pass"

    async def listen_at(self, path: Path) -> None:
        """Listen on a socket of the file system."""
        self._listener = await asyncio.start_unix_server(self._accept, path)

    async def listen_on_port(self) -> int:
        """Listen on a port of the loopback interface."""
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return int(self._listener.sockets[0].getsockname()[1])

    def set(self, mode: Mode) -> None:
        """Behave like this from now on."""
        self._mode = mode
        if mode == "stall":
            self._passing.clear()
        else:
            self._passing.set()
        if mode == "cut":
            for writer in self._writers:
                writer.transport.abort()

    async def close(self) -> None:
        """End it, with all its connections."""
        if self._listener is not None:
            self._listener.close()
        self.set("cut")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # until they are closed

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine = {writer}
        self._writers.add(writer)
        try:
            if self._mode == "cut":
                return
            there, to_there = await self._reach()
            mine.add(to_there)
            self._writers.add(to_there)
            ways = [self._copy(reader, to_there), self._copy(there, writer)]
            tasks = [asyncio.create_task(way) for way in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        except OSError:
            pass
        finally:
            for one in mine:
                one.transport.abort()
            self._writers -= mine

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(2**16):
                await self._passing.wait()
                if self._mode == "delay":
                    await asyncio.sleep(DELAY_SECONDS)
                writer.write(data)
                await writer.drain()
