"""All sessions and their further chats: those in memory, and access to those on disk.

A session is loaded when it is needed. It is evicted when nobody is subscribed, no turn is running, and others
need the room. Only the store knows which sessions exist, so a million of them cost nothing here. A further
chat is loaded and evicted like a session, by its own URI; its session is in memory as long as it is, and so
is what is above the session of a task.
"""

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, TypeAlias

from agenthost.core import actions
from agenthost.core.chats import new_entry, places, reordered, tasks_below
from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.core.fork import fork_conversation
from agenthost.core.reducers import Live, reduce_chat, reduce_session
from agenthost.core.summaries import session_summary
from agenthost.core.times import iso_time
from agenthost.errors import ChatExists, Damaged, SessionExists, SessionNotFound, UriReserved
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import Hub
from agenthost.host.log.text_runs import actions_after
from agenthost.host.state.further_chat import FurtherChat, stored_summary
from agenthost.host.state.private import Private
from agenthost.host.state.session import NS_PER_MS, Session, TranscriptEntry
from agenthost.host.state.task_session import TaskSession
from agenthost.host.storage import (
    AddSession,
    CopyContent,
    DropSession,
    Opening,
    SessionRow,
    Storage,
    StoredSession,
)
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT_URI
from agenthost.wire.json import decode_json, encode_json

CHAT_PREFIX = "ahp-chat:/"

ActOnSession: TypeAlias = Callable[[Session, SessionAction], None]
"""Applies an action to a session."""

RESERVED = (ROOT_URI, LEGACY_ROOT_URI)
"""The URIs of the root, which nothing else can have."""


def chat_uri_of(name: str) -> str:
    """Return the URI of the default chat of the session with this name."""
    return CHAT_PREFIX + name


class SessionRegistry:
    """The sessions of a host. Lives on the event loop; reads the store in threads."""

    def __init__(
        self,
        storage: Storage,
        opening: Opening,
        journal: Journal,
        hub: Hub,
        clock: Callable[[], int],
        *,
        max_in_memory: int = 1_000,
        counted: Callable[[int], None] = lambda _: None,
        loaded: Sequence[Callable[[Session], None]] = (),
        is_taken: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Start with what the store held.

        `counted` is called with the number of sessions when it changes, `loaded` with each session that is
        loaded from the store. `is_taken` returns whether something else has a URI.
        """
        self.count = opening.session_count
        """How many sessions there are, in memory or not, including those that are being written."""
        self.counts: dict[str, int] = {}
        """How many durable sessions each owner has that `count_of` was called for."""
        self._loaded = loaded
        self._is_taken = is_taken
        self._counted = counted
        self._storage = storage
        self._journal = journal
        self._hub = hub
        self._clock = clock
        self._max_in_memory = max_in_memory
        self._last_number = opening.last_number
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._uris: dict[str, str] = {}  # of those in memory, by their names
        self._chats: dict[str, str] = {}  # and by the URIs of their chats
        self._held: Counter[int] = Counter()  # how many records in memory are right below one
        self._adding: dict[str, Session] = {}  # further chats and tasks that are not durable yet
        self._drops = 0
        self._loading: dict[str, asyncio.Task[Session]] = {}
        # URIs and names of sessions that are being created or removed, with their owners. Nobody else may
        # use them in the meantime.
        self._claims: dict[tuple[str, str], str] = {}

    @property
    def in_memory(self) -> int:
        """How many sessions are in memory."""
        return len(self._sessions)

    def in_memory_of(self, provider: str) -> list[Session]:
        """Return the sessions of an agent that are in memory, without further chats."""
        return [
            one for one in self._sessions.values() if one.home is one and one.state["provider"] == provider
        ]

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
        source = await self.get(uri)
        name = name or secrets.token_hex(8)
        forked = fork_conversation(
            source.conversation,
            turn_id,
            source.uri,
            new_uri,
            chat_uri_of(name),
            iso_time(self._clock() // NS_PER_MS) or "",
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
        await self._claim(uri, name, owner)
        session = self._create(uri, conversation, name, owner, private, messages)
        copies = [] if source is None else [CopyContent(source, session.number)]
        self._count(+1)
        # The caller may be cancelled while it waits; the session is created all the same.
        ticket = self._journal.write([_add_write(session), *copies], self._on_durable, session)
        await self._journal.wait(ticket)
        return session

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
        await self._claim(uri, name, owner)
        try:
            self._check_held(above)
        except BaseException:
            self._release(uri, name)
            raise
        session = self._create(uri, conversation, name, owner, private, (), above)
        self._count(+1)
        self._write_below(session, [], act)
        await self._journal.wait()
        return session

    def _write_below(self, added: Session, more: Sequence[CopyContent], act: ActOnSession) -> None:
        """Write a further chat or a task, and show it in its session: both are one commit."""
        if added.above is not None:
            self._held[added.above.number] += 1  # it must not be evicted before the new one is in memory
        self._adding[added.uri] = added
        self._journal.write([_add_write(added), *more], self._on_below_durable, added)
        act(added.top, actions.chat_added(new_entry(added.top.state, chat_summary(added.chat))))

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
            await self._claim(uri, name, owner)
        except SessionExists:
            raise ChatExists(uri) from None
        # No await from here on: the chat and its entry in the catalogue are one commit.
        added = self._new_chat(home, chat, name, private or {}, messages)
        try:
            self._check_held(home)
            check(added)
        except BaseException:
            self._release(uri, name)
            raise
        copies = [] if source is None else [CopyContent(source.number, added.number)]
        self._write_below(added, copies, act)
        await self._journal.wait()
        return added

    def _check_held(self, session: Session) -> None:
        if self._sessions.get(session.uri) is not session:
            raise SessionNotFound(session.uri)

    def _new_chat(
        self, home: Session, chat: ChatState, name: str, private: Private, messages: Sequence[TranscriptEntry]
    ) -> FurtherChat:
        self._last_number += 1
        uri, created_at = chat["resource"], chat["modifiedAt"]
        row = SessionRow(
            *(self._last_number, uri, name, home.row.owner, False),
            *(stored_summary(uri, created_at), encode_json(private), home.number),
        )
        return self._further_chat(home, row, chat, self._journal.line.shown_seq, list(messages), private)

    def _further_chat(
        self,
        home: Session,
        row: SessionRow,
        chat: ChatState,
        seq: int,
        messages: list[TranscriptEntry],
        private: Private,
    ) -> FurtherChat:
        return FurtherChat(
            home,
            row,
            Live(chat),
            seq,
            messages,
            private,
            created_at=decode_json(row.summary)["createdAt"],
            journal=self._journal,
            publish=self._hub.publish,
            clock=self._clock,
        )

    def _on_below_durable(self, added: Session) -> None:
        if added.above is not None:
            self._held[added.above.number] -= 1
        if self._adding.pop(added.uri, None) is added:  # else it was removed with its session meanwhile
            if added.is_task:
                self._count_owned(added.row.owner, +1)
            self._release(added.row.uri, added.row.name)
            self._add_to_memory(added)

    def _count(self, change: int) -> None:
        self.count += change
        self._counted(self.count)

    async def count_of(self, owner: str) -> int:
        """Return how many sessions an owner has. From then on, `counts` is kept up to date."""
        if owner not in self.counts:
            await self._journal.in_turn(self._storage.count, owner, then=partial(self._set_count, owner))
        return self.counts[owner]

    def _set_count(self, owner: str, count: int) -> None:
        self.counts[owner] = count

    def _count_owned(self, owner: str, change: int) -> None:
        if owner in self.counts:
            self.counts[owner] += change

    def _on_durable(self, session: Session) -> None:
        self._count_owned(session.row.owner, +1)
        self._release(session.row.uri, session.row.name)
        self._add_to_memory(session)

    async def _claim(self, uri: str, name: str, owner: str) -> None:
        """Claim a URI and a name. Raise if one is taken, even by a session that is just being created."""
        self._journal.refuse_if_in_trouble()
        # A session cannot have the URI of its own chat.
        if uri in (*RESERVED, chat_uri_of(name)) or self._is_taken(uri):
            raise UriReserved(uri)
        claims = _claims_on(uri, name)
        for claim in claims:
            if claim in self._claims:
                raise self._taken_error(uri, self._claims[claim], owner)
        self._claims |= dict.fromkeys(claims, owner)
        try:
            found = await asyncio.to_thread(self._find_either, uri, name)
        except BaseException:
            self._release(uri, name)
            raise
        if found is not None:
            self._release(uri, name)
            raise self._taken_error(uri, found.owner, owner)

    def _taken_error(self, uri: str, theirs: str, owner: str) -> SessionExists | UriReserved:
        """Return the error for a taken URI or name. Only its owner learns that there is a session."""
        return SessionExists(uri) if theirs == owner else UriReserved(uri)

    def _release(self, uri: str, name: str) -> None:
        for claim in _claims_on(uri, name):
            self._claims.pop(claim, None)

    def _find_either(self, uri: str, name: str) -> SessionRow | None:
        """Find what has a URI or a name already, or the URI of the chat that goes with it."""
        found = self._find_chat(uri) or self._storage.find(name=name)
        return found or self._storage.find(uri=chat_uri_of(name))

    def _find_chat(self, uri: str) -> SessionRow | None:
        """Find a session by its URI or by that of its default chat, or a further chat by its URI."""
        found = self._storage.find(uri=uri)
        if found is None and uri.startswith(CHAT_PREFIX):
            found = self._storage.find(name=uri.removeprefix(CHAT_PREFIX))
        return found

    def _create(
        self,
        uri: str,
        conversation: Conversation,
        name: str,
        owner: str,
        private: Private,
        messages: Sequence[TranscriptEntry],
        above: Session | None = None,
    ) -> Session:
        self._last_number += 1
        state, chat = conversation
        created_at = chat["modifiedAt"]
        row = SessionRow(
            number=self._last_number,
            uri=uri,
            name=name,
            owner=owner,
            is_active="activeTurn" in chat,
            summary=encode_json(session_summary(uri, state, created_at)),
            private=encode_json(private),
        )
        return self._new_session(
            row, conversation, created_at, self._journal.line.shown_seq, list(messages), private, above
        )

    def _new_session(
        self,
        row: SessionRow,
        conversation: Conversation,
        created_at: str,
        seq: int,
        messages: list[TranscriptEntry],
        private: Private,
        above: Session | None = None,
    ) -> Session:
        made = Session if above is None else partial(TaskSession, above)
        return made(
            row,
            conversation.session,
            Live(conversation.chat),
            seq,
            messages,
            private,
            created_at=created_at,
            journal=self._journal,
            publish=self._hub.publish,
            clock=self._clock,
        )

    async def find(self, uri: str) -> Session:
        """Return a session by its URI or by that of its default chat, or a further chat by its URI.

        Raises:
            SessionNotFound: there is no such session or chat.
            Damaged: it cannot be read.
        """
        # Without looking into the store for a session with the URI of a chat that is in memory.
        if uri not in self._chats:
            try:
                return await self.get(uri)
            except SessionNotFound:
                pass  # it may be a chat that is not in memory
        return await self.find_chat(uri)

    async def find_chat(self, uri: str) -> Session:
        """Return the session whose default chat has this URI, or the further chat that has it.

        Raises:
            SessionNotFound: there is no such chat.
            Damaged: it cannot be read.
        """
        session = self._chats.get(uri)
        if session is not None:
            return await self.get(session)
        row = await asyncio.to_thread(self._find_chat, uri)
        found = None if row is None else await self.get(row.uri)
        if found is None or found.chat_uri != uri:
            raise SessionNotFound(uri)
        return found

    def peek_chat(self, uri: str) -> Session | None:
        """Return the session whose default chat has this URI, or that further chat, if it is in memory."""
        return self._sessions.get(self._chats.get(uri, ""))

    async def get(self, uri: str) -> Session:
        """Return a session, or a further chat, by its own URI, from memory or from the store.

        Raises:
            SessionNotFound: there is none with that URI.
            Damaged: it cannot be read.
        """
        # Looked up again after loading: it may have been evicted already, and changing a session that is not
        # in memory would make a second writer.
        while (held := self._sessions.get(uri)) is None:
            task = self._loading.get(uri)
            if task is None:
                task = self._loading[uri] = asyncio.create_task(self._load(uri))
                task.add_done_callback(lambda _: self._loading.pop(uri, None))
            # Several callers may wait for one load; cancelling one of them must not cancel the load.
            await asyncio.shield(task)
        self._sessions.move_to_end(uri)
        return held

    async def is_there(self, uri: str) -> bool:
        """Return whether there is a session with this URI."""
        return uri in self._sessions or await asyncio.to_thread(self._storage.find, uri=uri) is not None

    async def is_active(self, uri: str) -> bool:
        """Return whether there is a session with this URI whose turn is running or waiting."""
        held = self._sessions.get(uri)
        if held is not None:
            return "activeTurn" in held.chat
        row = await asyncio.to_thread(self._storage.find, uri=uri)
        return row is not None and row.is_active

    async def find_row(self, name: str) -> SessionRow | None:
        """Return the row of a session by its name, without its state."""
        return await asyncio.to_thread(self._storage.find, name=name)

    async def owner_of(self, uri: str) -> str | None:
        """Return the owner of a session without loading it; `None` if there is none with this URI."""
        held = self._sessions.get(uri)
        row = await asyncio.to_thread(self._storage.find, uri=uri) if held is None else held.row
        return None if row is None else row.owner

    def peek(self, uri: str) -> Session | None:
        """Return a session by its URI, if it is in memory."""
        return self._sessions.get(uri)

    def held(self, name: str) -> Session | None:
        """Return a session by its name, if it is in memory."""
        session = self._sessions.get(self._uris.get(name, ""))
        if session is not None:
            self._sessions.move_to_end(session.row.uri)
        return session

    async def named(self, name: str) -> Session:
        """Return a session by its name.

        Raises:
            SessionNotFound: there is none with that name.
        """
        row = await asyncio.to_thread(self._storage.find, name=name)
        if row is None:
            raise SessionNotFound(name)
        return await self.get(row.uri)

    async def by_number(self, number: int) -> Session:
        """Return a session by the store's number for it, as in `Opening.active`.

        Raises:
            SessionNotFound: there is none with that number.
        """
        row = await asyncio.to_thread(self._storage.find, number=number)
        session = None if row is None else await self.get(row.uri)
        # Another session may have its URI by now.
        if session is None or session.number != number:
            raise SessionNotFound(f"number {number}")
        return session

    async def _load(self, uri: str) -> Session:
        drops, stored, above, private = -1, None, None, Private()
        # Read again if a session was removed while reading: it may be this one.
        while drops != self._drops or not (above is None or self._sessions.get(above.uri) is above):
            drops = self._drops
            stored = await asyncio.to_thread(self._read, uri)
            if stored is None or ("uri", uri) in self._claims:
                raise SessionNotFound(uri)
            private = decode_json(stored.row.private)
            above = await self._find_above(stored.row, private)
        if stored is None or ("uri", uri) in self._claims:
            raise SessionNotFound(uri)
        session = self._restored(stored, above, private)
        self._add_to_memory(session)
        for on_load in self._loaded:
            on_load(session)
        return session

    async def _find_above(self, row: SessionRow, private: Private) -> Session | None:
        """Return what has to be in memory before a session or a further chat is."""
        if row.parent:
            return await self.by_number(row.parent)
        given = private.get("parent", {})
        if "chat" not in given:  # of a version before, in which tasks were no chats
            return None
        try:
            return await self.get(given["session"])
        except SessionNotFound:
            return None

    def _read(self, uri: str) -> StoredSession | None:
        row = self._storage.find(uri=uri)
        try:
            return None if row is None else self._storage.load(row.number)
        except Damaged:
            raise Damaged(f"session {uri!r:.200}") from None  # the caller knows it by its URI

    def _restored(self, stored: StoredSession, above: Session | None, private: Private) -> Session:
        states = decode_json(stored.state)
        state: Live[Any] = Live(states.get("session"))
        chat: Live[Any] = Live(states["chat"])
        seq = max([stored.state_seq, *(entry.seq for entry in stored.entries)])
        entries = 0
        for action, count in actions_after(stored.entries, after=stored.state_seq):
            if str(action["type"]).startswith("chat/"):
                chat = reduce_chat(chat, action)  # type: ignore[arg-type] # of a chat
            else:
                state = reduce_session(state, action)  # type: ignore[arg-type] # of a session
            entries += count
        messages = [
            TranscriptEntry(body["turn"], body["message"]) for body in map(decode_json, stored.messages)
        ]
        if above is not None and stored.row.parent:
            session: Session = self._further_chat(above, stored.row, chat.state, seq, messages, private)
        else:
            created_at = decode_json(stored.row.summary)["createdAt"]
            both = Conversation(state.state, chat.state)
            session = self._new_session(stored.row, both, created_at, seq, messages, private, above)
        session.entries, session.snapshot_bytes = entries, len(stored.state)
        return session

    async def move_chat(
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
        the states of the chats that move, and may refuse at the last moment; `act` is as in `add_chat`.

        Raises:
            SessionNotFound: the chat or the session was removed meanwhile.
        """
        for uri in tasks_below(chat.home.state, chat.uri):
            await self.find_chat(uri)
        # No await from here on: both sessions are as they were decided on.
        source = chat.home
        moved = {chat.uri, *tasks_below(source.state, chat.uri)}
        for one in (chat, target):
            self._check_held(one)
        check([one.chat for one in map(self._peek_any, moved) if one is not None])
        entries = [one for one in source.state["chats"] if one["resource"] in moved]
        order = reordered(target.state, [one["resource"] for one in entries], after)
        for uri, place in places(target.state).items() if order is not None else ():
            act(target, actions.chat_updated(uri, place))
        if source is not target:
            chat.move(target)
            self._held[source.number] -= 1
            self._held[target.number] += 1
            for entry in entries:
                act(source, actions.chat_removed(entry["resource"]))
            for entry in entries:
                act(target, actions.chat_added(new_entry(target.state, entry)))
        if order is not None:
            act(target, actions.chats_reordered(order))
        await self._journal.wait()

    async def dispose(self, uri: str, act: ActOnSession = Session.follow_up) -> list[SessionRow]:
        """Remove a session or a further chat for good, with the chats that belong to it, in one commit.

        It is gone from the store when this returns. `act` is as in `add_chat`. Return the rows of what went.

        Raises:
            SessionNotFound: there is none with that URI.
        """
        record = await self.get(uri)
        rows = await self.rows_below(record)
        if ("uri", uri) in self._claims or self._sessions.get(uri) is not record:
            raise SessionNotFound(uri)  # another caller is removing it already
        top = record.top
        # No await from here on. What was added meanwhile is in memory, or about to be.
        known = {row.number for row in rows}
        newer = [one.row for one in map(self._peek_any, self._below(record)) if one is not None]
        rows = [record.row, *rows, *(row for row in newer if row.number not in known)]
        gone = [] if record is top else [record.chat_uri, *self._below(record)]
        for row in reversed(rows):
            self._remove(row)
        for chat in gone:
            act(top, actions.chat_removed(chat))
        await self._journal.wait()
        return rows

    async def rows_below(self, record: Session) -> list[SessionRow]:
        """Return the rows of what is removed together with a session or a further chat."""
        below = self._below(record)
        return await asyncio.to_thread(self._rows_of, record.top.number, below) if below else []

    def _below(self, record: Session) -> list[str]:
        """Return the chats that are removed with a session or a further chat: all others, or its tasks."""
        if record.top is record:
            chats = [one["resource"] for one in record.state["chats"]]
            return [uri for uri in chats if uri != record.chat_uri]
        return tasks_below(record.top.state, record.chat_uri)

    def _rows_of(self, session: int, chats: Sequence[str]) -> list[SessionRow]:
        """Return the rows of further chats and tasks of a session."""
        rows = map(self._find_chat, chats)
        return [row for row in rows if row is not None and row.parent in (0, session)]

    def _peek_any(self, chat: str) -> Session | None:
        """Return the record of a chat, if it is in memory, or not durable yet."""
        adding = (one for one in self._adding.values() if one.chat_uri == chat)
        return self.peek_chat(chat) or next(adding, None)

    def _remove(self, row: SessionRow) -> None:
        """Remove a session or a further chat from memory and from the store."""
        held = self._adding.pop(row.uri, None) or self._evict(row.uri)
        if held is not None:
            held.leave()
        self._claims |= dict.fromkeys(_claims_on(row.uri, row.name), row.owner)
        if not row.parent:
            self._count(-1)
        self._journal.write([DropSession(row.number)], self._on_dropped, row)

    def _on_dropped(self, row: SessionRow) -> None:
        if not row.parent:
            self._count_owned(row.owner, -1)
        self._release(row.uri, row.name)
        self._hub.drop(row.number)
        self._drops += 1

    async def page(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first, starting below the number `before`.

        `storage.cursors` turns the last row of a page into an opaque cursor, and a cursor into `before`.
        """
        return await asyncio.to_thread(self._storage.list, owner=owner, before=before, limit=limit)

    def _add_to_memory(self, session: Session) -> None:
        self._sessions[session.row.uri] = session
        self._sessions.move_to_end(session.row.uri)
        self._chats[session.chat_uri] = session.row.uri
        if session.home is session:
            self._uris[session.row.name] = session.row.uri
        if session.above is not None:
            self._held[session.above.number] += 1
        self._make_room()

    def _evict(self, uri: str) -> Session | None:
        session = self._sessions.pop(uri, None)
        if session is not None:
            self._uris.pop(session.row.name, None)
            self._chats.pop(session.chat_uri, None)
            if session.above is not None:
                self._held[session.above.number] -= 1
        return session

    def _make_room(self) -> None:
        """Evict the least recently used sessions that are idle, written, and have no subscribers."""
        excess = len(self._sessions) - self._max_in_memory
        if excess <= 0:
            return
        for uri, session in list(self._sessions.items())[:-1]:  # not the last: it was just loaded
            if excess <= 0:
                return
            if self._can_evict(session):
                self._evict(uri)
                excess -= 1

    def _can_evict(self, session: Session) -> bool:
        # A session that is being created is about to be changed.
        is_idle = session.is_written and not session.has_turn and session.state["lifecycle"] != "creating"
        return is_idle and not self._hub.is_heard(session.number) and not self._held[session.number]


def _claims_on(uri: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return what nobody else may have while a session is created or removed: its URIs and its name."""
    return ("uri", uri), ("uri", chat_uri_of(name)), ("name", name)


def _add_write(session: Session) -> AddSession:
    messages = tuple(message.encoded() for message in session.messages)
    return AddSession(session.row, session.encoded(), session.shown_seq, messages)
