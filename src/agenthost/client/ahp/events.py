"""Connection events: the connection of a client is established or lost."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agenthost.client.ahp.errors import AhpError
from agenthost.wire.ahp.common import URI

__all__ = ["Connected", "ConnectionEvent", "ConnectionLost"]


@dataclass(frozen=True, slots=True)
class Connected:
    """The client is connected, for the first time or again.

    Attributes:
        how: `initialize` for a new connection; after a lost one, `replay` if the host sent everything
            that was missed (HR-C02), or `snapshot` if it sent whole states (HR-C04).
        gone: sessions and terminals that no longer exist (HR-C03). They have been dropped.
    """

    how: Literal["initialize", "replay", "snapshot"]
    gone: list[URI] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The connection is lost. The client reconnects by itself, unless `is_final`."""

    error: AhpError
    is_final: bool


ConnectionEvent: TypeAlias = Connected | ConnectionLost
"""The connection came or went."""
