"""Space: returns the space of removed rows to the disk, a bounded amount at a time.

SQLite keeps free pages to use them again. With `auto_vacuum = incremental` a file records who points to each
page, so its last pages can be moved into free ones and the file cut. Some free pages are left for the next
commits. Knows no tables.
"""

import logging
import sqlite3
from pathlib import Path

__all__ = ["enable_shrinking", "prepare_new_file", "release_pages"]

log = logging.getLogger("agenthost.storage")

INCREMENTAL = 2

MIN_FREE = 1_024
"""How many free pages are always kept: 4 MB."""

FREE_SHARE = 8
"""One page in this many may be free."""

PAGES_AT_ONCE = 1_000
"""How many pages one call releases. Writes wait for it, so it has to be short."""


def prepare_new_file(connection: sqlite3.Connection) -> None:
    """Set up a file that is still empty so that it can shrink."""
    if not _number(connection, "page_count"):
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")


def enable_shrinking(connection: sqlite3.Connection, path: Path) -> None:
    """Rewrite a file that cannot shrink, once. If that fails, the file stays as it is."""
    if _number(connection, "auto_vacuum") == INCREMENTAL:
        return
    log.warning("%s is being rewritten, once, so that it can shrink", path)
    try:
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        log.warning("%s could not be rewritten, so it will not shrink: %s", path, error)


def release_pages(connection: sqlite3.Connection) -> int:
    """Release free pages to the disk if there are many. Return how many were released."""
    free = _number(connection, "freelist_count")
    excess = free - max(MIN_FREE, _number(connection, "page_count") // FREE_SHARE)
    if excess <= 0:
        return 0
    # A script, because `execute` steps only once through a statement without rows: that is one page.
    connection.executescript(f"PRAGMA incremental_vacuum({min(excess, PAGES_AT_ONCE)})")
    given = free - _number(connection, "freelist_count")
    if given == excess:
        # These were the last. A checkpoint of the write-ahead log cuts the file itself.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    return max(given, 0)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
