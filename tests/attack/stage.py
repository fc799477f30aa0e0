"""What an attack is given: a folder, chance, keys, and real servers on loopback that it can start and end."""

import queue
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from agenthost.host.access.keys import KeyFile
from ahp_speaking import Client
from serving import Answer, Served, ask, run_agenthost, serving, wait_ready

__all__ = ["AGENTS", "GaveWay", "NotStarted", "Pulse", "Stage", "Target", "hold"]

AGENTS = Path(__file__).parent / "agents.py"
START_SECONDS = 60.0


class GaveWay(Exception):
    """An attack got what it must not get; the sentence says what."""


class NotStarted(Exception):
    """A server ended before it listened; the sentence is its own."""


def hold(is_so: object, sentence: str) -> None:
    """Go on if this is so; else the attack has won."""
    if not is_so:
        raise GaveWay(sentence)


@dataclass
class Stage:
    """Where one attack happens.

    Attributes:
        folder: its own, empty at first.
        chance: the same for the same seed.
        is_long: whether it may take its time; else it does less of the same.
        tell: shows how far it is.
    """

    folder: Path
    chance: random.Random
    is_long: bool = True
    tell: Callable[[str], None] = field(default=lambda _line: None)

    def __post_init__(self) -> None:
        for one in (self.data, self.workspace):
            one.mkdir(parents=True, exist_ok=True)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def key(self, owner: str, *options: str) -> str:
        """Make a key; with options, by the command that people use."""
        if not options:
            return KeyFile(self.data).create(owner)[1]
        words = ("keys", "create", "--owner", owner, "--data", str(self.data), *options)
        code, out, err = run_agenthost(*words)
        hold(code == 0, f"no key was made: {err}")
        return out.strip()

    @contextmanager
    def start(self, *words: str | Path, **environment: str) -> Iterator[Served]:
        """Start a server as people do, and do not wait for it."""
        places = ("--data", self.data, "--workspace", self.workspace)
        over = {"AGENTHOST_NO_AUTH": "false", "XDG_DATA_HOME": str(self.folder / "home"), **environment}
        with serving(AGENTS, *places, *words, command=None, **over) as served:
            yield served

    @contextmanager
    def serve(self, *words: str | Path, **environment: str) -> Iterator["Target"]:
        """Start a server, and wait until it has restored its sessions."""
        with self.start(*words, **environment) as served:
            yield Target(served, _wait_url(served))


def _wait_url(served: Served) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(queue.Empty):
            url = served.wait_url(seconds=0.5)
            with suppress(OSError):
                wait_ready(url)
                return url
        if served.process.poll() is not None:
            raise NotStarted("\n".join(served.err.rest()))
    raise GaveWay("a server did not start")


@dataclass
class Target:
    """A server that runs."""

    served: Served
    url: str

    def ask(
        self, path: str, method: str = "GET", body: Any = None, key: str | None = None, **headers: str
    ) -> Answer:
        """Ask over HTTP."""
        signed = {"Authorization": f"Bearer {key}"} if key else {}
        return ask(self.url, path, method, body=body, **headers, **signed)

    def session(self, agent: str, key: str, *trusted: str) -> str:
        """Make a session over AAP that trusts these tools; returns its id."""
        tools = [{"name": name, "trust": True} for name in trusted]
        made = self.ask("/aap/sessions", "POST", {"agent": {"name": agent, "tools": tools}}, key)
        hold(made.status == 201, f"a session was refused: {made.body!r}")
        return str(made.json["sessionId"])

    def turn(self, session: str, text: str, key: str) -> Any:
        """Say something over AAP; returns the answer once the turn is over."""
        body = {"messages": [{"role": "user", "content": text}], "stream": "none"}
        return self.ask(f"/aap/sessions/{session}/turns", "POST", body, key).json

    @asynccontextmanager
    async def client(self, key: str, client_id: str = "me") -> AsyncIterator[Client]:
        """Return an AHP client that has opened its connection."""
        async with Client.connected(self.url, client_id, key) as client:
            await client.open()
            yield client

    def memory(self, what: str = "VmRSS") -> int:
        """Return how much memory the server has, or has had at most (`VmHWM`), in MiB."""
        lines = Path(f"/proc/{self.served.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(what)).split()[1]) // 1024

    def pulse(self, path: str = "/healthz", key: str | None = None) -> "Pulse":
        """Watch how long the server takes to answer meanwhile."""
        return Pulse(lambda: self.ask(path, key=key).status == 200)


class Pulse:
    """Asks again and again, and remembers the slowest answer."""

    def __init__(self, beat: Callable[[], bool]) -> None:
        self.worst = 0.0
        self.count = 0
        self._beat = beat
        self._fault: Exception | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while True:
            begun = time.monotonic()
            try:
                hold(self._beat(), "somebody who is in was refused")
            except Exception as error:  # it is told by `check`
                self._fault = error
                return
            finally:
                self.worst = max(self.worst, time.monotonic() - begun)
            self.count += 1
            if self._is_over.wait(0.05):
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def check(self, most: float) -> str:
        """Hold that nothing failed, and that no answer took longer; returns the figure in words."""
        hold(self._fault is None, f"an answer failed: {self._fault!r}")
        hold(self.worst < most, f"an answer took {self.worst:.1f} s")
        return f"slowest answer {self.worst * 1000:.0f} ms of {self.count}"
