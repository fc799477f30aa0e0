"""The nodes: real servers on one database, each behind proxies of its own, started again when they end."""

import asyncio
import os
import random
import signal
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from agenthost.host.storage.postgres import levels, migrations
from agenthost.host.store_address import parse_address
from cluster.proxies import FaultyProxy, Streams
from crash.checks import demand
from crash.places import SECRET_KEY

TESTS = Path(__file__).parents[1]
SOCKET = ".s.PGSQL.5432"
READY_SECONDS = 60.0
EXPECTED_ENDS = {-signal.SIGKILL, 75, 0}
"""How a server that was ready may end: killed, fenced, or told to."""

OLDER = 0.3
"""How many of the nodes are of the version before."""

CONFIG = "[limits]\ncrashes_per_turn = 1000000\n"


class Slot:
    """A place where a node runs: its port, and its proxies to the database and from other nodes."""

    def __init__(self, name: str, folder: Path, database: Any) -> None:
        self.name = name
        self.folder = folder
        self._database = database
        self.port = _free_port()
        self.to_database = FaultyProxy(self._reach_database)
        self.from_peers = FaultyProxy(lambda: asyncio.open_connection("127.0.0.1", self.port))
        self.process: asyncio.subprocess.Process | None = None
        self.is_stopped = False
        self.is_ready = False
        self.disturbed_at = 0.0
        self.told_at: float | None = None
        """When it was told to end, if it was."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def is_well(self) -> bool:
        """Whether nothing is done to it."""
        is_reachable = not self.to_database.is_faulty and not self.from_peers.is_faulty
        is_serving = self.is_ready and not self.is_stopped and self.told_at is None
        return self.is_running and is_serving and is_reachable

    @property
    def may_fail(self) -> bool:
        """Whether something was done to it after it was told to end: then it may not end in time."""
        return self.told_at is not None and self.disturbed_at > self.told_at

    def note_disturbance(self) -> None:
        self.disturbed_at = time.monotonic()

    def note_told(self) -> None:
        self.note_disturbance()
        self.told_at = self.disturbed_at

    async def _reach_database(self) -> Streams:
        return await asyncio.open_unix_connection(self._database.folder / SOCKET)

    async def prepare(self) -> None:
        self.folder.mkdir()
        (self.folder / "config.toml").write_text(CONFIG)
        await self.to_database.listen_at(self.folder / SOCKET)
        self._peer_port = await self.from_peers.listen_on_port()

    async def start(self, lease: int, notes: Path, level: int) -> None:
        """Start a server here, with the level of this version or of the one before."""
        store = self._database.url().replace(str(self._database.folder), str(self.folder))
        words = ["--port", self.port, "--store", store, "--no-auth", "--sandbox", "off"]
        words += ["--config", self.folder / "config.toml", "--workspace", self.folder]
        words += ["--node-url", f"http://127.0.0.1:{self._peer_port}", "--lease", lease, "--drain", lease]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AGENTHOST_")}
        environment |= {
            "AGENTHOST_SECRET_KEY": SECRET_KEY,
            "CLUSTER_NOTES": str(notes),
            "CLUSTER_LEVEL": str(level),
        }
        homes = ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME")
        environment |= {"PYTHONPATH": str(TESTS), **dict.fromkeys(homes, str(self.folder))}
        with (self.folder / "stderr.txt").open("wb") as errors:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "agenthost", "serve", str(TESTS / "cluster" / "served.py")),
                *map(str, words),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                env=environment,
            )
        self.is_ready = self.is_stopped = False
        self.told_at = None

    def send(self, kind: signal.Signals) -> None:
        """Send a signal to the server, if it runs."""
        if self.is_running:
            assert self.process is not None
            self.note_told() if kind == signal.SIGTERM else self.note_disturbance()
            self.is_stopped = kind == signal.SIGSTOP or (self.is_stopped and kind != signal.SIGCONT)
            self.process.send_signal(kind)

    def errors(self) -> str:
        """Return what it said."""
        path = self.folder / "stderr.txt"
        return path.read_text() if path.exists() else ""

    async def close(self) -> None:
        if self.is_running:
            assert self.process is not None
            self.process.kill()
            await self.process.wait()
        await self.to_database.close()
        await self.from_peers.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Fleet:
    """All slots: one more than nodes that are wanted, so that one that hangs can be replaced."""

    def __init__(self, folder: Path, database: Any, wanted: int, lease: int, chance: random.Random) -> None:
        self.wanted = wanted
        self._database = database
        self.lease = lease
        self.notes = folder / "notes.txt"
        self.slots = [Slot(f"node {n}", folder / f"n{n}", database) for n in range(wanted + 1)]
        self.ends: Counter[int] = Counter()
        self.older = self.tracebacks = 0
        self._chance = chance
        self._http = httpx.AsyncClient(timeout=2, trust_env=False)
        self._keeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start, and wait until all nodes that are wanted are ready."""
        for slot in self.slots:
            await slot.prepare()
        # As if an upgrade of all nodes had begun and is not finished.
        await asyncio.to_thread(levels.migrate, parse_address(self._database.url()), is_finish=False)
        await asyncio.to_thread(
            self._database.execute, "UPDATE agenthost.about SET level = $1", migrations.LEVEL - 1
        )
        self._keeping = asyncio.create_task(self._keep())
        await self.wait_ready()

    async def wait_ready(self) -> None:
        """Wait until as many nodes as are wanted are ready."""
        until = time.monotonic() + READY_SECONDS
        while sum([await self.asked_ready(slot) for slot in self.slots if slot.is_well]) < self.wanted:
            await self.check()
            if time.monotonic() > until:
                demand(False, "not ready:", *(slot.errors() for slot in self.slots))
            await asyncio.sleep(0.05)

    async def check(self) -> None:
        """Raise what went wrong in keeping the nodes."""
        if self._keeping is not None and self._keeping.done():
            self._keeping.result()

    def urls(self) -> list[str]:
        """Return where a client may try to connect."""
        return [slot.url for slot in self.slots if slot.is_running]

    def at(self, url: str) -> Slot:
        return next(slot for slot in self.slots if slot.url == url)

    async def _keep(self) -> None:
        while True:
            for slot in self.slots:
                self._look_at(slot)
            running = [slot for slot in self.slots if slot.is_running and not slot.is_stopped]
            free = [slot for slot in self.slots if not slot.is_running]
            if len(running) < self.wanted and free:
                await asyncio.sleep(self._chance.uniform(0, 0.3))
                level = migrations.LEVEL - (self._chance.random() < OLDER)
                self.older += level < migrations.LEVEL
                await free[0].start(self.lease, self.notes, level)
            for slot in self.slots:
                if slot.is_running and not slot.is_ready and not slot.is_stopped:
                    slot.is_ready = await self.asked_ready(slot)
            await asyncio.sleep(0.05)

    def _look_at(self, slot: Slot) -> None:
        if slot.process is None or slot.process.returncode is None:
            return
        code = slot.process.returncode
        # One that could not start, because another one lives or there is no database, tries again.
        said = slot.errors()
        is_fenced = "has taken over the store" in said  # it may have been told to end, too
        is_fine = code in EXPECTED_ENDS or not slot.is_ready or is_fenced or (code == 1 and slot.may_fail)
        demand(is_fine, slot.name, "ended with", code, said[-6_000:])
        if "Traceback" in said:
            self.tracebacks += 1
            (slot.folder / f"traceback{self.tracebacks}.txt").write_text(said)
        self.ends[code] += 1
        slot.process, slot.is_ready, slot.is_stopped = None, False, False

    async def asked_ready(self, slot: Slot) -> bool:
        """Return whether a node says that it is ready."""
        try:
            return (await self._http.get(f"{slot.url}/readyz")).status_code == 200
        except httpx.HTTPError:
            return False

    async def stop(self) -> None:
        """Tell all nodes to end, and wait until they have."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        processes = [slot.process for slot in self.slots if slot.process is not None and slot.is_running]
        for process in processes:
            process.terminate()
        codes = [await process.wait() for process in processes]
        demand(
            set(codes) <= {0}, "told to end, they ended with", codes, *(one.errors() for one in self.slots)
        )

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        for slot in self.slots:
            await slot.close()
        await self._http.aclose()
