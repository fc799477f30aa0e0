"""How fast a terminal prints, and how that affects others: `.venv/bin/python benchmarks/terminals.py`.

A program prints 100 MB into a terminal with a subscriber. The results are how much the host shows per second
of its CPU time, and how long a word of another session takes to reach its reader meanwhile, compared with an
idle host.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from agenthost.host.access.identity import Identity
from agenthost.host.host import Host
from agenthost.host.state.feed import Feed
from agenthost.host.state.session import Session
from sample import conversation

WORDS = 200
PAUSE = 0.005


async def watch(feed: Feed, uri: str) -> int:
    """Take all that a terminal prints, to its end; returns how much that was."""
    await feed.subscribe(uri)
    size = 0
    while True:
        for item in await feed.subscriber.wait_next():
            action: Any = item.action
            if action["type"] == "terminal/exited":
                return size
            size += len(action.get("data", ""))


async def latencies(session: Session, feed: Feed) -> list[float]:
    """Say one word after the other in a session, and return how long each takes to its reader, in ms."""
    found = []
    for place in range(WORDS):
        await asyncio.sleep(PAUSE)
        begun = time.perf_counter()
        session.stream("chat/delta", "t1", "p1", f"word {place} ")
        await feed.subscriber.wait_next()
        found.append((time.perf_counter() - begun) * 1000)
    return found


def told(name: str, found: list[float]) -> str:
    """Put latencies into a line."""
    middle, high = statistics.median(found), statistics.quantiles(found, n=100)[98]
    return f"{name}: median {middle:.2f} ms, 99th percentile {high:.2f} ms, worst {max(found):.2f} ms"


async def opened(host: Host) -> tuple[Session, Feed]:
    """Make a session with a turn that streams, and its reader."""
    session = await host.parts.engine.additions.create("demo:/1", conversation("1"), name="1")
    feed = host.parts.engine.feed(Identity("reader"))
    await feed.subscribe("demo:/1")
    return session, feed


async def measure(command: str, folder: Path) -> None:
    """Print the figures for one command."""
    async with Host(workspace=folder) as host:
        session, reader = await opened(host)
        print(told("  alone     ", await latencies(session, reader)))
        begun, cpu = time.perf_counter(), time.process_time()
        terminal = await host.parts.terminals.create(
            "t:/1", {"kind": "client", "clientId": "me"}, command=command
        )
        watching = asyncio.create_task(watch(host.parts.engine.feed(Identity("me")), "t:/1"))
        print(told("  meanwhile ", await latencies(session, reader)))
        size = await watching / 1e6
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        print(f"  {size:.0f} MB in {seconds:.2f} s, {size / cpu:.0f} MB for a second of CPU time")
        print(f"  the host keeps {len(terminal.resource.view()['content'][-1]['value']) / 1e6:.1f} MB of it")  # type: ignore[typeddict-item]


async def main(megabytes: int) -> None:
    """Measure plain lines, and lines full of colours."""
    with tempfile.TemporaryDirectory(prefix="agenthost-bench-") as name:
        folder = Path(name)
        plain = "the quick brown fox jumps over it\n"
        colours = "\x1b[31mred\x1b[0m and \x1b[1;32mgreen\x1b[0m\n"
        for title, line in (("lines", plain), ("colours", colours)):
            (folder / title).write_text(line * (megabytes * 1_000_000 // len(line)))
            print(f"{title}, {megabytes} MB")
            await measure(f"cat {title}", folder)
        print("yes, for as long")
        await measure(f"yes | head -c {megabytes * 1_000_000}", folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    asyncio.run(main(parser.parse_args().megabytes))
