"""The harness: nodes, clients, faults; then rest, and the checks."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from agenthost.wire.ahp import ROOT_URI
from cluster.checks import check_store
from cluster.clients import Book, Client
from cluster.faults import Faults
from cluster.fleet import Fleet
from cluster.monitor import FENCED_SECONDS, Monitor
from cluster.talkers import Talker
from cluster.watchers import Watcher
from crash.checks import Wrong, demand
from power.book import NEW
from power.clients import Line

WATCHERS = 3
TALKERS = 3
REST_SECONDS = 90.0


@dataclass(slots=True)
class Summary:
    """What came of a run."""

    seed: int
    nodes: int
    faults: Counter[str] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    fenced: int = 0
    longest: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        def shown(counter: Counter[Any]) -> str:
            return ", ".join(f"{count:,} {name}" for name, count in sorted(counter.items()))

        ends = Counter({f"with {code}": count for code, count in self.ends.items()})
        return (
            f"seed {self.seed}, {self.nodes} nodes, {self.seconds:.0f} s, {self.faults.total()} faults: "
            f"{shown(self.faults)}; ends: {shown(ends)}; {self.fenced} nodes fenced or gone; "
            f"turns: {shown(self.turns)}; {shown(self.counts)}; a session with a turn had no living owner "
            f"for {self.longest:.1f} s at most; 0 violations"
        )


class Harness:
    """One run."""

    def __init__(self, folder: Path, database: Any, seed: int, *, nodes: int, lease: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - to be drawn again
        self._seed = seed
        self._database = database
        self._fleet = Fleet(folder, database, nodes, lease, chance)
        self._faults = Faults(self._fleet, database, chance)
        self._monitor = Monitor(self._fleet, database)
        self._book = Book()
        watchers = [Watcher(f"w{n}", self._fleet, self._book, seed) for n in range(WATCHERS)]
        talkers = [Talker(f"t{n}", self._fleet, self._book, seed) for n in range(TALKERS)]
        self._clients: list[Client] = [*watchers, *talkers]
        self._watchers = watchers

    async def run(self, faults: int, progress: Callable[[str], None] = lambda _: None) -> Summary:
        """Do so many things to the nodes, and check what is left.

        Raises:
            Wrong: with the seed.
        """
        begun = time.monotonic()
        try:
            try:
                await self._disturb(faults, progress)
                await self._probe()
                await self._fleet.stop()
            finally:
                await self._fleet.close()
            url, notes = self._database.url(), self._fleet.notes
            found = await asyncio.to_thread(check_store, url, notes, self._book, self._monitor.fenced)
        except Wrong as wrong:
            raise Wrong(f"seed {self._seed}, after {self._faults.done}: {wrong}") from wrong
        return Summary(
            seed=self._seed,
            nodes=self._fleet.wanted,
            faults=self._faults.done,
            ends=self._fleet.ends,
            counts=self._book.counts
            + Counter(
                {"tracebacks": self._fleet.tracebacks, "nodes of the version before": self._fleet.older}
            ),
            turns=found.turns,
            fenced=len(self._monitor.fenced),
            longest=self._monitor.longest,
            seconds=time.monotonic() - begun,
        )

    async def _disturb(self, faults: int, progress: Callable[[str], None]) -> None:
        def tell(number: int) -> None:
            if number % 10 == 0:
                shown, turns = self._book.counts["envelopes"], self._book.counts["turns over AAP"]
                progress(f"{number} of {faults} faults, {shown:,} envelopes, {turns:,} turns over AAP")

        await self._fleet.open()
        looking = asyncio.create_task(self._monitor.run())
        living = [asyncio.create_task(client.live()) for client in self._clients]
        hurting = asyncio.create_task(self._faults.run(faults, tell))
        try:
            await _wait(hurting, looking, *living)
            self._faults.heal()
            await asyncio.sleep(FENCED_SECONDS)  # until those that were taken for dead have noticed
            await self._fleet.wait_ready()
            for client in self._clients:
                client.is_ending = True
            resting = asyncio.create_task(_all(living))
            async with asyncio.timeout(REST_SECONDS):
                await _wait(resting, looking)
        except TimeoutError:
            waiting = [
                client.name for client, task in zip(self._clients, living, strict=True) if not task.done()
            ]
            demand(False, "still not done:", waiting, *(slot.errors() for slot in self._fleet.slots))
        finally:
            for task in (hurting, looking, *living):
                task.cancel()
            await asyncio.gather(hurting, looking, *living, return_exceptions=True)

    async def _probe(self) -> None:
        """I3: at rest every node shows the same."""
        states: dict[str, Any] = {}
        for watcher in self._watchers:
            states |= dict.fromkeys(watcher.lives)
        for slot in self._fleet.slots:
            if slot.is_well and await self._fleet.asked_ready(slot):
                async with connect(f"{slot.url.replace('http', 'ws', 1)}/ahp", max_size=None) as socket:
                    hello = {"protocolVersions": [NEW], "clientId": f"probe {slot.name}"}
                    given = {"channel": ROOT_URI, **hello, "initialSubscriptions": list(states)}
                    answer = await Line(socket).request("initialize", **given)
                for snapshot in answer["snapshots"]:
                    uri, state = snapshot["resource"], snapshot["state"]
                    known = states[uri] = states[uri] or state
                    demand(known == state, slot.name, "has", uri, "as", state, "and another node as", known)
                    self._book.counts["states compared"] += 1
        missing = [uri for uri, state in states.items() if state is None]
        demand(not missing, "are not shown:", missing)


async def _wait(wanted: asyncio.Task[None], *others: asyncio.Task[None]) -> None:
    """Wait for one task. If another one fails first, raise what it raised."""
    while not wanted.done():
        alive = [task for task in others if not task.done()]
        await asyncio.wait([wanted, *alive], return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            if task.done():
                task.result()
    wanted.result()


async def _all(tasks: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks)
