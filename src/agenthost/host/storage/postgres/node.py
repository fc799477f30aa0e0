"""The node: this run of a server, among those that use the same store.

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
from agenthost.host.storage.postgres import migrations
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
failover to another one, all nodes come back at the same time, and those that live need a moment: whoever has
just come back itself waits for a whole lease."""

BEAT_TIMEOUT = 3.0


class Node:
    """A run of a server, from joining to leaving. Used on the store's event loop.

    `connect` makes a connection of this node, and `taken` is called once when it was fenced. `heard` is told
    the newest place of the ledger with each beat.
    """

    def __init__(
        self,
        address: StoreAddress,
        connect: Callable[[], Awaitable[Connection]],
        taken: Callable[[StoreTaken], None],
        heard: Callable[[int], None] = lambda _: None,
        *,
        lease: float = LEASE_SECONDS,
        url: str = "",
    ) -> None:
        self.id = 0
        self.connection_name = "agenthost"
        """The name of its connections, which administrators see."""
        self.beats_missed = 0
        self._address = address
        self._connect = connect
        self._taken = taken
        self._heard = heard
        self._lease = lease
        self._url = url
        self._connection: Connection = None
        self._beating: asyncio.Task[None] | None = None
        self._is_locked = False
        self._patience = WATCH_SECONDS
        self._connected_at = 0.0
        self._watched: dict[int, tuple[datetime, float]] = {}  # the last beat of others, and since when

    async def join(self, connection: Connection, *, is_alone: bool = False) -> None:
        """Become a node of the store, with this connection.

        With `is_alone` no other one may be alive; one that died is fenced when its time is over.

        Raises:
            StorageInUse: another one is alive.
        """
        self._connection = connection
        self._connected_at = asyncio.get_running_loop().time()
        name = f"{socket.gethostname()} (process {os.getpid()})"
        given = (
            name,
            metadata.version("agenthost"),
            self._url,
            timedelta(seconds=self._lease),
            migrations.LEVEL,
        )
        while True:
            dead = await self._watch(connection) if is_alone else None
            try:
                self.id = await connection.fetchval(
                    "SELECT join_v2($1, $2, $3, $4, $5, $6, $7)", is_alone, dead, *given
                )
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
        while (found := await connection.fetchrow("SELECT * FROM living_v1()")) is not None:
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
            f"{self._address.shown} is in use by {name} since {since:%Y-%m-%d %H:%M:%S %Z}; this needs the "
            "store for itself: stop that one first, or name another schema, with ?schema=NAME in the URL"
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
                    self.beats_missed += 1
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
            self._connected_at, self._patience = asyncio.get_running_loop().time(), self._lease
            self._watched = {}
        if not self._is_locked:
            # The old connection may still hold it; then the next beat tries again.
            sql = "SELECT pg_try_advisory_lock(lock_space(), $1)"
            self._is_locked = await self._connection.fetchval(sql, self.id)
        sql = "SELECT beat_v1($1), (SELECT max(place) FROM ledger)"
        is_alive, place = await self._connection.fetchrow(sql, self.id)
        self._heard(place or 0)
        if is_alive:
            await self._look_at_others()
        return bool(is_alive)

    async def _look_at_others(self) -> None:
        """Fence nodes whose time is over, once they were watched for a moment."""
        now = asyncio.get_running_loop().time()
        if now - self._connected_at > self._lease:
            self._patience = WATCH_SECONDS
        before, self._watched = self._watched, {}
        others = "SELECT id, name, beat, is_over FROM living_v1() WHERE id <> $1"
        for node, name, beat, is_over in await self._connection.fetch(others, self.id):
            known, since = before.get(node, (beat, now))
            self._watched[node] = (beat, since if known == beat else now)
            is_due = is_over and now - self._watched[node][1] >= self._patience
            if is_due and await self._connection.fetchval("SELECT fence_v1($1, $2)", self.id, node):
                log.warning("%s does not answer any more; others take over from it", name)

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

    async def fall_silent(self) -> None:
        """Stop beating, and let go of the lock, as a process that is killed does."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        self._beating = None
        self._drop_connection()

    async def leave(self) -> None:
        """Stop beating, and let others take over at once."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        if self.id and self._connection is not None:
            with suppress(Exception):  # without it the next node waits for the lease
                await self._connection.execute("SELECT leave_v1($1)", self.id, timeout=1)
        self._drop_connection()
