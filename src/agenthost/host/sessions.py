"""All sessions: those in memory, and the way to those on disk.

A session comes into memory when somebody needs it, and leaves when nobody listens, no turn runs and others
need the room. Which sessions there are is the store's business alone, so a million of them cost nothing here.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from agenthost.core.forking import forked
from agenthost.core.reducers import Live, reduce_session
from agenthost.errors import Damaged, SessionExists, SessionNotFound, UriReserved
from agenthost.host.journal import Journal
from agenthost.host.packing import happened
from agenthost.host.session import Said, Session
from agenthost.host.storage import (
    AddSession,
    CopyContent,
    DropSession,
    Opening,
    SessionRow,
    Storage,
    StoredSession,
)
from agenthost.host.subscriptions import Hub
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import JsonObject, decode_json, encode_json


class Sessions:
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
    ) -> None:
        """Begin with what the store held; `counted` is told how many sessions there are when that changes."""
        self.count = opening.session_count
        """How many sessions there are, in memory or not, with those that are being written."""
        self.counts: dict[str, int] = {}
        """How many durable sessions there are of each owner that was asked for with `count_of`."""
        self.loaded: Callable[[Session], None] = lambda _: None
        """Told of each session that comes into memory from the store."""
        self.is_taken: Callable[[str], bool] = lambda _: False
        """Tells whether something else has this URI."""
        self._counted = counted
        self._storage = storage
        self._journal = journal
        self._hub = hub
        self._clock = clock
        self._max_in_memory = max_in_memory
        self._last_number = opening.last_number
        self._held: OrderedDict[str, Session] = OrderedDict()
        self._uris: dict[str, str] = {}  # of those in memory, by their names
        self._drops = 0
        self._loading: dict[str, asyncio.Task[Session]] = {}
        # URIs and names of sessions that are being made or removed: nobody else may have them meanwhile.
        self._claims: dict[tuple[str, str], str] = {}  # and whose they are

    @property
    def in_memory(self) -> int:
        """How many sessions are in memory."""
        return len(self._held)

    def in_memory_of(self, provider: str) -> list[Session]:
        """Give the sessions of an agent that are in memory."""
        return [one for one in self._held.values() if one.state["summary"]["provider"] == provider]

    async def create(
        self,
        state: SessionState,
        *,
        name: str | None = None,
        owner: str = "",
        private: JsonObject | None = None,
        messages: Sequence[Said] = (),
    ) -> Session:
        """Make a session with this first state; it is durable when this returns.

        Raises:
            SessionExists: its URI, or its name, is in use.
            UriReserved: by another owner, or by something else.
        """
        return await self._add(state, name, owner, private or {}, messages)

    async def fork(
        self,
        uri: str,
        turn_id: str,
        new_uri: str,
        *,
        name: str | None = None,
        left_behind: Collection[str] = (),
    ) -> Session:
        """Make a session that begins with another's turns up to and including this one.

        `left_behind` names what of the private data does not come along.

        Raises:
            SessionNotFound: there is no session of that URI.
            SessionExists: the new URI or name is in use.
            UriReserved: by another owner, or by something else.
            TurnInProgress: that turn has not ended yet.
            TurnNotFound: the session has no such turn.
        """
        source = await self.get(uri)
        state = forked(source.state, turn_id, new_uri, self._clock())
        messages = source.messages[: source.end_of(turn_id)]
        private = {key: value for key, value in source.private.items() if key not in left_behind}
        return await self._add(state, name, source.row.owner, private, messages, source.number)

    async def _add(
        self,
        state: SessionState,
        name: str | None,
        owner: str,
        private: JsonObject,
        messages: Sequence[Said],
        source: int | None = None,
    ) -> Session:
        name = name or secrets.token_hex(8)
        await self._claim(state["summary"]["resource"], name, owner)
        session = self._made(state, name, owner, private, messages)
        copies = [] if source is None else [CopyContent(source, session.number)]
        self._count(+1)
        # Whoever waits here may give up; that the session is there does not depend on it.
        ticket = self._journal.write([_addition(session), *copies], self._made_durable, session)
        await self._journal.wait(ticket)
        return session

    def _count(self, change: int) -> None:
        self.count += change
        self._counted(self.count)

    async def count_of(self, owner: str) -> int:
        """Find out how many sessions an owner has; from then on that is kept in `counts`."""
        if owner not in self.counts:
            await self._journal.in_turn(self._storage.count, owner, then=partial(self._set_count, owner))
        return self.counts[owner]

    def _set_count(self, owner: str, count: int) -> None:
        self.counts[owner] = count

    def _count_owned(self, owner: str, change: int) -> None:
        if owner in self.counts:
            self.counts[owner] += change

    def _made_durable(self, session: Session) -> None:
        self._count_owned(session.row.owner, +1)
        self._free(session.row.uri, session.row.name)
        self._hold(session)

    async def _claim(self, uri: str, name: str, owner: str) -> None:
        """Refuse a URI or a name that is taken, also by somebody who is making it at this moment."""
        self._journal.refuse_if_in_trouble()
        if uri == ROOT_URI or self.is_taken(uri):
            raise UriReserved(uri)
        for claim in (("uri", uri), ("name", name)):
            if claim in self._claims:
                raise self._taken(uri, self._claims[claim], owner)
        self._claims |= dict.fromkeys((("uri", uri), ("name", name)), owner)
        try:
            found = await asyncio.to_thread(self._find_either, uri, name)
        except BaseException:
            self._free(uri, name)
            raise
        if found is not None:
            self._free(uri, name)
            raise self._taken(uri, found.owner, owner)

    def _taken(self, uri: str, theirs: str, owner: str) -> SessionExists | UriReserved:
        """Return the refusal of what is taken: only its owner is told that there is a session."""
        return SessionExists(uri) if theirs == owner else UriReserved(uri)

    def _free(self, uri: str, name: str) -> None:
        self._claims.pop(("uri", uri), None)
        self._claims.pop(("name", name), None)

    def _find_either(self, uri: str, name: str) -> SessionRow | None:
        return self._storage.find(uri=uri) or self._storage.find(name=name)

    def _made(
        self, state: SessionState, name: str, owner: str, private: JsonObject, messages: Sequence[Said]
    ) -> Session:
        self._last_number += 1
        row = SessionRow(
            number=self._last_number,
            uri=state["summary"]["resource"],
            name=name,
            owner=owner,
            is_active="activeTurn" in state,
            summary=encode_json(state["summary"]),
            private=encode_json(private),
        )
        return self._in_memory(row, Live(state), self._journal.shown_seq, list(messages), private)

    def _in_memory(
        self, row: SessionRow, live: Live[Any], seq: int, messages: list[Said], private: JsonObject
    ) -> Session:
        return Session(
            row,
            live,
            seq,
            messages,
            private,
            journal=self._journal,
            publish=self._hub.publish,
            clock=self._clock,
        )

    async def get(self, uri: str) -> Session:
        """Give a session, from memory or from the store.

        Raises:
            SessionNotFound: there is none of that URI.
            Damaged: it cannot be read.
        """
        # Looked up again after loading: somebody else may have needed the room meanwhile, and whoever changed
        # one that is not held would be a second writer.
        while (held := self._held.get(uri)) is None:
            task = self._loading.get(uri)
            if task is None:
                task = self._loading[uri] = asyncio.create_task(self._load(uri))
                task.add_done_callback(lambda _: self._loading.pop(uri, None))
            # Several may wait for one loading; that one of them gives up must not end it for the others.
            await asyncio.shield(task)
        self._held.move_to_end(uri)
        return held

    async def is_there(self, uri: str) -> bool:
        """Tell whether there is a session of this URI."""
        return uri in self._held or await asyncio.to_thread(self._storage.find, uri=uri) is not None

    async def is_active(self, uri: str) -> bool:
        """Return whether there is a session of this URI with a turn that runs or waits."""
        held = self._held.get(uri)
        if held is not None:
            return "activeTurn" in held.state
        row = await asyncio.to_thread(self._storage.find, uri=uri)
        return row is not None and row.is_active

    async def owner_of(self, uri: str) -> str | None:
        """Return whose a session is, without bringing it into memory; `None` if there is none of this URI."""
        held = self._held.get(uri)
        row = await asyncio.to_thread(self._storage.find, uri=uri) if held is None else held.row
        return None if row is None else row.owner

    def peek(self, uri: str) -> Session | None:
        """Give a session by its URI, if it is in memory."""
        return self._held.get(uri)

    def held(self, name: str) -> Session | None:
        """Give a session by its name, if it is in memory."""
        session = self._held.get(self._uris.get(name, ""))
        if session is not None:
            self._held.move_to_end(session.row.uri)
        return session

    async def named(self, name: str) -> Session:
        """Give a session by its name.

        Raises:
            SessionNotFound: there is none of that name.
        """
        row = await asyncio.to_thread(self._storage.find, name=name)
        if row is None:
            raise SessionNotFound(name)
        return await self.get(row.uri)

    async def by_number(self, number: int) -> Session:
        """Give a session by the store's number for it, as in `Opening.active`.

        Raises:
            SessionNotFound: there is none of that number.
        """
        row = await asyncio.to_thread(self._storage.find, number=number)
        session = None if row is None else await self.get(row.uri)
        # Its URI may have been given to another meanwhile.
        if session is None or session.number != number:
            raise SessionNotFound(f"number {number}")
        return session

    async def _load(self, uri: str) -> Session:
        drops, stored = -1, None
        while drops != self._drops:  # what was read while another was removed may be that one
            drops = self._drops
            stored = await asyncio.to_thread(self._read, uri)
        if stored is None or ("uri", uri) in self._claims:
            raise SessionNotFound(uri)
        session = self._restored(stored)
        self._hold(session)
        self.loaded(session)
        return session

    def _read(self, uri: str) -> StoredSession | None:
        row = self._storage.find(uri=uri)
        try:
            return None if row is None else self._storage.load(row.number)
        except Damaged:
            raise Damaged(f"session {uri!r:.200}") from None  # whoever asked knows it by this

    def _restored(self, stored: StoredSession) -> Session:
        live: Live[SessionState] = Live(decode_json(stored.state))
        seq = max([stored.state_seq, *(entry.seq for entry in stored.entries)])
        entries = 0
        for action, count in happened(stored.entries, after=stored.state_seq):
            live = reduce_session(live, action, self._clock())  # type: ignore[arg-type] # of a session
            entries += count
        # The reducers stamp times; those of the row, written with each action, are the ones that were shown.
        live = Live({**live.state, "summary": decode_json(stored.row.summary)})
        messages = [Said(body["turn"], body["message"]) for body in map(decode_json, stored.messages)]
        session = self._in_memory(stored.row, live, seq, messages, decode_json(stored.row.private))
        session.entries, session.snapshot_bytes = entries, len(stored.state)
        return session

    async def dispose(self, uri: str) -> None:
        """Remove a session for good; it is gone from the store when this returns.

        Raises:
            SessionNotFound: there is none of that URI.
        """
        session = await self.get(uri)
        if ("uri", uri) in self._claims:
            raise SessionNotFound(uri)  # another one waited for it too, and was first
        self._let_go(uri)
        self._claims |= dict.fromkeys((("uri", uri), ("name", session.row.name)), session.row.owner)
        session.leave()
        self._count(-1)
        ticket = self._journal.write([DropSession(session.number)], self._gone, session)
        await self._journal.wait(ticket)

    def _gone(self, session: Session) -> None:
        self._free(session.row.uri, session.row.name)
        self._hub.drop(session.number)
        self._count_owned(session.row.owner, -1)
        self._drops += 1

    async def page(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first, from the one before this number on.

        `storage.cursors` makes an opaque cursor of a page's last row, and `before` of a cursor.
        """
        return await asyncio.to_thread(self._storage.list, owner=owner, before=before, limit=limit)

    def _hold(self, session: Session) -> None:
        self._held[session.row.uri] = session
        self._held.move_to_end(session.row.uri)
        self._uris[session.row.name] = session.row.uri
        self._make_room()

    def _let_go(self, uri: str) -> None:
        session = self._held.pop(uri, None)
        if session is not None:
            self._uris.pop(session.row.name, None)

    def _make_room(self) -> None:
        """Let go of those that were not needed for longest: unheard, idle, and written to the end."""
        excess = len(self._held) - self._max_in_memory
        if excess <= 0:
            return
        for uri, session in list(self._held.items())[:-1]:  # not the last: it just came, and is needed
            if excess <= 0:
                return
            if self._can_leave(session):
                self._let_go(uri)
                excess -= 1

    def _can_leave(self, session: Session) -> bool:
        state = session.live.base
        # One that is being made is about to be changed by its maker.
        is_idle = session.is_written and "activeTurn" not in state and state["lifecycle"] != "creating"
        return is_idle and not self._hub.is_heard(session.number)


def _addition(session: Session) -> AddSession:
    messages = tuple(message.encoded() for message in session.messages)
    return AddSession(session.row, encode_json(session.state), session.shown_seq, messages)
