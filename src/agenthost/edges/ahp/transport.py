"""Transports carry the messages of a connection, whole and in order (HR-T01). Outboxes queue them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Protocol, TypeGuard

from agenthost.host.access.identity import Identity
from agenthost.host.limits import Limits
from agenthost.host.log.subscriptions import LogItem, Subscriber

__all__ = ["ConnectionHandle", "Outbox", "OutgoingMessage", "Transport"]

_NO_RESOURCE = -(2**63)
"""The resource number of a message that is about no resource. Terminals count down from 0."""


class Transport(Protocol):
    """Carries messages between a client and us."""

    async def receive(self) -> str | bytes | None:
        """Wait for the next message; `None` once the client is gone."""

    async def send(self, text: str) -> None:
        """Send a message. Waits while the client does not read."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class ConnectionHandle:
    """A handle to end a connection: when its key is revoked, a newer one replaces it, or the server stops.

    Attributes:
        closing: the close code and reason, once we end it.
    """

    def __init__(self) -> None:
        """Create a handle for the current task, which serves the connection."""
        self.closing: tuple[int, str] | None = None
        self._task = asyncio.current_task()

    def end(self, code: int, reason: str) -> None:
        """End the connection. The first reason counts."""
        if self.closing is None and self._task is not None:
            self.closing = (code, reason)
            self._task.cancel()

    def is_ended(self) -> bool:
        """Return whether `end` cancelled the task. If so, undo the cancellation."""
        if self.closing is None or self._task is None:
            return False
        # The close frame is still to be sent, with awaits and a timeout.
        self._task.uncancel()
        return True


class OutgoingMessage(LogItem, frozen=True, gc=False):
    """A message that is not about a resource. It counts as one item, whatever its size: it was asked for."""

    text: str = ""

    @classmethod
    def of(cls, text: str) -> "OutgoingMessage":
        """Return a message with this text."""
        return cls(0, _NO_RESOURCE, b"", text=text)


class Outbox(Subscriber):
    """Everything that waits to be sent to one client, in one order: answers, and what it subscribed to.

    A client that does not read is cut off, even while sending a message blocks: `cut_off` is called (HR-R07).

    Attributes:
        delays: how many seconds items of a channel may be held, by channel.
    """

    def __init__(self, client: Identity, limits: Limits, cut_off: Callable[[str], None]) -> None:
        super().__init__(
            client,
            max_items=limits.subscriber_items,
            max_bytes=limits.subscriber_bytes,
            on_cut_off=lambda failure: cut_off(str(failure)),
        )
        self._unsent = self._unsent_size = 0
        self._has_room = asyncio.Event()
        self.delays: dict[str, float] = {}
        self._due: tuple[int, float] = (0, inf)  # how many items were looked at, and when the first is due
        self._is_heard = False

    def hear(self) -> None:
        """Record that the client has said something since its connection was opened."""
        if not self._is_heard:
            self._is_heard = True
            self._wake()

    async def rest(self, seconds: float) -> None:
        """Wait until the client says something: at most this long, and not while too much is queued."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while not (self._is_heard or self.is_behind or self._failure) and (left := ends - loop.time()) > 0:
            await self._wait_push(left)

    async def wait_due(self) -> None:
        """Wait until something has to be sent. What waits is held as long as its channel's delay allows.

        It stays in the queue, in its order, and counts towards the limits.
        """
        while self._failure is None and not self.is_behind:
            now = asyncio.get_running_loop().time()
            looked, due = self._due
            for item in islice(self.items, looked, None):
                # Only plain items are held: messages and loads are what a request waits for.
                due = min(due, now + self.delays.get(item.channel, 0) if type(item) is LogItem else now)
            # Each item is looked at once: a stream may bring thousands while they are held.
            self._due = len(self.items), due
            if due <= now:
                break
            await self._wait_push(None if due == inf else due - now)
        self._due = (0, inf)

    async def _wait_push(self, seconds: float | None) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._waiting
        finally:
            self._waiting = None

    def hold(self, channel: str, seconds: float) -> None:
        """Hold the items of a channel up to this long, to send them together; 0 does not."""
        if seconds > 0:
            self.delays[channel] = seconds
        else:
            self.delays.pop(channel, None)

    def hold_nothing(self) -> None:
        """Send everything at once from now on, and what is held."""
        self.hear()
        self.delays.clear()
        self._due = (0, -inf)
        self._wake()

    def drop(self, resource: int, channel: str | None = None) -> None:
        """Remove the items of a resource, or of one of its channels: a later snapshot includes them."""
        super().drop(resource, channel)
        # Those that are left have other places now.
        self._due = (0, self._due[1])

    def put(self, message: OutgoingMessage) -> None:
        """Queue a message."""
        self._unsent += 1
        self._unsent_size += len(message.text)
        self.push(message)

    @staticmethod
    def is_message(item: LogItem) -> TypeGuard[OutgoingMessage]:
        """Return whether an item is a message."""
        return type(item) is OutgoingMessage

    def sent(self, message: OutgoingMessage) -> None:
        """Record that a message was sent."""
        self._unsent -= 1
        self._unsent_size -= len(message.text)
        self._has_room.set()

    async def wait_room(self) -> None:
        """Wait while so many answers are queued that no more requests should be read."""
        while self._unsent * 8 > self.max_items or self._unsent_size > self.max_bytes:
            self._has_room.clear()
            await self._has_room.wait()
