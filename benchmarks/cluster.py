"""How fast one server is on PostgreSQL, against SQLite: `.venv/bin/python benchmarks/cluster.py`.

The work is that of benchmarks/host.py. Each round measures all stores, one after the other, and the result is
the median of the ratios: to SQLite that waits for the disk at each commit, as PostgreSQL does, and to SQLite
that does not. PostgreSQL is the one that the tests use, with `fsync`; `--store` names another one, whose
schemas `benchmark_…` are not dropped.
"""

import argparse
import asyncio
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

from agenthost.host.storage import Storage
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.storage.sqlite import SqliteStorage
from host import PER_TURN, TURNS, measure, stream, take_turns
from sample import DELTAS, conversation

GOALS = {"turns": {"full": 0.7, "normal": 0.4}, "deltas": {"full": 0.6, "normal": 0.6}}
"""Ratios at 16 and 64 sessions, on a quiet disk."""

Make = Callable[[Path], Storage]


@contextmanager
def postgres(url: str | None) -> Iterator[Make]:
    """Give a function that makes a store in PostgreSQL, in a schema of its own."""
    with ExitStack() as stack:
        if url is None:
            sys.path.append(str(Path(__file__).parents[1] / "tests"))
            databases = import_module("databases")
            server = stack.enter_context(databases.own_postgres("fsync = on\n"))
            url = server.url().partition("&schema=")[0]
        joined = "&" if "?" in url else "?"
        count = iter(range(10**9))
        yield lambda _folder: PostgresStorage(f"{url}{joined}schema=benchmark_{next(count)}")


def compare(what: str, sessions: int, rounds: int, makes: dict[str, Make]) -> None:
    """Measure and print how fast the stores are, and the ratios."""
    is_turns = what == "turns"
    states = [conversation(str(place), is_idle=is_turns) for place in range(sessions)]
    work = partial(measure, take_turns, states, TURNS, PER_TURN)
    if not is_turns:
        work = partial(measure, stream, states, DELTAS, 1)
    rates: dict[str, list[float]] = {name: [] for name in makes}
    for _ in range(rounds):
        for name, make in makes.items():
            rates[name].append(asyncio.run(work(make)))
    best = max(rates["postgres"])
    told = [f"{sessions:>3} sessions, {what:<6}  {best:>9,.0f} a second at best"]
    for name, goal in GOALS[what].items():
        ratios = [ours / theirs for ours, theirs in zip(rates["postgres"], rates[name], strict=True)]
        told.append(
            f"of SQLite {name} {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}, "
            f"goal {goal})"
        )
    print(", ".join(told), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each measurement (default: 5)")
    parser.add_argument("--store", help="the URL of a database, without a schema")
    given = parser.parse_args()
    with postgres(given.store) as make:
        makes: dict[str, Make] = {
            "postgres": make,
            "full": partial(SqliteStorage, sync="full"),
            "normal": partial(SqliteStorage, sync="normal"),
        }
        for what in GOALS:
            for sessions in (1, 16, 64):
                compare(what, sessions, given.rounds, makes)


if __name__ == "__main__":
    main()
