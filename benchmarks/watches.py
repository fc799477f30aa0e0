"""How fast watches are and what they cost: `./run python benchmarks/watches.py`.

Watches a tree of 10,000 files in 100 folders. Measures how long it takes to read it, compared with reading it
by `os.walk` and `os.lstat`; how soon a change is told; how long 10,000 changes take; and what a burst of
100,000 new files in one folder takes of memory and of the event loop, compared with the burst alone.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agenthost.host.files.files import Files
from agenthost.host.files.grants import Grants
from agenthost.host.files.uris import uri_of
from agenthost.host.files.watches.watch import ResourceWatch

FOLDERS = 100
FILES = 100
BURST = 100_000
LATENCIES = 30

MAKE_FILES = """
import os, sys
os.mkdir(sys.argv[1])
for number in range(int(sys.argv[2])):
    os.close(os.open(f"{sys.argv[1]}/{number}", os.O_CREAT | os.O_WRONLY))
"""


def resident() -> float:
    """Return how much memory this process has, in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def fill(top: Path) -> None:
    """Make the tree."""
    for folder in range(FOLDERS):
        (top / f"{folder}").mkdir()
        for file in range(FILES):
            (top / f"{folder}" / f"{file}").write_text("text")


def walk(top: Path) -> float:
    """Return how long it takes to see every file, without remembering any."""
    begun = time.perf_counter()
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            (Path(folder) / name).lstat()
    return time.perf_counter() - begun


def change(top: Path, text: str) -> None:
    """Write every file."""
    for folder in range(FOLDERS):
        for file in range(FILES):
            (top / f"{folder}" / f"{file}").write_text(text)


def write(file: Path) -> float:
    """Write a file. Return when."""
    begun = time.perf_counter()
    file.write_text(str(begun))
    return begun


async def latency(watch: ResourceWatch, file: Path) -> float:
    """Return how long it takes until a change is told."""
    told = asyncio.ensure_future(anext(watch))
    await asyncio.sleep(0.2)
    begun = write(file)
    await told
    return time.perf_counter() - begun


@asynccontextmanager
async def measured_gaps() -> AsyncIterator[list[float]]:
    """Measure how long the event loop is away, in a block."""
    gaps: list[float] = []

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - last)
            last = time.perf_counter()

    task = asyncio.create_task(tick())
    try:
        yield gaps
    finally:
        task.cancel()
        gaps.sort()


async def burst(folder: Path) -> float:
    """Let another process make many files. Return how long it takes."""
    begun = time.perf_counter()
    arguments = (sys.executable, "-c", MAKE_FILES, str(folder), str(BURST))
    process = await asyncio.create_subprocess_exec(*arguments)
    await process.wait()
    return time.perf_counter() - begun


async def count(watch: ResourceWatch, most: int) -> int:
    """Read until so many changes were told. Return how many batches they came in."""
    batches = told = 0
    while told < most:
        told += len(await anext(watch))
        batches += 1
    return batches


async def measure(top: Path) -> None:
    """Measure everything, and print it."""
    files = Files(Grants(top))
    walked = min(walk(top) for _ in range(3))
    memory, begun = resident(), time.perf_counter()
    watch = await files.watches.create(None, "benchmark", uri_of(top), recursive=True)
    took = time.perf_counter() - begun
    total = FOLDERS * FILES
    print(
        f"{total:,} files read: {took:.2f} s, {took / walked:.1f} times a walk, {resident() - memory:.1f} MB"
    )
    times = [await latency(watch, top / f"{number}" / "0") for number in range(LATENCIES)]
    print(f"a change is told after {statistics.median(times):.3f} s (median), {max(times):.3f} s (most)")
    begun = time.perf_counter()
    writing = asyncio.create_task(asyncio.to_thread(change, top, "other text"))
    batches = await count(watch, total)
    await writing
    print(f"{total:,} changes are told within {time.perf_counter() - begun:.1f} s, in {batches} batches")
    watch.close()
    async with measured_gaps() as alone:
        took_alone = await burst(top / "alone")
    watch = await files.watches.create(None, "benchmark", uri_of(top), recursive=True, excludes=["alone"])
    memory = resident()
    async with measured_gaps() as watched:
        told = asyncio.create_task(count(watch, BURST + 1))
        took = await burst(top / "burst")
        late = time.perf_counter()
        batches = await told
    print(f"{BURST:,} new files: made in {took:.1f} s ({took / took_alone:.1f} times as long as unwatched),")
    print(f"  told {time.perf_counter() - late:.1f} s after the last, in {batches} batches,")
    print(f"  {resident() - memory:.1f} MB for what is known of them and for telling")
    for name, gaps in (("unwatched", alone), ("watched", watched)):
        most, often = gaps[-1], gaps[int(len(gaps) * 0.999)]
        print(f"  event loop away, {name}: {often * 1e3:.0f} ms (99.9 %), {most * 1e3:.0f} ms (most)")
    files.close()


def main() -> None:
    """Make the tree and measure."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        fill(top)
        asyncio.run(measure(top))


if __name__ == "__main__":
    main()
