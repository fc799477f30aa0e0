"""How fast actions become durable and are shown: `.venv/bin/python benchmarks/host.py`.

Sessions on a real SQLite file, each with a subscriber that reads. First a turn that streams: the result is
the ratio to the rate at which msgspec alone encodes the same envelopes, measured right before. Then turns
of one delta without an agent, each durable before the next starts.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.host.access.identity import Identity
from agenthost.host.limits import Limits
from agenthost.host.state.engine import Engine
from agenthost.host.state.feed import Feed
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import Storage
from agenthost.host.storage.sqlite import SqliteStorage
from sample import DELTAS, MESSAGE, conversation, encoding_rate

TURNS = 100
GOAL_RATIO = 0.12
GOAL_TURNS = 10_000
PER_TURN = 6
"""How many envelopes a turn has: four of the chat, and two with which the session follows."""

PER_TICK = 16
"""How many deltas an agent makes before it lets others run."""

Run: TypeAlias = Callable[[Engine, Session, int], Coroutine[Any, Any, None]]


async def stream(engine: Engine, session: Session, count: int) -> None:
    """Stream one turn, as an agent would."""
    for place in range(count):
        session.stream("chat/delta", "t1", "p1", f"word {place} ")
        if place % PER_TICK == 0:
            await engine.journal.wait_room()
            await asyncio.sleep(0)


async def take_turns(engine: Engine, session: Session, count: int) -> None:
    """Take one turn after the other, each with one delta, and each durable before the next."""
    for place in range(count):
        await engine.journal.wait(take_turn(session, f"t{place}"))


def take_turn(session: Session, turn: str) -> int:
    """Let everything happen that happens in a turn; returns the ticket."""
    asked = [TranscriptEntry(turn, {"role": "user", "content": "Go on"})]
    session.act(actions.turn_started(turn, MESSAGE, session.now()), messages=asked)
    session.act(actions.response_part(turn, {"kind": "markdown", "id": "p1", "content": ""}))
    session.stream("chat/delta", turn, "p1", "word")
    said = [TranscriptEntry(turn, {"role": "assistant", "content": "word"})]
    return session.act(actions.turn_complete(turn, session.elapsed()), messages=said)


async def listen(feed: Feed, count: int) -> None:
    """Read until everything was shown."""
    while count > 0:
        count -= sum(len(item.envelopes()) for item in await feed.subscriber.wait_next())


@asynccontextmanager
async def hosted(
    states: list[Conversation], items: int, make: Callable[[Path], Storage]
) -> AsyncIterator[tuple[Engine, list[Session], list[Feed]]]:
    """Run an engine with these sessions, and a subscriber for each of them."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(subscriber_items=items + 1, subscriber_bytes=1_000 * (items + 1))
        async with Engine(make(Path(folder)), limits) as engine:
            made = [
                await engine.additions.create(f"demo:/{place}", state, name=str(place))
                for place, state in enumerate(states)
            ]
            feeds = [engine.feed(Identity(session.row.uri)) for session in made]
            for feed, session in zip(feeds, made, strict=True):
                await feed.subscribe(session.row.uri)
            yield engine, made, feeds


async def measure(
    run: Run,
    states: list[Conversation],
    count: int,
    envelopes: int,
    make: Callable[[Path], Storage] = SqliteStorage,
) -> float:
    """Return how many a second, in all sessions at once, from the first until the last was shown.

    `make` makes the store, given an empty folder.
    """
    async with hosted(states, count * envelopes, make) as (engine, made, feeds):
        begun = time.perf_counter()
        await asyncio.gather(
            *(run(engine, session, count) for session in made),
            *(listen(feed, count * envelopes) for feed in feeds),
        )
        return len(states) * count / (time.perf_counter() - begun)


def measure_deltas(sessions: int, count: int, rounds: int) -> None:
    """Measure and print how fast text streams."""
    states = [conversation(str(place)) for place in range(sessions)]
    rates, ratios = [], []
    for _ in range(rounds):
        alone = encoding_rate()
        rates.append(asyncio.run(measure(stream, states, count, 1)))
        ratios.append(rates[-1] / alone)
    print(
        f"{sessions:>3} x {count:>7,} deltas  {max(rates):>9,.0f} a second at best, "
        f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )


def measure_turns(sessions: int, count: int, rounds: int) -> None:
    """Measure and print how fast turns are taken."""
    states = [conversation(str(place), is_idle=True) for place in range(sessions)]
    rates = [asyncio.run(measure(take_turns, states, count, PER_TURN)) for _ in range(rounds)]
    print(
        f"{sessions:>3} x {count:>7,} turns   {max(rates):>9,.0f} a second at best, "
        f"{statistics.median(rates):,.0f} in the middle"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each measurement (default: 5)")
    rounds = parser.parse_args().rounds
    print(f"msgspec alone encodes {encoding_rate():>9,.0f} envelopes a second (goal: {GOAL_RATIO} of it)")
    for sessions, count in ((1, DELTAS), (16, DELTAS), (64, DELTAS), (1, 200_000)):
        measure_deltas(sessions, count, rounds)
    print(f"turns without an agent (goal: {GOAL_TURNS:,} a second at 64)")
    for sessions in (1, 16, 64):
        measure_turns(sessions, TURNS, rounds)


if __name__ == "__main__":
    main()
