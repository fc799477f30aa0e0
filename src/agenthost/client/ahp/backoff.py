"""Backoff: how long to wait between attempts to reconnect."""

import random
from dataclasses import dataclass

__all__ = ["Backoff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How to reconnect after a connection was lost. The first attempt is made at once.

    Attributes:
        initial: about how many seconds to wait before the second attempt; each further wait doubles.
        maximum: about how many seconds to wait at most.
        give_up_after: how many seconds to try in all; None never gives up.
    """

    initial: float = 0.1
    maximum: float = 10.0
    give_up_after: float | None = None

    def delay(self, attempt: int) -> float:
        """Return how many seconds to wait: partly random, so that clients do not return all at once."""
        if attempt == 0:
            return 0.0
        return min(self.maximum, self.initial * 2.0 ** min(attempt - 1, 30)) * random.uniform(0.5, 1.0)  # noqa: S311
