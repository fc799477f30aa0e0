"""What several nodes give: `.venv/bin/python benchmarks/nodes.py`.

Real servers on one PostgreSQL with `fsync`, all on this machine, and so is the load. First, turns over AAP on
two nodes against one, in alternating runs: with two cores for all of it, more than 1 cannot be expected. Then
how long sessions stand still whose node is killed, stopped or told to end: from then until each of them has
its next row in the log, written by the other node.
"""

import argparse
import asyncio
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from agenthost.client import AapClient

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from cluster.fleet import Fleet
from databases import own_postgres

WORKERS = 16
SECONDS = 5.0
SESSIONS = 20
WORDS = 2_000
PATIENCE = 30.0

_MOVED = """SELECT count(DISTINCT log.resource) FROM log JOIN ledger ON log.seq > base AND log.seq <= last_seq
    WHERE ledger.place > $1 AND log.resource > 0
        AND ledger.node <> (SELECT node FROM ledger WHERE place = $1)"""


@asynccontextmanager
async def fleet_of(nodes: int, lease: int) -> AsyncIterator[tuple[Fleet, Any]]:
    """Give so many nodes, and a connection to their database."""
    with tempfile.TemporaryDirectory(prefix="ah-cl-") as folder, own_postgres("fsync = on\n") as database:
        fleet = Fleet(Path(folder), database, nodes, lease, random.Random(1))  # noqa: S311
        try:
            await fleet.open()
            connection = await asyncpg.connect(
                host=str(database.folder),
                user="agenthost",
                database="postgres",
                server_settings={"search_path": "agenthost"},
            )
            try:
                yield fleet, connection
            finally:
                await connection.close()
        finally:
            await fleet.close()


async def count_turns(nodes: int, lease: int) -> float:
    """Return how many turns a second so many nodes take over AAP."""
    done = 0

    async def work(url: str, until: float) -> None:
        nonlocal done
        async with AapClient(f"{url}/aap") as client:
            session = await client.create("talker")
            while time.monotonic() < until:
                async for _ in session.send(f"talk t{done}"):
                    pass
                done += 1

    async with fleet_of(nodes, lease) as (fleet, _):
        urls = [slot.url for slot in fleet.slots if slot.is_well]
        until = time.monotonic() + SECONDS
        await asyncio.gather(*(work(urls[n % len(urls)], until) for n in range(WORKERS)))
    return done / SECONDS


async def measure_takeover(kind: signal.Signals, lease: int) -> tuple[float, float]:
    """Return after how many seconds the first and the last session go on at the other node."""
    async with fleet_of(2, lease) as (fleet, connection):
        first = next(slot for slot in fleet.slots if slot.is_well)
        async with AapClient(f"{first.url}/aap") as client:
            sessions = [await client.create("ticker") for _ in range(SESSIONS)]
            turns = [asyncio.create_task(_begin(session)) for session in sessions]
            await asyncio.sleep(2)
            place = await connection.fetchval("SELECT max(place) FROM ledger")
            first.send(kind)
            begun = time.monotonic()
            moved: list[float] = []
            while len(moved) < SESSIONS and time.monotonic() - begun < PATIENCE:
                await asyncio.sleep(0.02)
                count = await connection.fetchval(_MOVED, place)
                moved += [time.monotonic() - begun] * (count - len(moved))
            first.send(signal.SIGCONT)
            for turn in turns:
                turn.cancel()
            await asyncio.gather(*turns, return_exceptions=True)
    return (moved[0], moved[-1]) if len(moved) == SESSIONS else (PATIENCE, PATIENCE)


async def _begin(session: Any) -> None:
    async for _ in session.send(str(WORDS)):
        pass


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each measurement (default: 3)")
    parser.add_argument("--lease", type=int, default=5, help="of a node, in seconds (default: 5)")
    given = parser.parse_args()
    ratios = []
    for _ in range(given.rounds):
        one, two = (asyncio.run(count_turns(nodes, given.lease)) for nodes in (1, 2))
        ratios.append(two / one)
        print(f"turns over AAP: one node {one:,.0f} a second, two nodes {two:,.0f}", flush=True)
    print(f"two nodes against one: {statistics.median(ratios):.2f}", flush=True)
    for kind in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        found = [asyncio.run(measure_takeover(kind, given.lease)) for _ in range(given.rounds)]
        first, last = (statistics.median(one) for one in zip(*found, strict=True))
        print(f"{kind.name}: {SESSIONS} sessions go on after {first:.2f} to {last:.2f} s", flush=True)


if __name__ == "__main__":
    main()
