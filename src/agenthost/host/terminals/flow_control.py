"""Flow control: the output of a program is read as fast as it is shown, and no faster.

What was read while the journal wrote its last group goes into the next one, in one piece. While much output
is waiting, or a subscriber is behind, nothing is read: the pty fills up, and the program itself waits. A
subscriber that takes nothing for some time is no longer waited for: a slow reader harms only itself.
"""

import asyncio
from collections.abc import Callable

from agenthost.host.log.subscriptions import Hub, Subscriber
from agenthost.host.terminals.process import Process

MAX_WAITING = 128 * 1024
"""How many characters of output may wait for the journal."""

MAX_STALL_SECONDS = 5.0
"""How long to wait for a subscriber that takes nothing."""

CHECK_SECONDS = 0.01
"""How often to check subscribers that are behind."""


class FlowControl:
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

    def adjust(self, waiting: int) -> None:
        """Start or stop reading, given how much output waits for the journal."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_closed:
            return
        is_held = self._is_held()
        if is_held:
            self._timer = self._loop.call_later(CHECK_SECONDS, self.adjust, waiting)
        should_read = not is_held and waiting < MAX_WAITING
        if should_read != self._is_reading:
            self._is_reading = should_read
            self._process.listen(self._read if should_read else None)

    def _is_held(self) -> bool:
        """Return whether a subscriber is behind and may still catch up."""
        now = self._loop.time()
        behind = {}
        for listener in self._hub.listeners(self._number):
            if listener.is_behind:
                taken, since = self._behind.get(listener, (-1, now))
                behind[listener] = (taken, since) if taken == listener.taken else (listener.taken, now)
        self._behind = behind
        return any(now - since < MAX_STALL_SECONDS for _, since in behind.values())

    def close(self) -> None:
        """Stop reading for good."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._process.listen(None)
