"""Takeover: turns of nodes that have died, or have released their sessions, go on at this one."""

import asyncio
import logging
from collections.abc import Collection, Sequence

from agenthost.errors import HostError, StorageError
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.storage import NodeNotice, SessionRow, SharedStorage
from agenthost.wire.json import decode_json

__all__ = ["Takeover"]

log = logging.getLogger("agenthost.nodes")

TAKEN_AT_ONCE = 16
LOOK_SECONDS = 2.0
"""How often to look for such turns, if nothing was heard of a node."""


class Takeover:
    """Takes sessions with turns that no living node writes, for ever.

    `agents` are the names of the agents that this node serves. `count` is how many sessions were taken.
    """

    def __init__(self, storage: SharedStorage, sessions: SessionRegistry, agents: Collection[str]) -> None:
        self._storage = storage
        self._sessions = sessions
        self._agents = agents
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.count = 0

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run())

    def heard(self, notice: NodeNotice) -> None:
        """Look at once: something has happened to a node."""
        if notice.kind in ("dead", "released", "missed"):
            self._woken.set()

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                while await self._take_some():
                    pass
            except StorageError as error:
                log.warning("turns of other nodes cannot be taken over now: %s", error)
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()
            except TimeoutError:
                pass

    async def _take_some(self) -> bool:
        """Take some sessions. Return whether there may be more."""
        rows = await asyncio.to_thread(self._storage.abandoned, TAKEN_AT_ONCE)
        wanted = [row for row in rows if self._is_served(row)]
        if not wanted:
            return False
        own = await self._sessions.take([row.number for row in wanted])
        await asyncio.gather(*(self._load(row) for row in _chosen(wanted, own)))
        return bool(own)

    def _is_served(self, row: SessionRow) -> bool:
        return decode_json(row.summary).get("provider", next(iter(self._agents), "")) in self._agents

    async def _load(self, row: SessionRow) -> None:
        try:
            await self._sessions.by_number(row.number)
            self.count += 1
        except HostError as error:
            log.error("session number %d could not be taken over: %s", row.number, error)  # noqa: TRY400

    async def close(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _chosen(rows: Sequence[SessionRow], numbers: Collection[int]) -> list[SessionRow]:
    return [row for row in rows if row.number in numbers]
