"""Presence: the clients that are connected to other nodes are there too."""

import asyncio
import logging

from agenthost.errors import StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.log.journal import Journal
from agenthost.host.sessions.clients import Clients
from agenthost.host.storage import PutPresence
from agenthost.host.storage.shared import Committed, NodeNotice, SharedStorage

__all__ = ["Presence", "tell_presence"]

log = logging.getLogger("agenthost.nodes")


def tell_presence(journal: Journal, client: Identity, is_there: bool) -> None:  # noqa: FBT001
    """Tell other nodes that a client has come, or has gone."""
    journal.write([PutPresence(client.key, is_there)])


class Presence:
    """Reads which clients are connected to other nodes, when that changes."""

    def __init__(self, storage: SharedStorage, clients: Clients) -> None:
        self._storage = storage
        self._clients = clients
        self._place = 0
        self._is_stale = False
        self._task: asyncio.Task[None] | None = None

    def note(self, commit: Committed) -> None:
        """Read again if clients came or went at another node."""
        if commit.node != self._storage.node and commit.has_presence and commit.ordinal:
            self.read()

    def heard(self, notice: NodeNotice) -> None:
        """Read again if a node is gone, with its clients."""
        if notice.kind in ("dead", "missed"):
            self.read()

    def read(self) -> None:
        """Read what has changed, soon."""
        self._is_stale = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while self._is_stale:
            self._is_stale = False
            try:
                place, changes = await asyncio.to_thread(self._storage.presence_after, self._place)
            except StorageError as error:
                log.warning("it cannot be read who is connected to other nodes: %s", error)
                return
            self._place = place
            for node, key, is_there in changes:
                if node != self._storage.node:
                    self._clients.note_elsewhere(Identity.from_key(key), node, is_there=is_there)

    async def close(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
