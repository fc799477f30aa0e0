"""Slow program starts are reported, in the log and in the session."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agenthost.host.authoring.turn import Turn

__all__ = ["report_slow_start"]

log = logging.getLogger("agenthost.acp")

SLOW_SECONDS = 1.0
"""A start that takes longer than this is reported."""


@asynccontextmanager
async def report_slow_start(name: str, turn: Turn | None = None) -> AsyncIterator[None]:
    """Report that a program is starting if the body takes long, and when it is ready.

    In a turn this is shown as the session's activity; otherwise it is logged.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    notice = asyncio.create_task(_notice(name, turn))
    try:
        yield
        if turn is None and notice.done():
            log.info("%s is ready, after %.1f seconds", name, loop.time() - begun)
    finally:
        notice.cancel()
        if turn is not None and notice.done() and not turn.is_over:
            await turn.activity(None)


async def _notice(name: str, turn: Turn | None) -> None:
    await asyncio.sleep(SLOW_SECONDS)
    if turn is None:
        log.info("%s is starting, which takes a while", name)
    elif not turn.is_over:
        await turn.activity(f"{name} is starting")
