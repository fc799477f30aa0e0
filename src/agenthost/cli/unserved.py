"""Sessions of a data folder that no server holds: what can be done about them all the same."""

from pathlib import Path
from typing import Any

from agenthost.cli.chat.opening import SHORTEST_PREFIX
from agenthost.cli.chat.wording import id_of, one_of
from agenthost.errors import SessionNotFound
from agenthost.host.dispatch import Dispatcher
from agenthost.host.engine import Engine
from agenthost.host.session import Session
from agenthost.host.setup import private_of
from agenthost.host.storage.sqlite import SqliteStorage

__all__ = ["end_turn"]


async def end_turn(data: Path, name: str) -> str:
    """End the turn of a session, and what it had others do. Return the session's URI.

    Raises:
        StorageInUse: a server holds the folder.
        StorageError: it cannot be opened.
        ValueError: there is no such session, or it has no turn.
    """
    async with Engine(SqliteStorage(data)) as engine:
        # Nobody is told of sessions that are loaded: no turn is taken up.
        dispatcher = Dispatcher(
            engine.sessions, root=engine.root, senders=engine.senders, happened=lambda _: None
        )
        uri = _found(engine, name)
        await _end(engine, dispatcher, await engine.sessions.get(uri))
        await engine.journal.wait()
        return uri


def _found(engine: Engine, name: str) -> str:
    """Find a session among those that have a turn."""
    rows = [engine.storage.find(number=number) for number in engine.opening.active]
    uris = [row.uri for row in rows if row is not None]
    exact = [uri for uri in uris if name in (uri, id_of(uri))]
    begun = [uri for uri in uris if len(name) >= SHORTEST_PREFIX and id_of(uri).startswith(name)]
    found = exact or begun
    if len(found) > 1:
        raise ValueError(f"which session? {name!r} begins {one_of([id_of(uri) for uri in found[:5]])}")
    if not found:
        there = f"; turns have: {', '.join(id_of(uri) for uri in uris[:5])}" if uris else ""
        raise ValueError(f"no session {name!r} has a turn that runs or waits{there}")
    return found[0]


async def _end(engine: Engine, dispatcher: Dispatcher, session: Session) -> None:
    turn: Any = session.state.get("activeTurn")
    if turn is None:
        return
    children = private_of(session).get("children", {})
    below = [uri for key, uri in children.items() if key.startswith(f"{turn['id']}/")]
    action = {"type": "session/turnCancelled", "session": session.row.uri, "turnId": turn["id"]}
    dispatcher.act(session, action)
    for uri in below:
        try:
            child = await engine.sessions.get(uri)
        except SessionNotFound:
            continue
        await _end(engine, dispatcher, child)
