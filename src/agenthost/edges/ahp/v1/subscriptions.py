"""The subscriptions of a connection of AHP 1.0: a client may ask for fewer turns, and for fewer messages."""

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from agenthost.core.turn_view import TurnView
from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.edges.ahp.transport import Outbox
from agenthost.errors import HostError, InvalidValue, SessionNotFound
from agenthost.host.client import HostClient
from agenthost.host.state.feed import Feed, View
from agenthost.wire.error_messages import quote

__all__ = ["Subscriptions"]

MAX_DELAY = 5.0
"""How many seconds actions are held at most, whatever a client asks for."""


class Subscriptions:
    """The subscriptions of one connection.

    Attributes:
        options: what the client asked for, by channel.
    """

    def __init__(self, host: HostClient, feed: Feed, outbox: Outbox, version: str) -> None:
        self.options = SubscriptionOptions()
        self._host = host
        self._feed = feed
        self._outbox = outbox
        self._version = version

    async def subscribe(self, uri: str, params: Any) -> View:
        """Follow a channel as a client wants to, in place of how it followed it before. Return its view.

        Raises:
            InvalidValue: an option is not valid.
            SessionNotFound, Damaged: see `Feed.subscribe`.
        """
        size = params.get("view", {}).get("turns")
        if size is not None and size < 0:
            raise InvalidValue("$.view.turns", "a number of at least 0", str(size))
        latency = params.get("delivery", {}).get("maxLatencyMs", 0)
        if latency < 0:
            raise InvalidValue("$.delivery.maxLatencyMs", "a number of at least 0", str(latency))
        if size is None or not await self._is_chat(uri):
            await self._forget_view(uri)
            view = await self._feed.subscribe(uri)
        else:
            # First, so that no truncation falls between the view and the loads for it.
            await self._expect_views([uri])
            view = self._restricted(await self._feed.subscribe(uri), size)
        self._hold(uri, min(latency / 1000, MAX_DELAY))
        return view

    async def unsubscribe(self, uri: str) -> None:
        """Follow a channel no longer."""
        await self._forget_view(uri)
        self._hold(uri, 0)
        await self._feed.unsubscribe(uri)

    async def resume(
        self, last_seen: int, uris: Sequence[str], earlier: SubscriptionOptions
    ) -> list[View] | None:
        """Follow these again as the client did before. Return their views; `None` if it can have a replay.

        A replay does not fit what a client has if it lacks turns: it may have missed some of what it was sent
        to load them.
        """
        for uri in uris:
            self._hold(uri, earlier.delays.get(uri, 0))
        partial = {uri: earlier.views[uri] for uri in uris if uri in earlier.views}
        if not partial and not earlier.is_lost:
            return None
        await self._feed.wait_shown(last_seen)
        await self._expect_views(list(partial))
        views = await self._feed.subscribe_all(uris)
        return [
            self._restricted(view, partial[view.uri].size, partial[view.uri].first)
            if view.uri in partial
            else view
            for view in views
        ]

    async def fetch_turns(self, uri: str, cursor: str | None) -> None:
        """Have the next page of a chat's older turns sent.

        Raises:
            InvalidValue: the cursor is not the one that the client has now.
            SessionNotFound: there is no such chat.
        """
        if uri in self.options.views:
            await self._host.fetch_turns(uri, self._outbox, self.options.views, cursor)
            return
        await self._host.get_conversation(uri)
        if cursor is not None:
            raise InvalidValue("$.cursor", "no cursor, as all turns are loaded", quote(cursor))

    def close(self) -> None:
        """End what the host does for partial views."""
        self._host.stop_all_loading(self._outbox)

    async def _is_chat(self, uri: str) -> bool:
        """Return whether this is a chat: nothing else has turns."""
        with suppress(SessionNotFound):
            return (await self._host.get_conversation(uri)).chat_uri == uri
        return False

    async def _expect_views(self, uris: Sequence[str]) -> None:
        """Prepare for partial views. What was done before is shown when this returns."""
        if not self.options.views and uris:
            # Durable before the client has such a view: after a restart no replay would fit it.
            self._host.remember_version(self._version, is_partial=True)
        for uri in uris:
            with suppress(HostError):  # it was removed just now
                await self._host.load_turns(uri, self._outbox, self.options.views)

    def _restricted(self, view: View, size: int, first: str | None = None) -> View:
        chat: Any = view.state
        self.options.views[view.uri] = seen = TurnView.of(chat["turns"], size, first)
        return dataclasses.replace(view, state=seen.restrict(chat))

    async def _forget_view(self, uri: str) -> None:
        if self.options.views.pop(uri, None) is not None:
            with suppress(HostError):  # it was removed
                await self._host.stop_loading(uri, self._outbox)

    def _hold(self, uri: str, seconds: float) -> None:
        self._outbox.hold(uri, seconds)
        if seconds:
            self.options.delays[uri] = seconds
        else:
            self.options.delays.pop(uri, None)
