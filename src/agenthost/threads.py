"""Threads for blocking functions of others: tools, previews and callbacks that are not `async`.

Starting a thread costs more than most tools take, so an idle one is used again. If none is idle, one is
started: there is no limit, so a call that never ends blocks no other call, nor the exit of the process.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["run_in_thread"]

T = TypeVar("T")

IDLE_SECONDS = 10.0
"""How long a thread waits for its next call before it ends."""

log = logging.getLogger(__name__)


class _Thread:
    """A thread that runs one call after the other."""

    def __init__(self) -> None:
        self._job: tuple[Callable[[], None], str] | None = None
        # A plain lock wakes its thread faster than a queue or an event would.
        self._wake = threading.Lock()
        self._wake.acquire()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._is_started = False

    def run(self, job: Callable[[], None], name: str) -> None:
        """Run a job. The thread has to be new or idle."""
        self._job = job, name
        if self._is_started:
            self._wake.release()
        else:
            self._is_started = True
            self._thread.start()

    def _work(self) -> None:
        while self._job is not None:
            job, self._thread.name = self._job
            self._job = None
            job()
            del job  # keep nothing alive while waiting
            self._thread.name = "idle"
            _idle.append(self)
            if not self._wake.acquire(timeout=IDLE_SECONDS):
                try:
                    _idle.remove(self)
                except ValueError:  # somebody has just taken it, and is about to wake it
                    self._wake.acquire()


_idle: list[_Thread] = []
"""The threads that wait for a call, used from any thread: each operation on a list is atomic."""


async def run_in_thread(call: Callable[[], T], name: str) -> T:
    """Run a blocking call in a thread, with the caller's context variables.

    If this is cancelled, the thread goes on: its result is dropped, its error is logged.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def finish(result: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))
        elif error is not None:
            log.warning("%s failed after its call was cancelled", name, exc_info=error)

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except BaseException as raised:  # re-raised where it is awaited
            error = raised
        # If the loop is closed, nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, result, error)

    context = contextvars.copy_context()
    try:
        thread = _idle.pop()  # the one that was used last: the others may end
    except IndexError:
        thread = _Thread()
    thread.run(lambda: context.run(work), name)
    value, error = await done
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return] # the result of `call`
