"""A program on pipes: started, listened to, and ended with all that it started.

A keeper stands between it and the host, as between the host and a terminal: so nothing is left behind, not
what a launcher started and not when the host is killed. Knows lines of bytes, nothing of what they mean.
"""

import asyncio
import logging
import os
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from agenthost.errors import AgentUnavailable, TooLarge
from agenthost.host.programs.outpour import Outpour
from agenthost.host.terminals.process import BEGIN_SECONDS, END_SECONDS, KEEPER

__all__ = ["LONGEST_LINE", "Program"]

log = logging.getLogger("agenthost.programs")

LONGEST_LINE = 64 * 1024 * 1024
"""How long a message may be: images and files travel in one line."""

READ_BYTES = 64 * 1024

TAIL_LINES = 20
TAIL_CHARACTERS = 2_000
"""How much of what it wrote to the standard error is told when it fails."""

LEAVE_SECONDS = 2.0
"""How long it may take to leave by itself once its input has ended."""


class Program:
    """A program on three pipes.

    Attributes:
        code: its exit code, once it has ended and if it is known.
    """

    def __init__(self, name: str, keeper: asyncio.subprocess.Process) -> None:
        self.name = name
        self.code: int | None = None
        self._keeper = keeper
        self._rest = bytearray()
        self._outpour = Outpour(log, name)
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._is_over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: list[asyncio.ReadTransport] = []

    @classmethod
    async def start(cls, name: str, words: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Self:
        """Start a program in this folder, with this environment and nothing else of the host's.

        Raises:
            AgentUnavailable: it could not be started.
        """
        # Whole: cancelled half-way, what had been started already would be left to itself.
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
            keeper = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(KEEPER), ",".join(map(str, theirs)), *words),
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=theirs,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for end in ours:
                os.close(end)
            raise AgentUnavailable(f"{name} could not be started: {error}") from error
        finally:
            for end in theirs:
                os.close(end)
        self = cls(name, keeper)
        await self._connect(*ours)
        if not await self._has_begun():
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

    async def _has_begun(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_SECONDS):
                return await self._words() == ["begun"]
        return False

    async def _words(self) -> list[str]:
        line = await self._keeper.stdout.readline() if self._keeper.stdout else b""
        return line.decode().split()

    async def _watch(self) -> None:
        words = await self._words()
        if words[:1] == ["ended"]:
            self.code = int(words[1])
        await self._keeper.wait()
        self._is_over.set()

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        """Read what it writes to the standard error, always: it would stop if nobody did."""
        rest = b""
        while chunk := await stderr.read(READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-READ_BYTES:]
            for line in lines:
                self._hear(line)
        self._hear(rest)
        self._outpour.tell_left_out()

    def _hear(self, line: bytes) -> None:
        text = line.decode(errors="replace").strip()
        if text:
            self._outpour.write(logging.INFO, text)
            self._tail.append(text[:TAIL_CHARACTERS])

    @property
    def last_words(self) -> str:
        """The last of what it wrote to the standard error, for people."""
        return "\n".join(self._tail)[-TAIL_CHARACTERS:]

    async def read_line(self) -> bytes | None:
        """Give the next line that it prints; `None` once it prints no more.

        Raises:
            TooLarge: the line has no end.
        """
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > LONGEST_LINE:
                raise TooLarge(f"a message of {self.name}", LONGEST_LINE)
            chunk = await self._stdout.read(READ_BYTES)
            if not chunk:
                return None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def write_line(self, line: bytes) -> None:
        """Send it a line, and wait until it takes more.

        Raises:
            ConnectionError: it has ended.
        """
        if self._stdin.is_closing():
            raise ConnectionResetError(f"{self.name} has ended")
        self._stdin.write(line + b"\n")
        await self._stdin.drain()

    async def wait(self) -> None:
        """Wait until it and all that it started have ended."""
        await self._is_over.wait()

    async def leave(self) -> None:
        """Let it leave by itself, as its input has ended; end what stays."""
        self._stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.wait()
        await self.end()

    async def end(self) -> None:
        """End it and all that it started, and wait for that, within bounds."""
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        cancelled: asyncio.CancelledError | None = None
        while self._keeper.returncode is None:
            try:
                async with asyncio.timeout(END_SECONDS):
                    await self._keeper.wait()
            except asyncio.CancelledError as error:
                cancelled = error  # in a moment: it is bounded, and what is left behind would be nobody's
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._keeper.kill()
        self._stdin.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_SECONDS)
        for reading in self._reading:
            reading.close()
        if cancelled is not None:
            raise cancelled
