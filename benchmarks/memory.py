"""How much memory sessions take: `.venv/bin/python benchmarks/memory.py`.

Measures sessions in memory, idle and with ten turns; checks that sessions on disk take none; and measures how
long a host with 100,000 sessions on disk takes to open and to list the first page. Each measurement has its
own process, because a process does not return all memory.
"""

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenthost.core.actions import turn_started
from agenthost.core.summaries import session_summary
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.storage import AddSession, Group, SessionRow
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.json import encode_json
from sample import BEGUN, MESSAGE, conversation

IN_MEMORY = 1_000
ON_DISK = 100_000
TURNS = 10
PAGE = 50
AT_ONCE = 10_000

GOAL_OPEN = 0.5
GOAL_PAGE = 0.01
GOAL_ON_DISK = 16
"""How many bytes a session on disk may cost: next to nothing, measured with some noise."""


def resident() -> int:
    """Return how much memory this process has, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def make_host(folder: str | None = None) -> Host:
    """Make a host with an agent that says one sentence."""
    host = Host(data=folder, limits=Limits(sessions_in_memory=10 * IN_MEMORY))

    @host.agent("demo")
    async def demo(turn: Turn) -> None:
        """Say a sentence."""
        await turn.say("The quick brown fox jumps over the lazy dog.")

    return host


async def fill(host: Host, turns: int) -> None:
    """Make sessions, each with so many turns."""
    for place in range(IN_MEMORY):
        session = await host.parts.lifecycle.create(NewSession(agent="demo", uri=f"demo:/{place}"))
        for turn in range(turns):
            started: Any = turn_started(f"t{turn}", MESSAGE, session.now())
            number = place * TURNS + turn
            await host.client(Identity("me")).dispatch(number, session.chat_uri, started)
            while session.has_turn:
                await host.parts.engine.journal.wait()


async def bytes_in_memory(turns: int) -> float:
    """Return what a session with so many turns costs while it is in memory."""
    async with make_host() as host:
        before = resident()
        await fill(host, turns)
        await host.parts.engine.journal.wait()
        assert host.parts.engine.sessions.in_memory == IN_MEMORY
        return (resident() - before) / IN_MEMORY


def write_sessions(folder: str, count: int) -> None:
    """Put sessions into a store, without a host."""
    storage = SqliteStorage(Path(folder))
    storage.open()
    for begin in range(1, count + 1, AT_ONCE):
        numbers = range(begin, min(begin + AT_ONCE, count + 1))
        storage.commit(Group([_addition(number) for number in numbers]))
    storage.close()


def _addition(number: int) -> AddSession:
    uri = f"demo:/{number}"
    session, chat = conversation(str(number), is_idle=True)
    summary = encode_json(session_summary(uri, session, BEGUN))
    row = SessionRow(number, uri, str(number), "", False, summary, b"{}")  # noqa: FBT003
    return AddSession(row, encode_json({"session": session, "chat": chat}), 0, ())


async def opening(folder: str) -> dict[str, float]:
    """Open a host on a store, and return how long that took, the first page too, and the memory of both."""
    before = resident()
    begun = time.perf_counter()
    async with make_host(folder) as host:
        opened = time.perf_counter()
        page = await host.parts.engine.sessions.page(owner=None, before=None, limit=PAGE)
        paged = time.perf_counter()
        assert len(page) in (0, PAGE)
        return {"open": opened - begun, "page": paged - opened, "bytes": resident() - before}


def run_memory(turns: int, result: Any) -> None:
    """Measure in a process of its own."""
    result.put(asyncio.run(bytes_in_memory(turns)))


def run_opening(folder: str, result: Any) -> None:
    """Measure in a process of its own."""
    result.put(asyncio.run(opening(folder)))


def apart(work: Callable[..., None], *arguments: Any) -> Any:
    """Run something in a process of its own, and return what it puts."""
    context = multiprocessing.get_context("spawn")
    result: Any = context.Queue()
    process = context.Process(target=work, args=(*arguments, result))
    process.start()
    value = result.get()
    process.join()
    return value


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often a host is opened (default: 3)")
    rounds = parser.parse_args().rounds
    if not sys.platform.startswith("linux"):
        sys.exit("memory is read from /proc, which is on Linux only")
    for turns in (0, TURNS):
        cost = apart(run_memory, turns)
        print(f"a session with {turns:>2} turns in memory: {cost:>7,.0f} bytes")
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as full:
        write_sessions(empty, 0)
        write_sessions(full, ON_DISK)
        none = [apart(run_opening, empty) for _ in range(rounds)]
        many = [apart(run_opening, full) for _ in range(rounds)]
    on_disk = (min(one["bytes"] for one in many) - min(one["bytes"] for one in none)) / ON_DISK
    print(f"a session on disk: {on_disk:.1f} bytes of memory (goal: below {GOAL_ON_DISK})")
    seconds = min(one["open"] for one in many)
    print(f"opening with {ON_DISK:,} sessions: {seconds:.3f} s (goal: below {GOAL_OPEN} s)")
    seconds = min(one["page"] for one in many)
    print(f"the first page of {PAGE}: {seconds * 1e3:.1f} ms (goal: below {GOAL_PAGE * 1e3:.0f} ms)")


if __name__ == "__main__":
    main()
