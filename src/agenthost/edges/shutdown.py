"""Shutdown: handles the signals to stop, and bounds how long stopping may take. Knows no server.

Two timers enforce the bound. A thread ends the process in time. Because that needs the GIL, which code that
never returns may hold, a watchdog outside of the process kills it a moment later.
"""

import asyncio
import faulthandler
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, Self

__all__ = ["Stopper", "end_within"]

ALL_SECONDS = 9.0
"""How long stopping may take. Service managers often kill what is still running after ten."""

OWN_SECONDS = 8.5
"""When the thread ends the process, if it can. If not, the watchdog does."""

WATCHDOG = Path(__file__).with_name("watchdog.py")

log = logging.getLogger("agenthost.server")


class Stopper:
    """Handles Ctrl-C and SIGTERM: the first starts an orderly stop, a second Ctrl-C exits at once.

    The handlers are Python's, not the loop's: they run even if an agent keeps the loop busy.
    """

    def __init__(self, drain: float = 0.0) -> None:
        """Handle the signals. Before it stops, the server may let turns end for `drain` seconds."""
        self._drain = drain
        self.is_stopping = False
        self.exit_code = 1
        """The exit code if stopping takes too long: 0 once the host has been closed."""
        self._wake: Callable[[], object] = lambda: None
        self._before: dict[signal.Signals, Any] = {}
        self._deadline: threading.Timer | None = None
        self._watchdog: Watchdog | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for kind in (signal.SIGINT, signal.SIGTERM):
                if (
                    signal.getsignal(kind) is not signal.SIG_IGN
                ):  # as it is for the background jobs of a shell
                    self._before[kind] = signal.signal(kind, self._on_signal)
            self._watchdog = Watchdog.start(self._before, ALL_SECONDS + self._drain)
        return self

    def __exit__(self, *_: object) -> None:
        if self._watchdog is not None:
            self._watchdog.end()
        for kind, handler in self._before.items():
            signal.signal(kind, handler)
        if self._deadline is not None:
            self._deadline.cancel()

    async def wait(self) -> None:
        """Wait until told to stop."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(stop.set)
        if not self.is_stopping:
            await stop.wait()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.is_stopping and number == signal.SIGINT:
            os._exit(128 + number)
        if not self.is_stopping:
            self.stop()
            self._wake()

    def stop(self) -> None:
        """End the process in time, whatever happens."""
        self.is_stopping = True
        self._limit(self._drain + OWN_SECONDS)

    def drained(self) -> None:
        """Note that turns have had their time."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._limit(OWN_SECONDS)

    def _limit(self, seconds: float) -> None:
        self._deadline = end_within(seconds, lambda: self.exit_code)


class Watchdog:
    """The process that kills this one if it is told to stop and does not; see `watchdog`.

    `faulthandler` notifies it. Its signal handler is C code and needs no GIL: it writes a traceback, which
    nobody reads, to the pipe, and then calls the previous handler.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], pipe: int, signals: Iterable[signal.Signals]
    ) -> None:
        self._process = process
        self._pipe = pipe
        self._signals = tuple(signals)
        for kind in self._signals:
            faulthandler.register(kind, file=pipe, all_threads=False, chain=True)

    @classmethod
    def start(cls, signals: Iterable[signal.Signals], seconds: float) -> Self | None:
        """Start a watchdog that kills this process so long after one of these signals.

        Return `None` if it is not supported or cannot be started.
        """
        if not hasattr(faulthandler, "register"):  # Windows
            return None
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", str(WATCHDOG), str(os.getpid()), str(seconds)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(writing)
            log.warning("the watchdog could not be started, so stopping may take longer: %s", error)
            return None
        finally:
            os.close(reading)
        return cls(process, writing, signals)

    def end(self) -> None:
        """End the watchdog: code that runs after the server is not limited."""
        for kind in self._signals:
            faulthandler.unregister(kind)
        self._process.kill()
        self._process.wait()
        os.close(self._pipe)


def end_within(seconds: float, code: Callable[[], int]) -> threading.Timer:
    """End the process after this time, whatever still runs: a thread of a tool could hang forever."""
    timer = threading.Timer(seconds, lambda: os._exit(code()))
    timer.daemon = True
    timer.start()
    return timer
