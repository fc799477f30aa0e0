"""A batch: the writes of one commit, put into the tables. The caller provides the transaction.

Every turn goes through here, so the code is written for speed: see the comments before changing it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TypeAlias, TypeVar, assert_never
from zlib import crc32

from msgspec.structs import astuple, replace

from agenthost.errors import StorageError
from agenthost.host.storage import (
    HERE,
    ROOT,
    AddMessages,
    AddSession,
    CopyContent,
    CutMessages,
    DropLog,
    DropReceipts,
    DropSession,
    EchoReceipt,
    Entry,
    PutClient,
    PutContent,
    PutPresence,
    PutRow,
    PutSnapshot,
    Receipt,
    SessionRow,
    Skip,
    Write,
)
from agenthost.host.storage.checksums import (
    content_sum,
    entry_sum,
    message_sum,
    names_sum,
    numbers_sum,
    receipt_sum,
    row_sum,
    snapshot_sum,
)
from agenthost.host.storage.counter import PUT_COUNTER, Counter
from agenthost.host.storage.index import MAX_UNINDEXED, catch_up, remove_entries
from agenthost.host.storage.receipts import change_receipts

T = TypeVar("T")

_MessageRow: TypeAlias = tuple[int, int, bytearray, int]
_ReceiptRow: TypeAlias = tuple[str, int, int, bytearray, int | None, int]
_SessionValues: TypeAlias = tuple[int, bytearray, bytearray, int, int]

_PUT_ROW = "UPDATE session SET is_active = ?, summary = ?, private = ?, checksum = ? WHERE number = ?"

# The length of the transcript and its complement. Without it the last messages could be lost unnoticed.
_COUNT = "message_count = ?, message_check = ?"
_PUT_COUNT = f"UPDATE session SET {_COUNT} WHERE number = ?"  # noqa: S608
_PUT_ROW_AND_COUNT = f"""UPDATE session SET {_COUNT}, is_active = ?, summary = ?, private = ?,
    checksum = ? WHERE number = ?"""  # noqa: S608
_CUT_COUNT = """UPDATE session SET message_count = min(message_count, ?1),
    message_check = ~min(message_count, ?1) WHERE number = ?2"""

_ADD_ENTRIES = "INSERT INTO log (seq, resource, envelope, checksum) VALUES {rows}"
_ENTRY_COLUMNS = 4

# Appends only at the end of a transcript, and only to sessions that exist. SQLite evaluates the condition for
# all rows before it inserts the first, so each row carries the position where its session's rows start.
_ADD_MESSAGES = """INSERT INTO message SELECT column1, column2, column3, column4 FROM (VALUES {rows})
    WHERE column5 = (SELECT coalesce(max(position) + 1, 0) FROM message WHERE number = column1)
    AND EXISTS (SELECT 1 FROM session WHERE number = column1)"""

_PUT_RECEIPTS = "REPLACE INTO receipt VALUES {rows}"

MAX_CLIENTS = 100_000
"""How many clients are remembered, roughly: those that connected last."""

_BATCH_SIZES = (64, 16, 4, 1)
"""How many rows one statement inserts. `sqlite3` releases the GIL for each statement and then has to win it
back from the event loop; doing so for every row is measurable."""


class Batch:
    """The writes of one commit, numbered from `base`.

    `counter` holds the store's numbers; once all is put, as they are after the commit.
    """

    def __init__(self, connection: sqlite3.Connection, counter: Counter, base: int) -> None:
        self.counter = replace(counter)
        self._connection = connection
        self._seq = base  # the last number so far
        # Rows that every turn writes are collected: one statement for many rows costs a fraction of many.
        # Values are `int`, `str` and `bytearray`, which `sqlite3` binds directly. For `bytes`, `bool` and
        # `None` it first looks for an adapter, which costs more than the row.
        self._entries: list[object] = []  # the values of all rows in one flat list
        self._rows: dict[int, _SessionValues] = {}
        self._messages: list[_MessageRow] = []
        self._lengths: dict[int, int] = {}  # of transcripts after this commit, by session number
        self._receipts: list[_ReceiptRow] = []

    def put(self, writes: Sequence[Write]) -> None:
        """Apply the writes, in order."""
        for write in writes:
            if isinstance(write, Entry):
                if write.seq:
                    self._check_number(write.seq)
                    self._seq = seq = write.seq
                else:
                    self._seq = seq = self._seq + write.count
                if write.only_for is not None:
                    self._add_refusal(seq, write)
                    continue
                # `entry_sum` inlined: every turn comes here several times.
                envelope, resource = write.envelope, write.resource
                self._entries += (seq, resource, bytearray(envelope), crc32(envelope, seq + resource))
            elif type(write) is PutRow:
                self._rows[write.row.number] = _row_values(write.row)
            elif type(write) is AddMessages:
                self._messages += _message_rows(write.number, write.position, write.messages)
                self._lengths[write.number] = write.position + len(write.messages)
            elif type(write) is Receipt:
                self._receipts.append(_receipt_row(write, self._seq))
            elif type(write) is Skip:
                self._seq += write.count
            else:
                self._flush()
                self._put_other(write)
        self._flush()
        self.counter.last_seq = self._seq
        if self._seq - self.counter.indexed_seq >= MAX_UNINDEXED:
            catch_up(self._connection, self.counter, self._seq)
        numbers = astuple(self.counter)
        self._connection.execute(PUT_COUNTER, (*numbers, numbers_sum(*numbers)))

    def _check_number(self, seq: int) -> None:
        """Refuse the number of a copied entry that is out of order: it would be used twice."""
        if seq <= self._seq:
            raise StorageError(f"entry {seq} is not above {self._seq}")

    def _add_refusal(self, seq: int, entry: Entry) -> None:
        """Add an entry for one client."""
        values = (seq, entry.resource, entry.envelope, entry.only_for)
        self._connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?)", (*values, entry_sum(*values)))
        self._count_entries([entry.resource])

    def _count_entries(self, resources: Sequence[int]) -> None:
        counter, count = self.counter, len(resources)
        counter.entry_count += count
        counter.newest_count += count
        counter.newest_sum += sum(resources)

    def _flush(self) -> None:
        """Write the collected rows. They do not depend on each other, so their order does not matter."""
        entries, rows, messages = self._entries, self._rows, self._messages
        if entries:
            for some in _chunks(entries, _ENTRY_COLUMNS):
                statement = _statement(_ADD_ENTRIES, len(some) // _ENTRY_COLUMNS, _ENTRY_COLUMNS)
                self._connection.execute(statement, some)
            self._count_entries(entries[1::_ENTRY_COLUMNS])  # type: ignore[arg-type] # the second column
            self._entries = []
        if rows or self._lengths:
            self._put_rows(rows, self._lengths)
            self._rows, self._lengths = {}, {}
        if messages:
            if sum([self._insert(_ADD_MESSAGES, _with_start(some)) for some in _chunks(messages)]) != len(
                messages
            ):
                self._explain(messages)
            self._messages = []
        if self._receipts:
            for found in _chunks(self._receipts):
                self._insert(_PUT_RECEIPTS, found)
            self._receipts = []

    def _put_rows(self, rows: dict[int, _SessionValues], lengths: dict[int, int]) -> None:
        """Update rows of sessions and the lengths of their transcripts. Most need both, in one statement."""
        put = self._connection.executemany
        count, others = 0, list(rows.values())
        if lengths:
            both = [(end := lengths[number], ~end, *row) for number, row in rows.items() if number in lengths]
            alone = [(end, ~end, number) for number, end in lengths.items() if number not in rows]
            count = put(_PUT_ROW_AND_COUNT, both).rowcount if both else 0
            if alone:
                put(_PUT_COUNT, alone)
            others = [row for number, row in rows.items() if number not in lengths]
        if others:
            count += put(_PUT_ROW, others).rowcount
        if count != len(rows):
            self._skip_if_gone(max(rows))

    def _insert(self, sql: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Insert rows with one statement. Return how many were inserted."""
        statement = _statement(sql, len(rows), len(rows[0]))
        return self._connection.execute(statement, list(chain.from_iterable(rows))).rowcount

    def _explain(self, messages: Sequence[_MessageRow]) -> None:
        """Find out why some messages were not inserted. Raise if one has the wrong position."""
        for number, position, body, _ in messages:
            sql = "SELECT body FROM message WHERE number = ? AND position = ?"
            if self._connection.execute(sql, (number, position)).fetchone() == (body,):
                continue
            sql = "SELECT 1 FROM session WHERE number = ?"
            if self._connection.execute(sql, (number,)).fetchone() is None:
                self._skip_if_gone(number)
                continue
            sql = "SELECT coalesce(max(position) + 1, 0) FROM message WHERE number = ?"
            (end,) = self._connection.execute(sql, (number,)).fetchone()
            raise StorageError(f"the transcript of session {number} goes on at {end}, not at {position}")

    def _put_other(self, write: Write) -> None:
        match write:
            case AddSession():
                self._add_session(write)
            case PutSnapshot(number, state, state_seq):
                seq = self._number(state_seq)
                sql = "UPDATE resource SET state_seq = ? WHERE number = ?"
                if self._change(number, sql, (seq, number)):
                    values = (number, state, snapshot_sum(number, seq, state))
                    self._connection.execute("REPLACE INTO snapshot VALUES (?, ?, ?)", values)
            case DropSession(number):
                self._drop_session(number)
            case DropLog(number, up_to):
                self._drop_log(number, self._number(up_to))
            case CutMessages() | PutContent() | CopyContent():
                self._put_belonging(write)
            case DropReceipts() | EchoReceipt():
                change_receipts(self._connection, write, self._seq)
            case PutClient(identity, version):
                self._put_client(identity, version)
            case Entry() | Skip() | PutRow() | AddMessages() | Receipt() | PutPresence():
                raise AssertionError("`put` collects these")
            case _:
                assert_never(write)

    def _number(self, seq: int) -> int:
        return self._seq if seq == HERE else seq

    def _put_client(self, identity: str, version: str) -> None:
        execute = self._connection.execute
        place = execute("SELECT coalesce(max(place), 0) + 1 FROM client").fetchone()[0]
        execute("REPLACE INTO client VALUES (?, ?, ?)", (place, identity, version))
        execute("DELETE FROM client WHERE place <= ?", (place - MAX_CLIENTS,))

    def _put_belonging(self, write: CutMessages | PutContent | CopyContent) -> None:
        match write:
            case CutMessages(number, position):
                sql = "DELETE FROM message WHERE number = ? AND position >= ?"
                self._connection.execute(sql, (number, position))
                self._connection.execute(_CUT_COUNT, (position, number))
            case PutContent(number, content_id, content_type, data):
                sql = """REPLACE INTO content SELECT ?, ?, ?, ?, ?
                    WHERE EXISTS (SELECT 1 FROM session WHERE number = ?)"""
                checksum = content_sum(content_id, content_type, data)
                self._change(number, sql, (number, content_id, content_type, data, checksum, number))
            case CopyContent(source, target):
                sql = """REPLACE INTO content SELECT ?, content_id, content_type, data, checksum FROM content
                    WHERE content.number = ? AND EXISTS (SELECT 1 FROM session WHERE number = ?)"""
                self._change(target, sql, (target, source, target))
            case _:
                assert_never(write)

    def _change(self, number: int, sql: str, values: tuple[object, ...]) -> bool:
        """Run a statement for a session that should exist. Return whether it changed anything."""
        if self._connection.execute(sql, values).rowcount:
            return True
        self._skip_if_gone(number)
        return False

    def _skip_if_gone(self, number: int) -> None:
        """Ignore a write for a session that was removed. Raise if there never was such a session.

        The last writes of a session may arrive after its removal, and a commit that fails is retried forever.
        """
        if number > self.counter.last_number:
            raise StorageError(f"there is no session with number {number}")

    def _add_session(self, write: AddSession) -> None:
        row, execute, count = write.row, self._connection.execute, len(write.messages)
        names = (row.number, row.uri, row.name, row.owner)
        names_checksum = names_sum(*names, row.parent)
        values = (int(row.is_active), row.summary, row.private)
        execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*names, *values, row_sum(row.number, *values), names_checksum, count, ~count, row.parent),
        )
        checksum = snapshot_sum(row.number, write.state_seq, write.state)
        execute("INSERT INTO snapshot VALUES (?, ?, ?)", (row.number, write.state, checksum))
        execute("INSERT INTO resource (number, state_seq) VALUES (?, ?)", (row.number, write.state_seq))
        self._connection.executemany(
            "INSERT INTO message VALUES (?, ?, ?, ?)", _message_rows(row.number, 0, write.messages)
        )
        self.counter.session_count += 1
        self.counter.last_number = max(self.counter.last_number, row.number)

    def _drop_session(self, number: int) -> None:
        """Remove everything of a session. Do nothing if it was removed before."""
        execute = self._connection.execute
        if not execute("DELETE FROM session WHERE number = ?", (number,)).rowcount:
            return
        catch_up(self._connection, self.counter, self._seq)  # entries are found by the index
        self.counter.entry_count -= remove_entries(self._connection, number, self._seq)
        self.counter.session_count -= 1
        execute("DELETE FROM message WHERE number = ?", (number,))
        execute("DELETE FROM content WHERE number = ?", (number,))
        execute("DELETE FROM snapshot WHERE number = ?", (number,))
        execute("DELETE FROM resource WHERE number = ?", (number,))

    def _drop_log(self, number: int, up_to: int) -> None:
        """Remove entries and raise the floor, even if there were none."""
        catch_up(self._connection, self.counter, self._seq)
        gone = remove_entries(self._connection, number, up_to)
        self.counter.entry_count -= gone
        self._connection.execute(
            """UPDATE resource SET entry_count = entry_count - :gone, floor = max(floor, :up_to),
            floor_check = ~max(floor, :up_to),
            first = (SELECT min(seq) FROM log_index WHERE resource = :number) WHERE number = :number""",
            {"gone": gone, "up_to": up_to, "number": number},
        )


def forget_root(connection: sqlite3.Connection, counter: Counter) -> None:
    """Remove the root so that nobody can resume from before. Its whole log has to be indexed."""
    counter.entry_count -= remove_entries(connection, ROOT, counter.last_seq)
    connection.execute("DELETE FROM snapshot WHERE number = ?", (ROOT,))
    connection.execute("INSERT OR IGNORE INTO resource (number) VALUES (?)", (ROOT,))
    connection.execute(
        """UPDATE resource SET state_seq = NULL, entry_count = 0, index_sum = 0, first = NULL, floor = :floor,
        floor_check = ~:floor WHERE number = :number""",
        {"floor": counter.last_seq, "number": ROOT},
    )


@cache
def _statement(sql: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return sql.format(rows=", ".join([row] * rows))


def _chunks(rows: list[T], columns: int = 1) -> Iterator[list[T]]:
    """Yield rows in chunks of a few fixed sizes: `sqlite3` caches statements by their text.

    In a flat list of values, `columns` is how many of them make a row.
    """
    place = 0
    for count in _BATCH_SIZES:
        size = count * columns
        while len(rows) - place >= size:
            yield rows[place : place + size]
            place += size


def _with_start(rows: Sequence[_MessageRow]) -> list[tuple[int, int, bytearray, int, int]]:
    """Add to each row the position of the first row of its session."""
    first: dict[int, int] = {}
    return [(*row, first.setdefault(row[0], row[1])) for row in rows]


def _receipt_row(receipt: Receipt, here: int) -> _ReceiptRow:
    identity, slot, client_seq, digest, seq = (
        receipt.identity,
        receipt.slot,
        receipt.client_seq,
        receipt.digest,
        here if receipt.seq == HERE else receipt.seq,
    )
    checksum = receipt_sum(identity, slot, client_seq, digest, seq)
    return identity, slot, client_seq, bytearray(digest), seq, checksum


def _row_values(row: SessionRow) -> _SessionValues:
    """Return the values that change in the row of a session, its checksum and its number."""
    is_active, summary, private = int(row.is_active), row.summary, row.private
    checksum = row_sum(row.number, is_active, summary, private)
    return is_active, bytearray(summary), bytearray(private), checksum, row.number


def _message_rows(number: int, position: int, messages: Iterable[bytes]) -> list[_MessageRow]:
    placed = enumerate(messages, position)
    return [(number, place, bytearray(body), message_sum(number, place, body)) for place, body in placed]
