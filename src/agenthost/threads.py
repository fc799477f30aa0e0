"""Threads for blocking functions of others: tools, previews and callbacks that are not `async`."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["run_in_thread"]

T = TypeVar("T")

log = logging.getLogger(__name__)


async def run_in_thread(call: Callable[[], T], name: str) -> T:
    """Run a blocking call in its own thread, with the caller's context variables.

    If this is cancelled, the thread goes on: its result is dropped, its error is logged. The thread is not
    from a pool, so one that never ends blocks no other call, nor the exit of the process.
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

    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(work,), name=name, daemon=True).start()
    value, error = await done
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return] # the result of `call`
