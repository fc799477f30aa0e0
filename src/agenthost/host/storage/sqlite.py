"""The store in one SQLite file, which is what a host has unless told otherwise.

One connection writes; others read, each as of one moment, without waiting for the writer (SQLite's
write-ahead log). Knows connections and transactions: which tables there are is with `migrations`, what a
write does to them with `writing`, `indexing` and `trimming`. Starts no thread: every call blocks.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias, get_args

from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import (
    Entry,
    Opening,
    Receipt,
    SessionRow,
    StoredContent,
    StoredSession,
    Write,
)
from agenthost.host.storage.checking import check_quickly
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.counter import Counter, put_counter, read_counter
from agenthost.host.storage.faults import explained, is_corrupt
from agenthost.host.storage.folder import DataFolder
from agenthost.host.storage.indexing import catch_up, read_entries
from agenthost.host.storage.migrations import check_file, migrate
from agenthost.host.storage.ranges import Ranges, begin_range, next_start
from agenthost.host.storage.reading import (
    count_rows,
    find_messages,
    lenient,
    list_rows,
    read_content,
    read_floor,
    read_root,
    read_row,
    read_session,
)
from agenthost.host.storage.receipts import has_old, read_receipts, remove_old
from agenthost.host.storage.space import give_back, let_shrink, prepare_new
from agenthost.host.storage.trimming import AT_MOST, has_long, trim_long, trim_old
from agenthost.host.storage.writing import Batch, forget_root

__all__ = ["FILE", "SqliteStorage", "Sync"]

log = logging.getLogger("agenthost.storage")

Sync: TypeAlias = Literal["full", "normal"]

FILE = "agenthost.db"
BUSY_SECONDS = 5.0
"""How long to wait for a lock. Only a program that is not agenthost can have one."""

IDLE_READERS = 4
PAGES_BEFORE_CHECKPOINT = 4_000
"""About 16 MB: a checkpoint waits for the disk, so it should be rare."""

WAL_BYTES_KEPT = 64 * 1024 * 1024

_sync_data = getattr(os, "fdatasync", os.fsync)  # as SQLite does; macOS has only the second


class SqliteStorage:
    """A `Storage` in a folder of its own.

    With `sync="full"` a commit waits for the disk: what it holds survives a power cut. With `"normal"` it
    survives `kill -9`, and a power cut may take what was committed since the last call of `sync`.

    `begin` says where the range of numbers begins that an opening gives, above the last known one.
    """

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
        self._is_behind = False  # something was committed that the disk may not have yet
        self._told: set[str] = set()  # what is damaged and was logged
        self._writing_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = Lock()

    def open(self) -> Opening:
        """Open the store; see `Storage.open`."""
        if self._writer is not None:
            raise StorageError(f"{self._path} is open already")
        self._folder.hold()
        try:
            return self._open_file()
        except BaseException:
            self.close()
            raise

    def _open_file(self) -> Opening:
        check_file(self._folder.make_file(FILE))
        with explained(self._path):
            self._writer = writer = self._connect()
            # Whose file it is comes first: turning on the write-ahead log would change it.
            migrate(writer, self._path, prepare=_turn_on_wal)
            check_quickly(writer, self._path)
            let_shrink(writer, self._path)
            writer.execute("PRAGMA synchronous = full")
            writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
            writer.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
            self._counter = counter = read_counter(writer)
            with _transaction(writer):  # SQLite opens a file that it cannot write: better told now than later
                self._begin_range(writer, counter)
                root, root_seq, root_entries = self._read_root(writer, counter)
                put_counter(writer, counter)
            # Not before: that the write-ahead log has a name in its folder is synced with the first commit.
            writer.execute(f"PRAGMA synchronous = {self._sync}")
            active = writer.execute("SELECT number FROM session WHERE is_active ORDER BY number").fetchall()
        return Opening(
            last_seq=counter.last_seq,
            last_number=counter.last_number,
            session_count=counter.session_count,
            active=[number for (number,) in active],
            root=root,
            root_seq=root_seq,
            root_entries=root_entries,
        )

    def _begin_range(self, writer: sqlite3.Connection, counter: Counter) -> None:
        catch_up(writer, counter, counter.last_seq)
        start = self._begin(counter.last_seq)
        self._ranges = begin_range(writer, counter.last_seq, start)
        counter.last_seq = counter.indexed_seq = start

    def _read_root(
        self, writer: sqlite3.Connection, counter: Counter
    ) -> tuple[bytes | None, int, list[Entry]]:
        """Read the root, or begin it anew where it is damaged: only settings that were chosen are lost."""
        put_counter(writer, counter)
        try:
            return read_root(writer)
        except RowDamaged as damage:
            log.error("what all clients see of the host is damaged (%s) and begun anew", damage)  # noqa: TRY400
        forget_root(writer, counter)
        return None, 0, []

    def commit(self, writes: Sequence[Write], last_seq: int) -> None:
        """Do all of these writes, in order, or none; see `Storage.commit`."""
        with self._writing() as connection:
            batch = Batch(connection, self._counter, last_seq)
            if not writes and last_seq == self._counter.last_seq:
                return
            with _transaction(connection):
                batch.put(writes)
            self._counter = batch.counter
            self._is_behind = self._sync == "normal"

    def sync(self) -> None:
        """Wait until the disk has all that was committed; see `Storage.sync`."""
        if not self._is_behind:
            return
        self._is_behind = False  # before: what is committed meanwhile is for the next time
        try:
            # All that is not in the file of the database yet: SQLite waits for the disk when it moves it.
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
        """Remove old entries, a bounded number a call; see `Storage.trim`. Call again until it gives 0."""
        with self._writing() as connection:
            counter = replace(self._counter)
            oldest = self._ranges.before(total, counter.last_seq)
            is_indexed = counter.indexed_seq == counter.last_seq
            is_short = is_indexed and counter.entry_count <= total and not has_long(connection, per_session)
            if is_short and not has_old(connection, oldest):
                return 0
            with _transaction(connection):
                remove_old(connection, oldest, AT_MOST)
                catch_up(connection, counter, counter.last_seq)
                removed = trim_long(connection, per_session)
                removed += trim_old(connection, counter.entry_count - removed - total, AT_MOST - removed)
                counter.entry_count -= removed
                put_counter(connection, counter)
            self._counter = counter
        return removed

    def shrink(self) -> int:
        """Give back free space, a bounded amount a call; see `Storage.shrink`."""
        with self._writing() as connection:
            return give_back(connection)

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number."""
        named = {"uri": uri, "name": name, "number": number}
        column = next((column for column, value in named.items() if value is not None), "uri")
        with self._reading(f"session {named[column]!r:.200}") as connection:
            return read_row(connection, column, named[column])

    def load(self, number: int) -> StoredSession | None:
        """Read a session whole, as of one moment, without its contents."""
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
        """Tell whether this number was given in the past that this store holds; see `Storage.holds`."""
        return self._ranges.holds(seq, self._counter.last_seq)

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of some sessions that hold each of these words; see `Storage`."""
        with self._reading("a transcript") as connection:
            return find_messages(connection, numbers, words)

    def floor(self, resources: Collection[int]) -> int:
        """Give the number up to which the log of any of these resources was trimmed; 0 if none was."""
        with self._reading("the log") as connection:
            return max([read_floor(connection, number) for number in resources], default=0)

    def replay(self, after: int, resources: Collection[int], client: str) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order, as that client may see it."""
        with self._reading("the log") as connection:
            entries = read_entries(connection, resources, after)
        return [entry for entry in entries if entry.only_for in (None, client)]

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client; see `Storage.receipts`."""
        with self._reading("the list of receipts") as connection:
            return read_receipts(connection, identity)

    def close(self) -> None:
        """Close the store and let go of its folder; closing twice is fine."""
        with self._writing_lock:
            with self._idle_lock:
                writer, self._writer = self._writer, None
                readers, self._idle = self._idle, []
            for reader in readers:
                reader.close()
            if writer is not None:
                writer.close()  # the last one: SQLite puts its write-ahead log into the file
            self._folder.let_go()

    def _connect(self) -> sqlite3.Connection:
        # One thread at a time uses a connection, not always the same. Transactions are begun by hand.
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = lenient
        return connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._writing_lock, explained(self._path):
            if self._writer is None:
                raise StorageError(f"{self._path} is closed")
            yield self._writer

    @contextmanager
    def _reading(self, what: str) -> Iterator[sqlite3.Connection]:
        """Lend a connection on which everything is as of one moment; `what` is read, should it be damaged."""
        with explained(self._path):
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
            self._give_back(connection)

    def _damaged(self, what: str, why: str) -> Damaged:
        """Log what is damaged, once, and give the error for whoever wanted it."""
        if what not in self._told:
            self._told.add(what)
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

    def _give_back(self, reader: sqlite3.Connection) -> None:
        with self._idle_lock:
            if self._writer is not None and len(self._idle) < IDLE_READERS:
                self._idle.append(reader)
                return
        reader.close()


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    prepare_new(connection)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StorageError("the folder of the data cannot have a write-ahead log; use one on a local disk")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit, or roll back whatever went wrong, so that the next transaction can begin."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself has rolled back after some errors
            with suppress(sqlite3.Error):  # the first error is the one to tell
                connection.execute("ROLLBACK")
        raise
