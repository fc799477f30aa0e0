"""Peers: all connected clients, and what is remembered of clients between their connections."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Protocol

from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.edges.ahp.transport import ConnectionHandle
from agenthost.host.access.identity import Identity

__all__ = ["Admission", "Peers"]

CLOSE_GOING_AWAY = 1001
CLOSE_NOT_ALLOWED = 1008

MAX_REMEMBERED = 10_000
"""How many clients are remembered. Those that were away for longest are forgotten first."""


class Admission(Protocol):
    """A granted access."""

    @property
    def is_valid(self) -> bool:
        """Whether the same access would be granted now."""


class Peers:
    """All connected clients, each with one connection: the newest.

    Attributes:
        max_connections: how many connections there may be at the same time.
        versions: the version that each client uses, by its identity; the most recent clients come last.
        options: what each of them asked for when it subscribed.
    """

    def __init__(self, max_connections: int = 10_000) -> None:
        self.max_connections = max_connections
        self.versions: OrderedDict[Identity, str] = OrderedDict()
        self.options: dict[Identity, SubscriptionOptions] = {}
        self._handles: dict[ConnectionHandle, Admission | None] = {}
        self._newest: dict[Identity, ConnectionHandle] = {}
        self._identities: dict[ConnectionHandle, Identity] = {}

    def __len__(self) -> int:
        return len(self._handles)

    def admit(self, handle: ConnectionHandle, admission: Admission | None) -> bool:
        """Add a connection, unless there are too many. Return whether it was added."""
        if len(self._handles) >= self.max_connections:
            return False
        self._handles[handle] = admission
        return True

    def leave(self, handle: ConnectionHandle) -> None:
        """Remove a connection."""
        self._handles.pop(handle, None)
        identity = self._identities.pop(handle, None)
        # A newer connection may have taken its place already.
        if identity is not None and self._newest.get(identity) is handle:
            del self._newest[identity]

    def take_over(self, identity: Identity, handle: ConnectionHandle) -> ConnectionHandle | None:
        """Make this the client's only connection. Return its previous one."""
        older = self._newest.get(identity)
        self._newest[identity] = handle
        self._identities[handle] = identity
        return older

    def remember(self, identity: Identity, version: str, options: SubscriptionOptions) -> Iterator[Identity]:
        """Remember the version of a client, and its options. Yield the clients that are forgotten for it."""
        self.versions[identity] = version
        self.options[identity] = options
        self.versions.move_to_end(identity)
        while len(self.versions) > MAX_REMEMBERED:
            gone, known = self.versions.popitem(last=False)
            if gone in self._newest:  # it is connected, so it must not be forgotten
                self.versions[gone] = known
                return
            self.options.pop(gone, None)
            yield gone

    def sweep(self) -> None:
        """End connections whose admission is no longer valid."""
        for handle, admission in list(self._handles.items()):
            if admission is not None and not admission.is_valid:
                handle.end(CLOSE_NOT_ALLOWED, "the key is no longer valid")

    def stop(self) -> None:
        """End all connections, because the host stops."""
        for handle in list(self._handles):
            handle.end(CLOSE_GOING_AWAY, "the host is going away")
