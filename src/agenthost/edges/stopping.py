"""Stopping: hearing that it is time, and a bound for how long it may take. Knows signals, no server.

Two clocks hold the bound. A thread ends the process in time; and because that needs the interpreter, which
code that never returns may hold, a watchdog outside of the process ends it a moment later.
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
"""How long all of it may take. Those who stop services kill what is still there after ten."""

OWN_SECONDS = 8.5
"""After how long we end it ourselves, if we can; if not, the watchdog does."""

WATCHDOG = Path(__file__).with_name("watchdog.py")

log = logging.getLogger("agenthost.server")


class Stopper:
    """Hears Ctrl-C and SIGTERM: the first asks for an orderly end within bounded time, a second Ctrl-C ends.

    Handlers of Python's own, not of the loop: they are called even if an agent keeps the loop busy.
    """

    def __init__(self) -> None:
        self.is_told = False
        self.exit_code = 1
        """How to end if it takes too long: 0 once the host has been closed."""
        self._tell: Callable[[], object] = lambda: None
        self._before: dict[signal.Signals, Any] = {}
        self._deadline: threading.Timer | None = None
        self._watchdog: Watchdog | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for kind in (signal.SIGINT, signal.SIGTERM):
                if (
                    signal.getsignal(kind) is not signal.SIG_IGN
                ):  # as it is for the background jobs of a shell
                    self._before[kind] = signal.signal(kind, self._hear)
            self._watchdog = Watchdog.start(self._before)
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
        told = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon_threadsafe(told.set)
        if not self.is_told:
            await told.wait()

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.is_told and number == signal.SIGINT:
            os._exit(128 + number)
        if not self.is_told:
            self.is_told = True
            self._deadline = end_within(OWN_SECONDS, lambda: self.exit_code)
            self._tell()


class Watchdog:
    """The process that ends this one if it is told to stop and does not; see `watchdog`.

    It is told by `faulthandler`, whose handler is C and needs no lock: it writes where the thread is, which
    nobody reads, and then calls the handler that was there before.
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
    def start(cls, signals: Iterable[signal.Signals]) -> Self | None:
        """Start it for these signals; nothing where there is no such thing, or no process to be had."""
        if not hasattr(faulthandler, "register"):  # Windows
            return None
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", str(WATCHDOG), str(os.getpid()), str(ALL_SECONDS)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(writing)
            log.warning("there is no watchdog for when the host has to stop: %s", error)
            return None
        finally:
            os.close(reading)
        return cls(process, writing, signals)

    def end(self) -> None:
        """End it: whoever goes on after the server has time again."""
        for kind in self._signals:
            faulthandler.unregister(kind)
        self._process.kill()
        self._process.wait()
        os.close(self._pipe)


def end_within(seconds: float, code: Callable[[], int]) -> threading.Timer:
    """End the process after this time, whatever still runs in it: a thread of a tool could hang for ever."""
    timer = threading.Timer(seconds, lambda: os._exit(code()))
    timer.daemon = True
    timer.start()
    return timer
