"""How many sessions there are: in all, and of each owner."""

import asyncio
from collections.abc import Callable
from functools import partial

from agenthost.host.log.journal import Journal
from agenthost.host.storage import Storage
from agenthost.host.storage.shared import SharedStorage

__all__ = ["SessionCounts"]


class SessionCounts:
    """Counts of the sessions in the store, without further chats.

    Attributes:
        total: how many there are, in memory or not, including those that are being written.
        by_owner: how many durable ones each owner has that `count_of` was called for.
    """

    def __init__(
        self, total: int, storage: Storage, journal: Journal, changed: Callable[[int], None]
    ) -> None:
        """Start with what the store held. `changed` is called with the total when it changes."""
        self.total = total
        self.by_owner: dict[str, int] = {}
        self._storage = storage
        self._journal = journal
        self._changed = changed

    async def count_of(self, owner: str) -> int:
        """Return how many sessions an owner has. From then on, `by_owner` is kept up to date."""
        if owner not in self.by_owner:
            await self._journal.in_turn(self._storage.count, owner, then=partial(self._set, owner))
        return self.by_owner[owner]

    def _set(self, owner: str, count: int) -> None:
        self.by_owner[owner] = count

    async def refresh(self, shared: SharedStorage) -> None:
        """Read all counts again, because another node has created or removed sessions."""
        owners = list(self.by_owner)
        total, *counts = await asyncio.to_thread(
            lambda: [shared.session_count(), *map(self._storage.count, owners)]
        )
        self.by_owner |= dict(zip(owners, counts, strict=True))
        if total != self.total:
            self.total = total
            self._changed(total)

    def change(self, change: int) -> None:
        """Count sessions that are being written, or removed."""
        self.total += change
        self._changed(self.total)

    def change_durable(self, owner: str, change: int) -> None:
        """Count sessions of an owner that are durable from now on, or gone."""
        if owner in self.by_owner:
            self.by_owner[owner] += change
