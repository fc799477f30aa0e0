"""How a turn waits for people, clients and actions in its session. Its clock stops meanwhile."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

__all__ = ["TurnWaiter"]

T = TypeVar("T")


@dataclass(slots=True)
class TurnWaiter:
    """The waits of one turn, and its clock.

    Attributes:
        deadline: when its time is up, by the monotonic clock; None while it waits.
        is_late: whether its time is up.
        is_over: whether the turn has ended.
        is_waited: whether `wake` has anything to wake.
        watchers: called after each action in the session.
    """

    is_over: bool = False
    is_late: bool = False
    is_waited: bool = False
    deadline: float | None = None
    watchers: list[Callable[[], None]] = field(default_factory=list)
    _waiters: set[asyncio.Future[None]] = field(default_factory=set)
    _time_left: float | None = None
    _count: int = 0

    def check(self) -> None:
        """Raise `CancelledError` if the turn has ended, to stop an agent that goes on."""
        if self.is_over:
            raise asyncio.CancelledError("the turn has ended")

    async def wait_for(self, look: Callable[[], T | None]) -> T:
        """Wait until `look` returns a value; it is called again after each action in the session."""
        while (value := look()) is None:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            self.is_waited = True
            self._stop_clock()
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
                self.is_waited = bool(self._waiters or self.watchers)
                self._start_clock()
            # Before `look` is called again: it might see another turn.
            self.check()
        return value

    def watch(self, look: Callable[[], None]) -> None:
        """Call `look` after each action in the session."""
        self.watchers.append(look)
        self.is_waited = True

    def wake(self) -> None:
        """Wake everything that waits, to check again."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        for watch in self.watchers if not self.is_over else ():
            watch()

    def _stop_clock(self) -> None:
        # Several calls may wait at once: the first stops the clock, and the last starts it again.
        self._count += 1
        if self._count == 1 and self.deadline is not None:
            self._time_left = self.deadline - monotonic()
            self.deadline = None

    def _start_clock(self) -> None:
        self._count -= 1
        if self._count == 0 and self._time_left is not None:
            self.deadline = monotonic() + self._time_left
            self._time_left = None
