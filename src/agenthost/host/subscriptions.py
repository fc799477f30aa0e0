"""Subscriptions: who hears what, in order. Knows sequence numbers, no protocol and no store.

A subscriber has a bounded queue. One that does not keep up is cut off, with a reason, and harms nobody
else; it subscribes again and gets what it missed from the log.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from agenthost.core.reducers import Live
from agenthost.errors import SlowConsumer
from agenthost.host.identity import Identity
from agenthost.host.packing import Run
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import Action

T = TypeVar("T")


class Shown(Entry, frozen=True, gc=False):
    """What happened: an entry of the log, which everybody who may is shown once it is durable.

    It is one action, or a run of text that streamed: then `run` has its texts, `seq` is the number of the
    last, and `envelope` is the run as it is stored. All bytes are made once, for everybody.
    """

    action: Action | None = None
    after: Live[Any] | None = None
    """The state that follows."""
    reason: str | None = None
    show: Callable[["Shown"], None] | None = None
    run: Run | None = None
    _lines: list[bytes] | None = None
    _made: tuple[Callable[..., Any], Any] | None = None

    @property
    def count(self) -> int:
        """How many envelopes it is."""
        return 1 if self.run is None else len(self.run.texts)

    @property
    def first_seq(self) -> int:
        """The number of the first of its envelopes; the others follow without a gap, up to `seq`."""
        return self.seq - self.count + 1

    def envelopes(self) -> Sequence[bytes]:
        """Give the envelopes, encoded, in order. A run is taken apart once for all who listen."""
        lines = self._lines
        if lines is None:
            lines = [self.envelope] if self.run is None else self.run.envelopes(self.first_seq)
            msgspec.structs.force_setattr(self, "_lines", lines)
        return lines

    def shared(self, make: Callable[["Shown"], T]) -> T:
        """Give what `make` makes of it; made once, for all who listen and want the same."""
        made = self._made
        if made is None or made[0] is not make:
            made = (make, make(self))
            msgspec.structs.force_setattr(self, "_made", made)
        return made[1]


class Subscriber:
    """One listener. Envelopes wait here until it takes them, within bounds."""

    def __init__(self, client: Identity, max_items: int = 10_000, max_bytes: int = 16 * 1024 * 1024) -> None:
        self.client = client
        self.resources: set[int] = set()
        self.taken = 0
        """How often it took what waited."""
        self._max_items = max_items
        self._max_bytes = max_bytes
        # One thing alone, however large, is no sign that nobody reads.
        self._max_weight = max_bytes // 4
        self._items: deque[Shown] = deque()
        self._count = 0
        self._bytes = 0
        self._waiting: asyncio.Future[None] | None = None  # not an event: one would be made for each AAP turn
        self._failure: SlowConsumer | None = None

    @property
    def backlog(self) -> int:
        """How many envelopes wait."""
        return self._count

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that whoever can wait should: an eighth of what it takes to be cut off."""
        return self._count * 8 > self._max_items or self._bytes * 8 > self._max_bytes

    @property
    def is_cut_off(self) -> bool:
        """Whether it fell behind, and hears nothing more."""
        return self._failure is not None

    def push(self, item: Shown) -> None:
        """Queue what happened, or cut the subscriber off if it has no room for it."""
        if self._failure is not None:
            return
        # As `item.count` and `_weight` say; each envelope for each listener comes here.
        count = self._count + (1 if item.run is None else len(item.run.texts))
        self._bytes += min(len(item.envelope), self._max_weight)
        if count > self._max_items or self._bytes > self._max_bytes:
            self._failure = SlowConsumer(self._count, self._bytes)
            # What it missed is in the log; holding it here would only cost memory.
            self._items.clear()
            self._count = self._bytes = 0
        else:
            self._items.append(item)
            self._count = count
        waiting = self._waiting
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _weight(self, item: Shown) -> int:
        return min(len(item.envelope), self._max_weight)

    def push_first(self, item: Shown) -> None:
        """Queue something before all that waits; however much that is."""
        self._items.appendleft(item)
        self._count += item.count
        self._bytes += self._weight(item)
        self._wake()

    def drop(self, resource: int) -> None:
        """Take out what waits of one resource: a view of it that comes now holds all of that."""
        kept = [item for item in self._items if item.resource != resource]
        self._items = deque(kept)
        self._count = sum(item.count for item in kept)
        self._bytes = sum(map(self._weight, kept))

    async def wait_next(self) -> list[Shown]:
        """Wait until something is there, and take all of it: at least one, in order. Some may be runs.

        For one reader at a time. Cancelling is safe: the next call returns what this one would have.

        Raises:
            SlowConsumer: the reader fell too far behind and must subscribe again.
        """
        while not self._items and self._failure is None:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        if self._failure is not None:
            raise self._failure
        self.taken += 1
        taken = list(self._items)
        self._items.clear()
        self._count = self._bytes = 0
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

    def count(self, resource: int) -> int:
        """Give how many listen to a resource."""
        return len(self._listeners.get(resource, ()))

    def listeners(self, resource: int) -> Iterable[Subscriber]:
        """Give everybody who listens to a resource."""
        return self._listeners.get(resource, ())

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
