"""Operations on the sessions of a data folder, or of a store, while no server uses it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from agenthost.core import actions
from agenthost.errors import SessionNotFound
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import ActionListeners
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.storage import SessionRow, Storage
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.host.storage.stores import shared_store
from agenthost.host.store_address import StoreAddress

__all__ = ["cancel_turn"]


async def cancel_turn(place: Path | StoreAddress, choose: Callable[[Sequence[str]], str]) -> str:
    """Cancel the turns of a session in all its chats, and those of its subagents. Return its URI.

    `choose` is given the URIs of the sessions that have a turn, and returns one of them. No turn is
    resumed.

    Raises:
        StorageInUse: a server holds it.
        StorageError: it cannot be opened.
    """
    storage: Storage = SqliteStorage(place) if isinstance(place, Path) else shared_store(place, is_alone=True)
    async with Engine(storage) as engine:
        dispatcher = Dispatcher(
            engine.sessions, root=engine.root, senders=engine.senders, listeners=ActionListeners()
        )
        rows = [engine.storage.find(number=number) for number in engine.opening.active]
        sessions = {row.uri: _session_of(engine, row) for row in rows if row is not None}
        uri = choose(list(dict.fromkeys(sessions.values())))
        for record in [one for one, session in sessions.items() if session == uri]:
            await _cancel(engine, dispatcher, await engine.sessions.get(record))
        await engine.journal.wait()
        return uri


def _session_of(engine: Engine, row: SessionRow) -> str:
    """Return the URI of a session, or of the one that a further chat belongs to."""
    home = engine.storage.find(number=row.parent) if row.parent else None
    return row.uri if home is None else home.uri


async def _cancel(engine: Engine, dispatcher: Dispatcher, session: Session) -> None:
    turn = session.chat.get("activeTurn")
    if turn is None:
        return
    children = session.private.get("children", {})
    below = [uri for key, uri in children.items() if key.startswith(f"{turn['id']}/")]
    dispatcher.act(session, actions.turn_cancelled(turn["id"], session.elapsed()))
    for uri in below:
        try:
            child = await engine.sessions.get(uri)
        except SessionNotFound:
            continue
        await _cancel(engine, dispatcher, child)
