"""The journal: numbers what happens, writes it in groups, and shows it once it is durable.

Whatever piles up while one group is being written goes into the next, in one transaction. Nobody is shown
what a crash could take back. When the store cannot write, nothing is lost and nothing is shown: the group is
tried again until it goes through, and meanwhile new work is refused with the reason.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from agenthost.errors import StorageError
from agenthost.host.journalstats import Histogram, JournalStats
from agenthost.host.storage import Storage, Write
from agenthost.host.subscriptions import Shown
from agenthost.host.writer import Writer
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.json import encode_json

__all__ = ["Histogram", "Journal", "JournalStats", "Source"]

log = logging.getLogger("agenthost.journal")

T = TypeVar("T")

RETRY_SECONDS = 0.5

PATIENCE = 4
"""For how many ticks of the loop a group waits while each of them still brings more for it."""


@dataclass(slots=True)
class _Done:
    """Stands among what is to be shown for writes that are no entries."""

    done: Callable[[Any], None]
    what: Any

    def show(self, _item: object) -> None:
        self.done(self.what)


@dataclass(slots=True)
class _Group:
    """What one transaction writes, and what is to be shown after it. `size` counts each envelope of a run."""

    writes: list[Write] = field(default_factory=list)
    to_show: list[Any] = field(default_factory=list)  # of Shown, and of _Done among them
    size: int = 0
    deltas: int = 0
    last_seq: int = 0
    ticket: int = 0
    seconds: float = 0.0


class Source(Protocol):
    """One who has more for the next group than was handed in: a session with text that streamed."""

    def gather(self) -> None:
        """Hand it in now; the group is being formed."""


class Journal:
    """The only way to the store for whatever changes. Lives on the event loop; writes in one thread."""

    def __init__(self, storage: Storage, last_seq: int, *, max_backlog: int = 100_000) -> None:
        self.last_seq = last_seq
        """The number of the newest envelope, shown or not."""
        self.shown_seq = last_seq
        """The number of the newest envelope that is durable and was shown."""
        self.stats = JournalStats()
        self.trouble: StorageError | None = None
        """Why the store cannot write at present."""
        self.buffered = 0
        """How many pieces of text wait in sessions for the next group. Sessions keep this count."""
        self._storage = storage
        self._max_backlog = max_backlog
        self._next = _Group()
        self._sources: list[Source] = []
        self._is_writing = False
        self._is_closed = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._room = asyncio.Event()
        self._room.set()
        self.ticket = 0
        """The ticket for `wait` of all that was brought so far."""
        self._done = 0
        self._writer = Writer("agenthost-journal")

    @property
    def backlog(self) -> int:
        """How much waits to be written, every envelope counted."""
        return self._next.size + self.buffered

    def is_durable(self, ticket: int) -> bool:
        """Tell whether everything up to this ticket is durable and was shown."""
        return ticket <= self._done

    def number(
        self, action: Action, origin: ActionOrigin | None = None, reason: str | None = None
    ) -> tuple[int, bytes]:
        """Give an action its place in the host's order, and its envelope, encoded once for everybody."""
        seq = self.last_seq + 1
        envelope: dict[str, Any] = {"action": action, "serverSeq": seq}
        if origin is not None:
            envelope["origin"] = origin
        if reason is not None:
            envelope["rejectionReason"] = reason
        encoded = encode_json(envelope)
        self.last_seq = seq
        return seq, encoded

    def append(self, item: Shown) -> int:
        """Have an entry written, and shown once it is durable. Gives a ticket for `wait`."""
        group = self._next
        group.writes.append(item)
        group.to_show.append(item)
        if item.run is None:
            group.size += 1
        else:
            count = len(item.run.texts)
            group.size += count
            group.deltas += count
        # As `_next_ticket` does: all that happens comes here.
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            self._flush_soon(PATIENCE)
        return self.ticket

    def announce(self, item: Shown) -> int:
        """Have an entry shown in its turn, but not written: only its number is, with the group's.

        So what is not kept still has its place in the order, and no number is given twice, not even over
        a restart. Gives a ticket for `wait`.
        """
        self._next.to_show.append(item)
        self._next.size += item.count
        return self._next_ticket()

    def write(
        self, writes: Sequence[Write], done: Callable[[Any], None] | None = None, what: Any = None
    ) -> int:
        """Have these writes made, in the order of the calls; `done(what)` is called once they are durable.

        Gives a ticket for `wait`.
        """
        self._next.writes.extend(writes)
        self._next.size += len(writes)
        if done is not None:
            self._next.to_show.append(_Done(done, what))
        return self._next_ticket()

    def expect(self, source: Source) -> int:
        """Have somebody called when the next group is formed. Gives a ticket for what it will hand in."""
        self._sources.append(source)
        return self._next_ticket()

    def _next_ticket(self) -> int:
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            self._flush_soon(PATIENCE)
        return self.ticket

    def _flush_soon(self, patience: int) -> None:
        """Form a group when what happens now has had its consequences: a short turn is written at once."""
        asyncio.get_running_loop().call_soon(self._flush_or_wait, self.ticket, patience)

    def _flush_or_wait(self, counter: int, patience: int) -> None:
        if patience and self.ticket != counter:
            self._flush_soon(patience - 1)
        else:
            self._flush()

    async def wait(self, ticket: int | None = None) -> None:
        """Wait until everything up to this ticket, or up to now, is durable and was shown."""
        ticket = self.ticket if ticket is None else ticket
        if self.is_durable(ticket):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((ticket, future))
        await future

    async def in_turn(
        self, function: Callable[..., T], *arguments: Any, then: Callable[[T], None] | None = None
    ) -> T:
        """Run something that needs the store to itself in the journal's thread, between two groups.

        `then` is told the result in the order of what is shown: after the groups before it were, and before
        those after it are.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def done(result: T, failure: BaseException | None) -> None:
            if then is not None and failure is None:
                then(result)
            if future.cancelled():
                return
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

        self._writer.submit(partial(function, *arguments), done)
        return await future

    async def wait_room(self) -> None:
        """Wait while too much is waiting to be written: an agent must not outrun the disk for ever."""
        while self.backlog >= self._max_backlog and not self._is_closed:
            self._room.clear()
            await self._room.wait()

    def refuse_if_in_trouble(self) -> None:
        """Raise why nothing can be written at present, for those who bring new work."""
        if self.trouble is not None:
            raise self.trouble

    def _flush(self) -> None:
        # The list may grow meanwhile: a ticket that is given now is for this group too.
        for source in self._sources:
            try:
                source.gather()
            except Exception:  # a bug in one place must not keep all others from being written
                log.exception("what waited for this group could not be taken into it")
        self._sources = []
        group, self._next = self._next, _Group()
        group.last_seq, group.ticket = self.last_seq, self.ticket
        self._room.set()
        self._submit(group)

    def _submit(self, group: _Group) -> None:
        if self._is_closed:
            return
        self._writer.submit(partial(self._commit, group), partial(self._finished, group))

    def _commit(self, group: _Group) -> None:
        begun = time.perf_counter()
        self._storage.commit(group.writes, group.last_seq)
        group.seconds = time.perf_counter() - begun

    def _finished(self, group: _Group, _result: None, failure: BaseException | None) -> None:
        if failure is not None:
            self._try_again(group, failure)
            return
        if self.trouble is not None:
            log.warning("the store can be written again")
            self.trouble = None
        self.shown_seq = group.last_seq
        self._count(group)
        for item in group.to_show:
            if item.show is not None:
                item.show(item)
        self._done = group.ticket
        self._release_waiters()
        if self._next.writes or self._next.to_show or self._sources:
            self._flush_soon(PATIENCE)
        else:
            self._is_writing = False

    def _try_again(self, group: _Group, failure: BaseException) -> None:
        self.stats.failures += 1
        if self.trouble is None:
            log.error("nothing can be written, and nothing will be shown until it can: %s", failure)
        is_ours = isinstance(failure, StorageError)
        self.trouble = failure if is_ours else StorageError(f"the store failed: {failure}")  # type: ignore[assignment]
        if not self._is_closed:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._submit, group)

    def _count(self, group: _Group) -> None:
        stats = self.stats
        stats.commits += 1
        stats.writes += len(group.writes)
        stats.deltas += group.deltas
        stats.largest_group = max(stats.largest_group, group.size)
        stats.group_sizes.add(group.size)
        stats.commit_seconds.add(group.seconds)

    def _release_waiters(self) -> None:
        ready = [future for ticket, future in self._waiters if ticket <= self._done]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > self._done]
        for future in ready:
            if not future.done():
                future.set_result(None)

    async def close(self, timeout: float = 5.0) -> None:  # noqa: ASYNC109 - how long the disk may still take
        """Write what is left, and end the thread. What cannot be written by then was never shown either."""
        if self._is_closed:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), timeout)
        self._is_closed = True
        self._room.set()
        self._writer.close()
        for _, future in self._waiters:
            if not future.done():
                future.set_exception(
                    self.trouble or StorageError("the host was closed before this was written")
                )
