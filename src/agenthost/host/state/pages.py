"""Pages: what a subscriber missed of a session, read from the log a little at a time.

Nothing is held between two pages, in memory or in the store, however long the subscriber takes.
"""

import asyncio
from collections.abc import Sequence

from agenthost.errors import Damaged
from agenthost.host.storage import Entry, Storage

__all__ = ["PAGE_BYTES", "Pages"]

PAGE_BYTES = 256 * 1024
"""How much is read at once. A single entry that is larger is read whole."""


class Pages:
    """The part of a session's log between two numbers, as one client may see it.

    Args:
        storage: where it is read.
        number: the session's.
        after: the last number that was seen.
        up_to: the number of the last entry that is wanted.
        client: who reads.
    """

    def __init__(self, storage: Storage, number: int, after: int, up_to: int, client: str) -> None:
        self._storage = storage
        self._number = number
        self._after = after
        self._up_to = up_to
        self._client = client

    @property
    def is_over(self) -> bool:
        """Whether all was read."""
        return self._after >= self._up_to

    async def read_next(self) -> Sequence[Entry] | None:
        """Read the next entries as they are stored; `None` if they are no longer kept, or damaged.

        The first entry may be a run that was seen in part.
        """
        entries = await asyncio.to_thread(self._read)
        if entries:
            self._after = entries[-1].seq
        return entries

    def _read(self) -> Sequence[Entry] | None:
        try:
            found = self._storage.replay(self._after, [self._number], self._client, PAGE_BYTES)
            if self._storage.floor([self._number]) > self._after:
                return None  # it was trimmed since
        except Damaged:
            return None
        # Newer entries arrive live. The last entry is there as long as the session is.
        return [entry for entry in found if entry.seq <= self._up_to] or None
