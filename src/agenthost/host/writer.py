"""The writer: one thread that does what may block, job after job, and tells the event loop.

What `concurrent.futures` would do for it, at a third of the cost: a short turn waits for one hand-over there
and one back, so that is a good part of what it costs. Knows no store.
"""

import asyncio
import contextlib
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

Done: TypeAlias = Callable[[Any, BaseException | None], None]
"""Told on the event loop what came of a job, or why nothing did."""


class Writer:
    """A thread with a queue. It starts with the first job."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], Any], asyncio.AbstractEventLoop, Done] | None] = (
            SimpleQueue()
        )
        # A daemon: a program that never closed its host can still end, and loses nothing that was shown.
        self._thread = Thread(target=self._work, name=name, daemon=True)

    def submit(self, job: Callable[[], Any], done: Done) -> None:
        """Have a job done after all before it; `done` is told on this event loop."""
        self._jobs.put((job, asyncio.get_running_loop(), done))
        if self._thread.ident is None:
            self._thread.start()

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, loop, done = item
            result, failure = None, None
            try:
                result = job()
            except BaseException as error:  # whatever it is, it is told
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                loop.call_soon_threadsafe(done, result, failure)
            del item, job, loop, done, result, failure  # nothing is kept alive while it waits

    def close(self) -> None:
        """Do what is left, and end."""
        if self._thread.ident is not None:
            self._jobs.put(None)
            self._thread.join()
