"""The node: this run of a server, among those that use the same store. One of them is alive at a time.

A node says every half second that it is alive, and holds a lock while it is connected. Leases and locks
decide when another one may take over; whether a node may still write is looked up within each commit. So no
clock is needed for correctness: a node that was declared dead by mistake cannot write, and ends.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import metadata

import asyncpg  # type: ignore[import-untyped]

from agenthost.errors import StorageInUse, StoreTaken
from agenthost.host.storage.postgres.connections import Connection
from agenthost.host.storage.postgres.errors import translate
from agenthost.host.store_address import StoreAddress

__all__ = ["LEASE_SECONDS", "Node"]

log = logging.getLogger("agenthost.storage")

BEAT_SECONDS = 0.5
LEASE_SECONDS = 5.0
"""How long a node counts as alive after its last beat while its connection is there: it may be stopped."""

LOOK_SECONDS = 0.1
WATCH_SECONDS = 1.0
"""How long a node is watched without a beat before it is fenced. After a restart of the database, or a
failover to another one, all nodes come back at the same time, and those that live need a moment."""

BEAT_TIMEOUT = 3.0


class Node:
    """A run of a server, from joining to leaving. Used on the store's event loop.

    `connect` makes a connection of this node, and `taken` is called once when another node has taken over.
    """

    def __init__(
        self,
        address: StoreAddress,
        connect: Callable[[], Awaitable[Connection]],
        taken: Callable[[StoreTaken], None],
    ) -> None:
        self.id = 0
        self.connection_name = "agenthost"
        """The name of its connections, which administrators see."""
        self._address = address
        self._connect = connect
        self._taken = taken
        self._connection: Connection = None
        self._beating: asyncio.Task[None] | None = None
        self._is_locked = False

    async def join(self, connection: Connection) -> None:
        """Become the node of the store, with this connection. The last one is fenced if its time is over.

        Raises:
            StorageInUse: another one is alive.
        """
        self._connection = connection
        name = f"{socket.gethostname()} (process {os.getpid()})"
        given = (name, metadata.version("agenthost"), timedelta(seconds=LEASE_SECONDS))
        while True:
            dead = await self._watch(connection)
            try:
                self.id = await connection.fetchval("SELECT join_v1($1, $2, $3, $4)", dead, *given)
                break
            except asyncpg.PostgresError as error:
                if error.sqlstate != "AH004":
                    raise
        self._is_locked = True
        sql = "SELECT set_config('application_name', connection_name($1), false)"
        self.connection_name = await connection.fetchval(sql, self.id)

    async def _watch(self, connection: Connection) -> int | None:
        """Watch the node that seems to be alive until its time is over. Return its id, if there is one.

        Raises:
            StorageInUse: it is alive.
        """
        begun = asyncio.get_running_loop().time()
        first = None
        while (found := await connection.fetchrow("SELECT * FROM holder_v1()")) is not None:
            node, name, since, beat, is_over = found
            first = first or (node, beat)
            watched = asyncio.get_running_loop().time() - begun
            if (node, beat) != first:
                raise StorageInUse(self._in_use(name, since))
            if is_over and watched >= WATCH_SECONDS:
                log.warning("%s is taken over from %s, which is not alive", self._address.shown, name)
                return int(node)
            await asyncio.sleep(LOOK_SECONDS)
        return None

    def _in_use(self, name: str, since: datetime) -> str:
        return (
            f"{self._address.shown} is in use by {name} since {since:%Y-%m-%d %H:%M:%S %Z}; one server at a "
            "time can use a schema: stop that one first, or name another schema, with ?schema=NAME in the URL"
        )

    def start(self) -> None:
        """Begin to beat."""
        self._beating = asyncio.get_running_loop().create_task(self._beat_for_ever())

    async def _beat_for_ever(self) -> None:
        while True:
            try:
                async with asyncio.timeout(BEAT_TIMEOUT):
                    is_alive = await self._beat()
            except Exception as error:  # whatever it is, the next try is with a new connection
                if isinstance(translate(error, ""), StoreTaken):
                    is_alive = False
                else:
                    log.debug("no beat: %s", error)
                    self._drop_connection()
                    is_alive = True
            if not is_alive:
                self._taken(self.taken())
                return
            await asyncio.sleep(BEAT_SECONDS)

    async def _beat(self) -> bool:
        """Say that this node is alive. Return whether it is."""
        if self._connection is None:
            self._connection = await self._connect()
        if not self._is_locked:
            # The old connection may still hold it; then the next beat tries again.
            sql = "SELECT pg_try_advisory_lock(lock_space(), $1)"
            self._is_locked = await self._connection.fetchval(sql, self.id)
        return bool(await self._connection.fetchval("SELECT beat_v1($1)", self.id))

    def taken(self) -> StoreTaken:
        """Return the error of a node that was fenced."""
        fenced = asyncpg.PostgresError()
        fenced.sqlstate = "AH001"
        error = translate(fenced, self._address.shown)
        assert isinstance(error, StoreTaken)  # noqa: S101
        return error

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._connection, self._is_locked = None, False

    async def leave(self) -> None:
        """Stop beating, and let the next node in at once."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        if self.id and self._connection is not None:
            with suppress(Exception):  # without it the next node waits for the lease
                await self._connection.execute("SELECT leave_v1($1)", self.id, timeout=1)
        self._drop_connection()
