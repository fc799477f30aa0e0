"""Looks into the database while faults happen: who is fenced, who owns what, and for how long nobody does."""

import asyncio
import re
import time
from contextlib import suppress
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from cluster.fleet import Fleet
from crash.checks import demand

LOOK_SECONDS = 0.1
FENCED_SECONDS = 3.0
"""How long a node that is fenced may still say that it is ready: it looks every half second."""

TAKEN_SECONDS = 2.0
"""How long a session with a turn may be without a living owner, besides the lease (I8)."""

# One statement, and so one snapshot.
_LOOK = """SELECT (SELECT array_agg(id) FROM node WHERE is_dead), (SELECT max(place) FROM ledger),
    (SELECT array_agg(id) FROM node WHERE NOT is_dead),
    (SELECT array_agg(coalesce(top.node, one.node)) FROM session AS one
        LEFT JOIN session AS top ON top.number = one.family WHERE one.is_active),
    (SELECT array_agg(one.number) FROM session AS one WHERE one.is_active)"""


class Monitor:
    """A look every tenth of a second.

    Attributes:
        fenced: the newest place of the ledger when a node was first seen dead.
        longest: for how long a session with a turn had no living owner, at most.
    """

    def __init__(self, fleet: Fleet, database: Any) -> None:
        self.fenced: dict[int, int] = {}
        self.longest = 0.0
        self.looks = 0
        self._seen_dead: dict[int, float] = {}
        self._orphans: dict[int, float] = {}
        self._fleet = fleet
        self._database = database

    async def run(self) -> None:
        """Look for ever."""
        connection: Any = None
        while True:
            try:
                if connection is None:
                    connection = await asyncpg.connect(
                        host=str(self._database.folder),
                        user="agenthost",
                        database="postgres",
                        server_settings={"search_path": "agenthost"},
                        timeout=2,
                    )
                await self._look(connection)
                await asyncio.sleep(LOOK_SECONDS)
            except asyncio.CancelledError:
                if connection is not None:
                    connection.terminate()
                raise
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
                if connection is not None:
                    connection.terminate()
                connection = None
                self._orphans.clear()
                await asyncio.sleep(LOOK_SECONDS)

    async def _look(self, connection: Any) -> None:
        dead, place, alive, owners, numbers = await connection.fetchrow(_LOOK, timeout=5)
        now = time.monotonic()
        self.looks += 1
        for node in dead or ():
            self.fenced.setdefault(node, place or 0)
            self._seen_dead.setdefault(node, now)
        self._look_at_owners(dict(zip(numbers or (), owners or (), strict=True)), set(alive or ()), now)
        if self.looks % 10 == 0:
            await self._look_at_readiness(connection)

    def _look_at_owners(self, owners: dict[int, int], alive: set[int], now: float) -> None:
        """See for how long sessions with a turn have no living owner, while a node could take them (I8)."""
        can_take = any(slot.is_well for slot in self._fleet.slots)
        without = {number for number, owner in owners.items() if owner not in alive} if can_take else set()
        self._orphans = {number: self._orphans.get(number, now) for number in without}
        if self._orphans:
            number, since = min(self._orphans.items(), key=lambda one: one[1])
            # Counted while there is a node that nothing is or was just done to.
            quiet = min(slot.disturbed_at for slot in self._fleet.slots if slot.is_well)
            seconds = now - max(since, quiet)
            self.longest = max(self.longest, seconds)
            is_soon = seconds <= self._fleet.lease + TAKEN_SECONDS
            demand(is_soon, "session", number, "has a turn, and for", seconds, "s no living owner")

    async def _look_at_readiness(self, connection: Any) -> None:
        """See that no node that is fenced says that it is ready (I9)."""
        names = dict(await connection.fetch("SELECT id, name FROM node WHERE is_dead"))
        for slot in self._fleet.slots:
            if not slot.is_well or slot.process is None:
                continue
            pid = slot.process.pid
            mine = [node for node, name in names.items() if re.search(rf"\(process {pid}\)", name)]
            since = min((self._seen_dead.get(node, time.monotonic()) for node in mine), default=None)
            if since is None or time.monotonic() - max(since, slot.disturbed_at) < FENCED_SECONDS:
                continue
            is_ready = await self._fleet.asked_ready(slot)
            with suppress(AttributeError):
                demand(not (is_ready and slot.process.pid == pid), slot.name, "is fenced and ready")
