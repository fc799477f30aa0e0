"""What is done to the nodes, drawn from a seed."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from agenthost.errors import StorageError
from agenthost.host.storage.postgres.node_list import ask_to_leave, list_nodes
from agenthost.host.store_address import parse_address
from cluster.fleet import Fleet, Slot
from cluster.proxies import Mode

AT_ONCE = 2
"""How many faults there may be at a time."""

_HOLD_SNAPSHOT = """BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM agenthost.log;
    SELECT pg_sleep(2); COMMIT"""
_END_BACKENDS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'agenthost%' ORDER BY random() LIMIT $1"""


class Faults:
    """Disturbs a fleet and its database."""

    def __init__(self, fleet: Fleet, database: Any, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self.is_database_away = False
        self._fleet = fleet
        self._database = database
        self._chance = chance
        self._address = parse_address(database.url())
        self._kinds: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
            "kill": (4, self._kill),
            "term": (2, self._term),
            "stop": (2, self._stop),
            "stall": (2, self._stall),
            "cut": (2, self._cut),
            "delay": (1, self._delay),
            "backends": (3, self._end_backends),
            "database": (2, self._restart_database),
            "drain": (2, self._drain),
            "snapshot": (1, self._hold_snapshot),
        }
        if fleet.wanted > 1:
            self._kinds["peers"] = (3, self._cut_peers)

    async def run(self, count: int, progress: Callable[[int], None]) -> None:
        """Do so many things, one or two at a time."""
        names = list(self._kinds)
        weights = [weight for weight, _ in self._kinds.values()]
        running: set[asyncio.Task[None]] = set()
        for number in range(1, count + 1):
            name = self._chance.choices(names, weights)[0]
            while self._any() is None:  # nothing could be done to any
                await self._fleet.check()
                await asyncio.sleep(0.05)
            running.add(asyncio.create_task(self._do(name)))
            await asyncio.sleep(self._chance.uniform(0.05, 0.7))
            while len(running) >= AT_ONCE:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            await self._fleet.check()
            progress(number)
        await asyncio.gather(*running)

    async def _do(self, name: str) -> None:
        self.done[name] += 1
        await self._kinds[name][1]()

    def _any(self) -> Slot | None:
        """Return a node that nothing is done to, if there is one."""
        well = [slot for slot in self._fleet.slots if slot.is_well]
        return self._chance.choice(well) if well else None

    async def _send(self, kind: signal.Signals) -> Slot | None:
        slot = self._any()
        if slot is not None:
            slot.send(kind)
        return slot

    async def _kill(self) -> None:
        await self._send(signal.SIGKILL)

    async def _term(self) -> None:
        await self._send(signal.SIGTERM)

    async def _stop(self) -> None:
        """Stop a process for one to three leases, and let it go on."""
        slot = await self._send(signal.SIGSTOP)
        await asyncio.sleep(self._chance.uniform(1, 3) * self._fleet.lease)
        if slot is not None:
            slot.send(signal.SIGCONT)

    async def _disturb(self, mode: Mode, seconds: float) -> None:
        slot = self._any()
        if slot is not None:
            slot.to_database.set(mode)
            slot.note_disturbance()
            await asyncio.sleep(seconds)
            slot.to_database.set("pass")
            slot.note_disturbance()

    async def _stall(self) -> None:
        await self._disturb("stall", self._chance.uniform(0.1, 2) * self._fleet.lease)

    async def _cut(self) -> None:
        await self._disturb("cut", self._chance.uniform(0, 1.5) * self._fleet.lease)

    async def _delay(self) -> None:
        await self._disturb("delay", self._chance.uniform(0.5, 2))

    async def _cut_peers(self) -> None:
        slot = self._any()
        if slot is not None:
            slot.from_peers.set("cut")
            slot.note_disturbance()
            await asyncio.sleep(self._chance.uniform(0, 2) * self._fleet.lease)
            slot.from_peers.set("pass")
            slot.note_disturbance()

    async def _end_backends(self) -> None:
        with suppress(OSError, asyncpg.PostgresError):
            await asyncio.to_thread(self._database.execute, _END_BACKENDS, self._chance.choice((1, 3, 20)))

    async def _drain(self) -> None:
        """Tell a node to leave, as `agenthost nodes drain` does."""
        slot = self._any()
        if slot is None or slot.process is None:
            return
        process = slot.process
        slot.note_told()
        while process.returncode is None:  # it does not hear of it without its connection
            with suppress(StorageError):
                for node in await asyncio.to_thread(list_nodes, self._address):
                    if node.name.endswith(f"(process {process.pid})"):
                        await asyncio.to_thread(ask_to_leave, self._address, node.id)
            await asyncio.sleep(0.5)

    async def _hold_snapshot(self) -> None:
        """Read all for a while in one transaction, as a backup does."""
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            await asyncio.to_thread(self._database.execute, _HOLD_SNAPSHOT)

    async def _restart_database(self) -> None:
        if self.is_database_away:
            return
        self.is_database_away = True
        try:
            await asyncio.to_thread(self._database.stop)
            await asyncio.sleep(self._chance.choice((0, 0, 0.5, 2)))
            await asyncio.to_thread(self._database.start)
        finally:
            self.is_database_away = False
        for slot in self._fleet.slots:
            slot.note_disturbance()

    def heal(self) -> None:
        """Let everything pass again."""
        for slot in self._fleet.slots:
            slot.to_database.set("pass")
            slot.from_peers.set("pass")
            slot.send(signal.SIGCONT)
