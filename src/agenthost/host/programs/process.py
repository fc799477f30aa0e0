"""A program on pipes: started, read from and written to, and ended with everything it started.

A keeper runs between it and the host, as for terminals. So nothing is left behind: neither what a launcher
started, nor anything when the host is killed. Handles lines of bytes and does not interpret them.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from agenthost.errors import AgentUnavailable, TooLarge
from agenthost.host.programs.keeper_process import END_SECONDS, KeeperProcess
from agenthost.host.programs.output import ProgramOutput

__all__ = ["MAX_LINE_BYTES", "Program"]

log = logging.getLogger("agenthost.programs")

MAX_LINE_BYTES = 64 * 1024 * 1024
"""How long a line may be. Images and files are sent in one line."""

READ_BYTES = 64 * 1024

TAIL_LINES = 20
TAIL_CHARACTERS = 2_000
"""How much of its standard error is reported when it fails."""

LEAVE_SECONDS = 2.0
"""How long it may take to exit by itself once its input has ended."""


class Program:
    """A program on three pipes."""

    def __init__(self, name: str, keeper: KeeperProcess) -> None:
        self.name = name
        self._keeper = keeper
        self._rest = bytearray()
        self._log = ProgramOutput(log, name)
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._is_over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: list[asyncio.ReadTransport] = []

    @classmethod
    async def start(cls, name: str, words: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Self:
        """Start a program in this folder, with exactly this environment.

        Raises:
            AgentUnavailable: it could not be started.
        """
        # Shielded: if it were cancelled halfway, nobody would end what had been started.
        starting = asyncio.ensure_future(cls._start(name, words, cwd, env))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(AgentUnavailable):
                await (await starting).end()
            raise

    @classmethod
    async def _start(cls, name: str, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Self:
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = (os.pipe() for _ in range(3))
        theirs, ours = (their_in, their_out, their_err), (our_in, our_out, our_err)
        try:
            keeper = await KeeperProcess.start(theirs, words, cwd=cwd, env=env)
        except (OSError, ValueError) as error:
            for end in ours:
                os.close(end)
            raise AgentUnavailable(f"{name} could not be started: {error}") from error
        finally:
            for end in theirs:
                os.close(end)
        self = cls(name, keeper)
        await self._connect(*ours)
        if not await keeper.has_started():
            await self.end()
            raise AgentUnavailable(f"{name} could not be started")
        self._tasks.append(asyncio.create_task(self._watch()))
        return self

    async def _connect(self, our_in: int, our_out: int, our_err: int) -> None:
        loop = asyncio.get_running_loop()
        self._stdout, stderr = asyncio.StreamReader(), asyncio.StreamReader()
        for reader, end in ((self._stdout, our_out), (stderr, our_err)):
            reading, _ = await loop.connect_read_pipe(
                partial(asyncio.StreamReaderProtocol, reader), os.fdopen(end, "rb", buffering=0)
            )
            self._reading.append(reading)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(our_in, "wb", buffering=0)
        )
        self._stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        self._tasks.append(asyncio.create_task(self._drain(stderr)))

    async def _watch(self) -> None:
        await self._keeper.wait()
        self._is_over.set()

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        """Read its standard error all the time: it would block if nobody did."""
        rest = b""
        while chunk := await stderr.read(READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-READ_BYTES:]
            for line in lines:
                self._hear(line)
        self._hear(rest)
        self._log.report_dropped()

    def _hear(self, line: bytes) -> None:
        text = line.decode(errors="replace").strip()
        if text:
            self._log.write(logging.INFO, text)
            self._tail.append(text[:TAIL_CHARACTERS])

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended and if it is known."""
        return self._keeper.code

    @property
    def stderr_tail(self) -> str:
        """The end of its standard error, for people."""
        return "\n".join(self._tail)[-TAIL_CHARACTERS:]

    async def read_line(self) -> bytes | None:
        """Return the next line of its output; `None` at the end.

        Raises:
            TooLarge: the line is too long.
        """
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > MAX_LINE_BYTES:
                raise TooLarge(f"a message of {self.name}", MAX_LINE_BYTES)
            chunk = await self._stdout.read(READ_BYTES)
            if not chunk:
                return None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def write_line(self, line: bytes) -> None:
        """Send it a line, and wait until it accepts more.

        Raises:
            ConnectionError: it has ended.
        """
        if self._stdin.is_closing():
            raise ConnectionResetError(f"{self.name} has ended")
        self._stdin.write(line + b"\n")
        await self._stdin.drain()

    async def wait(self) -> None:
        """Wait until it and everything it started have ended."""
        await self._is_over.wait()

    async def leave(self) -> None:
        """Close its input so that it exits by itself, then end whatever is left."""
        self._stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.wait()
        await self.end()

    async def end(self) -> None:
        """End it and everything it started, and wait for that, within bounded time."""
        try:
            await self._keeper.end()
        finally:
            self._stdin.close()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=END_SECONDS)
            for reading in self._reading:
                reading.close()
