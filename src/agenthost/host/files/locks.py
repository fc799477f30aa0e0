"""Locks of files, so that a check and the change that follows are one step among all users of this host.

They hold off nobody else: another program may change a file at any time.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock

from agenthost.host.files.jail import Place

__all__ = ["locked"]

_LOCKS = [RLock() for _ in range(64)]
"""Locks by hash of the folder and the name: two files may share one."""


@contextmanager
def locked(*places: Place) -> Iterator[None]:
    """Hold the locks of these files. A thread may take a lock again that it holds."""
    with ExitStack() as held:
        for number in sorted({_number(place) for place in places}):  # in one order, so that nobody deadlocks
            held.enter_context(_LOCKS[number])
        yield


def _number(place: Place) -> int:
    folder = os.fstat(place.folder)
    return hash((folder.st_dev, folder.st_ino, place.name)) % len(_LOCKS)
