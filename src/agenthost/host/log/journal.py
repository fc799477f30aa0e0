"""The journal: writes items in groups, and has them shown once they are durable.

Whatever arrives while one group is being written goes into the next, in one transaction. The store numbers
the items of a group when it commits it. Nobody is shown anything that a crash could undo. When the store
cannot write, nothing is lost and nothing is shown: the group is retried until it succeeds, and meanwhile new
work is refused with the reason.
"""

import asyncio
import contextlib
import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from agenthost.errors import StorageError
from agenthost.host.log.line import Line, Mark, Placed
from agenthost.host.log.stats import COMMIT_SECONDS, GROUP_SIZES, JournalStats
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.writer import Writer
from agenthost.host.storage import Entry, Group, Skip, Storage, Write

__all__ = ["Journal", "Source"]

log = logging.getLogger("agenthost.journal")

T = TypeVar("T")

RETRY_SECONDS = 0.5

MAX_FLUSH_TICKS = 4
"""For how many ticks of the event loop a group waits, as long as each tick still adds to it."""


class _Callback(msgspec.Struct):
    """Takes the place of a `LogItem` in `to_show`, for writes that are not entries."""

    count: ClassVar[int] = 0

    done: Callable[[Any], None]
    what: Any
    seq: int = 0

    def show(self, _item: object) -> None:
        self.done(self.what)


@dataclass(slots=True)
class _Group(Group):
    """The writes of one transaction, and what is shown after it.

    `count` is how many numbers it takes, and `size` counts each envelope of a run.
    """

    to_show: list[Placed] = field(default_factory=list)
    count: int = 0
    size: int = 0
    deltas: int = 0
    ticket: int = 0


class Source(Protocol):
    """Something that buffers entries until a group forms: a session with text that streamed."""

    def gather(self) -> None:
        """Append what is buffered: the group is being formed."""


class Journal:
    """The only way to change the store. Used on the event loop; writes in one thread.

    `line` is where everything is shown.
    """

    def __init__(self, storage: Storage, line: Line, *, max_backlog: int = 100_000) -> None:
        self.line = line
        self.stats = JournalStats()
        self.trouble: StorageError | None = None
        """Why the store cannot write now; None while it can."""
        self.buffered = 0
        """How many pieces of text are buffered in sessions for the next group. Sessions update this count."""
        self._storage = storage
        self._max_backlog = max_backlog
        self._next = _Group()
        self._ordinal = 0
        self._sources: list[Source] = []
        self._is_writing = False
        self._is_closed = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._room = asyncio.Event()
        self._room.set()
        self.ticket = 0
        """The newest ticket: `wait` for it to wait for everything so far."""
        self._done = 0
        self._writer = Writer("agenthost-journal")

    @property
    def backlog(self) -> int:
        """How many writes are waiting; each envelope of a run counts."""
        return self._next.size + self.buffered

    def is_durable(self, ticket: int) -> bool:
        """Return whether everything up to this ticket is durable and was shown."""
        return ticket <= self._done

    def append(self, item: LogItem, stored: Entry | None = None) -> int:
        """Write an entry with the next group, and show it once it is durable. Return a ticket for `wait`.

        It is numbered when it is shown (HR-S01: one sequence for the whole host, without gaps while it runs).
        `stored` is written in its place, if given.
        """
        group = self._next
        group.writes.append(item if stored is None else stored)
        group.to_show.append(item)
        count = item.count
        group.count += count
        group.size += count
        if item.run is not None:
            group.deltas += count
        # `_next_ticket`, inlined: every action comes through here.
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def announce(self, item: LogItem) -> int:
        """Show an entry in its order without writing it. Return a ticket for `wait`.

        Its number is still taken in the store, so no number is used twice, not even after a restart.
        """
        group = self._next
        group.writes.append(Skip(item.count))
        group.to_show.append(item)
        group.count += item.count
        group.size += item.count
        return self._next_ticket()

    def mark(self) -> Mark:
        """Return a mark after everything so far. It is numbered when `wait` returns."""
        if self.ticket == self._done:
            return Mark(self.line.shown_seq)
        mark = Mark()
        self._next.to_show.append(mark)
        self.ticket += 1  # a group is being written, and another follows
        return mark

    def write(
        self,
        writes: Sequence[Write],
        done: Callable[[Any], None] | None = None,
        what: Any = None,
        mark: Mark | None = None,
    ) -> int:
        """Add writes to the next group, and call `done(what)` once they are durable.

        `mark` is given its number then. Return a ticket for `wait`.
        """
        self._next.writes.extend(writes)
        self._next.size += len(writes)
        if mark is not None:
            self._next.to_show.append(mark)
        if done is not None:
            self._next.to_show.append(_Callback(done, what))
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def expect(self, source: Source) -> int:
        """Call `source.gather()` when the next group forms. Return a ticket for what it will append."""
        self._sources.append(source)
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def _next_ticket(self) -> int:
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    async def wait(self, ticket: int | None = None) -> None:
        """Wait until everything up to this ticket, or up to now, is durable and was shown."""
        ticket = self.ticket if ticket is None else ticket
        if ticket <= self._done:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((ticket, future))
        await future

    async def in_turn(
        self, function: Callable[..., T], *arguments: Any, then: Callable[[T], None] | None = None
    ) -> T:
        """Run a function that needs exclusive use of the store in the journal's thread, between two groups.

        `then(result)` is called after all earlier groups have been shown, and before any later one is.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def done(result: T, failure: BaseException | None, _seconds: float) -> None:
            if self.line.is_shared:
                held = partial(shown, result, failure)
                self.line.hold(lambda _: held(), 0, has_notice=False)  # type: ignore[attr-defined]
            else:
                shown(result, failure)

        def shown(result: T, failure: BaseException | None) -> None:
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
        """Wait while the backlog is too long: an agent must not outrun the disk."""
        while self.backlog >= self._max_backlog and not self._is_closed:
            self._room.clear()
            await self._room.wait()

    def refuse_if_in_trouble(self) -> None:
        """Refuse new work while the store cannot write.

        Raises:
            StorageError: why it cannot.
        """
        if self.trouble is not None:
            raise self.trouble.with_traceback(None)  # or it would grow each time

    def _flush(self, ticket: int, ticks_left: int) -> None:
        """Write a group once a tick adds nothing more to it, so that a short turn is one group."""
        if ticks_left and self.ticket != ticket:
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, ticks_left - 1)
            return
        # The list may grow in this loop: a ticket issued now belongs to this group too.
        for source in self._sources:
            try:
                source.gather()
            except Exception:  # a bug in one session must not block the writes of all others
                log.exception("buffered text could not be added to the journal")
        self._sources = []
        group, self._next = self._next, _Group()
        self._ordinal += 1
        group.ordinal, group.at_least, group.ticket = self._ordinal, self.line.shown_seq, self.ticket
        self._room.set()
        if not self._is_closed:
            commit, done = partial(self._storage.commit, group), partial(self._finished, group)
            self._writer.jobs.put((commit, asyncio.get_running_loop(), done))

    def _submit(self, group: _Group) -> None:
        if self._is_closed:
            return
        self._writer.submit(partial(self._storage.commit, group), partial(self._finished, group))

    def _finished(self, group: _Group, base: int, failure: BaseException | None, seconds: float) -> None:
        if failure is not None:
            self._try_again(group, failure)
            return
        if self.trouble is not None:
            log.warning("the store can be written to again")
            self.trouble = None
        stats = self.stats
        stats.commits += 1
        stats.writes += len(group.writes)
        stats.deltas += group.deltas
        stats.largest_group = max(stats.largest_group, group.size)
        stats.group_sizes[bisect_left(GROUP_SIZES, group.size)] += 1
        stats.group_size_total += group.size
        stats.commit_seconds[bisect_left(COMMIT_SECONDS, seconds)] += 1
        stats.commit_seconds_total += seconds
        if self.line.is_shared:
            self.line.hold(partial(self._show, group, base), base, has_notice=bool(group.writes))  # type: ignore[attr-defined]
        else:
            self._show(group, base)
        if self._next.writes or self._next.to_show or self._sources:
            asyncio.get_running_loop().call_soon(self._flush, self.ticket, MAX_FLUSH_TICKS)
        else:
            self._is_writing = False

    def _show(self, group: _Group, base: int, known: int | None = None) -> None:
        base = base if known is None else known
        self.line.show(group.to_show, base, base + group.count)
        self._done = group.ticket
        if self._waiters:
            self._release_waiters()

    def _try_again(self, group: _Group, failure: BaseException) -> None:
        """Try the same group again later. Its ordinal tells the store if it was committed after all."""
        self.stats.failures += 1
        if self.trouble is None:
            log.error("the store cannot be written to; nothing is shown until it can: %s", failure)
        is_ours = isinstance(failure, StorageError)
        self.trouble = failure if is_ours else StorageError(f"the store failed: {failure}")  # type: ignore[assignment]
        if not self._is_closed:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._submit, group)

    def _release_waiters(self) -> None:
        ready = [future for ticket, future in self._waiters if ticket <= self._done]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > self._done]
        for future in ready:
            if not future.done():
                future.set_result(None)

    async def close(self, timeout: float = 5.0) -> None:  # noqa: ASYNC109 - the disk's time limit
        """Write what is left, and end the thread. Whatever cannot be written in time was never shown."""
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
