"""How a further chat moves to another session, or to another place in its own."""

from collections.abc import Callable, Sequence

from agenthost.core import actions
from agenthost.core.chats import new_entry, places, reordered, tasks_below
from agenthost.host.log.journal import Journal
from agenthost.host.state.additions import ActOnSession
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.wire.ahp.chat import ChatState

__all__ = ["ChatMoves"]


class ChatMoves:
    """Moves further chats."""

    def __init__(self, sessions: SessionRegistry, *, memory: SessionMemory, journal: Journal) -> None:
        self._sessions = sessions
        self._memory = memory
        self._journal = journal

    async def move(
        self,
        chat: FurtherChat,
        target: Session,
        after: str | None,
        *,
        check: Callable[[Sequence[ChatState]], None],
        act: ActOnSession = Session.follow_up,
    ) -> None:
        """Move a further chat, and the chats of its subagents, to another session, or to another place.

        Both sessions and the chat change in one commit, which is durable when this returns. `check` is given
        the states of the chats that move, and may refuse at the last moment; `act` applies an action to a
        session.

        Raises:
            SessionNotFound: the chat or the session was removed meanwhile.
        """
        for uri in tasks_below(chat.home.state, chat.uri):
            await self._sessions.find_chat(uri)
        # No await from here on: both sessions are as they were decided on.
        source = chat.home
        moved = {chat.uri, *tasks_below(source.state, chat.uri)}
        for one in (chat, target):
            self._memory.check(one)
        check([one.chat for one in map(self._memory.find_chat, moved) if one is not None])
        entries = [one for one in source.state["chats"] if one["resource"] in moved]
        order = reordered(target.state, [one["resource"] for one in entries], after)
        for uri, place in places(target.state).items() if order is not None else ():
            act(target, actions.chat_updated(uri, place))
        if source is not target:
            self._memory.move(chat, target)
            for task in filter(None, map(self._memory.find_chat, moved - {chat.uri})):
                task.keep(task.private)  # its row says which session it belongs to
            for entry in entries:
                act(source, actions.chat_removed(entry["resource"]))
            for entry in entries:
                act(target, actions.chat_added(new_entry(target.state, entry)))
        if order is not None:
            act(target, actions.chats_reordered(order))
        await self._journal.wait()
