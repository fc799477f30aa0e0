"""Transports: what carries the messages of a connection, whole and in order, both ways."""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeGuard

from agenthost.host.identity import Identity
from agenthost.host.limits import Limits
from agenthost.host.subscriptions import Shown, Subscriber

__all__ = ["Line", "Message", "Outbox", "Transport"]

_NO_RESOURCE = -(2**63)
"""The resource of what is no news of one, but a message of its own. Terminals count down from 0."""


class Transport(Protocol):
    """Carries messages between a client and us."""

    async def receive(self) -> str | bytes | None:
        """Wait for the next message; `None` once the client is gone."""

    async def send(self, text: str) -> None:
        """Send a message; waits while the client does not read."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class Line:
    """A connection as those see it who may end it: whoever watches keys, a newer one, the server that stops.

    Attributes:
        closing: the code and the reason that it ends with, once we end it.
    """

    def __init__(self) -> None:
        """Take the task that serves the connection: this one."""
        self.closing: tuple[int, str] | None = None
        self._task = asyncio.current_task()

    def end(self, code: int, reason: str) -> None:
        """End the connection from our side; the first reason counts."""
        if self.closing is None and self._task is not None:
            self.closing = (code, reason)
            self._task.cancel()

    def is_ended(self) -> bool:
        """Tell whether the task was cancelled by `end`; if so, that is over."""
        if self.closing is None or self._task is None:
            return False
        self._task.uncancel()
        return True


class Message(Shown, frozen=True, gc=False):
    """A message of our own. It counts as one thing that waits, however large it is: it was asked for."""

    text: str = ""


class Outbox(Subscriber):
    """All that waits to be sent to one client, in one order: answers, and what it subscribed to.

    A client that does not read is cut off, even while a message is stuck on its way: `cut_off` is told why.
    """

    def __init__(self, client: Identity, limits: Limits, cut_off: Callable[[str], None]) -> None:
        super().__init__(client, max_items=limits.subscriber_items, max_bytes=limits.subscriber_bytes)
        self._cut_off = cut_off
        self._unsent = self._unsent_size = 0
        self._has_room = asyncio.Event()

    def push(self, item: Shown) -> None:
        """Queue what happened, or cut the client off if it has no room for it."""
        if self._failure is None:
            super().push(item)
            if self._failure is not None:
                self._cut_off(str(self._failure))

    def put(self, message: bytes) -> None:
        """Queue a message of our own."""
        self.push(self._noted(message))

    def put_first(self, message: bytes) -> None:
        """Queue a message before all that waits."""
        self.push_first(self._noted(message))

    def _noted(self, message: bytes) -> Message:
        self._unsent += 1
        text = message.decode()
        self._unsent_size += len(text)
        return Message(0, _NO_RESOURCE, b"", text=text)

    @staticmethod
    def is_message(item: Shown) -> TypeGuard[Message]:
        """Tell whether an item is a message of our own."""
        return type(item) is Message

    def sent(self, message: Message) -> None:
        """Note that a message is on its way."""
        self._unsent -= 1
        self._unsent_size -= len(message.text)
        self._has_room.set()

    async def wait_room(self) -> None:
        """Wait while so many answers wait that no more should be asked for."""
        while self._unsent * 8 > self._max_items or self._unsent_size > self._max_bytes:
            self._has_room.clear()
            await self._has_room.wait()
