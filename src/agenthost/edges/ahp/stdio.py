"""AHP on a pipe, for one client: one message a line, on standard input and output."""

import asyncio
import os
import sys
from functools import cache
from typing import BinaryIO

from agenthost.edges.ahp.negotiation import serve
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.wirelog import WireLog
from agenthost.host.host import Host

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
    """Two streams as a transport."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        # So that what was sent is written: the process may end at any time.
        writer.transport.set_write_buffer_limits(0)

    async def receive(self) -> str | bytes | None:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                return None  # longer than anybody should send
            if not line:
                return None
            if line.strip():
                return line

    async def send(self, text: str) -> None:
        self._writer.write(text.encode() + b"\n")
        await self._writer.drain()

    async def close(self, _code: int, _reason: str) -> None:
        self._writer.close()


async def serve_stdio(
    host: Host, peers: Peers, streams: tuple[BinaryIO, BinaryIO], *, longest: int, wire: WireLog | None = None
) -> None:
    """Serve one client until it closes its end; a line has at most so many bytes.

    Raises:
        ValueError: the streams are files, which cannot be waited for.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=longest)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), streams[0])
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), streams[1]
    )
    pipe = _Pipe(reader, asyncio.StreamWriter(transport, protocol, reader, loop))
    await serve(host, peers, pipe if wire is None else wire.wrap(pipe))
