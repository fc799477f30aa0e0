"""A connection of AHP 1.0 or 0.9."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar

from msgspec import Raw

from agenthost import __version__
from agenthost.edges.ahp.connection import TRIGGERS
from agenthost.edges.ahp.connection import Connection as AnyConnection
from agenthost.edges.ahp.transport import Outbox, OutgoingMessage
from agenthost.edges.ahp.v1 import commands, older
from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.edges.ahp.v1.frames import (
    action_frames,
    list_message,
    older_action_frames,
    older_list_message,
)
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.list_notices import Notice
from agenthost.host.storage import Entry
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.json import Json, encode_json

__all__ = ["Connection"]


class Connection(AnyConnection[ClientContext]):
    """One client of AHP 1.0 or 0.9, connected."""

    methods: ClassVar = METHODS
    requests: ClassVar = commands.REQUESTS
    notifications: ClassVar = commands.NOTIFICATIONS
    concurrent: ClassVar = commands.CONCURRENT
    # VS Code takes in the answer a moment after it has read it. What it reads meanwhile would be lost with a
    # snapshot, or come before a replay. When it has, it says something.
    rest_seconds: ClassVar = 0.25

    def _context(
        self, client: HostClient, outbox: Outbox, deliver: Callable[[LogItem], None]
    ) -> ClientContext:
        context = ClientContext(client, outbox, deliver, self.version)
        self._action_frames = older_action_frames if context.is_older else action_frames
        return context

    def _handler(self, method: str) -> Callable[[Any, Any], Awaitable[Json]] | None:
        # V2, O1: to a client of 0.9 there is no such method.
        is_newer = self.client.is_older and method in older.NEWER_METHODS
        return None if is_newer else super()._handler(method)

    async def _initialize(self, params: Any) -> Json:
        # L1: there is one language so far, so `locale` changes nothing.
        visible = await self._visible(params.get("initialSubscriptions", []), "$.initialSubscriptions")
        views = await self.client.feed.subscribe_all(visible)
        return {
            "protocolVersion": self.version,
            "serverSeq": self.client.host.shown_seq,
            "serverInfo": {"name": "agenthost", "version": __version__},
            "snapshots": [self.client.to_snapshot(view) for view in views],
            "defaultDirectory": self.client.host.workspace.as_uri(),
            "completionTriggerCharacters": TRIGGERS,
        }

    async def _reconnect(self, params: Any) -> Json:
        wanted = list(dict.fromkeys(params["subscriptions"]))
        visible = await self._visible(wanted, "$.subscriptions")
        last_seen = params["lastSeenServerSeq"]
        views = await self.client.subscriptions.resume(last_seen, visible, self.earlier)
        if views is not None:
            return {"type": "snapshot", "snapshots": [self.client.to_snapshot(view) for view in views]}
        resumed = await self.client.feed.resume(last_seen, visible)
        if resumed.replay is None:
            snapshots = [self.client.to_snapshot(view) for view in resumed.views]
            return {"type": "snapshot", "snapshots": snapshots}
        # Q2: the same for what is gone and for what this client may not see.
        missing = [uri for uri in wanted if uri not in visible or uri in resumed.missing]
        seen = self.client.root_view.replay(self._replay(resumed.replay))
        return {"type": "replay", "actions": [Raw(envelope) for envelope in seen], "missing": missing}

    def _replay(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the envelopes of the channels that the client follows: a log may have those of another."""
        heads = tuple(encode_json({"channel": uri})[:-1] + b"," for uri in self.client.feed.channels)
        # An envelope begins with its channel, so none has to be decoded.
        followed = [entry for entry in entries if entry.envelope.startswith(heads)]
        if not self.client.is_older:
            return followed
        return [seen for entry in followed if (seen := older.strip_entry(entry)) is not None]

    def _frames(self, item: LogItem) -> Iterable[str]:
        return item.shared(self._action_frames) if item.channel in self.client.feed.channels else ()

    def _refusal(self, item: LogItem) -> bytes:
        return item.envelopes()[0]

    def _notice(self, notice: Notice) -> OutgoingMessage | None:
        # C3: these are notifications of the root's channel.
        if ROOT_URI not in self.client.feed.channels:
            return None
        return notice.shared(older_list_message if self.client.is_older else list_message)
