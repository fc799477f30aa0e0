"""The load for AAP: connections that send one request after the other, as cheaply as Python can.

A process of its own. It reads plans from standard input, each one line of JSON, runs them, and answers each
with one line.
"""

import asyncio
import json
import sys
import time
from typing import Any, cast

import uvloop

END_OF_CHUNKS = b"0\r\n\r\n"
DELTA = b"text_delta"


class Connection(asyncio.Protocol):
    """One connection: sends its request, takes the answer, and sends it again, until the time is over.

    Attributes:
        answers: how many came whole.
        events: how many deltas were in them.
        firsts: how long each took until its first delta, in seconds.
        has_begun: set when the first delta of all has come.
        done: set when the last answer has come.
    """

    def __init__(self, request: bytes, until: float, *, is_stream: bool) -> None:
        self.answers = self.events = 0
        self.firsts: list[float] = []
        loop = asyncio.get_running_loop()
        self.has_begun: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()
        self._request = request
        self._until = until
        self._is_stream = is_stream
        self._head = b""
        self._missing = -1
        self._is_first = True
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own kind
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._is_first = True
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Take a piece of an answer."""
        if self._is_stream:
            self._take_stream(data)
        else:
            self._take_body(data)

    def _take_stream(self, data: bytes) -> None:
        count = data.count(DELTA)
        self.events += count
        if count and self._is_first:
            self._is_first = False
            self.firsts.append(time.perf_counter() - self._sent)
            if not self.has_begun.done():
                self.has_begun.set_result(None)
        if data.endswith(END_OF_CHUNKS):
            self._next()

    def _take_body(self, data: bytes) -> None:
        if self._missing < 0:
            self._head += data
            head, found, rest = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            assert head.startswith(b"HTTP/1.1 200"), self._head
            self._missing = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(rest)
            self._head = b""
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self._missing = -1
            self._next()

    def _next(self) -> None:
        self.answers += 1
        if time.perf_counter() < self._until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, as planned or not."""
        if not self.done.done():
            self.done.set_result(None)

    def leave(self) -> None:
        """Hang up."""
        self._transport.abort()


async def run(plan: Any) -> Any:
    """Run one plan: all connections at once, for some seconds, or until each has its first delta."""
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    made = [
        Connection(request.encode(), begun + plan["seconds"], is_stream=plan["stream"])
        for request in plan["requests"]
    ]
    await asyncio.gather(
        *(loop.create_connection(lambda one=one: one, "127.0.0.1", plan["port"]) for one in made)  # type: ignore[misc]
    )
    if plan.get("hold"):
        await asyncio.gather(*(one.has_begun for one in made))
        return made
    await asyncio.gather(*(one.done for one in made))
    return {
        "seconds": time.perf_counter() - begun,
        "answers": sum(one.answers for one in made),
        "events": sum(one.events for one in made),
        "firsts": sorted(first for one in made for first in one.firsts),
    }


async def main() -> None:
    """Run plans, one after the other; connections that are to be held stay until the next plan."""
    held: list[Connection] = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        for one in held:
            one.leave()
        held = []
        found = await run(json.loads(line))
        if isinstance(found, list):
            held, found = found, {}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
