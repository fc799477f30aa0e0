"""An engine on a real store, for the tests of `host`: started, restarted, stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agenthost.host.engine import Engine
from agenthost.host.limits import Limits
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp.session import SessionState

TIMEOUT = 20


@asynccontextmanager
async def started(folder: Path, **limits: int) -> AsyncIterator[Engine]:
    """Run an engine on the store in this folder, with a clock that ticks by itself."""
    ticks = iter(range(1_000_000, 2_000_000_000))
    async with Engine(SqliteStorage(folder), Limits(**limits), clock=lambda: next(ticks)) as engine:
        yield engine


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run an async story under a time limit."""

    async def limited() -> None:
        async with asyncio.timeout(TIMEOUT):
            await story()

    asyncio.run(limited())


def new_state(uri: str, **over: Any) -> SessionState:
    """Build the state of a session that is ready."""
    summary: Any = {"resource": uri, "provider": "demo", "title": "New", "status": 1}
    times = {"createdAt": 1, "modifiedAt": 1}
    state: Any = {"summary": {**summary, **times}, "lifecycle": "ready", "turns": [], **over}
    return state  # type: ignore[no-any-return]
