"""Feeds: a subscriber and its way to the root, to sessions and to terminals.

Subscribing and coming back leave no gap and no overlap, and nothing of one resource reaches those of another.
Knows nothing of messages: an edge turns what it gives into its protocol's words.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from agenthost.errors import Damaged, SessionNotFound
from agenthost.host.journal import Journal
from agenthost.host.packing import unpack
from agenthost.host.refusals import is_cut
from agenthost.host.root import Root
from agenthost.host.session import Session
from agenthost.host.sessions import Sessions
from agenthost.host.storage import ROOT, Entry, Storage
from agenthost.host.subscriptions import Hub, Subscriber
from agenthost.host.terminals.resource import TerminalResource
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.json import Json


@dataclass(frozen=True, slots=True)
class View:
    """A resource as it was shown at one moment; what follows has higher numbers than `seq`."""

    uri: str
    state: Json
    seq: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a subscriber that was away gets: all that it missed, or fresh views where that is no longer kept.

    `missing` are the URIs that are not there any more.
    """

    replay: list[Entry] | None
    views: list[View]
    missing: list[str]


class Feed:
    """What one subscriber hears."""

    def __init__(
        self,
        subscriber: Subscriber,
        *,
        root: Root,
        sessions: Sessions,
        storage: Storage,
        journal: Journal,
        hub: Hub,
        terminals: Mapping[str, Terminal],
    ) -> None:
        self.subscriber = subscriber
        self._root = root
        self._sessions = sessions
        self._storage = storage
        self._journal = journal
        self._hub = hub
        self._terminals = terminals

    async def subscribe(self, uri: str) -> View:
        """Hear of the root, a session or a terminal from now on; gives what it is now.

        Raises:
            SessionNotFound: there is none of that URI.
            Damaged: it cannot be read.
        """
        return self._view(uri, await self._get(uri))

    async def subscribe_all(self, uris: Iterable[str]) -> list[View]:
        """Hear of all of these from one moment on; gives what they are then.

        Those that are gone, and those that are damaged, are left out.
        """
        found = {}
        for uri in dict.fromkeys(uris):
            with suppress(SessionNotFound, Damaged):
                found[uri] = await self._get(uri)
        return [self._view(uri, resource) for uri, resource in found.items()]

    def _view(self, uri: str, resource: Root | Session | TerminalResource) -> View:
        # No await in here: what is shown, its number and the subscription belong to one moment.
        self.subscriber.drop(resource.number)
        self._hub.add(self.subscriber, resource.number)
        state = resource.view() if isinstance(resource, TerminalResource) else resource.shown.state
        return View(uri, state, self._journal.shown_seq)

    async def unsubscribe(self, uri: str) -> None:
        """Hear of it no more; what is not there is no matter."""
        try:
            resource = await self._get(uri)
        except SessionNotFound:
            return
        self._hub.remove(self.subscriber, resource.number)

    async def resume(self, last_seen: int, uris: Iterable[str]) -> Resumed:
        """Come back: hear of these again, and get what was missed since that number."""
        found, missing = await self._sort(uris)
        mark = self._journal.shown_seq
        for number in found.values():
            self._hub.add(self.subscriber, number)
        # From here on everything newer than the mark comes live; everything up to it is in the log, or with
        # its terminal, where it has to be taken at this moment.
        printed = self._printed(last_seen, found)
        replay = None
        if printed is not None:
            replay = await asyncio.to_thread(self._missed, last_seen, mark, list(found.values()))
        if printed is not None and replay is not None:
            return Resumed(sorted([*replay, *printed], key=lambda entry: entry.seq), [], missing)
        views = []
        for uri in found:
            try:
                views.append(await self.subscribe(uri))
            except (SessionNotFound, Damaged):
                missing.append(uri)
        return Resumed(None, views, missing)

    async def _get(self, uri: str) -> Root | Session | TerminalResource:
        if uri in self._terminals:
            return self._terminals[uri].resource
        return self._root if uri == ROOT_URI else await self._sessions.get(uri)

    async def _sort(self, uris: Iterable[str]) -> tuple[dict[str, int], list[str]]:
        found, missing = {}, []
        for uri in dict.fromkeys(uris):
            try:
                found[uri] = (await self._get(uri)).number
            except (SessionNotFound, Damaged):  # a damaged one must not keep a client from all others
                missing.append(uri)
        return found, missing

    def _printed(self, last_seen: int, found: Mapping[str, int]) -> list[Entry] | None:
        """Give what was missed of terminals; `None` if that is no longer kept of all of them."""
        printed: list[Entry] = []
        for uri, number in found.items():
            if number < ROOT:
                terminal = self._terminals.get(uri)
                if terminal is None or terminal.resource.number != number:
                    return None  # it has gone since it was found, and perhaps another has come
                entries = terminal.resource.ring.after(last_seen, self.subscriber.client.key)
                if entries is None:
                    return None
                printed += entries
        return printed

    def _missed(self, last_seen: int, mark: int, numbers: list[int]) -> list[Entry] | None:
        """Read what was missed, up to the mark; `None` if that is no longer kept."""
        # A number that was not given in this past is of another: our log says nothing about what it had seen.
        if not (last_seen <= mark and self._storage.holds(last_seen)):
            return None
        try:
            if self._storage.floor(numbers) > last_seen:
                return None
            entries = self._storage.replay(last_seen, numbers, self.subscriber.client.key)
            if self._storage.floor(numbers) > last_seen:
                return None  # it was trimmed while we read
        except Damaged:
            return None
        if any(map(is_cut, entries)):
            return None  # a refusal of this client, which is not kept as it was
        return [entry for entry in unpack(entries, after=last_seen) if entry.seq <= mark]

    def close(self) -> None:
        """Hear of nothing more."""
        self._hub.leave(self.subscriber)
