"""Limits on connections, with a key and without. Knows no protocol.

A connection is unauthenticated until one of its requests passes `Access`. Such connections have a separate
budget, in total and per address. When it is used up, the oldest of them are dropped. So a new connection
always has a moment to show a key, and authenticated connections are never dropped. Some descriptors are
reserved for files, programs and terminals.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from starlette.types import Scope

from agenthost.edges.rates import client_source
from agenthost.settings import MAX_CONNECTIONS

__all__ = ["SLOT", "ConnectionSlot", "Connections", "max_for_files", "sign_in"]

log = logging.getLogger("agenthost.http")

SLOT = "agenthost.slot"
"""The entry of the scope with the `ConnectionSlot`; missing if another server runs the application."""

MAX_UNAUTHENTICATED = 1_024
MAX_FOR_ONE_ADDRESS = 256
MIN_UNAUTHENTICATED = 8

MIN_FREE_FILES = 64
"""How many descriptors are reserved for files, programs and terminals; a quarter of all if that is more."""

SWEEP_SECONDS = 1.0
TRIM_SECONDS = 0.05
"""How long a burst of connections may take to show keys before the oldest are dropped."""


class Peer(Protocol):
    """The protocol of a connection."""

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""

    def check_time(self) -> None:
        """End the connection if the peer takes too long. Called once a second."""


class ConnectionSlot:
    """The slot of one connection, from when it is accepted until it is lost, whatever its protocol.

    Attributes:
        source: the address; for IPv6, its /64 network.
        peer: the protocol of the connection.
        is_authenticated: whether one of its requests passed `Access`.
        on_disconnect: called once when the peer is gone; set by the code that serves it.
    """

    __slots__ = ("_connections", "_transport", "is_authenticated", "on_disconnect", "peer", "source")

    def __init__(self, connections: "Connections", transport: asyncio.Transport, peer: Peer) -> None:
        address = transport.get_extra_info("peername")
        self.source = client_source(address[0]) if isinstance(address, tuple) else ""
        self.peer = peer
        self.is_authenticated = False
        self.on_disconnect: Callable[[], None] | None = None
        self._connections = connections
        self._transport = transport

    def sign_in(self) -> None:
        """Record that a request passed `Access`."""
        if not self.is_authenticated:
            self.is_authenticated = True
            self._connections.forget_unauthenticated(self)

    def notify_disconnect(self) -> None:
        """Notify the code that serves the peer that it is gone."""
        on_disconnect, self.on_disconnect = self.on_disconnect, None
        if on_disconnect is not None:
            on_disconnect()

    def leave(self) -> None:
        """Release the slot: the connection is lost."""
        self._connections.remove(self)
        self.notify_disconnect()

    def drop(self) -> None:
        """End the connection at once."""
        self._transport.abort()


class Connections:
    """All connections of a server."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS) -> None:
        """Allow this many, or as many as there are descriptors for."""
        self.max_connections = min(max_connections, max_for_files())
        share = max(self.max_connections // 4, MIN_UNAUTHENTICATED)
        self.max_unauthenticated = min(share, MAX_UNAUTHENTICATED)
        self.max_for_one_address = min(max(self.max_unauthenticated // 2, 1), MAX_FOR_ONE_ADDRESS)
        self._all: dict[ConnectionSlot, None] = {}
        self._unauthenticated: dict[ConnectionSlot, None] = {}  # oldest first
        self._sources: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None
        self._trimming: asyncio.TimerHandle | None = None
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._all)

    @property
    def unauthenticated(self) -> int:
        """How many have not shown a key."""
        return len(self._unauthenticated)

    def admit(self, transport: asyncio.Transport, peer: Peer) -> ConnectionSlot | None:
        """Add a connection; `None` if there is no room because all others have shown a key."""
        loop = asyncio.get_running_loop()
        if self._sweeping is None:
            self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop)
        if len(self._all) >= self.max_connections and not self._drop_oldest():
            self._dropped += 1
            return None
        slot = ConnectionSlot(self, transport, peer)
        self._all[slot] = self._unauthenticated[slot] = None
        self._sources[slot.source] += 1
        if self._trimming is None and (self._is_full(slot) or self._is_address_full(slot)):
            self._trimming = loop.call_later(TRIM_SECONDS, self._trim)
        return slot

    def remove(self, slot: ConnectionSlot) -> None:
        """Remove a lost connection."""
        if self._all.pop(slot, slot) is None:
            self.forget_unauthenticated(slot)

    def forget_unauthenticated(self, slot: ConnectionSlot) -> None:
        """Remove a connection from those that have shown no key."""
        if self._unauthenticated.pop(slot, slot) is None:
            self._sources[slot.source] -= 1
            if not self._sources[slot.source]:
                del self._sources[slot.source]

    def _is_address_full(self, slot: ConnectionSlot) -> bool:
        return self._sources[slot.source] > self.max_for_one_address

    def _is_full(self, _slot: ConnectionSlot) -> bool:
        return len(self._unauthenticated) > self.max_unauthenticated

    def _trim(self) -> None:
        """Drop the oldest connections without a key until the rest is within the budget."""
        self._trimming = None
        # Idle ones first, and among these those of an address with more than its share.
        for is_busy in (False, True):
            for is_over in (self._is_address_full, self._is_full):
                for slot in list(self._unauthenticated):
                    if is_over(slot) and slot.peer.is_answering is is_busy:
                        self._drop(slot)

    def _drop_oldest(self) -> bool:
        oldest = next(iter(self._unauthenticated), None)
        if oldest is not None:
            self._drop(oldest)
        return oldest is not None

    def _drop(self, slot: ConnectionSlot) -> None:
        self._dropped += 1
        self.remove(slot)
        slot.drop()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Check the time limits of all connections, once a second, with one timer for all."""
        for slot in list(self._all):
            slot.peer.check_time()
        if self._dropped:
            log.warning("too many connections: dropped %d that had shown no key", self._dropped)
            self._dropped = 0
        # Stops without connections. The next one starts it again.
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._all else None


def max_for_files() -> int:
    """Return how many connections leave enough descriptors for everything else."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return MAX_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return int(max(soft - max(soft // 4, MIN_FREE_FILES), MIN_UNAUTHENTICATED))


def sign_in(scope: Scope) -> None:
    """Record on the connection of a request that it passed `Access`."""
    slot = scope.get(SLOT)
    if slot is not None:
        slot.sign_in()
