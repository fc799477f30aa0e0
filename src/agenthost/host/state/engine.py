"""The engine: the parts of a host that need no agent, wired together, opened and closed.

Store, journal, root, sessions, contents and subscriptions, and the periodic work: trimming the log, syncing
the disk. Runs no agents and knows no protocol.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from agenthost.errors import StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.limits import Limits
from agenthost.host.log.journal import Journal
from agenthost.host.log.line import Line
from agenthost.host.log.shared_line import SharedLine
from agenthost.host.log.subscriptions import Hub, Subscriber
from agenthost.host.state.additions import Additions
from agenthost.host.state.blobs import Blobs
from agenthost.host.state.changesets import Changesets
from agenthost.host.state.chat_moves import ChatMoves
from agenthost.host.state.feed import Feed
from agenthost.host.state.followed import Followed
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.ownership import Ownership
from agenthost.host.state.records import Records
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.removals import Removals
from agenthost.host.state.root import Root
from agenthost.host.state.search import Search
from agenthost.host.state.senders import Senders
from agenthost.host.state.session import NS_PER_MS, Session
from agenthost.host.state.session_counts import SessionCounts
from agenthost.host.state.session_uris import Claims
from agenthost.host.state.shares import Shares
from agenthost.host.state.terminal import TerminalTable
from agenthost.host.storage import Opening, Storage
from agenthost.host.storage.shared import SharedStorage, shared_of
from agenthost.wire.ahp.config import RootConfigState
from agenthost.wire.ahp.root import AgentInfo

log = logging.getLogger("agenthost.engine")

TRIM_SECONDS = 10.0
"""How often the log is trimmed. In between it may grow beyond its limit."""

SHRINKS_AT_ONCE = 16
"""How often `shrink` is called each time. The rest is left for the next time."""

OPEN_SECONDS = 5.0
"""How long the first writes may take: a store that cannot be written should fail at the start."""

SYNC_SECONDS = 1.0
"""How often to sync if commits do not: this much may be lost in a power cut."""

CLOSE_SECONDS = 5.0
"""How long the last writes may take."""


class Engine:
    """An open store and everything that uses it. Use it as `async with Engine(storage) as engine`.

    Attributes:
        opening: what the store held, with the sessions whose turns have to be resumed.
        line: shows what happens, in order.
        journal: writes what happens.
        root: what every client sees of the host.
        sessions: finds all sessions and further chats.
        additions: creates and forks sessions, and adds chats to them.
        chat_moves: moves chats between sessions.
        removals: removes sessions and chats.
        session_counts: how many sessions there are.
        senders: the connections that actions of clients come from.
        contents: large contents of sessions.
        changesets: the files that sessions have changed, for those who follow that.
        search: finds sessions by their messages.
        hub: all subscriptions.
        terminals: the terminals that there are, by URI.
        shared: the store, if several nodes use it; then `shares` hears of them, and `ownership` says what
            this one writes.
    """

    shared: SharedStorage | None
    opening: Opening
    line: Line
    journal: Journal
    root: Root
    sessions: SessionRegistry
    additions: Additions
    chat_moves: ChatMoves
    removals: Removals
    session_counts: SessionCounts
    senders: Senders
    changesets: Changesets

    def __init__(
        self,
        storage: Storage,
        limits: Limits | None = None,
        *,
        clock: Callable[[], int] = time.time_ns,
        agents: Sequence[AgentInfo] | None = None,
        config: RootConfigState | None = None,
        terminals: TerminalTable[Any] | None = None,
        loaded: Sequence[Callable[[Session], None]] = (),
    ) -> None:
        """Prepare an engine.

        `agents` and `config` are what the root shows. Without `agents` the root shows those of the last run,
        until `root.set_agents` is called. `terminals` is where feeds find terminals, by URI, and `loaded` is
        called with each session that is loaded from the store; both are filled by the caller.
        """
        self.limits = limits or Limits()
        self.storage = storage
        self.hub = Hub()
        self.terminals: TerminalTable[Any] = TerminalTable() if terminals is None else terminals
        self._loaded = loaded
        self.contents = Blobs(storage)
        self.search = Search(storage)
        self._agents = agents
        self._config = config
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self.shares: Shares | None = None
        self.ownership: Ownership | None = None

    async def __aenter__(self) -> Self:
        """Open the store.

        Raises:
            StorageError: it cannot be opened; the sentence says why.
        """
        self.opening = await asyncio.to_thread(self.storage.open)
        try:
            await self._start()
        except BaseException:
            await self._stop(seconds=0)
            raise
        return self

    async def _start(self) -> None:
        shared = self.shared = shared_of(self.storage)
        self.line = (
            Line(self.opening.last_seq) if shared is None else SharedLine(self.opening.last_seq, shared)
        )
        self.journal = Journal(self.storage, self.line, max_backlog=self.limits.write_backlog)
        self.root = Root(self.opening, self.journal, self.hub.publish)
        self.senders = Senders(self.storage, self.journal)
        self._make_sessions()
        self.changesets = Changesets(self.sessions, self.contents, self.journal, self.hub)
        if self.shares is not None:
            await self.shares.start()
        self.root.reconcile(self.opening.session_count, agents=self._agents, config=self._config)
        await self._wait_durable()
        if self.shares is not None:
            self.shares.tell_facts()
        self._tasks = [asyncio.create_task(one) for one in (self._trim_for_ever(), self._sync_for_ever())]

    def _make_sessions(self) -> None:
        opening, storage, journal, hub = self.opening, self.storage, self.journal, self.hub
        memory = SessionMemory(hub, self.limits.sessions_in_memory)
        records = Records(opening.last_number, journal, hub, self._clock)
        claims = Claims(storage, journal, self.terminals.is_taken)
        counts = SessionCounts(opening.session_count, storage, journal, self.root.set_active_sessions)
        self.ownership = None
        if self.shared is not None and isinstance(self.line, SharedLine):
            followed = Followed(self.shared, memory, root=self.root, hub=hub, deliver=self.senders.deliver)
            self.ownership = Ownership(self.shared, self.line, memory=memory, followed=followed)
            self.shares = Shares(self.shared, self.line, followed=followed, root=self.root, counts=counts)
        sessions = SessionRegistry(
            storage,
            memory,
            records=records,
            claims=claims,
            loaded=self._loaded,
            ownership=self.ownership,
        )
        self.sessions, self.session_counts = sessions, counts
        self.additions = Additions(
            sessions, memory=memory, records=records, claims=claims, counts=counts, journal=journal
        )
        self.chat_moves = ChatMoves(sessions, memory=memory, journal=journal)
        self.removals = Removals(
            sessions,
            memory=memory,
            claims=claims,
            counts=counts,
            storage=storage,
            journal=journal,
            hub=hub,
        )

    async def _wait_durable(self) -> None:
        """Wait until the changes of the root are durable, so that nobody resumes from before them."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self.journal.wait()
        except TimeoutError:
            raise self.journal.trouble or StorageError("the store takes too long to write") from None

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Write what is left, and close the store."""
        # Before the journal, which they use.
        await self.changesets.close()
        await self._stop(CLOSE_SECONDS)

    async def _stop(self, seconds: float) -> None:
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.journal.close(seconds)
        if self.shares is not None:
            await self.shares.close()
        await asyncio.to_thread(self.storage.close)

    def now(self) -> int:
        """Return the time in milliseconds."""
        return self._clock() // NS_PER_MS

    def feed(self, client: Identity) -> Feed:
        """Return a feed for a new subscriber."""
        return self.feed_for(self.subscriber(client))

    def subscriber(self, client: Identity) -> Subscriber:
        """Return a new subscriber, within the host's limits."""
        limits = self.limits
        return Subscriber(client, limits.subscriber_items, limits.subscriber_bytes)

    def feed_for(self, subscriber: Subscriber, *, is_whole: bool = False) -> Feed:
        """Return a feed for this subscriber; see `Feed` for `is_whole`."""
        return Feed(
            subscriber,
            root=self.root,
            sessions=self.sessions,
            storage=self.storage,
            line=self.line,
            hub=self.hub,
            changesets=self.changesets,
            terminals=self.terminals,
            is_whole=is_whole,
        )

    async def trim(self) -> int:
        """Trim the log to its limits, and return space to the disk. Return how many entries were removed."""
        removed = 0
        # Some at a time, so that commits do not have to wait for all of it.
        while count := await self.journal.in_turn(
            self.storage.trim, self.limits.log_per_session, self.limits.log_in_all
        ):
            removed += count
        for _ in range(SHRINKS_AT_ONCE):
            if not await self.journal.in_turn(self.storage.shrink):
                break
        return removed

    async def _trim_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TRIM_SECONDS)
            try:
                await self.trim()
            except StorageError as error:
                log.warning("the log could not be trimmed; will try again: %s", error)

    async def _sync_for_ever(self) -> None:
        commits = 0
        while True:
            await asyncio.sleep(SYNC_SECONDS)
            if commits == self.journal.stats.commits:
                continue
            commits = self.journal.stats.commits
            try:
                await asyncio.to_thread(self.storage.sync)
            except StorageError as error:
                # The next round tries again, even if nothing new was committed.
                commits = -1
                log.warning("the last commits could not be synced to the disk; will try again: %s", error)
