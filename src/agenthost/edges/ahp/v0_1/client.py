"""The client of a connection of AHP 0.1, as commands see it."""

import dataclasses
from collections.abc import Callable

from agenthost.edges.ahp.peer_context import PeerContext
from agenthost.edges.ahp.v0_1.projection import channel_of, resource_of, state_of
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.state.feed import View
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.legacy.snapshot import Snapshot

__all__ = ["ClientContext"]


class ClientContext(PeerContext):
    """One connected client."""

    def __init__(self, host: HostClient, subscriber: Subscriber, deliver: Callable[[LogItem], None]) -> None:
        # A session and its default chat are one resource in this version.
        super().__init__(host, subscriber, deliver, is_whole=True)

    async def check_subscribable(self, uri: str) -> None:
        """Refuse what the client may not see, and chats: this version does not have them.

        Raises:
            HostError: why not.
        """
        await self.host.check_subscribable(channel_of(uri), has_chats=False)

    def to_snapshot(self, view: View) -> Snapshot:
        """Return a view as it travels."""
        if view.uri == ROOT_URI:
            view = dataclasses.replace(view, state=self.root_view.root(view.state))
        return {"resource": resource_of(view.uri), "state": state_of(view), "fromSeq": view.seq}
