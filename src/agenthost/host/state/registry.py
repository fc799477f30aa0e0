"""All sessions and their further chats: those in memory, and access to those on disk.

A session is loaded when it is needed. Only the store knows which sessions exist, so a million of them cost
nothing here. A further chat is loaded like a session, by its own URI, after what has to be in memory with it.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from agenthost.errors import Damaged, SessionNotFound
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.ownership import Ownership
from agenthost.host.state.private import Private
from agenthost.host.state.records import Records
from agenthost.host.state.session import Session
from agenthost.host.state.session_uris import Claims, find_chat_row
from agenthost.host.storage import SessionRow, Storage, StoredSession
from agenthost.wire.json import decode_json

__all__ = ["SessionRegistry"]


class SessionRegistry:
    """Finds the sessions of a host. Lives on the event loop; reads the store in threads."""

    def __init__(
        self,
        storage: Storage,
        memory: SessionMemory,
        *,
        records: Records,
        claims: Claims,
        loaded: Sequence[Callable[[Session], None]],
        ownership: Ownership | None = None,
    ) -> None:
        """Find sessions in memory or in the store.

        `loaded` is called with each that is loaded, and that this node writes; `ownership` says which, if
        there are other nodes.
        """
        self._ownership = ownership
        self._storage = storage
        self._memory = memory
        self._sessions = memory.sessions
        self._uris = memory.uris
        self._chats = memory.chats
        self._records = records
        self._claims = claims
        self._loaded = loaded
        self._loading: dict[str, asyncio.Task[Session]] = {}

    @property
    def in_memory(self) -> int:
        """How many sessions are in memory."""
        return len(self._sessions)

    def own_numbers(self) -> list[int]:
        """Return the numbers of the sessions and chats in memory that this node writes."""
        return self._memory.own_numbers()

    def in_memory_of(self, provider: str) -> list[Session]:
        """Return the sessions of an agent that are in memory, without further chats."""
        return [
            one for one in self._sessions.values() if one.home is one and one.state["provider"] == provider
        ]

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
        row = await asyncio.to_thread(find_chat_row, self._storage, uri)
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
                shared = self._ownership
                load = self._load(uri) if shared is None else self._load_shared(uri, shared)
                task = self._loading[uri] = asyncio.create_task(load)
                task.add_done_callback(partial(self._on_loaded, uri))
            # Several callers may wait for one load; cancelling one of them must not cancel the load.
            await asyncio.shield(task)
        self._sessions.move_to_end(uri)
        return held

    def _on_loaded(self, uri: str, task: "asyncio.Task[Session]") -> None:
        self._loading.pop(uri, None)
        if not task.cancelled():
            task.exception()  # if all who waited are gone, nobody else asks for it

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

    async def page(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first, starting below the number `before`.

        `storage.cursors` turns the last row of a page into an opaque cursor, and a cursor into `before`.
        """
        return await asyncio.to_thread(self._storage.list, owner=owner, before=before, limit=limit)

    async def _load(self, uri: str) -> Session:
        drops, stored, above, private = -1, None, None, Private()
        # Read again if a session was removed while reading: it may be this one.
        while drops != self._memory.drops or not (above is None or self._sessions.get(above.uri) is above):
            drops = self._memory.drops
            stored = await asyncio.to_thread(self._read, uri)
            if stored is None or self._claims.has_uri(uri):
                raise SessionNotFound(uri)
            private = decode_json(stored.row.private)
            above = await self._find_above(stored.row, private)
        if stored is None or self._claims.has_uri(uri):
            raise SessionNotFound(uri)
        session = self._records.restore(stored, above, private)
        self._memory.add(session)
        self._tell_loaded(session)
        return session

    def _tell_loaded(self, session: Session) -> None:
        for on_load in self._loaded:
            on_load(session)

    # With other nodes

    async def _load_shared(self, uri: str, ownership: Ownership) -> Session:
        """Load a session that this node writes, or that it only follows."""
        row = await asyncio.to_thread(self._storage.find, uri=uri)
        if row is None or self._claims.has_uri(uri):
            raise SessionNotFound(uri)
        followed = ownership.followed
        followed.begin(row.number)
        try:
            owner = await ownership.resolve(row.number)
            stored, above, private = await self._read_shared(row, ownership, is_own=owner == ownership.node)
        except BaseException:
            followed.give_up(row.number)
            raise
        # No await from here on: what is written from now on is shown to it.
        session = self._records.restore(stored, above, private)
        if owner != ownership.node:
            session.become_foreign()
        self._memory.add(session)
        followed.finish(session)
        if not session.is_foreign:
            self._tell_loaded(session)
        return session

    async def _read_shared(
        self, row: SessionRow, ownership: Ownership, *, is_own: bool
    ) -> tuple[StoredSession, Session | None, Private]:
        """Read a session, and wait until all of it was shown. What has to be in memory with it is loaded."""
        while True:
            drops = self._memory.drops
            stored = await asyncio.to_thread(self._read, row.uri)
            if stored is None or stored.row.number != row.number or self._claims.has_uri(row.uri):
                raise SessionNotFound(row.uri)
            private = decode_json(stored.row.private)
            above = await self._find_above(stored.row, private)
            if above is not None and above.is_foreign and is_own:
                await self.take([above.number])
            await ownership.wait_shown(stored)
            is_held = above is None or self._sessions.get(above.uri) is above
            # Read again if a session was removed while reading: it may be this one.
            if is_held and drops == self._memory.drops:
                return stored, above, private

    async def take(self, numbers: Collection[int]) -> list[int]:
        """Write these sessions from now on, if they are free, with all that is in memory of their families.

        Return those that belong to this node now.
        """
        if self._ownership is None:
            return list(numbers)
        own = await self._ownership.claim(numbers)
        # Those above come first: they were loaded before what is below them.
        for session in sorted(self._memory.foreign.values(), key=lambda one: one.number):
            family = {session.number, session.top.number}
            is_meant = not family.isdisjoint(own) or _is_above(session, own, self._sessions)
            if is_meant and await self._ownership.adopt(session):
                self._tell_loaded(session)
        return own

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


def _is_above(session: Session, numbers: Collection[int], held: Mapping[str, Session]) -> bool:
    """Return whether one of these is a chat or a task of a session."""
    return any(one.number in numbers and one.top is session.top for one in held.values())
