"""A connection of AHP 0.1."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from msgspec import Raw

from agenthost.edges.ahp.connection import TRIGGERS
from agenthost.edges.ahp.connection import Connection as AnyConnection
from agenthost.edges.ahp.transport import OutgoingMessage
from agenthost.edges.ahp.v0_1 import commands
from agenthost.edges.ahp.v0_1.client import ClientContext
from agenthost.edges.ahp.v0_1.frames import action_frames, list_message
from agenthost.edges.ahp.v0_1.projection import channel_of, expander, refusal_of
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.sessions.list_notices import Notice
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.json import Json

__all__ = ["Connection"]


class Connection(AnyConnection[ClientContext]):
    """One client of AHP 0.1, connected."""

    methods: ClassVar = METHODS
    requests: ClassVar = commands.REQUESTS
    notifications: ClassVar = commands.NOTIFICATIONS
    concurrent: ClassVar = commands.CONCURRENT

    def _context(
        self, client: HostClient, subscriber: Subscriber, deliver: Callable[[LogItem], None]
    ) -> ClientContext:
        return ClientContext(client, subscriber, deliver)

    async def _initialize(self, params: Any) -> Json:
        # HR-I11: there is one language so far, so `locale` changes nothing.
        visible = await self._visible(params.get("initialSubscriptions", []), "$.initialSubscriptions")
        views = await self.client.feed.subscribe_all(map(channel_of, visible))
        return {
            "protocolVersion": self.version,
            "serverSeq": self.client.host.shown_seq,
            "snapshots": [self.client.to_snapshot(view) for view in views],
            "defaultDirectory": self.client.host.workspace.as_uri(),
            "completionTriggerCharacters": TRIGGERS,
        }

    async def _reconnect(self, params: Any) -> Json:
        wanted = list(dict.fromkeys(params["subscriptions"]))
        visible = await self._visible(wanted, "$.subscriptions")
        uris: dict[int, str] = {}
        resumed = await self.client.feed.resume(
            params["lastSeenServerSeq"], map(channel_of, visible), expander(uris), uris
        )
        if resumed.replay is None:  # HR-C04
            return {
                "type": "snapshot",
                "snapshots": [self.client.to_snapshot(view) for view in resumed.views],
            }
        # HR-C03: the same for what is gone and for what this client may not see.
        missing = [uri for uri in wanted if uri not in visible or channel_of(uri) in resumed.missing]
        return {
            "type": "replay",
            "actions": [Raw(envelope) for envelope in self.client.root_view.replay(resumed.replay)],
            "missing": missing,
        }

    def _frames(self, item: LogItem) -> Iterable[str]:
        return item.shared(action_frames)

    def _refusal(self, item: LogItem) -> bytes:
        return refusal_of(item)

    def _notice(self, notice: Notice) -> OutgoingMessage | None:
        # HR-S06: whatever the client is subscribed to.
        return notice.shared(list_message)
