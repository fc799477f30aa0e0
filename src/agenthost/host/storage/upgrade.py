"""The upgrade of a store from before sessions had chats: all that is in its tables gets the form of today.

One session is in memory at a time. Its snapshot is folded with its log, and replaced. Then the log is empty,
because older entries are in a form that nobody reads any more; clients that were away since before get fresh
views. Transcripts, contents and receipts are untouched. The caller provides the transaction.

A session that cannot be read keeps its snapshot, marked as damaged, so that it is refused when it is opened.
The copy of the older store still has all of it.

This reads with today's readers: a migration that changes these tables has to run before, or bring readers of
its own.
"""

import logging
import sqlite3
import time
from collections.abc import Iterator

from agenthost.host.storage import ROOT, SessionRow
from agenthost.host.storage.batch import forget_root
from agenthost.host.storage.checksums import RowDamaged, row_sum, snapshot_sum
from agenthost.host.storage.counter import Counter, put_counter, read_counter
from agenthost.host.storage.errors import is_corrupt
from agenthost.host.storage.index import catch_up, check_index, read_indexed
from agenthost.host.storage.legacy_form import Upgraded, upgraded_root, upgraded_session, upgraded_summary
from agenthost.host.storage.reader import read_root, read_row, read_snapshot

__all__ = ["upgrade_contents"]

log = logging.getLogger("agenthost.storage")

PROGRESS_SECONDS = 5.0
"""How often a long upgrade logs its progress."""

AT_ONCE = 1_000
"""How many numbers of sessions are read at a time."""

_NUMBERS = "SELECT number FROM session WHERE number > ? ORDER BY number LIMIT ?"
_PUT_ROW = "UPDATE session SET summary = ?, private = ?, checksum = ? WHERE number = ?"
_PUT_STATE = "REPLACE INTO snapshot (number, state, checksum) VALUES (?, ?, ?)"
# No checksum is negative, so it never matches again. The complement of the complement is what it was.
_MARK_STATE = "UPDATE snapshot SET checksum = ~checksum WHERE number = ? AND checksum >= 0"


def upgrade_contents(connection: sqlite3.Connection) -> None:
    """Convert everything in a store to the current form.

    Raises:
        StorageError: the store has lost its numbers, or one of the newest entries of its log.
    """
    counter = read_counter(connection)
    catch_up(connection, counter, counter.last_seq, is_opening=True)
    put_counter(connection, counter)
    # The upgrade has its own number, so that clients that have seen everything have not seen this.
    seq = counter.last_seq + 1 if counter.last_seq else 0
    started = reported = time.monotonic()
    done = damaged = 0
    for number in _session_numbers(connection):
        damaged += not _upgrade(connection, number, seq)
        done += 1
        if time.monotonic() - reported >= PROGRESS_SECONDS:
            reported = time.monotonic()
            log.warning("upgrading the store: %d of %d sessions done", done, counter.session_count)
    _upgrade_root(connection, counter, seq)
    _forget_log(connection, counter, seq)
    if done:
        seconds = time.monotonic() - started
        log.info("%d of %d sessions were upgraded in %.1f s", done - damaged, done, seconds)


def _session_numbers(connection: sqlite3.Connection) -> Iterator[int]:
    last = 0
    # Compared again: where keys are damaged, SQLite may return them in another order.
    while found := [one for (one,) in connection.execute(_NUMBERS, (last, AT_ONCE)) if one > last]:
        yield from found
        last = max(found)


def _upgrade(connection: sqlite3.Connection, number: int, seq: int) -> bool:
    """Upgrade a session up to this sequence number. Return whether it could be read."""
    try:
        row = read_row(connection, "number", number)
    except (RowDamaged, sqlite3.DatabaseError) as error:
        _report(f"number {number}", error)
        return False
    if row is None:  # its number is damaged
        return False
    try:
        upgraded = _upgraded(connection, row)
    except Exception as error:  # whatever it is, the other sessions must not suffer from it
        _report(row.uri, error)
        _mark(connection, row)
        return False
    _put_row(connection, row, upgraded.summary, upgraded.private)
    checksum = snapshot_sum(number, seq, upgraded.state)
    connection.execute(_PUT_STATE, (number, upgraded.state, checksum))
    connection.execute("UPDATE resource SET state_seq = ? WHERE number = ?", (seq, number))
    return True


def _upgraded(connection: sqlite3.Connection, row: SessionRow) -> Upgraded:
    found = read_snapshot(connection, row.number)
    if found is None:
        raise RowDamaged("its snapshot")
    check_index(connection, row.number)
    return upgraded_session(row, *found, read_indexed(connection, row.number, after=found[1]))


def _mark(connection: sqlite3.Connection, row: SessionRow) -> None:
    """Make sure that a session is refused. Lists still show it, so its summary is upgraded if it can be."""
    try:
        summary = upgraded_summary(row)
    except Exception:  # as in `_upgrade`
        summary = None
    if summary is None:
        connection.execute("UPDATE session SET checksum = ~checksum WHERE number = ?", (row.number,))
    else:
        _put_row(connection, row, summary, row.private)
    try:
        connection.execute(_MARK_STATE, (row.number,))
    except sqlite3.DatabaseError as error:
        if not is_corrupt(error):  # then it is refused anyway
            raise


def _put_row(connection: sqlite3.Connection, row: SessionRow, summary: bytes, private: bytes) -> None:
    checksum = row_sum(row.number, int(row.is_active), summary, private)
    connection.execute(_PUT_ROW, (summary, private, checksum, row.number))


def _report(name: str, error: Exception) -> None:
    _raise_if_general(error)
    why = str(error) if isinstance(error, RowDamaged) else f"{type(error).__name__}: {error}"
    log.error("session %s could not be upgraded (%s); only the copy of the older store has it", name, why)


def _raise_if_general(error: Exception) -> None:
    """Raise an error that is not about what was read, such as a full disk."""
    if isinstance(error, MemoryError) or (isinstance(error, sqlite3.Error) and not is_corrupt(error)):
        raise error


def _upgrade_root(connection: sqlite3.Connection, counter: Counter, seq: int) -> None:
    """Upgrade the root. If it is damaged, a new one is started, as on any opening."""
    try:
        state, state_seq, entries = read_root(connection)
        if state is None and not entries:
            return
        upgraded = upgraded_root(state, state_seq, entries)
    except Exception as error:  # as in `_upgrade`
        _raise_if_general(error)
        log.error("the root could not be upgraded (%s); a new one is started, settings are reset", error)  # noqa: TRY400
        forget_root(connection, counter)
        return
    connection.execute(_PUT_STATE, (ROOT, upgraded, snapshot_sum(ROOT, seq, upgraded)))
    connection.execute("UPDATE resource SET state_seq = ? WHERE number = ?", (seq, ROOT))


def _forget_log(connection: sqlite3.Connection, counter: Counter, seq: int) -> None:
    """Empty the log, so that nobody can resume from before this number."""
    connection.execute("DELETE FROM log")
    connection.execute("DELETE FROM log_index")
    connection.execute(
        """UPDATE resource SET entry_count = 0, index_sum = 0, first = NULL, floor = :seq,
        floor_check = ~:seq""",
        {"seq": seq},
    )
    counter.last_seq = counter.indexed_seq = seq
    counter.entry_count = counter.newest_count = counter.newest_sum = 0
    put_counter(connection, counter)
