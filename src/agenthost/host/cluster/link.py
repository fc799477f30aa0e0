"""A link: the connection on which this node calls another one. It is made with the first call on it.

Messages go out in the order in which they were given. When the connection is lost, or cannot be made, the
link is over, and all calls on it fail; the next call is on a new one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from agenthost.errors import NotJson, PeerGone, PeerRefused, StorageError
from agenthost.host.cluster.carried_errors import unpack_error
from agenthost.host.cluster.channels import Channel, ChannelClosed
from agenthost.wire.json import Json, decode_json

__all__ = ["CLOSED", "Link"]

log = logging.getLogger("agenthost.peers")

MAX_TOLD = 10_000
"""How many messages may wait to be sent. More are dropped if nobody waits for an answer to them."""

CLOSED = "this node is closing"


class Outgoing(NamedTuple):
    """A message that waits to be sent; `number` is that of its call, or 0."""

    number: int
    data: bytes


class Link:
    """Calls to one other node, on one connection."""

    def __init__(self, node: int, connect: Callable[[], Awaitable[Channel]]) -> None:
        """Begin to connect. `connect` raises `ChannelClosed` with the reason if that cannot be done."""
        self.is_over = False
        self._node = node
        self._connect = connect
        self._outgoing: deque[Outgoing] = deque()
        self._wake = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._unsent: set[int] = set()
        self._running = asyncio.create_task(self._run())

    def call(self, number: int, data: bytes) -> "asyncio.Future[Json]":
        """Send a call. The future gets its answer, `PeerRefused` or `PeerGone`."""
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._unsent.add(number)
        answer.add_done_callback(lambda _: self._answers.pop(number, None))
        self._put(Outgoing(number, data))
        return answer

    def tell(self, data: bytes) -> None:
        """Send a message that has no answer. It may be lost."""
        if len(self._outgoing) < MAX_TOLD:
            self._put(Outgoing(0, data))

    def _put(self, message: Outgoing) -> None:
        self._outgoing.append(message)
        self._wake.set()

    async def close(self) -> None:
        """Close the connection. All calls under way fail."""
        self._running.cancel()
        with suppress(asyncio.CancelledError):
            await self._running

    async def _run(self) -> None:
        why = CLOSED
        channel = writing = None
        try:
            channel = await self._connect()
            writing = asyncio.create_task(self._write(channel))
            while True:
                self._hear(await channel.receive())
        except (ChannelClosed, StorageError) as error:  # where the node is, is in the store
            why = str(error)
        except (KeyError, TypeError, ValueError, NotJson):
            why = "it answered something else than expected"
        except Exception:
            why = "something failed here"
            log.exception("the link to node %d failed", self._node)
        finally:
            self._end(why)
            if writing is not None:
                writing.cancel()
            if channel is not None:
                await channel.close(1000, "")

    async def _write(self, channel: Channel) -> None:
        with suppress(ChannelClosed):  # the reading side is told, too
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._outgoing:
                    number, data = self._outgoing.popleft()
                    self._unsent.discard(number)
                    await channel.send(data)

    def _hear(self, data: bytes) -> None:
        number, is_done, content = decode_json(data)
        answer = self._answers.get(number)
        if answer is None or answer.done():  # whoever asked did not wait
            return
        if is_done:
            answer.set_result(content)
        else:
            answer.set_exception(PeerRefused(unpack_error(content)))

    def _end(self, why: str) -> None:
        self.is_over = True
        log.debug("node %d is not called any more: %s", self._node, why)
        self._outgoing.clear()
        for number, answer in list(self._answers.items()):
            if not answer.done():
                answer.set_exception(PeerGone(self._node, why, was_sent=number not in self._unsent))
