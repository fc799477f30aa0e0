"""The SQLite store, in one file. A host uses it by default.

One connection writes. Others read, each as of one moment, without waiting for the writer (SQLite's
write-ahead log). This module handles connections and transactions; `migrations` has the tables, and `batch`,
`index` and `retention` change them. It starts no thread: every call blocks.
"""

import logging
import math
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias, get_args

from msgspec.structs import replace

from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import Entry, Group, Opening, Receipt, SessionRow, StoredContent, StoredSession
from agenthost.host.storage.batch import Batch, forget_root
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import Counter, put_counter, read_counter
from agenthost.host.storage.data_folder import DataFolder
from agenthost.host.storage.errors import RAISED, is_corrupt, translate, translated_errors
from agenthost.host.storage.index import catch_up, read_page
from agenthost.host.storage.integrity import check_quickly
from agenthost.host.storage.migrations import check_file, migrate
from agenthost.host.storage.ranges import Ranges, begin_range, next_start, replace_ranges
from agenthost.host.storage.reader import (
    count_rows,
    decode_text,
    find_messages,
    list_rows,
    read_content,
    read_floor,
    read_root,
    read_row,
    read_session,
)
from agenthost.host.storage.receipts import has_old, read_receipts, remove_old
from agenthost.host.storage.retention import MAX_REMOVED, has_long, trim_long, trim_old
from agenthost.host.storage.space import enable_shrinking, prepare_new_file, release_pages

__all__ = ["FILE", "SqliteStorage", "Sync"]

log = logging.getLogger("agenthost.storage")

Sync: TypeAlias = Literal["full", "normal"]

FILE = "agenthost.db"
BUSY_SECONDS = 5.0
"""How long to wait for a lock. Only another program can hold one."""

IDLE_READERS = 4
PAGES_BEFORE_CHECKPOINT = 4_000
"""About 16 MB. A checkpoint waits for the disk, so it should be rare."""

WAL_BYTES_KEPT = 64 * 1024 * 1024

_sync_data = getattr(os, "fdatasync", os.fsync)  # as SQLite does; macOS has only the second


class SqliteStorage:
    """A `Storage` in its own folder.

    With `sync="full"` a commit waits for the disk and survives a power cut. With `"normal"` it survives
    `kill -9`, but a power cut may lose what was committed since the last call of `sync`.

    `begin` returns where the next range of sequence numbers starts, given the last known number.
    """

    is_shared = False

    def __init__(
        self, folder: Path, *, sync: Sync = "full", begin: Callable[[int], int] = next_start
    ) -> None:
        if sync not in get_args(Sync):
            raise ValueError(f"sync: expected 'full' or 'normal', found {sync!r}")
        self._folder = DataFolder(folder)
        self._path = folder / FILE
        self._sync = sync
        self._begin = begin
        self._writer: sqlite3.Connection | None = None
        self._counter = Counter()
        self._ranges = Ranges([])
        self._ordinal = self._base = 0  # of the last group
        self._is_behind = False  # a commit may not be on the disk yet
        self._reported: set[str] = set()  # damage that was logged already
        self._writing_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = Lock()

    def open(self) -> Opening:
        """Open the store; see `Storage.open`."""
        if self._writer is not None:
            raise StorageError(f"{self._path} is open already")
        self._folder.acquire()
        try:
            return self._open_file()
        except BaseException:
            self.close()
            raise

    def _open_file(self) -> Opening:
        check_file(self._folder.make_file(FILE))
        with translated_errors(self._path):
            self._writer = writer = self._connect()
            # `migrate` checks first whose file it is: turning on the write-ahead log changes it.
            migrate(writer, self._path, prepare=_turn_on_wal)
            check_quickly(writer, self._path)
            enable_shrinking(writer, self._path)
            writer.execute("PRAGMA synchronous = full")
            writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
            writer.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
            self._counter = counter = read_counter(writer)
            self._ordinal = 0
            with _transaction(writer):  # SQLite opens files that it cannot write: fail now, not later
                self._begin_range(writer, counter)
                root, root_seq, root_entries = self._read_root(writer, counter)
                put_counter(writer, counter)
            # Not earlier: the first commit, in full sync, also syncs the folder entry of the write-ahead log.
            writer.execute(f"PRAGMA synchronous = {self._sync}")
            active = writer.execute("SELECT number FROM session WHERE is_active ORDER BY number").fetchall()
            (chats,) = writer.execute("SELECT count(*) FROM session WHERE parent > 0").fetchone()
        return Opening(
            last_seq=counter.last_seq,
            last_number=counter.last_number,
            session_count=counter.session_count - chats,
            active=[number for (number,) in active],
            root=root,
            root_seq=root_seq,
            root_entries=root_entries,
        )

    def _begin_range(self, writer: sqlite3.Connection, counter: Counter) -> None:
        catch_up(writer, counter, counter.last_seq, is_opening=True)
        start = self._begin(counter.last_seq)
        self._ranges = begin_range(writer, counter.last_seq, start)
        counter.last_seq = counter.indexed_seq = start

    def _read_root(
        self, writer: sqlite3.Connection, counter: Counter
    ) -> tuple[bytes | None, int, list[Entry]]:
        """Read the root. If it is damaged, start a new one: only the chosen settings are lost."""
        put_counter(writer, counter)
        try:
            return read_root(writer)
        except RowDamaged as damage:
            log.error("the root is damaged (%s); a new one is started, settings are reset", damage)  # noqa: TRY400
        forget_root(writer, counter)
        return None, 0, []

    def commit(self, group: Group) -> int:
        """Apply all writes of a group in order, or none, and return its base; see `Storage.commit`."""
        # Written out, not with `_writing` and `_transaction`: every turn waits for this.
        with self._writing_lock:
            connection = self._writer
            if connection is None:
                raise StorageError(f"{self._path} is closed")
            if group.ordinal and group.ordinal == self._ordinal:
                return self._base
            base = last_seq = self._counter.last_seq
            if group.at_least > last_seq:
                base = group.at_least
            if not group.writes and base == last_seq:
                return base
            batch = Batch(connection, self._counter, base)
            try:
                connection.execute("BEGIN IMMEDIATE")
                batch.put(group.writes)
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:  # after some errors SQLite has rolled back by itself
                    with suppress(sqlite3.Error):  # the first error is the one to report
                        connection.execute("ROLLBACK")
                if isinstance(error, RAISED):
                    raise translate(error, self._path) from error
                raise
            self._counter = batch.counter
            self._ordinal, self._base = group.ordinal, base
            self._is_behind = self._sync == "normal"
            return base

    def sync(self) -> None:
        """Wait until everything that was committed is on the disk; see `Storage.sync`."""
        if not self._is_behind:
            return
        self._is_behind = False  # before the sync: later commits are for the next one
        try:
            # Only the write-ahead log: SQLite itself syncs when it moves data into the database file.
            wal = os.open(f"{self._path}-wal", os.O_RDONLY)
            try:
                _sync_data(wal)
            finally:
                os.close(wal)
        except FileNotFoundError:
            return  # closed meanwhile
        except OSError as error:
            self._is_behind = True
            raise StorageError(f"{self._path} could not be synced: {error.strerror}") from error

    def trim(self, per_session: int, total: int) -> int:
        """Remove old entries, a bounded number per call; see `Storage.trim`."""
        with self._writing() as connection:
            counter = replace(self._counter)
            oldest = self._ranges.before(total, counter.last_seq)
            is_indexed = counter.indexed_seq == counter.last_seq
            is_short = is_indexed and counter.entry_count <= total and not has_long(connection, per_session)
            if is_short and not has_old(connection, oldest):
                return 0
            with _transaction(connection):
                remove_old(connection, oldest, MAX_REMOVED)
                catch_up(connection, counter, counter.last_seq)
                removed = trim_long(connection, per_session)
                removed += trim_old(connection, counter.entry_count - removed - total, MAX_REMOVED - removed)
                counter.entry_count -= removed
                put_counter(connection, counter)
            self._counter = counter
        return removed

    def shrink(self) -> int:
        """Return free space to the disk, a bounded amount per call; see `Storage.shrink`."""
        with self._writing() as connection:
            return release_pages(connection)

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number."""
        named = {"uri": uri, "name": name, "number": number}
        column = next((column for column, value in named.items() if value is not None), "uri")
        with self._reading(f"session {named[column]!r:.200}") as connection:
            return read_row(connection, column, named[column])

    def load(self, number: int) -> StoredSession | None:
        """Read a complete session as of one moment, without its contents."""
        with self._reading(f"session number {number}") as connection:
            return read_session(connection, number)

    def content(self, number: int, content_id: str) -> StoredContent | None:
        """Read one content of a session."""
        with self._reading(f"content {content_id!r:.200}") as connection:
            return read_content(connection, number, content_id)

    def list(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first; see `Storage.list`."""
        with self._reading("the list of sessions") as connection:
            rows, damaged = list_rows(connection, owner, before, limit)
        for number in damaged:
            self._damaged(f"session number {number}", "its row; lists leave it out")
        return rows

    def count(self, owner: str) -> int:
        """Count the sessions of an owner."""
        with self._reading("the list of sessions") as connection:
            return count_rows(connection, owner)

    def holds(self, seq: int) -> bool:
        """Return whether this number was assigned in this store's history; see `Storage.holds`."""
        return self._ranges.holds(seq, self._counter.last_seq)

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of these sessions that contain every word; see `Storage`."""
        with self._reading("a transcript") as connection:
            return find_messages(connection, numbers, words)

    def floor(self, resources: Collection[int]) -> int:
        """Return the highest number trimmed from the log of any of these resources; 0 if none was."""
        with self._reading("the log") as connection:
            return max([read_floor(connection, number) for number in resources], default=0)

    def replay(
        self, after: int, resources: Collection[int], client: str, max_bytes: float = math.inf
    ) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order; see `Storage.replay`."""
        with self._reading("the log") as connection:
            return read_page(connection, resources, after, client, max_bytes)

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client; see `Storage.receipts`."""
        with self._reading("the list of receipts") as connection:
            receipts, damaged = read_receipts(connection, identity)
        if damaged:
            what = f"the receipt list of a client ({damaged} left out)"
            self._damaged(what, "what it sends again may happen twice")
        return receipts

    def version_of(self, identity: str) -> str | None:
        """Return the protocol version that was agreed with a client; see `Storage.version_of`."""
        with self._reading("the list of clients") as connection:
            found = connection.execute(
                "SELECT version FROM client WHERE identity = ?", (identity,)
            ).fetchone()
        return None if found is None else str(found[0])

    def rows(self, sql: str, *values: int) -> Sequence[Sequence[Any]]:
        """Run a query on the tables, for copying; see `CopiedStore`."""
        with self._reading("a table") as connection:
            return connection.execute(sql, values).fetchall()

    def put_ranges(self, ranges: Collection[tuple[int, int]]) -> None:
        """Replace the ranges of sequence numbers; see `CopiedStore`."""
        with self._writing() as connection, _transaction(connection):
            replace_ranges(connection, ranges)

    def close(self) -> None:
        """Close the store and release its folder. Closing twice is fine."""
        with self._writing_lock:
            with self._idle_lock:
                writer, self._writer = self._writer, None
                readers, self._idle = self._idle, []
            for reader in readers:
                reader.close()
            if writer is not None:
                writer.close()  # the last connection: SQLite checkpoints the write-ahead log
            self._folder.release()

    def _connect(self) -> sqlite3.Connection:
        # One thread at a time uses a connection, but not always the same one. Transactions are explicit.
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = decode_text
        return connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._writing_lock, translated_errors(self._path):
            if self._writer is None:
                raise StorageError(f"{self._path} is closed")
            yield self._writer

    @contextmanager
    def _reading(self, what: str) -> Iterator[sqlite3.Connection]:
        """Lend a connection that reads as of one moment. `what` names what is read, should it be damaged."""
        with translated_errors(self._path):
            connection = self._take_reader()
            try:
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                connection.close()
                if isinstance(error, RowDamaged) or is_corrupt(error):
                    raise self._damaged(what, str(error)) from error
                raise
            self._return_reader(connection)

    def _damaged(self, what: str, why: str) -> Damaged:
        """Log damage once, and return the error for the caller."""
        if what not in self._reported:
            self._reported.add(what)
            log.error("%s is damaged in %s: %s", what, self._path, why)
        return Damaged(what)

    def _take_reader(self) -> sqlite3.Connection:
        with self._idle_lock:
            if self._writer is None:
                raise StorageError(f"{self._path} is closed")
            if self._idle:
                return self._idle.pop()
        reader = self._connect()
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _return_reader(self, reader: sqlite3.Connection) -> None:
        with self._idle_lock:
            if self._writer is not None and len(self._idle) < IDLE_READERS:
                self._idle.append(reader)
                return
        reader.close()


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    prepare_new_file(connection)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StorageError("the data folder cannot have a write-ahead log; use one on a local disk")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit, or roll back on any error, so that the next transaction can begin."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after some errors SQLite has rolled back by itself
            with suppress(sqlite3.Error):  # the first error is the one to report
                connection.execute("ROLLBACK")
        raise
