"""Background tasks: work that nobody awaits, ended with the client."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from agenthost.client.ahp.errors import AhpError

__all__ = ["BackgroundTasks"]

log = logging.getLogger("agenthost.client")


class BackgroundTasks:
    """Tasks that run until they are done, or until the client is closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Awaitable[Any]) -> asyncio.Task[Any]:
        """Start a task. Its exceptions are logged."""
        task = asyncio.ensure_future(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Cancel all tasks."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _logged(work: Awaitable[Any]) -> None:
    try:
        await work
    except AhpError as error:
        log.info("a background task failed: %s", error)
    except Exception:
        log.exception("a background task failed")
