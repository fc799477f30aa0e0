"""Which sessions this node writes, among several nodes that share a store.

A session belongs to one node, with its chats and the tasks below it. One that is free belongs to the node
that loads it first. Others only follow it: see `followed`.
"""

import asyncio
from collections.abc import Collection

from agenthost.host.log.line import Line
from agenthost.host.state.followed import Followed, refresh
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.session import Session
from agenthost.host.storage import StoredSession
from agenthost.host.storage.shared import SharedStorage

__all__ = ["Ownership"]


class Ownership:
    """Claims sessions for this node."""

    def __init__(
        self, storage: SharedStorage, line: Line, *, memory: SessionMemory, followed: Followed
    ) -> None:
        self._storage = storage
        self._line = line
        self._memory = memory
        self.followed = followed
        self._adopting: dict[int, asyncio.Lock] = {}

    @property
    def node(self) -> int:
        """The id of this node."""
        return self._storage.node

    async def owner_of(self, number: int) -> int:
        """Return the node that a session belongs to; 0 if it is free."""
        return await asyncio.to_thread(self._storage.owner_of, number)

    async def resolve(self, number: int) -> int:
        """Return the node that a session belongs to. One that is free is claimed."""
        return await asyncio.to_thread(self._resolve, number)

    def _resolve(self, number: int) -> int:
        owner = self._storage.owner_of(number)
        return owner or self._storage.claim([number]).get(number, 0)

    async def claim(self, numbers: Collection[int]) -> list[int]:
        """Claim these sessions if they are free. Return those that belong to this node."""
        owners = await asyncio.to_thread(self._storage.claim, numbers)
        return [number for number, owner in owners.items() if owner == self.node]

    async def wait_shown(self, stored: StoredSession) -> None:
        """Wait until everything that was read of a session was shown here."""
        await self._line.wait_for(max([stored.state_seq, *(entry.seq for entry in stored.entries)]))

    async def adopt(self, session: Session) -> bool:
        """Write a session from now on that was only followed, and belongs to this node by now.

        Return whether it was adopted; not if that was done before, or if it is gone.
        """
        lock = self._adopting.setdefault(session.number, asyncio.Lock())
        try:
            async with lock:
                stored = await asyncio.to_thread(self._storage.load, session.number)
                if stored is None:
                    return False
                await self.wait_shown(stored)
                is_held = self._memory.foreign.get(session.number) is session
                if not is_held or not session.is_foreign:
                    return False
                refresh(session, stored)
                del self._memory.foreign[session.number]
                session.become_own()
                return True
        finally:
            self._adopting.pop(session.number, None)
