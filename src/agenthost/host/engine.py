"""The engine: the parts of a host that need no agent, wired together, opened and closed.

Store, journal, root, sessions, contents, subscriptions, and what is done now and then: trimming the log, and
waiting for the disk. Runs no agents and knows no protocol.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from agenthost.errors import StorageError
from agenthost.host.contents import Contents
from agenthost.host.feeds import Feed
from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.limits import Limits
from agenthost.host.root import Root
from agenthost.host.search import Search
from agenthost.host.senders import Senders
from agenthost.host.sessions import Sessions
from agenthost.host.storage import Opening, Storage
from agenthost.host.subscriptions import Hub, Subscriber
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp.config import RootConfigState
from agenthost.wire.ahp.root import AgentInfo

log = logging.getLogger("agenthost.engine")

TRIM_SECONDS = 10.0
"""How often the log is looked at. It may grow beyond its limit by what happens in between."""

SHRINKS_AT_ONCE = 16
"""How often a bounded amount of free space is given back each time. The rest is for the next."""

OPEN_SECONDS = 5.0
"""How long the first writes may take; a store that takes none is better told at the start than later."""

SYNC_SECONDS = 1.0
"""How often the disk is waited for, where commits do not wait for it: what a power cut may take at most."""

CLOSE_SECONDS = 5.0
"""How long the last writes may take."""


def _clock() -> int:
    return time.time_ns() // 1_000_000


class Engine:
    """An open store and all that lives on it. Use it as `async with Engine(storage) as engine`.

    Attributes:
        opening: what the store held, with the sessions whose turns have to be taken up.
        journal: the way to write.
        root: what every client sees of the host.
        sessions: all sessions.
        senders: the connections that actions of clients come by.
        contents: what is too large for their states.
        search: finds sessions by what was said in them.
        hub: who listens.
        terminals: those that there are, by their URIs; `Terminals` keeps them.
    """

    opening: Opening
    journal: Journal
    root: Root
    sessions: Sessions
    senders: Senders

    def __init__(
        self,
        storage: Storage,
        limits: Limits | None = None,
        *,
        clock: Callable[[], int] = _clock,
        agents: Sequence[AgentInfo] | None = None,
        config: RootConfigState | None = None,
    ) -> None:
        """Take what the engine is made of.

        `agents` and `config` are what the root shows. Agents that are not known yet are told with
        `root.set_agents`, before anybody is let in: until then the root shows those of the last time.
        """
        self.limits = limits or Limits()
        self.storage = storage
        self.hub = Hub()
        self.terminals: dict[str, Terminal] = {}
        self.contents = Contents(storage)
        self.search = Search(storage)
        self._agents = agents
        self._config = config
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []

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
        self.journal = Journal(self.storage, self.opening.last_seq, max_backlog=self.limits.write_backlog)
        self.root = Root(self.opening, self.journal, self.hub.publish)
        self.sessions = Sessions(
            self.storage,
            self.opening,
            self.journal,
            self.hub,
            self._clock,
            max_in_memory=self.limits.sessions_in_memory,
            counted=self.root.set_active_sessions,
        )
        self.senders = Senders(self.storage, self.journal)
        self.root.settle(self.opening.session_count, agents=self._agents, config=self._config)
        await self._wait_settled()
        self._tasks = [asyncio.create_task(one) for one in (self._trim_for_ever(), self._sync_for_ever())]

    async def _wait_settled(self) -> None:
        """Wait until what the root had to say is durable, so that nobody resumes from before it."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self.journal.wait()
        except TimeoutError:
            raise self.journal.trouble or StorageError("the store takes too long to write") from None

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Write what is left, and close the store."""
        await self._stop(CLOSE_SECONDS)

    async def _stop(self, seconds: float) -> None:
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.journal.close(seconds)
        await asyncio.to_thread(self.storage.close)

    def now(self) -> int:
        """Tell the time, in milliseconds."""
        return self._clock()

    def feed(self, client: Identity) -> Feed:
        """Give a new subscriber its way to the root and to sessions."""
        return self.feed_for(self.subscriber(client))

    def subscriber(self, client: Identity) -> Subscriber:
        """Make one who can listen, within the host's limits."""
        limits = self.limits
        return Subscriber(client, limits.subscriber_items, limits.subscriber_bytes)

    def feed_for(self, subscriber: Subscriber) -> Feed:
        """Give a subscriber its way to the root, to sessions and to terminals."""
        return Feed(
            subscriber,
            root=self.root,
            sessions=self.sessions,
            storage=self.storage,
            journal=self.journal,
            hub=self.hub,
            terminals=self.terminals,
        )

    async def trim(self) -> int:
        """Bring the log within its limits, and give space back; gives how many entries went."""
        removed = 0
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
                log.warning("the log could not be trimmed; this is tried again: %s", error)

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
                commits = -1
                log.warning("a power cut could take the last commits; this is tried again: %s", error)
