"""The engine: the parts of a host that need no agent, wired together, opened and closed.

Store, journal, sessions, subscriptions, and the trimming of the log. Knows no agents and no protocol.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from agenthost.errors import StorageError
from agenthost.host.feeds import Feed
from agenthost.host.journal import Journal
from agenthost.host.limits import Limits
from agenthost.host.sessions import Sessions
from agenthost.host.storage import Opening, Storage
from agenthost.host.subscriptions import Hub, Subscriber

log = logging.getLogger("agenthost.engine")

TRIM_SECONDS = 10.0
"""How often the log is looked at. It may grow beyond its limit by what happens in between."""


def _clock() -> int:
    return time.time_ns() // 1_000_000


class Engine:
    """An open store and all that lives on it. Use it as `async with Engine(storage) as engine`.

    Attributes:
        opening: what the store held, with the sessions whose turns have to be taken up.
        journal: the way to write.
        sessions: all sessions.
        hub: who listens.
    """

    opening: Opening
    journal: Journal
    sessions: Sessions

    def __init__(
        self, storage: Storage, limits: Limits | None = None, *, clock: Callable[[], int] = _clock
    ) -> None:
        self.limits = limits or Limits()
        self.storage = storage
        self.hub = Hub()
        self._clock = clock
        self._trimmer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Open the store.

        Raises:
            StorageError: it cannot be opened; the sentence says why.
        """
        self.opening = await asyncio.to_thread(self.storage.open)
        self.journal = Journal(self.storage, self.opening.last_seq, max_backlog=self.limits.write_backlog)
        self.sessions = Sessions(
            self.storage,
            self.opening,
            self.journal,
            self.hub,
            self._clock,
            max_in_memory=self.limits.sessions_in_memory,
        )
        self._trimmer = asyncio.create_task(self._trim_for_ever())
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Write what is left, and close the store."""
        if self._trimmer is not None:
            self._trimmer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._trimmer
        await self.journal.close()
        await asyncio.to_thread(self.storage.close)

    def feed(self, client_id: str) -> Feed:
        """Give a new subscriber its way to sessions."""
        subscriber = Subscriber(
            client_id, max_items=self.limits.subscriber_items, max_bytes=self.limits.subscriber_bytes
        )
        return Feed(
            subscriber, sessions=self.sessions, storage=self.storage, journal=self.journal, hub=self.hub
        )

    async def trim(self) -> int:
        """Bring the log within its limits; gives how many entries went."""
        removed = 0
        while count := await self.journal.in_turn(
            self.storage.trim, self.limits.log_per_session, self.limits.log_in_all
        ):
            removed += count
        return removed

    async def _trim_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TRIM_SECONDS)
            try:
                await self.trim()
            except StorageError as error:
                log.warning("the log could not be trimmed; this is tried again: %s", error)
