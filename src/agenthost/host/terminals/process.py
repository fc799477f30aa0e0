"""A program on a pty, seen from the host: its output, input, size and end. Never blocks.

A keeper starts and ends the program, see `programs.keeper`.
"""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from agenthost.errors import HostError
from agenthost.host.programs.keeper_process import KeeperProcess

READ_BYTES = 64 * 1024
READ_SECONDS = 0.002
"""How much to read at a time, and for how long: enough to be fast, short enough that nobody else waits."""

MAX_INPUT_QUEUE = 256 * 1024
"""How many bytes of input may wait for a program that does not read."""


class Process:
    """A program on a pty.

    Attributes:
        is_over: whether all of its output has been read.
    """

    def __init__(self, keeper: KeeperProcess, master: int) -> None:
        self.is_over = False
        self._keeper = keeper
        self._master = master
        self._loop = asyncio.get_running_loop()
        self._keys = bytearray()
        self._is_closed = False

    @classmethod
    async def start(
        cls, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], cols: int, rows: int
    ) -> Self:
        """Start a program in this folder, with exactly this environment.

        Raises:
            HostError: it could not be started.
        """
        # Shielded: if it were cancelled halfway, nobody would end what had been started.
        starting = asyncio.ensure_future(cls._start(command, cwd, env, cols, rows))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(HostError):
                await (await starting).end()
            raise

    @classmethod
    async def _start(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str], cols: int, rows: int
    ) -> Self:
        try:
            master, slave = os.openpty()
        except OSError as error:
            raise HostError(f"no pty is available: {error.strerror}") from error
        try:
            os.set_blocking(master, False)
            _set_size(slave, cols, rows)
            keeper = await KeeperProcess.start([slave], command, cwd=cwd, env=env)
        except (OSError, ValueError) as error:
            os.close(master)
            raise HostError(f"the terminal could not be started: {error}") from error
        finally:
            os.close(slave)
        self = cls(keeper, master)
        if not await keeper.has_started():
            await self.end()
            raise HostError("the terminal could not be started")
        return self

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended and if it is known."""
        return self._keeper.code

    async def wait(self) -> None:
        """Wait until the program and everything it started have ended."""
        await self._keeper.wait()

    def listen(self, readable: Callable[[], None] | None) -> None:
        """Call `readable` whenever there is output. With `None`, stop, so that the program has to wait."""
        if self._is_closed or self.is_over:
            return
        if readable is None:
            self._loop.remove_reader(self._master)
        else:
            self._loop.add_reader(self._master, readable)

    def read(self) -> bytes:
        """Read some of the output that is available."""
        chunks: list[bytes] = []
        size = 0
        deadline = self._loop.time() + READ_SECONDS
        with suppress(BlockingIOError):
            while size < READ_BYTES and self._loop.time() < deadline and (chunk := self._read_chunk()):
                chunks.append(chunk)
                size += len(chunk)
        return b"".join(chunks)

    def _read_chunk(self) -> bytes:
        try:
            chunk = os.read(self._master, READ_BYTES)
        except BlockingIOError:
            raise
        except OSError:  # EIO on Linux: no process has the terminal open; other systems return nothing
            chunk = b""
        if not chunk:
            self.listen(None)
            self.is_over = True
        return chunk

    @property
    def unread_input(self) -> int:
        """How many bytes of input the program has not read yet."""
        return len(self._keys)

    def write(self, keys: bytes) -> None:
        """Send input. It waits while the program does not read."""
        is_waiting = bool(self._keys)
        self._keys += keys
        if not is_waiting:
            self._send()

    def _send(self) -> None:
        if self._is_closed:
            return
        try:
            while self._keys:
                del self._keys[: os.write(self._master, self._keys[:4096])]
        except BlockingIOError:
            self._loop.add_writer(self._master, self._send)
            return
        except OSError:  # no process is left to read it
            self._keys.clear()
        self._loop.remove_writer(self._master)

    def resize(self, cols: int, rows: int) -> None:
        """Change the size. The system notifies the program (SIGWINCH)."""
        if not self._is_closed:
            with suppress(OSError):
                _set_size(self._master, cols, rows)

    async def end(self) -> None:
        """End everything, and wait for that, within bounded time. Output can still be read afterwards."""
        await self._keeper.end()

    def close(self) -> None:
        """Close the pty. The system sends SIGHUP to whatever still uses it."""
        if not self._is_closed:
            self._loop.remove_reader(self._master)
            self._loop.remove_writer(self._master)
            self._is_closed = True
            os.close(self._master)


def _set_size(pty: int, cols: int, rows: int) -> None:
    fcntl.ioctl(pty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
