"""Stopping: hearing that it is time, and a bound for how long it may take. Knows signals, no server."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

__all__ = ["Stopper", "end_within"]

ALL_SECONDS = 9.0
"""How long all of it may take. Those who stop services kill what is still there after ten."""


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

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for kind in (signal.SIGINT, signal.SIGTERM):
                if (
                    signal.getsignal(kind) is not signal.SIG_IGN
                ):  # as it is for the background jobs of a shell
                    self._before[kind] = signal.signal(kind, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
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
            self._deadline = end_within(ALL_SECONDS, lambda: self.exit_code)
            self._tell()


def end_within(seconds: float, code: Callable[[], int]) -> threading.Timer:
    """End the process after this time, whatever still runs in it: a thread of a tool could hang for ever."""
    timer = threading.Timer(seconds, lambda: os._exit(code()))
    timer.daemon = True
    timer.start()
    return timer
