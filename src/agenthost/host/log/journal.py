"""The journal: numbers envelopes, writes them in groups, and shows them once they are durable.

Whatever arrives while one group is being written goes into the next, in one transaction. Nobody is shown
anything that a crash could undo. When the store cannot write, nothing is lost and nothing is shown: the group
is retried until it succeeds, and meanwhile new work is refused with the reason.
"""

import asyncio
import contextlib
import logging
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from agenthost.errors import StorageError
from agenthost.host.log.entries import with_legacy
from agenthost.host.log.stats import COMMIT_SECONDS, GROUP_SIZES, JournalStats
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.writer import Writer
from agenthost.host.storage import Storage, Write
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["Journal", "Source"]

log = logging.getLogger("agenthost.journal")

T = TypeVar("T")

RETRY_SECONDS = 0.5

MAX_FLUSH_TICKS = 4
"""For how many ticks of the event loop a group waits, as long as each tick still adds to it."""


@dataclass(slots=True)
class _Callback:
    """Takes the place of a `LogItem` in `to_show`, for writes that are not entries."""

    done: Callable[[Any], None]
    what: Any

    def show(self, _item: object) -> None:
        self.done(self.what)


@dataclass(slots=True)
class _Group:
    """The writes of one transaction, and the items shown after it. `size` counts each envelope of a run."""

    writes: list[Write] = field(default_factory=list)
    to_show: list[Any] = field(default_factory=list)  # LogItem or _Callback
    size: int = 0
    deltas: int = 0
    last_seq: int = 0
    ticket: int = 0
    seconds: float = 0.0


class Source(Protocol):
    """Something that buffers entries until a group forms: a session with text that streamed."""

    def gather(self) -> None:
        """Append what is buffered: the group is being formed."""


class Journal:
    """The only way to change the store. Used on the event loop; writes in one thread."""

    def __init__(self, storage: Storage, last_seq: int, *, max_backlog: int = 100_000) -> None:
        self.last_seq = last_seq
        """The sequence number of the newest envelope, shown or not."""
        self.shown_seq = last_seq
        """The sequence number of the newest envelope that is durable and was shown."""
        self.stats = JournalStats()
        self.trouble: StorageError | None = None
        """Why the store cannot write now; None while it can."""
        self.buffered = 0
        """How many pieces of text are buffered in sessions for the next group. Sessions update this count."""
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

    def number(
        self,
        channel: str,
        action: Action,
        origin: ActionOrigin | None = None,
        reason: str | None = None,
        *,
        legacy: Sequence[JsonObject] | None = None,
    ) -> tuple[int, bytes]:
        """Assign the next sequence number to an action, and encode its envelope once for everybody.

        `legacy` are the actions that clients of an older protocol are sent instead, if those do not follow
        from the action alone. Each has its own number, and the envelope has the last of them.
        """
        # HR-S01: one sequence for the whole host, without gaps while it runs
        seq = self.last_seq + (1 if legacy is None else max(1, len(legacy)))
        envelope: dict[str, Any] = {"channel": channel, "action": action, "serverSeq": seq}
        if origin is not None:
            envelope["origin"] = origin
        if reason is not None:
            envelope["rejectionReason"] = reason
        encoded = encode_json(envelope)
        if legacy is not None:
            encoded = with_legacy(encoded, legacy, seq, origin, reason)
        self.last_seq = seq
        return seq, encoded

    def reserve(self) -> int:
        """Assign the next sequence number to something that is encoded when it is sent, see `announce`."""
        self.last_seq += 1
        return self.last_seq

    def append(self, item: LogItem) -> int:
        """Write an entry with the next group, and show it once it is durable. Return a ticket for `wait`."""
        group = self._next
        group.writes.append(item)
        group.to_show.append(item)
        if item.run is None:
            group.size += 1
        else:
            count = len(item.run.texts)
            group.size += count
            group.deltas += count
        # `_next_ticket`, inlined: every action comes through here.
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def announce(self, item: LogItem) -> int:
        """Show an entry in its order without writing it. Return a ticket for `wait`.

        The group's last sequence number is still written, so no number is used twice, not even after
        a restart.
        """
        self._next.to_show.append(item)
        self._next.size += item.count
        return self._next_ticket()

    def write(
        self, writes: Sequence[Write], done: Callable[[Any], None] | None = None, what: Any = None
    ) -> int:
        """Add writes to the next group, and call `done(what)` once they are durable.

        Return a ticket for `wait`.
        """
        self._next.writes.extend(writes)
        self._next.size += len(writes)
        if done is not None:
            self._next.to_show.append(_Callback(done, what))
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def expect(self, source: Source) -> int:
        """Call `source.gather()` when the next group forms. Return a ticket for what it will append."""
        self._sources.append(source)
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def _next_ticket(self) -> int:
        self.ticket += 1
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, MAX_FLUSH_TICKS)
        return self.ticket

    def _tick(self, ticket: int, ticks_left: int) -> None:
        """Flush once a tick adds nothing more, so that a short turn is written as one group."""
        if ticks_left and self.ticket != ticket:
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, ticks_left - 1)
        else:
            self._flush()

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
            raise self.trouble

    def _flush(self) -> None:
        # The list may grow in this loop: a ticket issued now belongs to this group too.
        for source in self._sources:
            try:
                source.gather()
            except Exception:  # a bug in one session must not block the writes of all others
                log.exception("buffered text could not be added to the journal")
        self._sources = []
        group, self._next = self._next, _Group()
        group.last_seq, group.ticket = self.last_seq, self.ticket
        self._room.set()
        if not self._is_closed:
            job = partial(self._commit, group), asyncio.get_running_loop(), partial(self._finished, group)
            self._writer.jobs.put(job)

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
            log.warning("the store can be written to again")
            self.trouble = None
        self.shown_seq = group.last_seq
        stats = self.stats
        stats.commits += 1
        stats.writes += len(group.writes)
        stats.deltas += group.deltas
        stats.largest_group = max(stats.largest_group, group.size)
        stats.group_sizes[bisect_left(GROUP_SIZES, group.size)] += 1
        stats.group_size_total += group.size
        stats.commit_seconds[bisect_left(COMMIT_SECONDS, group.seconds)] += 1
        stats.commit_seconds_total += group.seconds
        for item in group.to_show:
            if item.show is not None:
                item.show(item)
        self._done = group.ticket
        if self._waiters:
            self._release_waiters()
        if self._next.writes or self._next.to_show or self._sources:
            asyncio.get_running_loop().call_soon(self._tick, self.ticket, MAX_FLUSH_TICKS)
        else:
            self._is_writing = False

    def _try_again(self, group: _Group, failure: BaseException) -> None:
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
