"""The notifier: reads the events of one queue, and passes each to the folders that it concerns.

Events are gathered for a moment and read in portions, with a pause after each. So however fast files
are written, the event loop spends a small part of its time here. Events that do not fit the kernel's queue
are lost, and then everything is compared again.
"""

import asyncio
import logging
from collections.abc import Callable
from threading import Lock
from typing import Protocol

from agenthost.host.files.watches.inotify import GONE, OVERFLOW, WRITTEN, Inotify

__all__ = ["Listener", "Notifier"]

log = logging.getLogger("agenthost.files")

GATHER_SECONDS = 0.05
"""How long events are gathered before they are read."""


class Listener(Protocol):
    """A receiver of events about a folder or a file. Called on the event loop; must not block."""

    def notice(self, name: str, *, is_written: bool) -> None:
        """Something happened to this name, or to the folder itself if it is empty."""

    def notice_end(self, watch: int) -> None:
        """There will be no more events for this number: its folder is gone."""


class Notifier:
    """The events of one queue. Listeners come and go in any thread.

    Attributes:
        on_loss: called when events were lost. Used on the event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open a queue.

        Raises:
            OSError: the system has none.
        """
        self._inotify = Inotify()
        self._loop = loop
        self._lock = Lock()
        self._listeners: dict[int, list[Listener]] = {}
        self.on_loss: set[Callable[[], None]] = set()
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        loop.add_reader(self._inotify.descriptor, self._gather)

    def add(self, folder: int, listener: Listener) -> int:
        """Subscribe a listener to the events of an open folder. Return the number of the watch.

        Raises:
            OSError: there are too many watches.
        """
        with self._lock:
            if self._is_closed:
                raise OSError("the notifier is closed")
            watch = self._inotify.add(folder)
            listeners = self._listeners.setdefault(watch, [])
            if listener not in listeners:
                listeners.append(listener)
            return watch

    def remove(self, watch: int, listener: Listener) -> None:
        """Unsubscribe a listener."""
        with self._lock:
            listeners = self._listeners.get(watch, [])
            if listener in listeners:
                listeners.remove(listener)
                if not listeners:
                    del self._listeners[watch]
                    if not self._is_closed:
                        self._inotify.remove(watch)

    def close(self) -> None:
        """Close the queue. Called on the event loop."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._listeners.clear()
            if self._timer is not None:
                self._timer.cancel()
            else:
                self._loop.remove_reader(self._inotify.descriptor)
            self._inotify.close()

    def _gather(self) -> None:
        self._loop.remove_reader(self._inotify.descriptor)
        self._timer = self._loop.call_later(GATHER_SECONDS, self._pass_on)

    def _pass_on(self) -> None:
        self._timer = None
        events = self._inotify.read()
        with self._lock:
            for watch, mask, name in events:
                if mask & OVERFLOW:
                    self._tell_loss()
                    continue
                if mask & GONE:
                    for listener in self._listeners.pop(watch, ()):
                        listener.notice_end(watch)
                    continue
                for listener in self._listeners.get(watch, ()):
                    listener.notice(name, is_written=bool(mask & WRITTEN))
        # If there is more, this is called at once, and then pauses again.
        self._loop.add_reader(self._inotify.descriptor, self._gather)

    def _tell_loss(self) -> None:
        log.debug("events of files were lost; everything that is watched is looked at again")
        for tell in self.on_loss:
            tell()
