"""Starting: programs that take long to get ready show that they do, in the log and in the session."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agenthost.host.turn import Turn

__all__ = ["shown_if_slow"]

log = logging.getLogger("agenthost.acp")

SLOW_SECONDS = 1.0
"""After so long people want to know what they wait for."""


@asynccontextmanager
async def shown_if_slow(name: str, turn: Turn | None = None) -> AsyncIterator[None]:
    """Say that a program is getting ready, if what is done in here takes long; and when it is.

    In a turn the session shows it, else it is logged.
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
