"""Feeds: how a subscriber follows the root, sessions, chats, changesets and terminals.

Subscribing and resuming leave no gap and no overlap (HR-S02), and actions reach only the subscribers of their
resource (HR-S03). Knows no messages: an edge translates views and entries to its protocol.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from agenthost.core.changesets import split_changeset_uri
from agenthost.core.reducers import Live
from agenthost.errors import Damaged, SessionNotFound
from agenthost.host.log.line import Line
from agenthost.host.log.subscriptions import Hub, Subscriber
from agenthost.host.log.text_runs import unpack
from agenthost.host.state.changesets import ChangesetResource, Changesets
from agenthost.host.state.pages import Pages
from agenthost.host.state.refusals import is_cut
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.root import Root
from agenthost.host.state.session import Session
from agenthost.host.state.terminal import HasTerminalResource, TerminalResource
from agenthost.host.storage import ROOT, Entry, Storage
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import Json

RESUME_SECONDS = 1.0
"""How long a returning subscriber waits until what it has seen elsewhere was shown here."""

UNPACKED_AT_ONCE = 64
"""How many entries of the log are made into envelopes before these are counted."""


@dataclass(frozen=True, slots=True)
class View:
    """A channel as of one moment. What follows has higher sequence numbers than `seq`.

    Attributes:
        uri: its URI.
        state: its state.
        seq: the number of the last envelope that the state includes.
        chat: of a session, its default chat at the same moment.
        created_at: of a session, when it was created.
    """

    uri: str
    state: Json
    seq: int
    chat: Live[ChatState] | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a returning subscriber gets: everything it missed, or fresh views if that is no longer stored.

    `missing` are the URIs of resources that no longer exist.
    """

    replay: list[Entry] | None
    views: list[View]
    missing: list[str]


Followed: TypeAlias = Root | Session | TerminalResource | ChangesetResource
"""What can be followed."""

Expand: TypeAlias = Callable[[Sequence[Entry], int], list[Entry]]
"""Returns the envelopes of stored entries after a number, one by one, in the subscriber's protocol."""


class Feed:
    """What one subscriber follows.

    Attributes:
        subscriber: who follows.
        channels: the URIs of what it follows. A session and its default chat have one log, so the subscriber
            may be passed items of channels that are not among these.
    """

    def __init__(
        self,
        subscriber: Subscriber,
        *,
        root: Root,
        sessions: SessionRegistry,
        storage: Storage,
        line: Line,
        hub: Hub,
        changesets: Changesets,
        terminals: Mapping[str, HasTerminalResource],
        is_whole: bool = False,
    ) -> None:
        """Follow nothing yet. With `is_whole`, following a session means following its default chat too."""
        self.subscriber = subscriber
        self._is_whole = is_whole
        self.channels: set[str] = set()
        self._root = root
        self._sessions = sessions
        self._storage = storage
        self._line = line
        self._hub = hub
        self._changesets = changesets
        self._terminals = terminals

    async def subscribe(self, uri: str) -> View:
        """Follow the root, a session, a chat, a changeset or a terminal from now on. Return its view.

        Raises:
            SessionNotFound: there is nothing with that URI.
            Damaged: it cannot be read.
        """
        return self._view(uri, await self._get(uri))

    async def subscribe_all(self, uris: Iterable[str]) -> list[View]:
        """Follow all of these from one moment on. Return their views at that moment.

        Those that do not exist or are damaged are left out.
        """
        found = {}
        for uri in dict.fromkeys(uris):
            with suppress(SessionNotFound, Damaged):
                found[uri] = await self._get(uri)
        # Only now, when all are in memory: no await between the views, so they are of one moment.
        return [self._view(uri, resource) for uri, resource in found.items()]

    def _view(self, uri: str, resource: Followed) -> View:
        # No await in here: the view, its number and the subscription have to be of one moment.
        # HR-S02: what waits in the queue is in the view already, and must not be applied twice.
        self.subscriber.drop(resource.number, None if self._is_whole else uri)
        self._hub.add(self.subscriber, resource.number)
        self.channels.add(uri)
        seq = self._line.shown_seq
        if isinstance(resource, Session):
            if uri == resource.chat_uri:
                return View(uri, resource.shown_chat.state, seq)
            return View(uri, resource.shown_state, seq, resource.shown_chat, resource.created_at)
        state = resource.view() if isinstance(resource, TerminalResource) else resource.shown.state
        return View(uri, state, seq)

    async def unsubscribe(self, uri: str) -> None:
        """Stop following it. If it does not exist, do nothing."""
        try:
            # `_get` would compute a changeset only to leave it.
            resource = self._changesets.peek(uri) or await self._get(uri)
        except SessionNotFound:
            return
        self.channels.discard(uri)
        if isinstance(resource, Session) and not self.channels.isdisjoint(resource.channels):
            return  # the other channel of the same log
        self._hub.remove(self.subscriber, resource.number)

    async def wait_shown(self, last_seen: int) -> None:
        """Wait until all was shown here that a client has seen, maybe at another node that is ahead.

        Raises:
            StorageError: this node cannot show it at present.
        """
        if not await self._line.wait_for(last_seen, RESUME_SECONDS):
            await self._line.check_ahead(last_seen)

    async def resume(
        self,
        last_seen: int,
        uris: Iterable[str],
        expand: Expand = unpack,
        numbers: dict[int, str] | None = None,
    ) -> Resumed:
        """Follow these again, and return what was missed since that number.

        `expand` makes envelopes of the stored entries. Some may be of channels that are not followed.
        `numbers` is filled with the URIs by the numbers that the entries have.

        Raises:
            StorageError: this node cannot show at present what the client has seen.
        """
        await self.wait_shown(last_seen)
        found, missing = await self._sort(uris)
        if numbers is not None:
            numbers |= {number: uri for uri, number in found.items()}
        mark = self._line.shown_seq
        for uri, number in found.items():
            self._hub.add(self.subscriber, number)
            self.channels.add(uri)
        # From here on everything newer than the mark arrives live. Everything up to it is in the log, or in
        # the replay buffer of its terminal, which has to be read now, before it moves on.
        printed = self._printed(last_seen, found)
        replay = None
        if printed is not None:
            # A session and its default chat have one log.
            logs = list(dict.fromkeys(found.values()))
            replay = await asyncio.to_thread(self._missed, last_seen, mark, logs, expand)
        if printed is not None and replay is not None:
            printed = expand(printed, last_seen)
            return Resumed(sorted([*replay, *printed], key=lambda entry: entry.seq), [], missing)
        # HR-C04: too much was missed, or some of it is no longer stored.
        views = []
        for uri in found:
            try:
                views.append(await self.subscribe(uri))
            except (SessionNotFound, Damaged):
                missing.append(uri)
        return Resumed(None, views, missing)

    def follow(self, session: Session, last_seen: int) -> Pages:
        """Hear of a session again, and return what was missed of it since that number, to be read in pages.

        Nothing that is in the pages comes live as well, and nothing is left out between the two.
        """
        # No await in here: all up to `shown_seq` is in the log, and all that follows comes live.
        self._hub.add(self.subscriber, session.number)
        return Pages(self._storage, session.number, last_seen, session.shown_seq, self.subscriber.client.key)

    async def _get(self, uri: str) -> Followed:
        if uri in self._terminals:
            return self._terminals[uri].resource
        if uri == ROOT_URI:
            return self._root
        try:
            return await self._sessions.find(uri)
        except SessionNotFound:
            if split_changeset_uri(uri) is None:
                raise
            return await self._changesets.find(uri)

    def _unlogged(self, uri: str) -> TerminalResource | ChangesetResource | None:
        """Return what keeps its recent actions itself, if it is still there."""
        terminal = self._terminals.get(uri)
        return self._changesets.peek(uri) if terminal is None else terminal.resource

    async def _sort(self, uris: Iterable[str]) -> tuple[dict[str, int], list[str]]:
        found, missing = {}, []
        for uri in dict.fromkeys(uris):
            try:
                found[uri] = (await self._get(uri)).number
            except (SessionNotFound, Damaged):  # HR-C11: damage to one must not affect the others
                missing.append(uri)
        return found, missing

    def _printed(self, last_seen: int, found: Mapping[str, int]) -> list[Entry] | None:
        """Return what was missed of terminals and changesets; `None` if one no longer has all of it."""
        printed: list[Entry] = []
        for uri, number in found.items():
            # Only terminals and changesets have such numbers: the log does not have their actions.
            if number < ROOT:
                resource = self._unlogged(uri)
                if resource is None or resource.number != number:
                    return None  # it was removed since, and another may have its URI
                entries = resource.replay.after(last_seen, self.subscriber.client.key)
                if entries is None:
                    return None
                printed += entries
        return printed

    def _missed(self, last_seen: int, mark: int, numbers: list[int], expand: Expand) -> list[Entry] | None:
        """Read what was missed, up to the mark.

        `None` if it is no longer stored, or more than may wait for the subscriber: it is sent at once.
        """
        # HR-C10: a number from another history. Our log cannot tell what that client has seen.
        if not (last_seen <= mark and self._storage.holds(last_seen)):
            return None
        try:
            # HR-C02: some of it was trimmed.
            if self._storage.floor(numbers) > last_seen:
                return None
            most = self.subscriber.max_bytes
            entries = self._storage.replay(last_seen, numbers, self.subscriber.client.key, most)
            if self._storage.floor(numbers) > last_seen:
                return None  # trimmed while we read
        except Damaged:
            return None
        if any(map(is_cut, entries)):
            return None  # a refusal of this client that was not stored completely
        # What is newer comes live; an entry is shown as a whole.
        return _expand([entry for entry in entries if entry.seq <= mark], last_seen, most, expand)

    def close(self) -> None:
        """Stop following everything."""
        self._hub.leave(self.subscriber)


def _expand(entries: Sequence[Entry], after: int, max_bytes: int, expand: Expand) -> list[Entry] | None:
    """Return the envelopes of stored entries one by one; `None` if they have more bytes."""
    single: list[Entry] = []
    size = 0
    # Some at a time: a run of short texts is stored in a fraction of what its envelopes take.
    for place in range(0, len(entries), UNPACKED_AT_ONCE):
        some = expand(entries[place : place + UNPACKED_AT_ONCE], after)
        size += sum([len(entry.envelope) for entry in some])
        if size > max_bytes:
            return None
        single += some
    return single
