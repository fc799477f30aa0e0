"""Checking: whether a store is whole. Quickly when it is opened, and row by row for `agenthost doctor`.

SQLite finds damage in the structure of its file: pages, and which row is where. Damage in what rows hold is
found by their checksums. Reads only.
"""

import logging
import sqlite3
from pathlib import Path
from threading import Timer

from agenthost.errors import StorageError

__all__ = ["check_quickly"]

log = logging.getLogger("agenthost.storage")

MAX_SECONDS = 0.25
"""How long the check at the start may take."""


def check_quickly(connection: sqlite3.Connection, path: Path) -> None:
    """Check the structure of a file, for a bounded time.

    Raises:
        StorageError: it is damaged. To write into such a file would make it worse.
    """
    faults = find_faults(connection, MAX_SECONDS) if MAX_SECONDS else None
    if faults is None:
        log.info("%s is too large to be checked at the start; `agenthost doctor` checks all of it", path)
    elif faults:
        raise StorageError(
            f"{path} is damaged; restore a backup of it, or let `agenthost doctor --repair` make a new one "
            f"of what can be read; it was not changed ({faults[0]})"
        )


def find_faults(connection: sqlite3.Connection, seconds: float | None = None) -> list[str] | None:
    """Return what is wrong with the structure of a file; `None` if there was not enough time."""
    timer = None if seconds is None else Timer(seconds, connection.interrupt)
    if timer is not None:
        timer.start()
    try:
        found = connection.execute("PRAGMA quick_check(20)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    finally:
        if timer is not None:
            timer.cancel()
    return [str(line) for (line,) in found if line != "ok"]
