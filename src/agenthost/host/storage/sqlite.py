"""The store in one SQLite file, which is what a host has unless told otherwise.

One connection writes; others read, each as of one moment, without waiting for the writer (SQLite's
write-ahead log). Knows connections and transactions: which tables there are is with `migrations`, what a
write does to them with `writing`, `indexing` and `trimming`. Starts no thread: every call blocks.
"""

import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock

from agenthost.errors import StorageError
from agenthost.host.storage import (
    ROOT,
    Entry,
    Opening,
    Receipt,
    SessionRow,
    StoredContent,
    StoredSession,
    Write,
)
from agenthost.host.storage.counter import Counter, put_counter, read_counter
from agenthost.host.storage.faults import explained
from agenthost.host.storage.folder import DataFolder
from agenthost.host.storage.indexing import catch_up, read_entries
from agenthost.host.storage.migrations import check_file, migrate
from agenthost.host.storage.receipts import has_old, read_receipts, remove_old
from agenthost.host.storage.trimming import AT_MOST, has_long, trim_long, trim_old
from agenthost.host.storage.writing import Batch

FILE = "agenthost.db"
BUSY_SECONDS = 5.0
"""How long to wait for a lock. Only a program that is not agenthost can have one."""

IDLE_READERS = 4
PAGES_BEFORE_CHECKPOINT = 4_000
"""About 16 MB: a checkpoint is the one moment that waits for the disk, so it should be rare."""

WAL_BYTES_KEPT = 64 * 1024 * 1024

_SNAPSHOT = "SELECT state, state_seq FROM snapshot JOIN resource USING (number) WHERE number = ?"
_ROW = "SELECT number, uri, name, owner, is_active, summary, private FROM session"
_MESSAGES = "SELECT number, body FROM message WHERE number"
_LIKE = "CAST(body AS TEXT) LIKE ? ESCAPE '!'"
_WILD = re.compile("[!%_]")
_NEWER_THAN_ALL = 2**63 - 1


class SqliteStorage:
    """A `Storage` in a folder of its own. `full_sync` waits for the disk at every commit.

    Without it a commit survives `kill -9`, and a power cut may take the last ones, each of them whole.
    """

    def __init__(self, folder: Path, *, full_sync: bool = False) -> None:
        self._folder = DataFolder(folder)
        self._path = folder / FILE
        self._full_sync = full_sync
        self._writer: sqlite3.Connection | None = None
        self._counter = Counter()
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
            writer.execute(f"PRAGMA synchronous = {'FULL' if self._full_sync else 'NORMAL'}")
            writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
            writer.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
            self._counter = counter = read_counter(writer)
            with _transaction(writer):  # SQLite opens a file that it cannot write: better told now than later
                put_counter(writer, counter)
            active = writer.execute("SELECT number FROM session WHERE is_active ORDER BY number").fetchall()
            root, root_seq = writer.execute(_SNAPSHOT, (ROOT,)).fetchone() or (None, 0)
            root_entries = read_entries(writer, [ROOT], root_seq)
        return Opening(
            last_seq=counter.last_seq,
            last_number=counter.last_number,
            session_count=counter.session_count,
            active=[number for (number,) in active],
            root=root,
            root_seq=root_seq,
            root_entries=root_entries,
        )

    def commit(self, writes: Sequence[Write], last_seq: int) -> None:
        """Do all of these writes, in order, or none; see `Storage.commit`."""
        with self._writing() as connection:
            batch = Batch(connection, self._counter, last_seq)
            if not writes and last_seq == self._counter.last_seq:
                return
            with _transaction(connection):
                batch.put(writes)
            self._counter = batch.counter

    def trim(self, per_session: int, total: int) -> int:
        """Remove old entries, a bounded number a call; see `Storage.trim`. Call again until it gives 0."""
        with self._writing() as connection:
            counter = replace(self._counter)
            oldest = counter.last_seq - total
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

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number."""
        named = {"uri": uri, "name": name, "number": number}
        column = next((column for column, value in named.items() if value is not None), "uri")
        with self._reading() as connection:
            found = connection.execute(f"{_ROW} WHERE {column} = ?", (named[column],)).fetchone()
        return found and _row(found)

    def load(self, number: int) -> StoredSession | None:
        """Read a session whole, as of one moment, without its contents."""
        with self._reading() as connection:
            row = connection.execute(f"{_ROW} WHERE number = ?", (number,)).fetchone()
            if row is None:
                return None
            state, seq = connection.execute(_SNAPSHOT, (number,)).fetchone()
            entries = read_entries(connection, [number], seq)
            sql = "SELECT body FROM message WHERE number = ? ORDER BY position"
            messages = [body for (body,) in connection.execute(sql, (number,))]
        return StoredSession(_row(row), state, seq, entries, messages)

    def content(self, number: int, content_id: str) -> StoredContent | None:
        """Read one content of a session."""
        sql = "SELECT content_type, data FROM content WHERE number = ? AND content_id = ?"
        with self._reading() as connection:
            found = connection.execute(sql, (number, content_id)).fetchone()
        return found and StoredContent(*found)

    def list(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first; see `Storage.list`."""
        start = _NEWER_THAN_ALL if before is None else before
        of_owner, values = ("", (start,)) if owner is None else (" AND owner = ?", (start, owner))
        sql = f"{_ROW} WHERE number < ?{of_owner} ORDER BY number DESC LIMIT ?"
        with self._reading() as connection:
            found = connection.execute(sql, (*values, max(limit, 0))).fetchall()
        return [_row(row) for row in found]

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of some sessions that hold each of these words; see `Storage`."""
        holding = " AND ".join(f"({' OR '.join([_LIKE] * len(word))})" for word in words)
        sql = f"{_MESSAGES} IN ({', '.join('?' * len(numbers))}) AND {holding} ORDER BY number, position"
        patterns = [_pattern(spelling) for word in words for spelling in word]
        with self._reading() as connection:
            return connection.execute(sql, (*numbers, *patterns)).fetchall()

    def floor(self, resources: Collection[int]) -> int:
        """Give the number up to which the log of any of these resources was trimmed; 0 if none was."""
        sql = "SELECT floor FROM resource WHERE number = ?"
        with self._reading() as connection:
            found = [connection.execute(sql, (number,)).fetchone() for number in resources]
        return max((row[0] for row in found if row), default=0)

    def replay(self, after: int, resources: Collection[int], client: str) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order, as that client may see it."""
        with self._reading() as connection:
            entries = read_entries(connection, resources, after)
        return [entry for entry in entries if entry.only_for in (None, client)]

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client; see `Storage.receipts`."""
        with self._reading() as connection:
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
        return sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._writing_lock, explained(self._path):
            if self._writer is None:
                raise StorageError(f"{self._path} is closed")
            yield self._writer

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection on which everything is as of one moment."""
        with explained(self._path):
            connection = self._take_reader()
            try:
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            self._give_back(connection)

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


def _pattern(text: str) -> str:
    """Return the pattern of `LIKE` for whatever holds this text."""
    return "%" + _WILD.sub(r"!\g<0>", text) + "%"


def _row(row: tuple[int, str, str, str, int, bytes, bytes]) -> SessionRow:
    number, uri, name, owner, is_active, summary, private = row
    return SessionRow(number, uri, name, owner, bool(is_active), summary, private)
