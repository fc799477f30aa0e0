"""Feeds: a subscriber and its way to sessions. Subscribing and coming back leave no gap and no overlap.

Knows nothing of messages: an edge turns what it gives into its protocol's words.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from agenthost.errors import SessionNotFound
from agenthost.host.journal import Journal
from agenthost.host.packing import unpack
from agenthost.host.sessions import Sessions
from agenthost.host.storage import Entry, Storage
from agenthost.host.subscriptions import Hub, Subscriber
from agenthost.wire.ahp.session import SessionState


@dataclass(frozen=True, slots=True)
class View:
    """A session as it was shown at one moment; what follows has higher numbers than `seq`."""

    uri: str
    state: SessionState
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
        self, subscriber: Subscriber, *, sessions: Sessions, storage: Storage, journal: Journal, hub: Hub
    ) -> None:
        self.subscriber = subscriber
        self._sessions = sessions
        self._storage = storage
        self._journal = journal
        self._hub = hub

    async def subscribe(self, uri: str) -> View:
        """Hear of a session from now on; gives what it is now.

        Raises:
            SessionNotFound: there is none of that URI.
        """
        session = await self._sessions.get(uri)
        # No await from here on: what is shown, its number and the subscription belong to one moment.
        self.subscriber.drop(session.number)
        self._hub.add(self.subscriber, session.number)
        return View(uri, session.shown.state, self._journal.shown_seq)

    async def unsubscribe(self, uri: str) -> None:
        """Hear of a session no more; one that is not there is no matter."""
        try:
            session = await self._sessions.get(uri)
        except SessionNotFound:
            return
        self._hub.remove(self.subscriber, session.number)

    async def resume(self, last_seen: int, uris: Iterable[str]) -> Resumed:
        """Come back: hear of these sessions again, and get what was missed since that number."""
        found, missing = await self._sort(uris)
        mark = self._journal.shown_seq
        for number in found.values():
            self._hub.add(self.subscriber, number)
        # From here on everything newer than the mark comes live; everything up to it is in the log.
        if await asyncio.to_thread(self._is_kept, last_seen, mark, list(found.values())):
            entries = await asyncio.to_thread(
                self._storage.replay, last_seen, list(found.values()), self.subscriber.client_id
            )
            missed = unpack(entries, after=last_seen)
            return Resumed([entry for entry in missed if entry.seq <= mark], [], missing)
        return Resumed(None, [await self.subscribe(uri) for uri in found], missing)

    async def _sort(self, uris: Iterable[str]) -> tuple[dict[str, int], list[str]]:
        found, missing = {}, []
        for uri in dict.fromkeys(uris):
            try:
                found[uri] = (await self._sessions.get(uri)).number
            except SessionNotFound:
                missing.append(uri)
        return found, missing

    def _is_kept(self, last_seen: int, mark: int, numbers: list[int]) -> bool:
        # A number from the future is of another store's count: its log says nothing about ours.
        return 0 <= last_seen <= mark and self._storage.floor(numbers) <= last_seen

    def close(self) -> None:
        """Hear of nothing more."""
        self._hub.leave(self.subscriber)
