"""Subscriptions: who hears what, in order. Knows sequence numbers, no protocol and no store.

A subscriber has a bounded queue. One that does not keep up is cut off, with a reason, and harms nobody
else; it subscribes again and gets what it missed from the log.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from agenthost.core.reducers import Live
from agenthost.errors import SlowConsumer
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import Action


class Shown(Entry, frozen=True, gc=False):
    """An action that happened: an entry of the log, which everybody who may is shown once it is durable.

    `envelope` is the encoded form, made once for the log and for everybody; `after` the state that follows.
    """

    action: Action | None = None
    after: Live[Any] | None = None
    reason: str | None = None
    show: Callable[["Shown"], None] | None = None


class Subscriber:
    """One listener. Envelopes wait here until it takes them, within bounds."""

    def __init__(self, client_id: str, *, max_items: int = 10_000, max_bytes: int = 16 * 1024 * 1024) -> None:
        self.client_id = client_id
        self.resources: set[int] = set()
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._items: deque[Shown] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._failure: SlowConsumer | None = None

    @property
    def backlog(self) -> int:
        """How many envelopes wait."""
        return len(self._items)

    @property
    def is_cut_off(self) -> bool:
        """Whether it fell behind, and hears nothing more."""
        return self._failure is not None

    def push(self, item: Shown) -> None:
        """Queue an envelope, or cut the subscriber off if it has no room for it."""
        if self._failure is not None:
            return
        self._bytes += len(item.envelope)
        if len(self._items) >= self._max_items or self._bytes > self._max_bytes:
            self._failure = SlowConsumer(len(self._items), self._bytes)
            # What it missed is in the log; holding it here would only cost memory.
            self._items.clear()
        else:
            self._items.append(item)
        self._wake.set()

    def drop(self, resource: int) -> None:
        """Take out what waits of one resource: a view of it that comes now holds all of that."""
        kept = [item for item in self._items if item.resource != resource]
        self._items = deque(kept)
        self._bytes = sum(len(item.envelope) for item in kept)
        if not kept and self._failure is None:
            self._wake.clear()

    async def wait_next(self) -> list[Shown]:
        """Wait until something is there, and take all of it: at least one, in order.

        Cancelling is safe: the next call returns what this one would have.

        Raises:
            SlowConsumer: the reader fell too far behind and must subscribe again.
        """
        await self._wake.wait()
        if self._failure is not None:
            raise self._failure
        taken = list(self._items)
        self._items.clear()
        self._bytes = 0
        self._wake.clear()
        return taken


class Hub:
    """Brings each envelope to those who subscribed to its resource."""

    def __init__(self) -> None:
        self._listeners: dict[int, dict[Subscriber, None]] = {}

    def add(self, subscriber: Subscriber, resource: int) -> None:
        """Let it hear of a resource from now on."""
        self._listeners.setdefault(resource, {})[subscriber] = None
        subscriber.resources.add(resource)

    def remove(self, subscriber: Subscriber, resource: int) -> None:
        """Let it hear of a resource no more."""
        listeners = self._listeners.get(resource, {})
        listeners.pop(subscriber, None)
        if not listeners:
            self._listeners.pop(resource, None)
        subscriber.resources.discard(resource)

    def leave(self, subscriber: Subscriber) -> None:
        """Let it hear of nothing more."""
        for resource in list(subscriber.resources):
            self.remove(subscriber, resource)

    def drop(self, resource: int) -> None:
        """Forget a resource that is gone."""
        for subscriber in self._listeners.pop(resource, {}):
            subscriber.resources.discard(resource)

    def is_heard(self, resource: int) -> bool:
        """Tell whether anybody listens to a resource."""
        return resource in self._listeners

    def publish(self, item: Shown) -> None:
        """Bring it to all who listen to its resource."""
        for subscriber in self._listeners.get(item.resource, ()):
            subscriber.push(item)

    def subscribers(self) -> Iterable[Subscriber]:
        """Give everybody who listens to something, each once."""
        return {subscriber: None for listeners in self._listeners.values() for subscriber in listeners}
