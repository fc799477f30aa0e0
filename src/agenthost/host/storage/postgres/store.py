"""The PostgreSQL store: one host in a schema, used by one server at a time.

A commit is one call of one function of the server, so there is nothing half done that a stopped process could
hold on to. If a connection is lost during a commit, nobody knows whether it happened: the same group is then
tried again under the same ordinal, which the server writes at most once. Reading is done by a few connections
of their own.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from agenthost.errors import Damaged, StorageError, StoreTaken
from agenthost.host.storage import (
    Entry,
    Group,
    Opening,
    Receipt,
    SessionRow,
    StoredContent,
    StoredSession,
    retention,
)
from agenthost.host.storage.checksums import RowDamaged
from agenthost.host.storage.postgres import reader
from agenthost.host.storage.postgres.connections import Connection, LoopThread, Readers, connect
from agenthost.host.storage.postgres.errors import is_refusal, translate
from agenthost.host.storage.postgres.group import PUT_GROUP, GroupCall
from agenthost.host.storage.postgres.migrations import prepare
from agenthost.host.storage.postgres.node import Node
from agenthost.host.storage.postgres.node_list import read_node_url
from agenthost.host.storage.postgres.opening import begin_history, finish_copy
from agenthost.host.storage.ranges import Ranges, next_start
from agenthost.host.store_address import StoreAddress, parse_address

__all__ = ["PostgresStorage"]

log = logging.getLogger("agenthost.storage")

T = TypeVar("T")

_IS_WRITTEN = """SELECT EXISTS (SELECT FROM pg_advisory_xact_lock(lock_space(), -$1::integer))
    AND EXISTS (SELECT FROM ledger WHERE node = $1 AND ordinal = $2)"""


class PostgresStorage:
    """A `Storage` in a schema of a PostgreSQL database.

    `begin` returns where the next range of sequence numbers starts, given the last known number. `taken` is
    called, in a thread of the store, when another process has taken over. About `check_word` see `prepare`.
    With `is_copy` the store has to be new, and cannot be opened again before `put_ranges` was called.
    """

    def __init__(
        self,
        url: str | StoreAddress,
        *,
        begin: Callable[[int], int] = next_start,
        taken: Callable[[StoreTaken], None] = lambda _: None,
        check_word: Callable[[str | None], str] | None = None,
        is_copy: bool = False,
    ) -> None:
        self.address = parse_address(url) if isinstance(url, str) else url
        if self.address.password is not None:
            log.warning("the URL of the store has a password, which others may see; use PGPASSFILE instead")
        self._begin = begin
        self._on_taken = taken
        self._check_word = check_word
        self._is_copy = is_copy
        self._loop: LoopThread | None = None
        self._node = Node(self.address, self._connect, self._taken)
        self._readers = Readers(self._connect)
        self._writer: Connection = None
        self._ranges = Ranges([])
        self._last_seq = 0
        self._ordinal = 1
        self._doubtful: Group | None = None  # a group that failed
        self._last_ordinal = self._base = 0  # of the last group, as the journal counts
        self._lost: StoreTaken | None = None
        self._reported: set[str] = set()  # damage that was logged already
        self._lock = Lock()

    # Opening and closing

    def open(self) -> Opening:
        """Open the store; see `Storage.open`."""
        if self._loop is not None:
            raise StorageError(f"{self.address.shown} is open already")
        self._loop = LoopThread("agenthost-postgres")
        try:
            return self._loop.run(self._open())
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise translate(error, self.address.shown) from error
            raise

    async def _open(self) -> Opening:
        self._node = Node(self.address, self._connect, self._taken)
        self._readers = Readers(self._connect)
        self._lost = self._doubtful = None
        self._last_ordinal = 0
        connection = await connect(self.address, "agenthost")
        try:
            await prepare(self.address, connection, check_word=self._check_word, is_copy=self._is_copy)
            await self._node.join(connection)
        except BaseException:
            connection.terminate()
            raise
        self._writer = await self._connect()
        opening, self._ranges = await begin_history(self._writer, self._node.id, self._begin)
        self._last_seq, self._ordinal = opening.last_seq, 1
        self._node.start()
        return opening

    async def _connect(self) -> Connection:
        return await connect(self.address, self._node.connection_name)

    def _taken(self, error: StoreTaken) -> None:
        if self._lost is None:
            self._lost = error
            self._on_taken(error)

    def close(self) -> None:
        """Close the store, and let another process in. Closing twice is fine."""
        with self._lock:
            loop, self._loop = self._loop, None
            if loop is None:
                return
            with suppress(Exception):
                loop.run(self._close())
            loop.close()

    async def _close(self) -> None:
        await self._node.leave()
        await self._readers.close()
        if self._writer is not None:
            self._writer.terminate()
            self._writer = None

    # Writing

    def commit(self, group: Group) -> int:
        """Apply all writes of a group in order, or none, and return its base; see `Storage.commit`.

        If it fails, the same group may be given again: it is applied once, even if it was applied and only
        the answer was lost.
        """
        with self._lock:
            loop = self._opened()
            if group.ordinal and group.ordinal == self._last_ordinal:
                return self._base
            is_retry = self._doubtful is not None and _is_same(group, self._doubtful)
            base = max(self._last_seq, group.at_least)
            if not group.writes and base == self._last_seq and not is_retry:
                return base
            try:
                call = GroupCall(group.writes, base)
                loop.run(self._commit(call, base, is_retry=is_retry))
            except Exception as error:
                self._doubtful = self._doubtful or group
                failure = translate(error, self.address.shown)
                if isinstance(failure, StoreTaken):
                    self._taken(failure)
                raise failure from error
            self._doubtful = None
            self._last_ordinal, self._base, self._last_seq = group.ordinal, base, call.last_seq
            self._ordinal += 1
            return base

    async def _commit(self, call: GroupCall, base: int, *, is_retry: bool) -> None:
        if self._doubtful is not None and not is_retry:
            # Another group, so the one that failed is given up. It must not have happened after all.
            if await self._write(_IS_WRITTEN, self._node.id, self._ordinal):
                raise StorageError(
                    "an earlier commit that failed was written after all; repeat that one first"
                )
            self._doubtful = None
        numbers = (self._node.id, self._ordinal, base, call.last_seq - base)
        given = await self._write(PUT_GROUP, *numbers, *call.columns())
        if given != base:  # nobody else gives numbers while this node is alive
            raise StorageError(f"{self.address.shown} continues after {given}, not after {base}")

    async def _write(self, sql: str, *values: object) -> object:
        if self._lost is not None:
            raise self._lost
        if self._writer is None or self._writer.is_closed():
            self._writer = await self._connect()
        try:
            return await self._writer.fetchval(sql, *values)
        except BaseException as error:
            if not is_refusal(error):
                self._writer.terminate()
                self._writer = None
            raise

    def sync(self) -> None:
        """Do nothing: a commit waits for the disk of the database, as far as the database is set up to."""

    def trim(self, per_session: int, total: int) -> int:
        """Remove old entries, a bounded number per call; see `Storage.trim`."""
        with self._lock:
            loop = self._opened()
            oldest = self._ranges.before(total, self._last_seq)
            values = (self._node.id, per_session, total, oldest, retention.MAX_REMOVED)
            try:
                return int(str(loop.run(self._write("SELECT trim_v1($1, $2, $3, $4, $5)", *values))))
            except Exception as error:
                raise translate(error, self.address.shown) from error

    def shrink(self) -> int:
        """Do nothing: the database reuses the space of removed rows by itself."""
        return 0

    # Reading

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number."""
        named = {"uri": uri, "name": name, "number": number}
        column = next((column for column, value in named.items() if value is not None), "uri")
        what = f"session {named[column]!r:.200}"
        return self._read(what, lambda connection: reader.read_row(connection, column, named[column]))

    def load(self, number: int) -> StoredSession | None:
        """Read a complete session as of one moment, without its contents."""
        what = f"session number {number}"
        return self._read(what, lambda connection: reader.read_session(connection, number))

    def content(self, number: int, content_id: str) -> StoredContent | None:
        """Read one content of a session."""
        what = f"content {content_id!r:.200}"
        return self._read(what, lambda connection: reader.read_content(connection, number, content_id))

    def list(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first; see `Storage.list`."""
        rows, damaged = self._read(
            "the list of sessions", lambda connection: reader.list_rows(connection, owner, before, limit)
        )
        for number in damaged:
            self._damaged(f"session number {number}", "its row; lists leave it out")
        return rows

    def count(self, owner: str) -> int:
        """Count the sessions of an owner."""
        return self._read("the list of sessions", lambda connection: reader.count_rows(connection, owner))

    def holds(self, seq: int) -> bool:
        """Return whether this number was assigned in this store's history; see `Storage.holds`."""
        return self._ranges.holds(seq, self._last_seq)

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of these sessions that contain every word; see `Storage`."""
        return self._read("a transcript", lambda connection: reader.find_messages(connection, numbers, words))

    def floor(self, resources: Collection[int]) -> int:
        """Return the highest number trimmed from the log of any of these resources; 0 if none was."""
        return self._read("the log", lambda connection: reader.read_floor(connection, resources))

    def replay(
        self, after: int, resources: Collection[int], client: str, max_bytes: float = math.inf
    ) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order; see `Storage.replay`."""
        return self._read(
            "the log", lambda connection: reader.read_page(connection, resources, after, client, max_bytes)
        )

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client; see `Storage.receipts`."""
        receipts, damaged = self._read(
            "the list of receipts", lambda connection: reader.read_receipts(connection, identity)
        )
        if damaged:
            what = f"the receipt list of a client ({damaged} left out)"
            self._damaged(what, "what it sends again may happen twice")
        return receipts

    def version_of(self, identity: str) -> str | None:
        """Return the protocol version that was agreed with a client; see `Storage.version_of`."""
        return self._read("the list of clients", lambda connection: reader.read_version(connection, identity))

    # Nodes

    @property
    def node_id(self) -> int:
        """The id of this node; 0 before the store was opened."""
        return self._node.id

    def find_node_url(self, node: int) -> str | None:
        """Return where another node can be reached; None if it is not alive, or not to be reached."""
        return self._read("the list of nodes", lambda connection: read_node_url(connection, node))

    # Copying

    def rows(self, sql: str, *values: int) -> Sequence[Sequence[Any]]:
        """Run a query on the tables, for copying; see `CopiedStore`."""
        asked = sql.replace("?", "$")
        found: Sequence[Sequence[Any]] = self._read(
            "a table", lambda connection: connection.fetch(asked, *values)
        )
        return found

    def put_ranges(self, ranges: Collection[tuple[int, int]]) -> None:
        """Replace the ranges of sequence numbers; see `CopiedStore`. A copy can be served after that."""
        try:
            self._opened().run(finish_copy(self._writer, ranges))
        except Exception as error:
            raise translate(error, self.address.shown) from error

    def _opened(self) -> LoopThread:
        loop = self._loop
        if loop is None:
            raise StorageError(f"{self.address.shown} is closed")
        return loop

    def _read(self, what: str, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Read as of one moment. `what` names what is read, should it be damaged."""
        try:
            return self._opened().run(self._readers.run(work))
        except RowDamaged as error:
            raise self._damaged(what, str(error)) from error
        except (Exception, asyncio.CancelledError) as error:
            raise translate(error, self.address.shown) from error

    def _damaged(self, what: str, why: str) -> Damaged:
        """Log damage once, and return the error for the caller."""
        if what not in self._reported:
            self._reported.add(what)
            log.error("%s is damaged in %s: %s", what, self.address.shown, why)
        return Damaged(what)


def _is_same(group: Group, other: Group) -> bool:
    """Return whether this is the group that failed."""
    if group.ordinal or other.ordinal:
        return group.ordinal == other.ordinal
    return group.at_least == other.at_least and group.writes == other.writes
