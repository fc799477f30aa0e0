"""Space: what was removed is given back to the disk, some of it at a time.

SQLite keeps the pages of what was removed, to use them again. A file that knows who points to each page
(`auto_vacuum = incremental`) can move its last ones into those, and be cut. Some free pages are left: the
next commits want them. Knows no tables.
"""

import logging
import sqlite3
from pathlib import Path

__all__ = ["give_back", "let_shrink", "prepare_new"]

log = logging.getLogger("agenthost.storage")

INCREMENTAL = 2

MIN_FREE = 1_024
"""How many free pages are kept at least: 4 MB."""

FREE_SHARE = 8
"""One page in so many may be free."""

PAGES_AT_ONCE = 1_000
"""How many pages one call gives back: writes wait for it, so it has to be short."""


def prepare_new(connection: sqlite3.Connection) -> None:
    """Have a file that is empty so far keep what it needs to shrink."""
    if not _number(connection, "page_count"):
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")


def let_shrink(connection: sqlite3.Connection, path: Path) -> None:
    """Rewrite a file that cannot shrink, once. If that fails, it stays as it is."""
    if _number(connection, "auto_vacuum") == INCREMENTAL:
        return
    log.warning("%s is rewritten, once, so that it can give space back", path)
    try:
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        log.warning("%s could not be rewritten, and goes on without: %s", path, error)


def give_back(connection: sqlite3.Connection) -> int:
    """Give back free pages, if there are many; give how many."""
    free = _number(connection, "freelist_count")
    excess = free - max(MIN_FREE, _number(connection, "page_count") // FREE_SHARE)
    if excess <= 0:
        return 0
    # As a script: `execute` takes one step only of what gives no rows, which here is one page.
    connection.executescript(f"PRAGMA incremental_vacuum({min(excess, PAGES_AT_ONCE)})")
    given = free - _number(connection, "freelist_count")
    if given == excess:
        # The last ones: the file itself is cut when what is in the write-ahead log is put into it.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    return max(given, 0)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
