"""Subscriptions: who is sent which log items, in order. Knows sequence numbers, no protocol and no store.

A subscriber has a bounded queue. One that does not keep up is cut off, with a reason, and nobody else is
affected (HR-R07). It subscribes again and gets what it missed from the log.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from agenthost.errors import SlowConsumer
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import first_line
from agenthost.host.log.text_runs import TextRun
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import Action

T = TypeVar("T")


class LogItem(Entry, frozen=True, gc=False):
    """An entry of the log, shown to subscribers once it is durable.

    It is one action, or a run of streamed text. For a run, `run` has the texts, `seq` is the number of the
    last one, and `envelope` is the run as it is stored. Everything is encoded once, for all subscribers.
    It is numbered when it is shown; until then `seq` is 0. `count` is how many numbers it takes.

    Attributes:
        uri: the URI of the resource whose log it is in.
        channel: the channel that it is about: the resource itself, or the default chat of a session.
        after: the state of the channel after the action; of chats and terminals as a `Live` version.
    """

    uri: str = ""
    channel: str = ""
    action: Action | None = None
    after: Any = None
    reason: str | None = None
    show: Callable[["LogItem"], None] | None = None
    run: TextRun | None = None
    # Caches. The struct is frozen, so they are filled with `force_setattr`.
    _lines: list[bytes] | None = None
    _made: tuple[Callable[..., Any], Any] | None = None

    @property
    def first_seq(self) -> int:
        """The number of its first envelope; the others follow without a gap, up to `seq`."""
        return self.seq if self.run is None else self.seq - len(self.run.texts) + 1

    def envelopes(self) -> Sequence[bytes]:
        """Return the encoded envelopes, in order. A run is split once, for all subscribers."""
        lines = self._lines
        if lines is None:
            run, seq = self.run, self.seq
            lines = [first_line(self.envelope, seq)] if run is None else run.envelopes(self.first_seq)
            msgspec.structs.force_setattr(self, "_lines", lines)
        return lines

    def shared(self, make: Callable[["LogItem"], T]) -> T:
        """Return `make(self)`, computed once for all subscribers that pass the same function."""
        made = self._made
        if made is None or made[0] is not make:
            made = (make, make(self))
            msgspec.structs.force_setattr(self, "_made", made)
        return made[1]


class Subscriber:
    """A bounded queue of the items of one listener.

    Attributes:
        client: who listens.
        resources: the numbers of the resources it is subscribed to.
        taken: how often the queue was emptied by its reader.
        max_items: how many envelopes may wait before it is cut off.
        max_bytes: how many bytes they may have together.
    """

    def __init__(
        self,
        client: Identity,
        max_items: int = 10_000,
        max_bytes: int = 16 * 1024 * 1024,
        on_cut_off: Callable[[SlowConsumer], None] | None = None,
    ) -> None:
        """Make an empty queue. `on_cut_off` is called once, when there is no room for one more item."""
        self.client = client
        self.resources: set[int] = set()
        self.taken = 0
        self.max_items = max_items
        self.max_bytes = max_bytes
        self._on_cut_off = on_cut_off
        # A single item, however large, does not mean that nobody reads.
        self._max_weight = max_bytes // 4
        self.items: deque[LogItem] = deque()
        """The items that wait."""
        self._count = 0
        self._bytes = 0
        self._waiting: asyncio.Future[None] | None = None  # an Event per subscriber would cost more
        self._failure: SlowConsumer | None = None

    @property
    def backlog(self) -> int:
        """How many envelopes wait."""
        return self._count

    @property
    def is_behind(self) -> bool:
        """Whether producers that can wait should: the queue is at an eighth of its limits."""
        return self._count * 8 > self.max_items or self._bytes * 8 > self.max_bytes

    def push(self, item: LogItem) -> None:
        """Queue an item, or cut the subscriber off if there is no room for it."""
        if self._failure is not None:
            return
        # `_weight`, inlined: this runs per item and subscriber.
        count = self._count + item.count
        self._bytes += min(len(item.envelope), self._max_weight)
        if count > self.max_items or self._bytes > self.max_bytes:
            self._failure = SlowConsumer(self._count, self._bytes)
            # The log has what it missed; keeping it here would only cost memory.
            self.items.clear()
            self._count = self._bytes = 0
            if self._on_cut_off is not None:
                self._on_cut_off(self._failure)
        else:
            self.items.append(item)
            self._count = count
        # `_wake`, inlined too.
        waiting = self._waiting
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _weight(self, item: LogItem) -> int:
        return min(len(item.envelope), self._max_weight)

    def drop(self, resource: int, channel: str | None = None) -> None:
        """Remove the items of a resource, or of one of its channels: a later snapshot includes them."""
        kept = [
            item
            for item in self.items
            if item.resource != resource or (channel is not None and item.channel != channel)
        ]
        self.items = deque(kept)
        self._count = sum(item.count for item in kept)
        self._bytes = sum(map(self._weight, kept))

    async def wait_next(self) -> list[LogItem]:
        """Wait for items, and take all of them, in order: at least one. Some may be runs.

        For one reader at a time. Cancelling is safe: the next call returns what this one would have.

        Raises:
            SlowConsumer: the reader fell too far behind and must subscribe again.
        """
        while not self.items and self._failure is None:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        if self._failure is not None:
            raise self._failure
        self.taken += 1
        # A copy: more may be pushed while the reader goes through it.
        taken = list(self.items)
        self.items.clear()
        self._count = self._bytes = 0
        return taken


class Hub:
    """Passes each item to the subscribers of its resource (HR-S03)."""

    def __init__(self) -> None:
        self._listeners: dict[int, dict[Subscriber, None]] = {}
        self._watches: dict[int, Callable[[LogItem], None]] = {}

    def watch(self, resource: int, watch: Callable[[LogItem], None]) -> None:
        """Call a function with the items of a resource, before its subscribers. It does not count as one."""
        self._watches[resource] = watch

    def unwatch(self, resource: int) -> None:
        """End what `watch` began."""
        self._watches.pop(resource, None)

    def add(self, subscriber: Subscriber, resource: int) -> None:
        """Subscribe to a resource, from now on."""
        self._listeners.setdefault(resource, {})[subscriber] = None
        subscriber.resources.add(resource)

    def remove(self, subscriber: Subscriber, resource: int) -> None:
        """Unsubscribe from a resource."""
        listeners = self._listeners.get(resource, {})
        listeners.pop(subscriber, None)
        if not listeners:
            self._listeners.pop(resource, None)
        subscriber.resources.discard(resource)

    def leave(self, subscriber: Subscriber) -> None:
        """Unsubscribe from everything."""
        # Not `remove`, which would change the set during the loop.
        for resource in subscriber.resources:
            listeners = self._listeners.get(resource, {})
            listeners.pop(subscriber, None)
            if not listeners:
                self._listeners.pop(resource, None)
        subscriber.resources.clear()

    def drop(self, resource: int) -> None:
        """Forget a resource that was removed."""
        self.unwatch(resource)
        for subscriber in self._listeners.pop(resource, {}):
            subscriber.resources.discard(resource)

    def count(self, resource: int) -> int:
        """Return how many subscribers a resource has."""
        return len(self._listeners.get(resource, ()))

    def listeners(self, resource: int) -> Iterable[Subscriber]:
        """Return the subscribers of a resource."""
        return self._listeners.get(resource, ())

    def is_heard(self, resource: int) -> bool:
        """Return whether a resource has subscribers, or is watched."""
        return resource in self._listeners or resource in self._watches

    def publish(self, item: LogItem) -> None:
        """Pass an item to all subscribers of its resource."""
        if self._watches and item.resource in self._watches:
            self._watches[item.resource](item)
        for subscriber in self._listeners.get(item.resource, ()):
            subscriber.push(item)

    def subscribers(self) -> Iterable[Subscriber]:
        """Return all subscribers, each once."""
        return {subscriber: None for listeners in self._listeners.values() for subscriber in listeners}
