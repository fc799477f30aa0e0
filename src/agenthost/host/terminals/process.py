"""A program on a pty, seen from the host: its output, its keys, its size and its end. Never blocks.

The program is started and ended by a keeper, a process of its own: see there why.
"""

import asyncio
import fcntl
import os
import struct
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from agenthost.errors import HostError

KEEPER = Path(__file__).with_name("keeper.py")

READ_BYTES = 64 * 1024
READ_SECONDS = 0.002
"""How much is read in one go, and for how long: enough to be quick, little enough that nobody else waits."""

QUEUE_BYTES = 256 * 1024
"""How many typed bytes may wait for a program that does not read."""

BEGIN_SECONDS = 20.0
END_SECONDS = 5.0
"""How long the keeper may take to start a program, and to end everything."""


class Process:
    """A program on a pty.

    Attributes:
        is_over: whether all of its output has been read.
        code: its exit code, once it has ended and if it is known.
    """

    def __init__(self, keeper: asyncio.subprocess.Process, master: int) -> None:
        self.is_over = False
        self.code: int | None = None
        self._keeper = keeper
        self._master = master
        self._loop = asyncio.get_running_loop()
        self._keys = bytearray()
        self._is_closed = False

    @classmethod
    async def start(
        cls, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], cols: int, rows: int
    ) -> Self:
        """Start a program in this folder, with this environment and nothing of the host's.

        Raises:
            HostError: it could not be started.
        """
        # Whole: cancelled half-way, what had been started already would be left to itself.
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
            raise HostError(f"there is no terminal to be had: {error.strerror}") from error
        try:
            os.set_blocking(master, False)
            _set_size(slave, cols, rows)
            keeper = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(KEEPER), str(slave), *command),
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=(slave,),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(master)
            raise HostError(f"the terminal could not be started: {error}") from error
        finally:
            os.close(slave)
        self = cls(keeper, master)
        await self._wait_begun()
        return self

    async def _wait_begun(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_SECONDS):
                if await self._line() == ["begun"]:
                    return
        await self.end()
        raise HostError("the terminal could not be started")

    async def _line(self) -> list[str]:
        line = await self._keeper.stdout.readline() if self._keeper.stdout else b""
        return line.decode().split()

    async def wait(self) -> None:
        """Wait until the program and all that it started have ended."""
        words = await self._line()
        if words[:1] == ["ended"]:
            self.code = int(words[1])
        await self._keeper.wait()

    def listen(self, readable: Callable[[], None] | None) -> None:
        """Have this called whenever there is output; with `None`, let the program wait with it."""
        if self._is_closed or self.is_over:
            return
        if readable is None:
            self._loop.remove_reader(self._master)
        else:
            self._loop.add_reader(self._master, readable)

    def read(self) -> bytes:
        """Take some of what is there."""
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
        except OSError:  # how Linux says that nobody is left who could print; others give nothing
            chunk = b""
        if not chunk:
            self.listen(None)
            self.is_over = True
        return chunk

    @property
    def waiting(self) -> int:
        """How many typed bytes the program has not taken yet."""
        return len(self._keys)

    def type(self, keys: bytes) -> None:
        """Send keys; they wait while the program does not read."""
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
        except OSError:  # nobody is left to read it
            self._keys.clear()
        self._loop.remove_writer(self._master)

    def resize(self, cols: int, rows: int) -> None:
        """Change the size; the system tells the program (SIGWINCH)."""
        if not self._is_closed:
            with suppress(OSError):
                _set_size(self._master, cols, rows)

    def hang_up(self) -> None:
        """Have the keeper end everything, in its own time."""
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()

    async def end(self) -> None:
        """End everything, and wait for it, within bounds; what can be read by then still can be."""
        self.hang_up()
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
        if cancelled is not None:
            raise cancelled

    def close(self) -> None:
        """Let go of the pty: whoever is still on it is hung up by the system."""
        if not self._is_closed:
            self._loop.remove_reader(self._master)
            self._loop.remove_writer(self._master)
            self._is_closed = True
            os.close(self._master)


def _set_size(pty: int, cols: int, rows: int) -> None:
    fcntl.ioctl(pty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
