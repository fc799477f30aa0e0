"""A host's inner parts on a real store, for the tests of `host`: started, restarted, stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthost.host.feeds import Feed
from agenthost.host.journal import Journal
from agenthost.host.sessions import Sessions
from agenthost.host.storage import Opening
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.host.subscriptions import Hub, Subscriber
from agenthost.wire.ahp.session import SessionState

TIMEOUT = 20


@dataclass
class Parts:
    """The parts, wired together as the host does."""

    storage: SqliteStorage
    opening: Opening
    journal: Journal
    hub: Hub
    sessions: Sessions

    def feed(self, client_id: str = "me", **bounds: int) -> Feed:
        subscriber = Subscriber(client_id, **bounds)
        return Feed(
            subscriber, sessions=self.sessions, storage=self.storage, journal=self.journal, hub=self.hub
        )


@asynccontextmanager
async def started(folder: Path, *, max_in_memory: int = 1_000) -> AsyncIterator[Parts]:
    """Run the parts on the store in this folder."""
    storage = SqliteStorage(folder)
    opening = storage.open()
    journal, hub = Journal(storage, opening.last_seq), Hub()
    ticks = iter(range(1_000_000, 2_000_000_000))
    sessions = Sessions(storage, opening, journal, hub, lambda: next(ticks), max_in_memory=max_in_memory)
    try:
        yield Parts(storage, opening, journal, hub, sessions)
    finally:
        await journal.close()
        storage.close()


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
