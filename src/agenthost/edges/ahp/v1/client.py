"""The client of a connection of AHP 1.0 or 0.9, as commands see it."""

import dataclasses
from collections.abc import Callable
from typing import Any

from agenthost.edges.ahp.peer_context import PeerContext
from agenthost.edges.ahp.v1 import older
from agenthost.edges.ahp.v1.watches import Watches
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.state.feed import View
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.snapshot import Snapshot

__all__ = ["ClientContext"]


class ClientContext(PeerContext):
    """One connected client.

    Attributes:
        is_older: it speaks 0.9, which lacks some of 1.0.
        watches: the watches of files that it created.
    """

    def __init__(
        self,
        host: HostClient,
        subscriber: Subscriber,
        deliver: Callable[[LogItem], None],
        *,
        is_older: bool,
    ) -> None:
        super().__init__(host, subscriber, deliver)
        self.is_older = is_older
        self.watches = Watches(host)

    def close(self) -> None:
        """End what belongs to the connection."""
        self.watches.close()

    def to_snapshot(self, view: View) -> Snapshot:
        """Return a view as it travels."""
        if view.uri == ROOT_URI:
            view = dataclasses.replace(view, state=self.root_view.root(view.state))
        state = older.strip_state(view.state) if self.is_older else view.state
        return {"resource": view.uri, "state": state, "fromSeq": view.seq}

    def to_summary(self, summary: Any) -> Any:
        """Return a summary of the list, or some fields of one, as it travels."""
        return older.strip_summary(summary) if self.is_older else summary
