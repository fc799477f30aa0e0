"""The flow of a program's output: read as fast as it is shown, and no faster.

Whatever was read while the journal wrote its last group goes into the next, as one piece. While much waits,
or somebody who listens is behind, nothing is read: then the pty fills up, and the program itself waits. One
who takes nothing at all for some time is not waited for any longer: a slow reader harms only itself.
"""

import asyncio
from collections.abc import Callable

from agenthost.host.subscriptions import Hub, Subscriber
from agenthost.host.terminals.process import Process

MOST_WAITING = 128 * 1024
"""How much output may wait for the journal."""

PATIENCE_SECONDS = 5.0
"""How long one who takes nothing is waited for."""

LOOK_SECONDS = 0.01
"""How often those who are behind are looked at."""


class Flow:
    """Reads the output of one program while there is room for it."""

    def __init__(self, process: Process, hub: Hub, number: int, read: Callable[[], None]) -> None:
        self._process = process
        self._hub = hub
        self._number = number
        self._read = read
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._behind: dict[Subscriber, tuple[int, float]] = {}
        self._is_reading = False
        self._is_closed = False

    def settle(self, waiting: int) -> None:
        """Read on, or stop: so much waits for the journal."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_closed:
            return
        is_held = self._is_held()
        if is_held:
            self._timer = self._loop.call_later(LOOK_SECONDS, self.settle, waiting)
        should_read = not is_held and waiting < MOST_WAITING
        if should_read != self._is_reading:
            self._is_reading = should_read
            self._process.listen(self._read if should_read else None)

    def _is_held(self) -> bool:
        """Tell whether somebody is behind who may still catch up."""
        now = self._loop.time()
        behind = {}
        for listener in self._hub.listeners(self._number):
            if listener.is_behind:
                taken, since = self._behind.get(listener, (-1, now))
                behind[listener] = (taken, since) if taken == listener.taken else (listener.taken, now)
        self._behind = behind
        return any(now - since < PATIENCE_SECONDS for _, since in behind.values())

    def close(self) -> None:
        """Read nothing more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._process.listen(None)
