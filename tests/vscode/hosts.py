"""A host of ours that VS Code talks to: with its token, and killed and started again at the same address."""

from contextlib import ExitStack
from pathlib import Path
from queue import Empty
from typing import Self
from urllib.parse import urlsplit

from serving import Served, serving, wait_ready

__all__ = ["AGENTS", "RunningHost"]

AGENTS = Path(__file__).parent / "agents.py"


class RunningHost:
    """A host in a process of its own. Use as a context manager.

    Attributes:
        url: where it listens.
        work: the folder that its agents work in.
        wire: the file with all messages, masked.
    """

    def __init__(self, folder: Path, work: Path, *words: str | Path, wire: Path | None = None) -> None:
        self.work = work
        self.wire = wire or folder / "wire.jsonl"
        self.url = ""
        self._data = folder / "host"
        self._words = words or (AGENTS,)
        self._running = ExitStack()
        self._served: Served | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def start(self) -> None:
        """Start it: at any address the first time, and at the same one after that."""
        port = urlsplit(self.url).port or 0
        options: dict[str, str | int | Path] = {
            "port": port,
            "data": self._data,
            "workspace": self.work,
            "wire-log": self.wire,
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        started = serving(*self._words, *words, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=str(self._data))
        self._served = self._running.enter_context(started)
        try:
            self.url = self._served.wait_url().rstrip("/")
        except Empty:
            self._served.process.kill()
            said = "\n".join(self._served.err.rest())
            raise TimeoutError(f"the host did not start, and said: {said}") from None
        wait_ready(self.url)

    def kill(self) -> None:
        """Kill it, as a crash would."""
        assert self._served
        self._served.process.kill()
        self._served.process.wait()
        self._running.close()

    @property
    def token(self) -> str:
        """What it asks for."""
        return (self._data / "token").read_text().strip()
