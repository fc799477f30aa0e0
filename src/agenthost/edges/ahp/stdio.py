"""AHP on a pipe, for one client: one message a line, on standard input and output."""

import os
import sys
from contextlib import suppress
from functools import cache
from typing import BinaryIO

from agenthost.core.decisions.grants import Rights
from agenthost.edges.ahp.negotiation import serve
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.wirelog import WireLog
from agenthost.host.callers import Caller
from agenthost.host.host import Host
from agenthost.host.toolcontext import run_in_thread

__all__ = ["serve_stdio", "take_streams"]


@cache
def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the standard input and output for the client alone: whatever else is printed goes to the error."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, target


class _Pipe:
    """Two streams as a transport. Used in threads, so that they may be pipes, files or terminals."""

    def __init__(self, source: BinaryIO, target: BinaryIO, longest: int) -> None:
        self._source = source
        self._target = target
        self._longest = longest

    async def receive(self) -> str | bytes | None:
        """Give the next line that says something."""
        while line := await run_in_thread(self._line, "standard input"):
            if len(line) > self._longest:
                return None  # longer than anybody should send
            if line.strip():
                return line
        return None

    def _line(self) -> bytes:
        return self._source.readline(self._longest + 1)

    async def send(self, text: str) -> None:
        """Write a line; it is out when this returns, as the process may end at any time."""
        await run_in_thread(lambda: self._write(text.encode() + b"\n"), "standard output")

    def _write(self, line: bytes) -> None:
        self._target.write(line)
        self._target.flush()

    async def close(self, _code: int, _reason: str) -> None:
        """Say nothing more."""
        with suppress(OSError, ValueError):
            self._target.close()


async def serve_stdio(
    host: Host, peers: Peers, streams: tuple[BinaryIO, BinaryIO], *, longest: int, wire: WireLog | None = None
) -> None:
    """Serve one client until it closes its end; a line has at most so many bytes."""
    pipe = _Pipe(*streams, longest)
    caller = Caller(rights=Rights(off=host.off))
    await serve(host, peers, pipe if wire is None else wire.wrap(pipe), caller)
