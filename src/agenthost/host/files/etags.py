"""Etags: identify the state of a file that a client has seen.

An etag is made of the file's inode, size and times. It promises this: if it is still the same, nobody has
written to the file since it was returned. The time of the last change (`ctime`) cannot be set back by a
program, and an etag is not returned before the clock of the file system has moved on, so that every later
write gets another time. The promise holds for local file systems; a network file system has its own clock.
"""

import os
import time
from hashlib import blake2b

from agenthost.errors import ResourceConflict
from agenthost.host.files.jail import Place

__all__ = ["check_etag", "etag_of", "settled_etag"]

_CLOCK = getattr(time, "CLOCK_REALTIME_COARSE", time.CLOCK_REALTIME)
"""The clock that the kernel stamps files with: on Linux it moves in steps of some milliseconds."""

SETTLE_SECONDS = 0.05
"""How long to wait for the clock. A file from the future gets no etag."""

WHOLE_SECONDS_NS = 2_000_000_000
"""How old a file has to be on a file system that counts whole seconds, or two of them."""

_SECOND_NS = 1_000_000_000


def etag_of(status: os.stat_result) -> str:
    """Return the etag of this state of a file."""
    pieces = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return blake2b(repr(pieces).encode(), digest_size=12).hexdigest()


def settled_etag(place: Place) -> str | None:
    """Return the etag of a file, once every later write would change it; `None` if that takes too long."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        status = place.require_status()
        age = time.clock_gettime_ns(_CLOCK) - status.st_ctime_ns
        if age > (0 if status.st_ctime_ns % _SECOND_NS else WHOLE_SECONDS_NS):
            return etag_of(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.002)


def check_etag(place: Place, expected: str | None, status: os.stat_result | None) -> None:
    """Refuse to change a file whose status is not the expected one; `None` expects nothing.

    Raises:
        ResourceConflict: it was changed, replaced or deleted.
    """
    if expected is not None and (status is None or etag_of(status) != expected):
        raise ResourceConflict(place.target.uri)
