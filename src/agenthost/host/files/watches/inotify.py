"""Inotify, the kernel's API for file events: three functions of the C library, and the events.

Folders are named by their open descriptors, never by their paths. So the watched folder is the one that
the jail walked to, whatever has replaced it since, and no link is followed.
"""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

__all__ = ["GONE", "OVERFLOW", "WRITTEN", "Event", "Inotify"]

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_EXCLUDE_UNLINKED = 0x0400_0000
# A file that is written through a memory map is not modified by any call, but closed in the end.
_CONTENT = _MODIFY | _ATTRIB | _CLOSE_WRITE
_NAMES = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF

WRITTEN = _MODIFY
"""In a mask: the content of a file was written."""
OVERFLOW = 0x4000
"""In a mask: events were lost, of any folder."""
GONE = 0x8000
"""In a mask: this is the last event of the folder; it was deleted, or is no longer watched."""

BUFFER = 32 * 1024
"""How much is read at once: some thousand events, which take a few milliseconds."""

_HEADER = struct.Struct("iIII")


class Event(NamedTuple):
    """An event.

    Attributes:
        watch: the number of the watched folder.
        mask: what has happened.
        name: the name in the folder; empty if it happened to the folder itself.
    """

    watch: int
    mask: int
    name: str


class Inotify:
    """One queue of events. Methods may be called in any thread."""

    def __init__(self) -> None:
        """Open a queue.

        Raises:
            OSError: this system has no inotify, or there are too many queues.
        """
        self._library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._library, "inotify_init1"):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self.descriptor = self._checked(self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, folder: int) -> int:
        """Watch an open folder or file. Return its number, which is the same each time.

        Raises:
            OSError: there are too many watches, or `/proc` is missing.
        """
        path = f"/proc/self/fd/{folder}".encode()
        mask = ctypes.c_uint32(_CONTENT | _NAMES | _EXCLUDE_UNLINKED)
        return self._checked(self._library.inotify_add_watch(self.descriptor, path, mask))

    def remove(self, watch: int) -> None:
        """Stop watching a folder. If it is gone already, do nothing."""
        self._library.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> list[Event]:
        """Return the next events; none if there are none yet."""
        try:
            data = os.read(self.descriptor, BUFFER)
        except BlockingIOError:
            return []
        events: list[Event] = []
        place = 0
        while place < len(data):
            watch, mask, _, length = _HEADER.unpack_from(data, place)
            place += _HEADER.size + length
            events.append(Event(watch, mask, os.fsdecode(data[place - length : place].rstrip(b"\0"))))
        return events

    def close(self) -> None:
        """Close the queue."""
        os.close(self.descriptor)

    def _checked(self, result: int) -> int:
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return result
