"""How fast deltas become durable and are shown: `.venv/bin/python benchmarks/host.py`.

Sessions on a real SQLite file, each with a turn that streams and a subscriber that reads. What counts is the
ratio to the rate at which msgspec alone encodes the same envelopes in the same run.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import msgspec

from agenthost.host.engine import Engine
from agenthost.host.feeds import Feed
from agenthost.host.limits import Limits
from agenthost.host.session import Session
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp.actions.text import SessionDelta
from sample import streaming

DELTAS = 2_000
GOAL_RATIO = 0.12
PER_TICK = 16
"""How many deltas an agent makes before it lets others run."""


def encoding_rate() -> float:
    """Give the rate at which msgspec alone encodes such envelopes."""
    encode = msgspec.json.Encoder().encode
    envelopes = [
        {"action": SessionDelta("demo:/0", "t1", "p1", f"word {seq} "), "serverSeq": seq}
        for seq in range(DELTAS)
    ]
    best = float("inf")
    for _ in range(50):
        begun = time.perf_counter()
        for envelope in envelopes:
            encode(envelope)
        best = min(best, time.perf_counter() - begun)
    return DELTAS / best


async def stream(engine: Engine, session: Session, count: int) -> None:
    """Stream one turn, as an agent would."""
    uri = session.row.uri
    for place in range(count):
        session.act(SessionDelta(uri, "t1", "p1", f"word {place} "))
        if place % PER_TICK == 0:
            await engine.journal.wait_room()
            await asyncio.sleep(0)


async def listen(feed: Feed, count: int) -> None:
    """Read until everything was shown."""
    while count > 0:
        count -= len(await feed.subscriber.wait_next())


async def measure(sessions: int, count: int) -> float:
    """Give the deltas a second of so many sessions at once, from the first until the last was shown."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(subscriber_items=count + 1, subscriber_bytes=1_000 * (count + 1))
        async with Engine(SqliteStorage(Path(folder)), limits) as engine:
            uris = [f"demo:/{place}" for place in range(sessions)]
            made = [await engine.sessions.create(streaming(uri)) for uri in uris]
            feeds = [engine.feed(uri) for uri in uris]
            for feed, uri in zip(feeds, uris, strict=True):
                await feed.subscribe(uri)
            begun = time.perf_counter()
            await asyncio.gather(
                *(stream(engine, session, count) for session in made),
                *(listen(feed, count) for feed in feeds),
            )
            return sessions * count / (time.perf_counter() - begun)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each measurement (default: 5)")
    rounds = parser.parse_args().rounds
    alone = encoding_rate()
    print(f"msgspec alone encodes  {alone:>10,.0f} envelopes a second (goal: {GOAL_RATIO} of it)")
    for sessions, count in ((1, DELTAS), (16, DELTAS), (64, DELTAS), (1, 200_000)):
        repeat = rounds if sessions * count <= 32_000 else 1
        best = max(asyncio.run(measure(sessions, count)) for _ in range(repeat))
        print(f"{sessions:>3} x {count:>7,} deltas      {best:>10,.0f} a second, ratio {best / alone:.3f}")


if __name__ == "__main__":
    main()
