"""A server as people run it: a process of its own, on real sockets, told to stop by real signals."""

import http.client
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

TIMEOUT = 30

ECHO = """
from agenthost.host.authoring.agent import Agent

async def answer(turn):
    pass

echo = Agent("echo", answer, title="Echo")
"""
"""A file with one agent."""

GIVE_BACK = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""Has a server give back what it does not hold any more, so that its memory shows what it holds."""


def environment(**over: str) -> dict[str, str]:
    """Return an environment without agenthost's variables, except that no token is asked for."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENTHOST_")}
    return {**kept, "AGENTHOST_NO_AUTH": "true", **over}


def run_serve(*words: str | Path, **over: str) -> subprocess.CompletedProcess[str]:
    """Run a server that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "agenthost", "serve", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env=environment(**over),
    )


def run_agenthost(*words: str, typed: str = "", **over: str) -> tuple[int, str, str]:
    """Run a command without a terminal; returns the exit code, the output, and the errors."""
    done = subprocess.run(
        [sys.executable, "-m", "agenthost", *words],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env=environment(**over),
    )
    return done.returncode, done.stdout, done.stderr


class Lines:
    """The lines of a stream, waited for under a time limit."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=self._pump, args=[stream], daemon=True)
        self._thread.start()

    def _pump(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line.rstrip("\n"))

    def wait_for(self, part: str, seconds: float = TIMEOUT) -> str:
        """Wait for a line that holds this."""
        while True:
            line = self._lines.get(timeout=seconds)
            if part in line:
                return line

    def wait_end(self) -> None:
        """Wait until nobody can write to the stream any more."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()

    def rest(self) -> list[str]:
        """Return what else came until the stream ended."""
        self._thread.join(TIMEOUT)
        return [self._lines.get_nowait() for _ in range(self._lines.qsize())]


@dataclass
class Served:
    """A server that runs."""

    process: subprocess.Popen[str]
    out: Lines
    err: Lines

    def wait_url(self, seconds: float = TIMEOUT) -> str:
        """Wait until it says where it listens."""
        return self.out.wait_for("listens on ", seconds).rpartition(" ")[2]

    def stop(self, kind: int) -> int:
        """Send it a signal, and return its exit code."""
        self.process.send_signal(kind)
        return self.process.wait(TIMEOUT)


@contextmanager
def serving(*words: str | Path, command: list[str] | None = None, **over: str) -> Iterator[Served]:
    """Run a server, and end it in the end, whatever happened."""
    command = command or [sys.executable, "-m", "agenthost", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**over),
    )
    assert process.stdout
    assert process.stderr
    with process:
        served = Served(process, Lines(process.stdout), Lines(process.stderr))
        try:
            yield served
        finally:
            process.kill()
            # Before the streams are closed, which are still being read.
            served.out.rest()
            served.err.rest()


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)


def ask(url: str, path: str, method: str = "GET", /, body: Any = None, **headers: str) -> Answer:
    """Ask a server; a name with `_` in it becomes a header with `-`. The body, if any, is sent as JSON."""
    data = None if body is None else json.dumps(body)
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=TIMEOUT)
    try:
        named = {key.replace("_", "-"): headers[key] for key in headers}
        connection.request(method, path, data, headers=named)
        found = connection.getresponse()
        return Answer(found.status, {key.lower(): value for key, value in found.getheaders()}, found.read())
    finally:
        connection.close()


def wait_ready(url: str) -> None:
    """Wait until a server has restored its sessions, by asking it again and again."""
    for _ in range(10_000):
        if ask(url, "/readyz").status == 200:
            return
    raise TimeoutError(ask(url, "/readyz").body)
