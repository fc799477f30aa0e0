"""Events: what becomes of the connection, and how patiently it is tried again."""

import random
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agenthost.client.ahp.errors import AhpError
from agenthost.wire.ahp.common import URI

__all__ = ["Connected", "Event", "Lost", "Patience"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How to come back when a connection is lost.

    Attributes:
        first: about how many seconds to wait before the second try; the first is made at once.
        longest: about how long to wait at most; each wait is twice the one before.
        seconds: after so long without a connection it is given up; None never gives up.
    """

    first: float = 0.1
    longest: float = 10.0
    seconds: float | None = None

    def wait(self, attempt: int) -> float:
        """Give how long to wait: a part of it by chance, so that not all come back at the same moment."""
        if attempt == 0:
            return 0.0
        return min(self.longest, self.first * 2.0 ** min(attempt - 1, 30)) * random.uniform(0.5, 1.0)  # noqa: S311


@dataclass(frozen=True, slots=True)
class Connected:
    """The connection is there: for the first time (`initialize`), or again.

    Attributes:
        how: what the host gave: all that was missed (`replay`), or states whole.
        gone: sessions and terminals that are not there any more. They have been dropped.
    """

    how: Literal["initialize", "replay", "snapshot"]
    gone: list[URI] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is lost. It comes back by itself, unless this is final."""

    error: AhpError
    is_final: bool


Event: TypeAlias = Connected | Lost
"""What becomes of the connection."""
