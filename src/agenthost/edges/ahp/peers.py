"""Peers: everybody who is connected, and what is remembered of clients between their connections."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Protocol

from agenthost.edges.ahp.transport import Line
from agenthost.host.identity import Identity

__all__ = ["Admission", "Peers"]

CLOSE_GOING_AWAY = 1001
CLOSE_NOT_ALLOWED = 1008

MOST_REMEMBERED = 10_000
"""How many clients are remembered that may come back. Whoever was away for longest begins anew."""


class Admission(Protocol):
    """That somebody was let in."""

    @property
    def is_valid(self) -> bool:
        """Whether they would be let in now."""


class Peers:
    """Everybody who is connected: one connection for each client, the newest.

    Attributes:
        max_connections: how many there may be at the same time.
        versions: what each client spoke, by its identity; those that were here last are at the end.
    """

    def __init__(self, max_connections: int = 10_000) -> None:
        self.max_connections = max_connections
        self.versions: OrderedDict[Identity, str] = OrderedDict()
        self._lines: dict[Line, Admission | None] = {}
        self._newest: dict[Identity, Line] = {}
        self._identities: dict[Line, Identity] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def admit(self, line: Line, admission: Admission | None) -> bool:
        """Take a connection in, unless there are too many."""
        if len(self._lines) >= self.max_connections:
            return False
        self._lines[line] = admission
        return True

    def leave(self, line: Line) -> None:
        """Forget a connection."""
        self._lines.pop(line, None)
        identity = self._identities.pop(line, None)
        if identity is not None and self._newest.get(identity) is line:
            del self._newest[identity]

    def take_over(self, identity: Identity, line: Line) -> Line | None:
        """Let the newest connection be the client's only one; gives the one before it."""
        older = self._newest.get(identity)
        self._newest[identity] = line
        self._identities[line] = identity
        return older

    def remember(self, identity: Identity, version: str) -> Iterator[Identity]:
        """Remember what a client speaks; yields those who are forgotten for it."""
        self.versions[identity] = version
        self.versions.move_to_end(identity)
        while len(self.versions) > MOST_REMEMBERED:
            gone, known = self.versions.popitem(last=False)
            if gone in self._newest:  # it is here, so it is not for it to go
                self.versions[gone] = known
                return
            yield gone

    def sweep(self) -> None:
        """End the connections of those who would not be let in any more."""
        for line, admission in list(self._lines.items()):
            if admission is not None and not admission.is_valid:
                line.end(CLOSE_NOT_ALLOWED, "the key is no longer valid")

    def stop(self) -> None:
        """End all connections: the host goes away."""
        for line in list(self._lines):
            line.end(CLOSE_GOING_AWAY, "the host is going away")
