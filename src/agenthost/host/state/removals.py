"""How sessions and further chats are removed from memory and from the store, with what belongs to them."""

import asyncio
from collections.abc import Sequence

from agenthost.core import actions
from agenthost.core.chats import tasks_below
from agenthost.errors import SessionNotFound
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import Hub
from agenthost.host.state.additions import ActOnSession
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.host.state.session_counts import SessionCounts
from agenthost.host.state.session_uris import Claims, find_chat_row
from agenthost.host.storage import DropSession, SessionRow, Storage

__all__ = ["Removals"]


class Removals:
    """Removes sessions and further chats."""

    def __init__(
        self,
        sessions: SessionRegistry,
        *,
        memory: SessionMemory,
        claims: Claims,
        counts: SessionCounts,
        storage: Storage,
        journal: Journal,
        hub: Hub,
    ) -> None:
        self._sessions = sessions
        self._memory = memory
        self._claims = claims
        self._counts = counts
        self._storage = storage
        self._journal = journal
        self._hub = hub

    async def remove(self, uri: str, act: ActOnSession = Session.follow_up) -> list[SessionRow]:
        """Remove a session or a further chat for good, with the chats that belong to it, in one commit.

        It is gone from the store when this returns. `act` applies an action to a session. Return the rows of
        what went.

        Raises:
            SessionNotFound: there is none with that URI.
        """
        record = await self._sessions.get(uri)
        rows = await self.rows_below(record)
        if self._claims.has_uri(uri):
            raise SessionNotFound(uri)  # another caller is removing it already
        self._memory.check(record)
        top = record.top
        # No await from here on. What was added meanwhile is in memory, or about to be.
        known = {row.number for row in rows}
        newer = [one.row for one in map(self._memory.find_chat, _below(record)) if one is not None]
        rows = [record.row, *rows, *(row for row in newer if row.number not in known)]
        gone = [] if record is top else [record.chat_uri, *_below(record)]
        for row in reversed(rows):
            self._remove(row)
        for chat in gone:
            act(top, actions.chat_removed(chat))
        await self._journal.wait()
        return rows

    async def rows_below(self, record: Session) -> list[SessionRow]:
        """Return the rows of what is removed together with a session or a further chat."""
        below = _below(record)
        return await asyncio.to_thread(self._rows_of, record.top.number, below) if below else []

    def _rows_of(self, session: int, chats: Sequence[str]) -> list[SessionRow]:
        """Return the rows of further chats and tasks of a session."""
        rows = (find_chat_row(self._storage, uri) for uri in chats)
        return [row for row in rows if row is not None and row.parent in (0, session)]

    def _remove(self, row: SessionRow) -> None:
        held = self._memory.remove(row.uri)
        if held is not None:
            held.leave()
        self._claims.take(row.uri, row.name, row.owner)
        if not row.parent:
            self._counts.change(-1)
        self._journal.write([DropSession(row.number)], self._on_dropped, row)

    def _on_dropped(self, row: SessionRow) -> None:
        if not row.parent:
            self._counts.change_durable(row.owner, -1)
        self._claims.release(row.uri, row.name)
        self._hub.drop(row.number)
        self._memory.drops += 1


def _below(record: Session) -> list[str]:
    """Return the chats that are removed with a session or a further chat: all others, or its tasks."""
    if record.top is record:
        chats = [one["resource"] for one in record.state["chats"]]
        return [uri for uri in chats if uri != record.chat_uri]
    return tasks_below(record.top.state, record.chat_uri)
