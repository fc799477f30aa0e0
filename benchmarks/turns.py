"""How fast agents answer, through the whole host: `.venv/bin/python benchmarks/turns.py`.

A host in this process on a real SQLite file; everything is durable before it is shown. First turns: each
session has a client that starts a turn, reads until it has ended, and starts the next; the agent says one
word. Then text: the result is the ratio to the rate at which msgspec alone encodes the same envelopes,
measured right before. Then a long turn against a short one: a delta has to cost the same in both. With
`AGENTHOST_SYNC=normal`, commits do not wait for the disk.
"""

import argparse
import asyncio
import cProfile
import os
import pstats
import statistics
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.core.actions import turn_started
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.turn import Turn
from agenthost.host.client import HostClient
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.feed import Feed
from agenthost.host.state.session import Session
from sample import DELTAS, MESSAGE, encoding_rate

LONG, SHORT = 200_000, 20_000
GOAL_TURNS = 10_000
GOAL_RATIO = 0.12
GOAL_LONG = 1.3
"""What a delta of the long turn may cost, of one of the short turn."""

END = b'"chat/turnComplete"'


@dataclass(slots=True)
class Client:
    """One who talks to a session."""

    host: HostClient
    feed: Feed
    session: Session
    seq: int = 0

    async def take_turn(self, text: str) -> None:
        """Say something, and read until the turn has ended."""
        self.seq += 1
        turn: Any = turn_started(f"t{self.seq}", {**MESSAGE, "text": text}, self.session.now())
        await self.host.dispatch(self.seq, self.session.chat_uri, turn)
        while True:
            for item in await self.feed.subscriber.wait_next():
                if item.envelopes()[-1].find(END) >= 0:  # `in` first takes what it looks for for a number
                    return


@asynccontextmanager
async def opened(sessions: int) -> AsyncIterator[list[Client]]:
    """Run a host with an agent that says as many words as it is asked for, and a client for each session."""
    sync: Any = os.environ.get("AGENTHOST_SYNC", "full")
    limits = Limits(subscriber_items=10 * LONG, subscriber_bytes=10**10, log_per_session=10 * LONG)
    host = Host(sync=sync, limits=limits)

    @host.agent("counter")
    async def counter(turn: Turn) -> None:
        """Say so many words."""
        count = int(turn.text)
        if count == 1:
            await turn.say("ok")
            return
        for place in range(count):
            await turn.say(f"word {place} ")

    async with host:
        clients = []
        for _ in range(sessions):
            session = await host.parts.lifecycle.create(NewSession(agent="counter"))
            uri = session.row.uri
            me = Identity(uri)
            clients.append(Client(host.client(me), host.parts.engine.feed(me), session))
            await clients[-1].feed.subscribe(uri)
        await host.parts.engine.journal.wait()
        yield clients


Talk: TypeAlias = Callable[[Client], Coroutine[Any, Any, None]]


async def seconds_for(clients: list[Client], talk: Talk) -> float:
    """Return how long all of them take to say what they have to say, at once."""
    begun = time.perf_counter()
    await asyncio.gather(*(talk(client) for client in clients))
    return time.perf_counter() - begun


def talking(turns: int, words: int) -> Talk:
    """Make a client take so many turns, in each of which the agent says so many words."""

    async def talk(client: Client) -> None:
        for _ in range(turns):
            await client.take_turn(str(words))

    return talk


async def rate(sessions: int, turns: int, words: int) -> float:
    """Return how many turns a second, in all sessions together."""
    async with opened(sessions) as clients:
        await seconds_for(clients, talking(1, words))
        return sessions * turns / await seconds_for(clients, talking(turns, words))


def measure_turns(rounds: int, turns: int) -> None:
    """Measure and print how fast turns are taken."""
    print(f"turns of one word (goal: {GOAL_TURNS:,} a second at 64)")
    for sessions in (1, 16, 64):
        rates = [asyncio.run(rate(sessions, turns, 1)) for _ in range(rounds)]
        middle = statistics.median(rates)
        print(f"{sessions:>4} sessions  {max(rates):>9,.0f} a second at best, {middle:,.0f} in the middle")


def measure_deltas(rounds: int) -> None:
    """Measure and print how fast text streams."""
    print(f"turns of {DELTAS:,} words (goal: {GOAL_RATIO} of what msgspec alone encodes)")
    for sessions in (1, 16):
        rates, ratios = [], []
        for _ in range(rounds):
            alone = encoding_rate()
            rates.append(asyncio.run(rate(sessions, 10 if sessions == 1 else 2, DELTAS)) * DELTAS)
            ratios.append(rates[-1] / alone)
        print(
            f"{sessions:>4} sessions  {max(rates):>9,.0f} deltas a second at best, "
            f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        )


async def seconds_per_delta(words: int) -> float:
    """Return what a delta costs in one turn of so many."""
    async with opened(1) as clients:
        return await seconds_for(clients, talking(1, words)) / words


def measure_length(rounds: int) -> None:
    """Measure and print what a delta costs in a long turn, against a short one."""
    pairs = [
        (asyncio.run(seconds_per_delta(SHORT)), asyncio.run(seconds_per_delta(LONG))) for _ in range(rounds)
    ]
    short, long = (min(times) for times in zip(*pairs, strict=True))
    print(
        f"a delta costs {short * 1e6:.2f} µs in a turn of {SHORT:,}, {long * 1e6:.2f} µs in one of {LONG:,}: "
        f"{long / short:.2f} of it (goal: at most {GOAL_LONG})"
    )


def profile(turns: int) -> None:
    """Print where the time of a turn goes."""
    profiler = cProfile.Profile()

    async def run() -> None:
        async with opened(64) as clients:
            await seconds_for(clients, talking(1, 1))
            profiler.enable()
            await seconds_for(clients, talking(turns, 1))
            profiler.disable()

    asyncio.run(run())
    pstats.Stats(profiler).sort_stats("tottime").print_stats(45)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each measurement (default: 5)")
    parser.add_argument("--turns", type=int, default=100, help="turns of each session (default: 100)")
    parser.add_argument("--profile", action="store_true", help="print where the time of a turn goes instead")
    given = parser.parse_args()
    if given.profile:
        profile(given.turns)
        return
    measure_turns(given.rounds, given.turns)
    measure_deltas(given.rounds)
    measure_length(min(given.rounds, 2))


if __name__ == "__main__":
    main()
