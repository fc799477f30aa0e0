"""How sessions and their chats are removed for good, with everything that belongs to them.

What runs is ended first, then the store forgets all of it in one commit, then those who listen are told.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agenthost.core import actions
from agenthost.errors import SessionNotFound
from agenthost.host.authoring.agent import Agent
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.list_notices import ListNotices, Removed
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.storage import SessionRow
from agenthost.wire.json import decode_json

__all__ = ["Disposal"]

log = logging.getLogger("agenthost.sessions")


class Disposal:
    """Removes sessions and chats. `clear` frees what a removed one still holds."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        engine: Engine,
        dispatcher: Dispatcher,
        list_notices: ListNotices,
        clear: Callable[[str], Awaitable[None]],
    ) -> None:
        self._agents = agents
        self._engine = engine
        self._dispatcher = dispatcher
        self._list_notices = list_notices
        self._clear = clear

    async def dispose(self, uri: str) -> list[str]:
        """Remove a session or a further chat, with the chats below it. Running turns are cancelled first.

        Return the URIs of all that is gone.

        Raises:
            SessionNotFound: there is none with that URI.
        """
        sessions = self._engine.sessions
        record = await sessions.get(uri)
        # Those of a version before, in which tasks were no chats.
        children = record.private.get("children", {})
        provider = record.state["provider"]
        below = [row.uri for row in await self._engine.removals.rows_below(record)]
        self._end(record)
        for one in below:
            held = sessions.peek(one)  # what has a turn is always in memory
            if held is not None:
                self._end(held)
        for one in (uri, *below):
            await self._clear(one)
        gone = await self._engine.removals.remove(uri, self._dispatcher.act)
        for row in gone:
            if not row.parent:
                is_task = record.is_task or row.uri != uri
                self._list_notices.tell(Removed(row.owner, row.uri, is_task=is_task))
        uris = [row.uri for row in gone]
        for child in children.values():
            with suppress(SessionNotFound):  # it went with its parent, or before
                uris += await self.dispose(child)
        for row in gone:
            await self._forget(row, provider)
        return uris

    def _end(self, record: Session) -> None:
        turn = record.chat.get("activeTurn")
        if turn is not None:
            self._dispatcher.act(record, actions.turn_cancelled(turn["id"], record.elapsed()))
        what = "session" if record.home is record else "chat"
        self._dispatcher.give_up(record, f"the {what} was disposed")
        self._list_notices.forget(record)

    async def _forget(self, row: SessionRow, provider: str) -> None:
        """Let the agent of a session or chat clean up; further chats have that of their session."""
        agent = self._agents.get(decode_json(row.summary).get("provider", provider))
        if agent is None:
            return
        try:
            await agent.forget(row.uri)
        except Exception:  # it is removed all the same
            log.exception("agent %s could not clean up after a session or chat", agent.name)
