"""The keeper of a program, seen from the host: started with descriptors, listened to, and ended.

The keeper itself runs apart from the host, see `keeper`. Knows no pty and no pipes: its users bring those.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["END_SECONDS", "KeeperProcess"]

KEEPER = Path(__file__).with_name("keeper.py")

START_SECONDS = 20.0
END_SECONDS = 5.0
"""How long the keeper may take to start a program, and to end everything."""


class KeeperProcess:
    """A keeper that runs.

    Attributes:
        code: the exit code of its program, once that has ended and if it is known.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.code: int | None = None
        self._process = process

    @classmethod
    async def start(
        cls, descriptors: Sequence[int], command: Sequence[str], *, cwd: Path, env: Mapping[str, str]
    ) -> Self:
        """Start a keeper for this command, on these descriptors: a pty, or three pipes.

        Raises:
            OSError, ValueError: no process could be started.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(KEEPER), ",".join(map(str, descriptors)), *command),
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )
        return cls(process)

    async def has_started(self) -> bool:
        """Wait until the program runs; return whether it does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                return await self._read_words() == ["begun"]
        return False

    async def wait(self) -> None:
        """Wait until the program and everything it started have ended."""
        words = await self._read_words()
        if words[:1] == ["ended"]:
            self.code = int(words[1])
        await self._process.wait()

    async def _read_words(self) -> list[str]:
        line = await self._process.stdout.readline() if self._process.stdout else b""
        return line.decode().split()

    async def end(self) -> None:
        """End the program and everything it started, and wait for that, within bounded time."""
        if self._process.stdin is not None:
            self._process.stdin.close()  # the keeper takes this as the end of the host
        cancelled: asyncio.CancelledError | None = None
        while self._process.returncode is None:
            try:
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
            except asyncio.CancelledError as error:
                # Raised later: the wait is bounded, and nobody else would end what is left.
                cancelled = error
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._process.kill()
        if cancelled is not None:
            raise cancelled
