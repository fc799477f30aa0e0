"""Takeover: turns of nodes that have died, or have released their sessions, go on at this one."""

import asyncio
import logging
from collections.abc import Collection, Sequence

from agenthost.errors import HostError, SessionNotFound, StorageError
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.storage import SessionRow
from agenthost.host.storage.shared import NodeNotice, SharedStorage
from agenthost.wire.json import decode_json

__all__ = ["Takeover"]

log = logging.getLogger("agenthost.nodes")

TAKEN_AT_ONCE = 16
LOOK_SECONDS = 2.0
"""How often to look for such turns, if nothing was heard of a node."""


class Takeover:
    """Takes sessions with turns that no living node goes on with, for ever.

    Some belong to this node already: those of a session that was claimed for another reason, or that could
    not be read after it was claimed.

    `agents` are the names of the agents that this node serves. `count` is how many sessions were taken.
    """

    def __init__(self, storage: SharedStorage, sessions: SessionRegistry, agents: Collection[str]) -> None:
        self._storage = storage
        self._sessions = sessions
        self._agents = agents
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failed: set[int] = set()  # those that were logged
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
        held = self._sessions.own_numbers()
        rows = await asyncio.to_thread(self._storage.unattended, TAKEN_AT_ONCE, held)
        wanted = [row for row in rows if self._is_served(row)]
        if not wanted:
            return False
        own = await self._sessions.take([row.number for row in wanted])
        return any(await asyncio.gather(*(self._load(row) for row in _chosen(wanted, own))))

    def _is_served(self, row: SessionRow) -> bool:
        return decode_json(row.summary).get("provider", next(iter(self._agents), "")) in self._agents

    async def _load(self, row: SessionRow) -> bool:
        try:
            if (await self._sessions.by_number(row.number)).is_foreign:
                return False
        except SessionNotFound:
            return False  # it was removed meanwhile
        except HostError as error:
            if row.number not in self._failed:
                log.error("session %s could not be taken over: %s", row.uri, error)  # noqa: TRY400
                self._failed.add(row.number)
            return False
        self._failed.discard(row.number)
        self.count += 1
        return True

    async def close(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _chosen(rows: Sequence[SessionRow], numbers: Collection[int]) -> list[SessionRow]:
    return [row for row in rows if row.number in numbers]
