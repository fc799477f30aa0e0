"""AHP on standard input and output, for one client: one message per line."""

import os
import sys
from contextlib import suppress
from functools import cache
from typing import BinaryIO

from agenthost.core.decisions.grants import Rights
from agenthost.edges.ahp.negotiation import serve
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.wire_log import WireLog
from agenthost.host.access.caller import Caller
from agenthost.host.host import Host
from agenthost.threads import run_in_thread

__all__ = ["serve_stdio", "take_streams"]


@cache
def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for the client. Other output goes to the standard error."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A tool that reads its standard input must not take messages of the client.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, target


class _Pipe:
    """Two streams as a transport. They are used in threads, so they may be pipes, files or terminals."""

    def __init__(self, source: BinaryIO, target: BinaryIO, max_line: int) -> None:
        self._source = source
        self._target = target
        self._max_line = max_line

    async def receive(self) -> str | bytes | None:
        """Return the next line that is not empty."""
        while line := await run_in_thread(self._line, "standard input"):
            if len(line) > self._max_line:
                return None  # HR-R07: too long, so the connection ends
            if line.strip():
                return line
        return None

    def _line(self) -> bytes:
        return self._source.readline(self._max_line + 1)

    async def send(self, text: str) -> None:
        """Write a line and flush it, because the process may end at any time."""
        await run_in_thread(lambda: self._write(text.encode() + b"\n"), "standard output")

    def _write(self, line: bytes) -> None:
        self._target.write(line)
        self._target.flush()

    async def close(self, _code: int, _reason: str) -> None:
        """Close the output."""
        with suppress(OSError, ValueError):
            self._target.close()


async def serve_stdio(
    host: Host,
    peers: Peers,
    streams: tuple[BinaryIO, BinaryIO],
    *,
    max_line: int,
    wire: WireLog | None = None,
) -> None:
    """Serve one client until it closes its end. A line may have `max_line` bytes."""
    pipe = _Pipe(*streams, max_line)
    caller = Caller(rights=Rights(off=host.off))
    await serve(host, peers, pipe if wire is None else wire.wrap(pipe), caller)
