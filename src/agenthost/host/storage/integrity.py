"""Integrity checks of a store: a quick one when it is opened, and row by row for `agenthost doctor`.

SQLite detects damage in the structure of its file. Damage in the values of rows is detected by their
checksums. Only damaged indexes are rebuilt here, on opening; everything else is only read.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

from agenthost.errors import StorageError
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import read_counter
from agenthost.host.storage.errors import is_corrupt, translated_errors
from agenthost.host.storage.index import read_entries
from agenthost.host.storage.migrations import CHECKED, check_file, schema_version
from agenthost.host.storage.newest import check_newest
from agenthost.host.storage.reader import (
    are_keys_sound,
    decode_text,
    read_content,
    read_floor,
    read_root,
    read_row,
    read_session,
)

__all__ = ["Report", "check_quickly", "examine", "opened_read_only", "session_numbers"]

log = logging.getLogger("agenthost.storage")

MAX_SECONDS = 0.25
"""How long the check on opening may take."""

_NUMBERS = "SELECT number FROM session ORDER BY number"

MAX_FAULTS = 20
"""How many faults of the structure are reported."""


def check_quickly(connection: sqlite3.Connection, path: Path) -> None:
    """Check the structure of a file, for a bounded time, and rebuild damaged indexes.

    Raises:
        StorageError: it is damaged. Writing to such a file would make it worse.
    """
    end = time.monotonic() + MAX_SECONDS
    faults = find_faults(connection, MAX_SECONDS) if MAX_SECONDS else None
    if faults == [] and (seconds := end - time.monotonic()) > 0:
        faults = _rebuild_indexes(connection, path, seconds)
    if faults is None:
        log.info("%s is too large to check on opening; `agenthost doctor` checks all of it", path)
    elif faults:
        raise StorageError(
            f"{path} is damaged; restore a backup, or let `agenthost doctor --repair` build a new store "
            f"from what can be read; nothing was changed ({faults[0]})"
        )


def _rebuild_indexes(connection: sqlite3.Connection, path: Path, seconds: float) -> list[str] | None:
    """Rebuild the indexes if they do not match their tables, which hold everything that is in them.

    If a row is damaged, they are left unchanged: only the index may still know its key. Return the faults
    that remain; `None` if time ran out.
    """
    faults = find_faults(connection, seconds, is_deep=True)
    if not faults:
        return faults
    if not are_keys_sound(connection):
        return []
    log.error("an index of %s is damaged (%s); all indexes are rebuilt", path, faults[0])
    with suppress(sqlite3.IntegrityError):  # two rows have a key that is unique: still damaged
        connection.execute("REINDEX")
        return find_faults(connection, is_deep=True)
    return faults


def find_faults(
    connection: sqlite3.Connection, seconds: float | None = None, *, is_deep: bool = False
) -> list[str] | None:
    """Return the faults in the structure of a file; `None` if time ran out."""
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
    """The result of a check.

    Attributes:
        path: the file.
        version: the version of its tables.
        session_count: how many sessions were checked.
        structure: faults in the structure of the file.
        damaged: damaged sessions by number: their names, and what is damaged.
        contents: damaged contents of otherwise intact sessions: session numbers and content ids.
        others: other damage: to the store's own numbers, or to the root.
    """

    path: Path
    version: int
    session_count: int = 0
    structure: list[str] = field(default_factory=list)
    damaged: dict[int, tuple[str, str]] = field(default_factory=dict)
    contents: list[tuple[int, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether the check found no damage."""
        return not (self.structure or self.damaged or self.contents or self.others)


@contextmanager
def opened_read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a read-only connection to a file that nobody else uses."""
    if not path.exists():
        raise StorageError(f"there is no store in {path.parent}; name its folder with --data")
    check_file(path)
    with translated_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = decode_text
        connection.execute("PRAGMA query_only = ON")
        yield connection


def examine(path: Path, *, is_deep: bool, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Check a store that nobody else uses: its structure and the rows of sessions; if deep, every row.

    Raises:
        StorageError: it cannot be checked.
    """
    with opened_read_only(path) as connection:
        version = schema_version(connection, path)
        if version < CHECKED:
            raise StorageError(
                f"{path} was written by an older agenthost (schema version {version}) and lacks checksums; "
                "they are added when a server of this version opens it"
            )
        report = Report(path, version)
        report.structure = find_faults(connection, is_deep=is_deep) or []
        _try(report.others, "what all clients see of the host", lambda: read_root(connection))
        _try(report.others, "the log", lambda: check_newest(connection))
        for number in session_numbers(connection):
            report.session_count += 1
            progress(report.session_count)
            _examine_session(connection, number, report, is_deep=is_deep)
        _try(report.others, "the store's own numbers", lambda: _examine_counter(connection, report))
    return report


def _try(faults: list[str], what: str, read: Callable[[], object]) -> bool:
    """Run a check. Return whether it passed; if not, add its fault to the list."""
    try:
        read()
    except (RowDamaged, StorageError, sqlite3.DatabaseError) as error:
        faults.append(f"{what}: {error}")
        return False
    return True


def _examine_counter(connection: sqlite3.Connection, report: Report) -> None:
    expected = read_counter(connection).session_count
    if expected != report.session_count:
        raise RowDamaged(f"expected {expected} sessions, found {report.session_count}")


def _examine_session(connection: sqlite3.Connection, number: int, report: Report, *, is_deep: bool) -> None:
    faults: list[str] = []
    name = f"number {number}"
    if _try(faults, "row", lambda: read_row(connection, "number", number)):
        row = read_row(connection, "number", number)
        name = name if row is None else row.uri
    if is_deep:
        _try(faults, "session", lambda: read_session(connection, number, is_repair=True))
        _try(faults, "log", lambda: _examine_log(connection, number))
    if faults:
        report.damaged[number] = (name, faults[0])
    elif is_deep:
        sql = "SELECT content_id FROM content WHERE number = ?"
        for (content_id,) in connection.execute(sql, (number,)).fetchall():
            if not _try([], "", lambda one=content_id: read_content(connection, number, one)):  # type: ignore[misc]
                report.contents.append((number, content_id))


def _examine_log(connection: sqlite3.Connection, number: int) -> None:
    read_floor(connection, number)
    read_entries(connection, [number], 0, is_repair=True)


def session_numbers(connection: sqlite3.Connection) -> list[int]:
    """Return the numbers of all sessions that can be found, reading around damaged pages."""
    found: set[int] = set()
    for sql in (f"{_NUMBERS} ASC", f"{_NUMBERS} DESC"):
        try:
            for (number,) in connection.execute(sql):
                found.add(number)
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise
            continue  # read the rest from the other end
        break
    return sorted(found)
