"""Threads for blocking functions of the application: tools and decisions that are not `async`."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["run_in_thread"]

T = TypeVar("T")


async def run_in_thread(call: Callable[[], T], name: str) -> T:
    """Run a blocking call in a thread of its own, with the caller's context variables.

    The thread belongs to no pool: one that never ends blocks neither other calls nor the end of the process.
    Cancelling abandons the thread; its result is dropped.
    """
    done: Future[tuple[Any, BaseException | None]] = Future()
    done.set_running_or_notify_cancel()  # a cancelled future would raise in the thread

    def work() -> None:
        try:
            done.set_result((call(), None))
        except BaseException as error:  # raised again where it is awaited
            done.set_result((None, error))

    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(work,), name=name, daemon=True).start()
    value, error = await asyncio.wrap_future(done)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return] # what `call` returned
