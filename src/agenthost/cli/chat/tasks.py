"""Tasks that run side by side."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["first_completed"]

T = TypeVar("T")


async def first_completed(*awaitables: Awaitable[T]) -> T:
    """Run several awaitables until one completes. Return its result, or raise its error.

    If several complete at once, the first argument wins. The others are cancelled and waited for.
    """
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
