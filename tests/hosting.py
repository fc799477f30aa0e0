"""An engine on a real store, for the tests of `host`: started, restarted, stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.host.limits import Limits
from agenthost.host.state.blobs import new_blob
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import NS_PER_MS, Session
from agenthost.host.state.session_uris import chat_uri_of
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp.common import ContentRef
from agenthost.wire.ahp.message import Message

TIMEOUT = 20


@asynccontextmanager
async def started(folder: Path, **limits: int) -> AsyncIterator[Engine]:
    """Run an engine on the store in this folder, with a clock that ticks by itself."""
    ticks = iter(range(1_000_000, 2_000_000_000))
    storage = SqliteStorage(folder)
    async with Engine(storage, Limits(**limits), clock=lambda: next(ticks) * NS_PER_MS) as engine:
        yield engine


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run an async story under a time limit."""

    async def limited() -> None:
        async with asyncio.timeout(TIMEOUT):
            await story()

    asyncio.run(limited())


def new_states(uri: str, *, name: str | None = None, session: Any = None, chat: Any = None) -> Conversation:
    """Build the states of a session that is ready and of its default chat, with these fields added."""
    chat_uri = chat_uri_of(name or name_of(uri))
    chat_state: Any = {
        "resource": chat_uri,
        "title": "",
        "status": 1 if chat is None or "activeTurn" not in chat else 8,
        "modifiedAt": "1970-01-01T00:00:00.001Z",
        "turns": [],
        **(chat or {}),
    }
    state: Any = {
        "provider": "demo",
        "title": "New",
        "status": 1,
        "lifecycle": "ready",
        "activeClients": [],
        "chats": [chat_summary(chat_state)],
        "defaultChat": chat_uri,
        **(session or {}),
    }
    return Conversation(state, chat_state)


async def new_session(
    engine: Engine, uri: str, *, name: str | None = None, session: Any = None, chat: Any = None, **more: Any
) -> Session:
    """Create a session with `new_states`; `more` is for `Additions.create`."""
    states = new_states(uri, name=name, session=session, chat=chat)
    return await engine.additions.create(uri, states, name=name or name_of(uri), **more)


def name_of(uri: str) -> str:
    """Return the name that a session of the tests has: the path of its URI."""
    return uri.partition(":/")[2] or uri


def chat_of(uri: str) -> str:
    """Return the URI of the default chat of a session of the tests."""
    return chat_uri_of(name_of(uri))


def user_message(text: str = "Hi") -> Message:
    """Build a message of the user."""
    return {"text": text, "origin": {"kind": "user"}}


def keep_blob(session: Session, data: bytes, content_type: str = "text/plain") -> ContentRef:
    """Write a content of a session, as the host does in the tick of the action that refers to it."""
    new = new_blob(session, data, content_type)
    session.journal.write([new.write])
    return new.ref
