"""How sessions are created and forked, and further chats and tasks added to them."""

import secrets
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from agenthost.core import actions
from agenthost.core.chats import new_entry
from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.core.fork import fork_conversation
from agenthost.errors import ChatExists, SessionExists
from agenthost.host.log.journal import Journal
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.private import Private
from agenthost.host.state.records import Records
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.state.session_counts import SessionCounts
from agenthost.host.state.session_uris import Claims, chat_uri_of
from agenthost.host.storage import AddSession, CopyContent
from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.chat import ChatState

__all__ = ["ActOnSession", "Additions"]

ActOnSession: TypeAlias = Callable[[Session, SessionAction], None]
"""Applies an action to a session."""


class Additions:
    """Adds sessions and further chats to the store."""

    def __init__(
        self,
        sessions: SessionRegistry,
        *,
        memory: SessionMemory,
        records: Records,
        claims: Claims,
        counts: SessionCounts,
        journal: Journal,
    ) -> None:
        self._sessions = sessions
        self._memory = memory
        self._records = records
        self._claims = claims
        self._counts = counts
        self._journal = journal

    async def create(
        self,
        uri: str,
        conversation: Conversation,
        *,
        name: str | None = None,
        owner: str = "",
        private: Private | None = None,
        messages: Sequence[TranscriptEntry] = (),
        above: Session | None = None,
        act: ActOnSession = Session.follow_up,
    ) -> Session:
        """Create a session with these states. It is durable when this returns.

        `above` is the session or chat whose call gives it a task; `act` is as in `add_chat`.

        Raises:
            SessionExists: its URI or name is in use.
            UriReserved: its URI or name is in use by another owner, or by something else.
            SessionNotFound: what is above it was removed meanwhile.
        """
        private = private or {}
        if above is not None:
            return await self._add_task(uri, conversation, name, private, above, act)
        return await self._add(uri, conversation, name, owner, private, messages)

    async def fork(
        self,
        uri: str,
        turn_id: str,
        new_uri: str,
        *,
        name: str | None = None,
        left_behind: Collection[str] = (),
    ) -> Session:
        """Create a session with another's turns up to and including this one.

        `left_behind` names the private data that is not copied.

        Raises:
            SessionNotFound: there is no session with that URI.
            SessionExists: the new URI or name is in use.
            UriReserved: it is in use by another owner, or by something else.
            TurnInProgress: that turn has not ended yet.
            TurnNotFound: the session has no such turn.
        """
        source = await self._sessions.get(uri)
        name = name or secrets.token_hex(8)
        forked = fork_conversation(
            source.conversation, turn_id, source.uri, new_uri, chat_uri_of(name), source.now()
        )
        messages = source.messages[: source.end_of(turn_id)]
        private: Any = {key: value for key, value in source.private.items() if key not in left_behind}
        return await self._add(new_uri, forked, name, source.row.owner, private, messages, source.number)

    async def _add(
        self,
        uri: str,
        conversation: Conversation,
        name: str | None,
        owner: str,
        private: Private,
        messages: Sequence[TranscriptEntry],
        source: int | None = None,
    ) -> Session:
        name = name or secrets.token_hex(8)
        number = await self._claims.claim(uri, name, owner)
        session = self._records.new_session(uri, conversation, name, owner, private, messages, number=number)
        copies = [] if source is None else [CopyContent(source, session.number)]
        self._counts.change(+1)
        # The caller may be cancelled while it waits; the session is created all the same.
        ticket = self._journal.write([_add_write(session), *copies], self._on_durable, session)
        await self._journal.wait(ticket)
        return session

    def _on_durable(self, session: Session) -> None:
        self._counts.change_durable(session.row.owner, +1)
        self._claims.release(session.row.uri, session.row.name)
        self._memory.add(session)

    async def _add_task(
        self,
        uri: str,
        conversation: Conversation,
        name: str | None,
        private: Private,
        above: Session,
        act: ActOnSession,
    ) -> Session:
        name, owner = name or secrets.token_hex(8), above.row.owner
        number = await self._claims.claim(uri, name, owner)
        try:
            self._memory.check(above)
        except BaseException:
            self._claims.give_up(uri, name)
            raise
        session = self._records.new_session(
            uri, conversation, name, owner, private, above=above, number=number
        )
        self._counts.change(+1)
        self._write_below(session, [], act)
        await self._journal.wait()
        return session

    async def add_chat(
        self,
        home: Session,
        chat: ChatState,
        *,
        private: Private | None = None,
        messages: Sequence[TranscriptEntry] = (),
        source: Session | None = None,
        check: Callable[[FurtherChat], None] = lambda _: None,
        act: ActOnSession = Session.follow_up,
    ) -> FurtherChat:
        """Add a further chat to a session, which shows it from then on. It is durable when this returns.

        `source` is whose contents it gets copies of. `check` may refuse it at the last moment. `act` applies
        an action to the session.

        Raises:
            ChatExists: its URI is in use.
            UriReserved: its URI is in use by another owner, or by something else.
            SessionNotFound: the session was removed meanwhile.
        """
        uri, name, owner = chat["resource"], secrets.token_hex(16), home.row.owner
        try:
            number = await self._claims.claim(uri, name, owner)
        except SessionExists:
            raise ChatExists(uri) from None
        # No await from here on: the chat and its entry in the catalogue are one commit.
        added = self._records.new_chat(home, chat, name, private or {}, messages, number)
        try:
            self._memory.check(home)
            check(added)
        except BaseException:
            self._claims.give_up(uri, name)
            raise
        copies = [] if source is None else [CopyContent(source.number, added.number)]
        self._write_below(added, copies, act)
        await self._journal.wait()
        return added

    def _write_below(self, added: Session, more: Sequence[CopyContent], act: ActOnSession) -> None:
        """Write a further chat or a task, and show it in its session: both are one commit."""
        self._memory.expect(added)
        self._journal.write([_add_write(added), *more], self._on_below_durable, added)
        act(added.top, actions.chat_added(new_entry(added.top.state, chat_summary(added.chat))))

    def _on_below_durable(self, added: Session) -> None:
        if not self._memory.add_expected(added):
            return
        if added.is_task:
            self._counts.change_durable(added.row.owner, +1)
        self._claims.release(added.row.uri, added.row.name)


def _add_write(session: Session) -> AddSession:
    messages = tuple(message.encoded() for message in session.messages)
    return AddSession(session.row, session.encoded(), session.shown_seq, messages, session.top.number)
