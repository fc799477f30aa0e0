"""Checking: whether a store is whole. Quickly when it is opened, and row by row for `agenthost doctor`.

SQLite finds damage in the structure of its file: pages, and which row is where. Damage in what rows hold is
found by their checksums. Reads only.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import read_counter
from agenthost.host.storage.faults import explained, is_corrupt
from agenthost.host.storage.indexing import read_entries
from agenthost.host.storage.migrations import VERSION, check_file, version_of
from agenthost.host.storage.reading import (
    lenient,
    read_content,
    read_floor,
    read_root,
    read_row,
    read_session,
)

__all__ = ["Report", "check_quickly", "examine", "numbers_of", "reading_file"]

log = logging.getLogger("agenthost.storage")

MAX_SECONDS = 0.25
"""How long the check at the start may take."""

_NUMBERS = "SELECT number FROM session ORDER BY number"

MAX_FAULTS = 20
"""How many faults of the structure are told."""


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


def find_faults(
    connection: sqlite3.Connection, seconds: float | None = None, *, is_deep: bool = False
) -> list[str] | None:
    """Return what is wrong with the structure of a file; `None` if there was not enough time."""
    timer = None if seconds is None else Timer(seconds, connection.interrupt)
    if timer is not None:
        timer.start()
    try:
        check = "integrity_check" if is_deep else "quick_check"
        found = connection.execute(f"PRAGMA {check}({MAX_FAULTS})").fetchall()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        if is_corrupt(error):
            return [str(error)]
        raise
    finally:
        if timer is not None:
            timer.cancel()
    return [str(line) for (line,) in found if line != "ok"]


@dataclass(slots=True)
class Report:
    """What a check found.

    Attributes:
        path: the file.
        session_count: how many sessions were looked at.
        structure: what is wrong with the structure of the file.
        damaged: the sessions that are damaged, by number: what they are called, and what of them is.
        contents: single contents that are damaged, of sessions that are not: numbers and ids.
        others: what else is damaged: the store's own numbers, and what all clients see.
    """

    path: Path
    session_count: int = 0
    structure: list[str] = field(default_factory=list)
    damaged: dict[int, tuple[str, str]] = field(default_factory=dict)
    contents: list[tuple[int, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged, as far as was looked."""
        return not (self.structure or self.damaged or self.contents or self.others)


@contextmanager
def reading_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Lend a connection that only reads a file that nobody else uses."""
    if not path.exists():
        raise StorageError(f"there is no store in {path.parent}; name its folder with --data")
    check_file(path)
    with explained(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = lenient
        connection.execute("PRAGMA query_only = ON")
        yield connection


def examine(path: Path, *, is_deep: bool, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Check a store that nobody else uses: its structure and all rows of sessions; deep, every row of all.

    Raises:
        StorageError: it cannot be checked.
    """
    report = Report(path)
    with reading_file(path) as connection:
        version = version_of(connection, path)
        if version != VERSION:
            raise StorageError(
                f"{path} is of an older agenthost (schema version {version}), without checksums; "
                "it gets them when a server of this version opens it"
            )
        report.structure = find_faults(connection, is_deep=is_deep) or []
        _try(report.others, "what all clients see of the host", lambda: read_root(connection))
        for number in numbers_of(connection):
            report.session_count += 1
            progress(report.session_count)
            _examine_session(connection, number, report, is_deep=is_deep)
        _try(report.others, "the store's own numbers", lambda: _examine_counter(connection, report))
    return report


def _try(faults: list[str], what: str, read: Callable[[], object]) -> bool:
    """Note what is damaged; tell whether it is not."""
    try:
        read()
    except (RowDamaged, StorageError, sqlite3.DatabaseError) as error:
        faults.append(f"{what}: {error}")
        return False
    return True


def _examine_counter(connection: sqlite3.Connection, report: Report) -> None:
    expected = read_counter(connection).session_count
    if expected != report.session_count:
        raise RowDamaged(f"{expected} sessions should be there, and {report.session_count} are")


def _examine_session(connection: sqlite3.Connection, number: int, report: Report, *, is_deep: bool) -> None:
    faults: list[str] = []
    name = f"number {number}"
    if _try(faults, "row", lambda: read_row(connection, "number", number)):
        row = read_row(connection, "number", number)
        name = name if row is None else row.uri
    if is_deep:
        _try(faults, "session", lambda: read_session(connection, number))
        _try(faults, "log", lambda: (read_floor(connection, number), read_entries(connection, [number], 0)))
    if faults:
        report.damaged[number] = (name, faults[0])
    elif is_deep:
        sql = "SELECT content_id FROM content WHERE number = ?"
        for (content_id,) in connection.execute(sql, (number,)).fetchall():
            if not _try([], "", lambda one=content_id: read_content(connection, number, one)):  # type: ignore[misc]
                report.contents.append((number, content_id))


def numbers_of(connection: sqlite3.Connection) -> list[int]:
    """Return the numbers of all sessions that can be found, also around damaged pages."""
    found: set[int] = set()
    for sql in (f"{_NUMBERS} ASC", f"{_NUMBERS} DESC"):
        try:
            for (number,) in connection.execute(sql):
                found.add(number)
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise
            continue  # the other half, from the other end
        break
    return sorted(found)
