"""Power cuts, again and again, with clients of both protocols attached: what they were shown is still there.

A server runs with what it writes recorded. It is killed; then its folder is made what a disk would have of it
that loses what was not synced, and the next server starts on that.
"""

import asyncio
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from power.book import Book, Wrong, demand
from power.channel_clients import ChannelWatcher
from power.clients import Talker, Watcher
from power.disk import Disk

SOURCE = Path(__file__).with_name("recorder.c")
WATCHERS = 2
TALKERS = 2

LOSS_SECONDS = 3.0
"""What a cut may take with `normal`: two seconds are promised, the rest is for machines that are busy."""

LIVES = (100, 0, 500, 1, 10, 2_000)
"""How much is shown in a life, in envelopes; after the last it begins anew."""

LONGEST_LIFE = 30.0
START_SECONDS = 60


def compile_recorder(folder: Path) -> Path | None:
    """Compile what is preloaded; `None` where there is no compiler, or no Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return None
    target = folder / "recorder.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return target


@dataclass(slots=True)
class Summary:
    """What came of a run."""

    cuts: int = 0
    copies: int = 0
    numbers: int = 0
    answers: int = 0
    unsynced: int = 0
    lost: int = 0
    replays: int = 0
    snapshots: int = 0
    probes: int = 0
    ways: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        ways = ", ".join(f"{count} {way}" for way, count in sorted(self.ways.items()))
        return (
            f"{self.cuts} cuts ({ways} of what was not synced: {self.unsynced:,} writes), {self.copies} old "
            f"copies put back; {self.numbers:,} numbers and {self.answers:,} answers shown, "
            f"{self.lost:,} lost; {self.replays} replays, {self.snapshots} snapshots, "
            f"{self.probes} states compared"
        )


class Harness:
    """Many lives on one folder."""

    def __init__(self, folder: Path, recorder: Path, seed: int, sync: str) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._recorder = recorder
        self._seed = seed
        self._sync = sync
        self._chance = random.Random(f"{seed}/{sync}")  # noqa: S311 - to be drawn again
        self._book = Book()
        self._lives = itertools.cycle(LIVES)
        self._watchers: list[Watcher | ChannelWatcher] = [
            *(Watcher(f"old{n}", self._book) for n in range(WATCHERS)),
            *(ChannelWatcher(f"new{n}", self._book) for n in range(WATCHERS)),
        ]
        self._talkers = [Talker(f"talker{n}", self._book) for n in range(TALKERS)]
        self._summary = Summary()
        self._saved: Path | None = None
        self._data.mkdir(mode=0o700)

    async def run(
        self,
        cuts: int,
        *,
        copies: float = 0.05,
        rest: float = 0.0,
        progress: Callable[[str], None] | None = None,
    ) -> Summary:
        """Cut so often; after some of the cuts an old copy is put back.

        Before each cut nobody does anything for so many seconds of `rest`.

        Raises:
            Wrong: with the seed and the number of the cut.
        """
        zygote = await self._start()
        try:
            for cut in range(1, cuts + 1):
                try:
                    await self._live(zygote, rest, has_copy=self._chance.random() < copies)
                except Wrong as wrong:
                    raise Wrong(f"seed {self._seed}, {self._sync}, cut {cut}: {wrong}") from wrong
                if progress is not None and cut % 10 == 0:
                    progress(f"{cut} of {cuts} cuts, {len(self._book.meanings):,} numbers shown")
        finally:
            assert zygote.stdin is not None
            zygote.stdin.close()
            await zygote.wait()
        return self._summed_up()

    def _summed_up(self) -> Summary:
        summary = self._summary
        summary.numbers, summary.answers = len(self._book.meanings), len(self._book.said)
        summary.lost = self._book.lost
        for watcher in self._watchers:
            summary.replays += watcher.replays
            summary.snapshots += watcher.snapshots
            summary.probes += watcher.probes
        return summary

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AGENTHOST_")}
        with (self._folder / "stderr.txt").open("wb") as errors:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "power.zygote"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=Path(__file__).parents[1],
                env={**environment, "LD_PRELOAD": str(self._recorder)},
            )

    async def _live(self, zygote: asyncio.subprocess.Process, rest: float, *, has_copy: bool) -> None:
        """Live once, up to a cut, and check what is left."""
        disk, log = Disk(self._data), self._folder / "written"
        log.unlink(missing_ok=True)
        orders = {
            "data": str(self._data),
            "log": str(log),
            "sync": self._sync,
            "workspace": str(self._folder),
        }
        assert zygote.stdin is not None
        zygote.stdin.write(json.dumps(orders).encode() + b"\n")
        pid = int((await self._told(zygote, b"began ")).split()[1])
        try:
            await self._attend(zygote)
            await asyncio.sleep(rest)
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            at = time.monotonic()
            await self._told(zygote, b"ended ")
        self._summary.ways[disk.cut(log, self._chance)] += 1
        self._summary.cuts += 1
        self._summary.unsynced += disk.lost
        if has_copy and self._saved is not None:
            self._put_back()
            at = 0.0
        elif self._chance.random() < 0.2:
            self._save()
        self._check(at)

    async def _attend(self, zygote: asyncio.subprocess.Process) -> None:
        """Let the clients come, and leave them alone for a while."""
        target = next(self._lives) + len(self._book.meanings)
        url = (await self._told(zygote, b"listens on ")).split()[-1].decode()
        clients: list[Watcher | ChannelWatcher | Talker] = [*self._watchers, *self._talkers]
        tasks = [asyncio.create_task(client.live(url)) for client in clients]
        ends = time.monotonic() + LONGEST_LIFE
        done, waiting = set[asyncio.Task[None]](), set(tasks)
        while len(self._book.meanings) < target and not done and time.monotonic() < ends:
            done, waiting = await asyncio.wait(tasks, timeout=0.01, return_when=asyncio.FIRST_EXCEPTION)
        await asyncio.sleep(self._chance.choice((0, 0.005, 0.03)))
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for task in done:
            task.result()

    async def _told(self, zygote: asyncio.subprocess.Process, part: bytes) -> bytes:
        assert zygote.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            while part not in (line := await zygote.stdout.readline()):
                errors = (self._folder / "stderr.txt").read_text()[-4_000:]
                demand(bool(line) and not line.startswith(b"ended "), "the server ended:", line, errors)
        return line

    def _check(self, at: float) -> None:
        """Check a copy, so that the next life finds the folder just as the cut left it."""
        copy = self._folder / "checked"
        shutil.copytree(self._data, copy)
        try:
            may_lose_after = at if self._sync == "full" else at - LOSS_SECONDS
            before = self._book.lost
            self._book.check(copy, may_lose_after if at else 0.0)
            if not at:  # not by a cut
                self._book.lost = before
        finally:
            shutil.rmtree(copy)

    def _save(self) -> None:
        self._saved = self._folder / "saved"
        shutil.rmtree(self._saved, ignore_errors=True)
        shutil.copytree(self._data, self._saved)

    def _put_back(self) -> None:
        assert self._saved is not None
        shutil.rmtree(self._data)
        shutil.copytree(self._saved, self._data)
        self._summary.copies += 1
