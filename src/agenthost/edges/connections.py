"""Connections: how many there may be, with a key and without. Knows no protocol.

A connection counts as unauthenticated until one of its requests passes `Access`. Such connections have a
budget of their own, in total and for one address. When it is spent, the oldest of them make room, so that a
newcomer always gets the moment that it takes to show a key, and whoever has shown one keeps its connection.
Descriptors that files, programs and terminals need are never given to connections.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from starlette.types import Scope

from agenthost.edges.rates import source_of
from agenthost.settings import MAX_CONNECTIONS

__all__ = ["VISITOR", "Connections", "Visitor", "max_for_files", "sign_in"]

log = logging.getLogger("agenthost.http")

VISITOR = "agenthost.visitor"
"""The entry of the scope with the `Visitor`; missing where another server runs the application."""

MAX_UNAUTHENTICATED = 1_024
MAX_FOR_ONE_ADDRESS = 256
MIN_UNAUTHENTICATED = 8

MIN_FREE_FILES = 64
"""So many descriptors are left for files, programs and terminals, and a quarter of all if that is more."""

SWEEP_SECONDS = 1.0
TRIM_SECONDS = 0.05
"""How long a crowd that comes at once may take to show its keys before the oldest are dropped."""


class Peer(Protocol):
    """The protocol behind a connection."""

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""

    def check_time(self) -> None:
        """End the connection if the peer takes too long. Called once a second."""


class Visitor:
    """One connection, from when it is accepted until it is lost, whatever is spoken over it.

    Attributes:
        source: the address, or the network of 64 bits with IPv6.
        peer: the protocol that is spoken.
        is_signed_in: whether one of its requests passed `Access`.
        when_gone: called once when the peer is gone; set by whoever works for it meanwhile.
    """

    __slots__ = ("_connections", "_transport", "is_signed_in", "peer", "source", "when_gone")

    def __init__(self, connections: "Connections", transport: asyncio.Transport, peer: Peer) -> None:
        address = transport.get_extra_info("peername")
        self.source = source_of(address[0]) if isinstance(address, tuple) else ""
        self.peer = peer
        self.is_signed_in = False
        self.when_gone: Callable[[], None] | None = None
        self._connections = connections
        self._transport = transport

    def sign_in(self) -> None:
        """Note that a request passed `Access`."""
        if not self.is_signed_in:
            self.is_signed_in = True
            self._connections.forget_unauthenticated(self)

    def tell_gone(self) -> None:
        """Tell whoever works for the peer that it is gone."""
        when_gone, self.when_gone = self.when_gone, None
        if when_gone is not None:
            when_gone()

    def leave(self) -> None:
        """Give the place back: the connection is lost."""
        self._connections.remove(self)
        self.tell_gone()

    def drop(self) -> None:
        """End the connection at once."""
        self._transport.abort()


class Connections:
    """All connections of a server."""

    def __init__(self, max_connections: int = MAX_CONNECTIONS) -> None:
        """Allow so many, or as many as there are descriptors for."""
        self.max_connections = min(max_connections, max_for_files())
        share = max(self.max_connections // 4, MIN_UNAUTHENTICATED)
        self.max_unauthenticated = min(share, MAX_UNAUTHENTICATED)
        self.max_for_one_address = min(max(self.max_unauthenticated // 2, 1), MAX_FOR_ONE_ADDRESS)
        self._all: dict[Visitor, None] = {}
        self._unauthenticated: dict[Visitor, None] = {}  # the oldest first
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

    def admit(self, transport: asyncio.Transport, peer: Peer) -> Visitor | None:
        """Take in a connection; None if there is no room, as all have shown a key."""
        loop = asyncio.get_running_loop()
        if self._sweeping is None:
            self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop)
        if len(self._all) >= self.max_connections and not self._drop_oldest():
            self._dropped += 1
            return None
        visitor = Visitor(self, transport, peer)
        self._all[visitor] = self._unauthenticated[visitor] = None
        self._sources[visitor.source] += 1
        if self._trimming is None and (self._is_full(visitor) or self._is_address_full(visitor)):
            self._trimming = loop.call_later(TRIM_SECONDS, self._trim)
        return visitor

    def remove(self, visitor: Visitor) -> None:
        """Forget a connection that is lost."""
        if self._all.pop(visitor, visitor) is None:
            self.forget_unauthenticated(visitor)

    def forget_unauthenticated(self, visitor: Visitor) -> None:
        """Count a connection no longer among those that have shown no key."""
        if self._unauthenticated.pop(visitor, visitor) is None:
            self._sources[visitor.source] -= 1
            if not self._sources[visitor.source]:
                del self._sources[visitor.source]

    def _is_address_full(self, visitor: Visitor) -> bool:
        return self._sources[visitor.source] > self.max_for_one_address

    def _is_full(self, _visitor: Visitor) -> bool:
        return len(self._unauthenticated) > self.max_unauthenticated

    def _trim(self) -> None:
        """Drop the oldest that have shown no key, until those that stay are within the budget."""
        self._trimming = None
        # Those that are silent first; and first those of an address that has more than its share.
        for is_busy in (False, True):
            for is_over in (self._is_address_full, self._is_full):
                for visitor in list(self._unauthenticated):
                    if is_over(visitor) and visitor.peer.is_answering is is_busy:
                        self._drop(visitor)

    def _drop_oldest(self) -> bool:
        oldest = next(iter(self._unauthenticated), None)
        if oldest is not None:
            self._drop(oldest)
        return oldest is not None

    def _drop(self, visitor: Visitor) -> None:
        self._dropped += 1
        self.remove(visitor)
        visitor.drop()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look once a second whether somebody takes too long: one timer for all of them."""
        for visitor in list(self._all):
            visitor.peer.check_time()
        if self._dropped:
            log.warning("too many connections: %d that had shown no key were dropped", self._dropped)
            self._dropped = 0
        # Without connections there is nothing to look at; the next one starts it again.
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._all else None


def max_for_files() -> int:
    """Return how many connections there may be so that enough descriptors are left for all else."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return MAX_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return int(max(soft - max(soft // 4, MIN_FREE_FILES), MIN_UNAUTHENTICATED))


def sign_in(scope: Scope) -> None:
    """Note on the connection of a request that it passed `Access`."""
    visitor = scope.get(VISITOR)
    if visitor is not None:
        visitor.sign_in()
