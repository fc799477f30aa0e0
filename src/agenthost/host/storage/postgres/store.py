"""The PostgreSQL store: one host in a schema, used by several servers.

A commit is one call of one function of the server, so there is nothing half done that a stopped process could
hold on to. If a connection is lost during a commit, nobody knows whether it happened: the same group is then
tried again under the same ordinal, which the server writes at most once. Reading is done by a few connections
of their own.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
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
from agenthost.host.storage.postgres import nodes, reader
from agenthost.host.storage.postgres.connections import Connection, LoopThread, Readers, connect
from agenthost.host.storage.postgres.errors import is_refusal, translate
from agenthost.host.storage.postgres.group import PUT_GROUP, GroupCall
from agenthost.host.storage.postgres.listening import Listener
from agenthost.host.storage.postgres.migrations import prepare
from agenthost.host.storage.postgres.node import LEASE_SECONDS, Node
from agenthost.host.storage.postgres.opening import begin_history, finish_copy
from agenthost.host.storage.ranges import Ranges, next_start
from agenthost.host.storage.shared import Committed, NodeNotice, NodeRow, Progress
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
    With `is_copy` the store has to be new, and cannot be opened again before `put_ranges` was called. With
    `is_alone` it is refused while a server uses it. `lease` is how many seconds this node counts as alive
    after its last beat, and `node_url` where other nodes reach it.
    """

    is_shared = True

    def __init__(
        self,
        url: str | StoreAddress,
        *,
        begin: Callable[[int], int] = next_start,
        taken: Callable[[StoreTaken], None] = lambda _: None,
        check_word: Callable[[str | None], str] | None = None,
        is_copy: bool = False,
        is_alone: bool = False,
        lease: float = LEASE_SECONDS,
        node_url: str = "",
    ) -> None:
        self.address = parse_address(url) if isinstance(url, str) else url
        if self.address.password is not None:
            log.warning("the URL of the store has a password, which others may see; use PGPASSFILE instead")
        self._begin = begin
        self._on_taken = taken
        self._check_word = check_word
        self._is_copy = is_copy
        self._is_alone = is_alone or is_copy
        self._lease = lease
        self._node_url = node_url
        self._loop: LoopThread | None = None
        self._make_connections()
        self._writer: Connection = None
        self._ranges = Ranges([])
        self.node = 0
        self.place = 0
        self._last_seq = 0  # the newest that is known, of any node
        self._own_seq = 0  # the newest of this node
        self._ordinal = 1
        self._doubtful: Group | None = None  # a group that failed
        self._last_ordinal = self._base = 0  # of the last group, as the journal counts
        self._lost: StoreTaken | None = None
        self._reported: set[str] = set()  # damage that was logged already
        self._lock = Lock()
        self._hear: Callable[[Committed | NodeNotice], None] | None = None
        self._unheard: list[Committed | NodeNotice] = []

    def _make_connections(self) -> None:
        self._listener = Listener(self._connect, self._told)
        self._node = Node(
            self.address,
            self._connect,
            self._taken,
            self._listener.check,
            lease=self._lease,
            url=self._node_url,
        )
        self._readers = Readers(self._connect)
        self._claimers = Readers(self._connect, isolation="read_committed")

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
        self._make_connections()
        self._lost = self._doubtful = None
        self._last_ordinal = 0
        self._hear, self._unheard = None, []
        connection = await connect(self.address, "agenthost")
        try:
            await prepare(self.address, connection, check_word=self._check_word, is_copy=self._is_copy)
            await self._node.join(connection, is_alone=self._is_alone)
        except BaseException:
            connection.terminate()
            raise
        self.node = self._node.id
        await self._listener.start(await connection.fetchval("SELECT channel()"))
        self._writer = await self._connect()
        opening, self._ranges, self.place = await begin_history(self._writer, self.node, self._begin)
        self._last_seq = self._own_seq = opening.last_seq
        self._ordinal = 1
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
        await self._listener.close()
        await self._node.leave()
        await self._readers.close()
        await self._claimers.close()
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
            # What a node shows may be ahead of what this store has heard of. Only copies, which have no
            # ordinal, have to raise the number with nothing to write.
            if not group.writes and not is_retry and (group.ordinal or group.at_least <= self._last_seq):
                return max(self._last_seq, group.at_least)
            try:
                # Copies have numbers of their own; nobody else writes then, so the base is known.
                call = GroupCall(group.writes, max(self._own_seq, group.at_least))
                base = loop.run(self._commit(call, group.at_least, is_retry=is_retry))
            except Exception as error:
                self._doubtful = self._doubtful or group
                failure = translate(error, self.address.shown)
                if isinstance(failure, StoreTaken):
                    self._taken(failure)
                raise failure from error
            self._doubtful = None
            self._last_ordinal, self._base = group.ordinal, base
            self._own_seq = base + call.count
            self._last_seq = max(self._last_seq, self._own_seq)
            self._ordinal += 1
            return base

    async def _commit(self, call: GroupCall, at_least: int, *, is_retry: bool) -> int:
        if self._doubtful is not None and not is_retry:
            # Another group, so the one that failed is given up. It must not have happened after all.
            if await self._write(_IS_WRITTEN, self.node, self._ordinal):
                raise StorageError(
                    "an earlier commit that failed was written after all; repeat that one first"
                )
            self._doubtful = None
        if call.has_numbers:
            at_least = max(self._own_seq, at_least)
        numbers = (self.node, self._ordinal, at_least, call.count, call.notice())
        base = int(str(await self._write(PUT_GROUP, *numbers, *call.columns())))
        if call.has_numbers and base != at_least:
            raise StorageError(f"{self.address.shown} continues after {base}, not after {at_least}")
        return base

    async def _write(self, sql: str, *values: object) -> object:
        if self._lost is not None:
            raise self._lost.with_traceback(None)  # or it would grow each time
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
            values = (self.node, per_session, total, oldest, retention.MAX_REMOVED)
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

    # Nodes; see `SharedStorage`

    def listen(self, hear: Callable[[Committed | NodeNotice], None]) -> None:
        """Call a function, in a thread of the store, with every notice since the store was opened."""
        self._opened().run(self._listen(hear))

    async def _listen(self, hear: Callable[[Committed | NodeNotice], None]) -> None:
        unheard, self._unheard = self._unheard, []
        for notice in unheard:
            hear(notice)
        self._hear = hear

    def _told(self, notice: Committed | NodeNotice) -> None:
        if isinstance(notice, Committed):
            self._last_seq = max(self._last_seq, notice.last_seq)
        if self._hear is None:
            self._unheard.append(notice)
        else:
            self._hear(notice)

    def ledger_after(self, place: int) -> Sequence[Committed]:
        """Read the commits after this place; see `SharedStorage`."""
        return self._read("the ledger", lambda connection: nodes.read_ledger(connection, place))

    def owner_of(self, number: int) -> int:
        """Return the id of the node that owns a session; 0 if it is free."""
        return self._read("a session", lambda connection: nodes.read_owner(connection, number))

    def claim(self, numbers: Collection[int]) -> Mapping[int, int]:
        """Take these sessions if they are free; see `SharedStorage`."""
        return self._change(lambda connection: nodes.claim(connection, self.node, numbers))

    def claim_root(self) -> int:
        """Take the root if it is free. Return the node that owns it."""
        return int(self._change(lambda one: one.fetchval("SELECT claim_root_v1($1)", self.node)))

    def unattended(self, limit: int, held: Collection[int]) -> Sequence[SessionRow]:
        """Return rows of sessions and chats with a turn that nobody goes on with; see `SharedStorage`."""
        return self._read("a session", lambda one: nodes.read_unattended(one, self.node, limit, held))

    def release(self) -> None:
        """Give all sessions away; see `SharedStorage`."""
        self._change(lambda connection: connection.execute("SELECT release_v1($1)", self.node))

    def reserve(
        self, uri: str, name: str, owner: str, others: tuple[Sequence[str], Sequence[str]]
    ) -> int | str:
        """Reserve a URI and a name for a new session; see `SharedStorage`."""
        uris, names = (uri, *others[0]), (name, *others[1])
        return self._change(lambda connection: nodes.reserve(connection, self.node, uris, names, owner))

    def unreserve(self, number: int) -> None:
        """Give a reservation back."""
        sql = "DELETE FROM reservation WHERE number = $1 AND node = $2"
        self._change(lambda connection: connection.execute(sql, number, self.node))

    def entries_between(self, after: int, up_to: int, resources: Collection[int]) -> Sequence[Entry]:
        """Read the log of these resources after one number and up to another, in order."""
        return self._read("the log", lambda one: nodes.read_between(one, after, up_to, resources))

    def progress(self, known: Mapping[int, int]) -> Mapping[int, Progress]:
        """Read rows and new messages of sessions; see `SharedStorage`."""
        return self._read("a transcript", lambda connection: nodes.read_progress(connection, known))

    def nodes(self) -> Sequence[NodeRow]:
        """Return the nodes that are alive."""
        return self._read("the list of nodes", nodes.read_nodes)

    def put_facts(self, facts: bytes) -> None:
        """Replace the facts of this node, and tell the others."""
        self._change(lambda connection: connection.execute("SELECT put_facts_v1($1, $2)", self.node, facts))

    def rows_of(self, numbers: Collection[int]) -> Mapping[int, SessionRow]:
        """Read rows of sessions, by their numbers."""
        return self._read("a session", lambda connection: nodes.read_rows(connection, numbers))

    def removed(self, numbers: Collection[int]) -> Sequence[tuple[int, str, str, bool]]:
        """Return what was removed lately; see `SharedStorage`."""
        return self._read("a session", lambda connection: nodes.read_removed(connection, numbers))

    def presence_after(self, place: int) -> tuple[int, Sequence[tuple[int, str, bool]]]:
        """Return whose presence has changed; see `SharedStorage`."""
        return self._read("the list of clients", lambda one: nodes.read_presence(one, place))

    def session_count(self) -> int:
        """Return how many sessions there are, without further chats."""
        sql = "SELECT session_count FROM tally"
        return int(self._read("the tally", lambda connection: connection.fetchval(sql)))

    def _change(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            return self._opened().run(self._claimers.run(work))
        except (Exception, asyncio.CancelledError) as error:
            raise translate(error, self.address.shown) from error

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
