"""The client of a connection of AHP 1.0 or 0.9, as commands see it."""

import dataclasses
from collections.abc import Callable
from typing import Any

from agenthost.edges.ahp.peer_context import PeerContext
from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.edges.ahp.transport import Outbox
from agenthost.edges.ahp.v1 import older
from agenthost.edges.ahp.v1.subscriptions import Subscriptions
from agenthost.edges.ahp.v1.watches import Watches
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.feed import View
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.snapshot import Snapshot

__all__ = ["ClientContext"]


class ClientContext(PeerContext):
    """One connected client.

    Attributes:
        is_older: it speaks 0.9, which lacks some of 1.0.
        watches: the watches of files that it created.
        subscriptions: how it follows its channels.
    """

    def __init__(
        self,
        host: HostClient,
        outbox: Outbox,
        deliver: Callable[[LogItem], None],
        version: str,
    ) -> None:
        super().__init__(host, outbox, deliver)
        self.is_older = version.startswith("0.")
        self.watches = Watches(host)
        self.subscriptions = Subscriptions(host, self.feed, outbox, version)

    @property
    def options(self) -> SubscriptionOptions:
        """What the client asked for when it subscribed."""
        return self.subscriptions.options

    def close(self) -> None:
        """End what belongs to the connection."""
        self.watches.close()
        self.subscriptions.close()

    def to_snapshot(self, view: View) -> Snapshot:
        """Return a view as it travels."""
        if view.uri == ROOT_URI:
            view = dataclasses.replace(view, state=self.root_view.root(view.state))
        state = older.strip_state(view.state) if self.is_older else view.state
        return {"resource": view.uri, "state": state, "fromSeq": view.seq}

    def to_summary(self, summary: Any) -> Any:
        """Return a summary of the list, or some fields of one, as it travels."""
        return older.strip_summary(summary) if self.is_older else summary
