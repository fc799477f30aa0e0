"""Writing: the writes of one commit, put into the tables. Knows SQL; the transaction is its caller's."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TypeAlias, TypeVar, assert_never
from zlib import crc32

from agenthost.errors import StorageError
from agenthost.host.storage import (
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
    PutContent,
    PutRow,
    PutSnapshot,
    Receipt,
    SessionRow,
    Write,
)
from agenthost.host.storage.checksums import (
    content_sum,
    entry_sum,
    message_sum,
    names_sum,
    row_sum,
    snapshot_sum,
)
from agenthost.host.storage.counter import Counter, put_counter
from agenthost.host.storage.indexing import AT_ONCE, catch_up, remove_entries
from agenthost.host.storage.receipts import change_receipts

T = TypeVar("T")

_MessageRow: TypeAlias = tuple[int, int, bytearray, int]

_PUT_ROW = "UPDATE session SET is_active = ?, summary = ?, private = ?, checksum = ? WHERE number = ?"

_ADD_ENTRIES = "INSERT INTO log (seq, resource, envelope, checksum) VALUES {rows}"
_ENTRY_COLUMNS = 4

# The transcript goes on where it ends, and only of a session that is there. All rows are looked at before the
# first of them is there, so each says where those of its session begin.
_ADD_MESSAGES = """INSERT INTO message SELECT column1, column2, column3, column4 FROM (VALUES {rows})
    WHERE column5 = (SELECT coalesce(max(position) + 1, 0) FROM message WHERE number = column1)
    AND EXISTS (SELECT 1 FROM session WHERE number = column1)"""

_PUT_RECEIPTS = "REPLACE INTO receipt VALUES {rows}"

_ROWS_AT_ONCE = (64, 16, 4, 1)
"""How many rows a statement may have. For each statement `sqlite3` lets go of the interpreter's lock and has
to get it back from the event loop; for each row that would be felt."""


class Batch:
    """The writes of one commit. `counter` is what the store's numbers are when it is done."""

    def __init__(self, connection: sqlite3.Connection, counter: Counter, last_seq: int) -> None:
        if last_seq < counter.last_seq:
            raise StorageError(f"sequence numbers only grow: {last_seq} is below {counter.last_seq}")
        self.counter = replace(counter, last_seq=last_seq)
        self._connection = connection
        self._seq = counter.last_seq  # of the last entry so far, or below the next
        # What every turn writes: gathered, as one statement for many rows costs a fraction of many.
        # Of exact types that `sqlite3` takes as they are: for `bytes`, `bool` and `None` it first looks for
        # an adapter, which costs more than the row.
        self._entries: list[object] = []  # the values of all rows, one after the other
        self._rows: dict[int, tuple[int, bytearray, bytearray, int, int]] = {}
        self._messages: list[_MessageRow] = []
        self._receipts: list[tuple[str, int, int, bytearray, int | None]] = []

    def put(self, writes: Sequence[Write]) -> None:
        """Do the writes, in order."""
        for write in writes:
            if isinstance(write, Entry):
                seq, envelope = write.seq, write.envelope
                if write.only_for is not None or not self._seq < seq <= self.counter.last_seq:
                    self._add_refusal(write)
                    continue
                # Written out, with what `entry_sum` does: every turn does this several times.
                self._seq, resource = seq, write.resource
                self._entries += (seq, resource, bytearray(envelope), crc32(envelope, seq + resource))
            elif type(write) is PutRow:
                self._rows[write.row.number] = _changed(write.row)
            elif type(write) is AddMessages:
                self._messages += _message_rows(write.number, write.position, write.messages)
            elif type(write) is Receipt:
                digest = bytearray(write.digest)
                self._receipts.append((write.identity, write.slot, write.client_seq, digest, write.seq))
            else:
                self._put_gathered()
                self._put_other(write)
        self._put_gathered()
        if self.counter.last_seq - self.counter.indexed_seq >= AT_ONCE:
            catch_up(self._connection, self.counter, self.counter.last_seq)
        put_counter(self._connection, self.counter)

    def _add_refusal(self, entry: Entry) -> None:
        """Take an entry for one client; refuse a number out of order: it would come twice."""
        if not self._seq < entry.seq <= self.counter.last_seq:
            raise StorageError(
                f"entry {entry.seq} is not above {self._seq} and up to {self.counter.last_seq}"
            )
        self._seq = entry.seq
        values = (entry.seq, entry.resource, entry.envelope, entry.only_for)
        self._connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?)", (*values, entry_sum(*values)))
        self.counter.entry_count += 1

    def _put_gathered(self) -> None:
        """Put what was gathered: these do not look at each other, so their order does not matter."""
        entries, rows, messages = self._entries, self._rows, self._messages
        if entries:
            for some in _some_of(entries, _ENTRY_COLUMNS):
                statement = _statement(_ADD_ENTRIES, len(some) // _ENTRY_COLUMNS, _ENTRY_COLUMNS)
                self._connection.execute(statement, some)
            self.counter.entry_count += len(entries) // _ENTRY_COLUMNS
            self._entries = []
        if rows:
            if self._connection.executemany(_PUT_ROW, rows.values()).rowcount != len(rows):
                self._pass_over(max(rows))
            self._rows = {}
        if messages:
            if sum([self._insert(_ADD_MESSAGES, _placed(some)) for some in _some_of(messages)]) != len(
                messages
            ):
                self._explain(messages)
            self._messages = []
        if self._receipts:
            for found in _some_of(self._receipts):
                self._insert(_PUT_RECEIPTS, found)
            self._receipts = []

    def _insert(self, sql: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Insert rows with one statement; give how many were taken."""
        statement = _statement(sql, len(rows), len(rows[0]))
        return self._connection.execute(statement, list(chain.from_iterable(rows))).rowcount

    def _explain(self, messages: Sequence[_MessageRow]) -> None:
        """Find out why not all messages were taken: refuse those in the wrong place."""
        for number, position, body, _ in messages:
            sql = "SELECT body FROM message WHERE number = ? AND position = ?"
            if self._connection.execute(sql, (number, position)).fetchone() == (body,):
                continue
            sql = "SELECT 1 FROM session WHERE number = ?"
            if self._connection.execute(sql, (number,)).fetchone() is None:
                self._pass_over(number)
                continue
            sql = "SELECT coalesce(max(position) + 1, 0) FROM message WHERE number = ?"
            (end,) = self._connection.execute(sql, (number,)).fetchone()
            raise StorageError(f"the transcript of session {number} goes on at {end}, not at {position}")

    def _put_other(self, write: Write) -> None:
        match write:
            case AddSession():
                self._add_session(write)
            case PutSnapshot(number, state, state_seq):
                sql = "UPDATE resource SET state_seq = ? WHERE number = ?"
                if self._change(number, sql, (state_seq, number)):
                    values = (number, state, snapshot_sum(number, state_seq, state))
                    self._connection.execute("REPLACE INTO snapshot VALUES (?, ?, ?)", values)
            case DropSession(number):
                self._drop_session(number)
            case DropLog(number, up_to):
                self._drop_log(number, up_to)
            case CutMessages() | PutContent() | CopyContent():
                self._put_belonging(write)
            case DropReceipts() | EchoReceipt():
                change_receipts(self._connection, write)
            case Entry() | PutRow() | AddMessages() | Receipt():
                raise AssertionError("these are gathered")
            case _:
                assert_never(write)

    def _put_belonging(self, write: CutMessages | PutContent | CopyContent) -> None:
        match write:
            case CutMessages(number, position):
                sql = "DELETE FROM message WHERE number = ? AND position >= ?"
                self._connection.execute(sql, (number, position))
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
        """Change what belongs to a session that should be there; tell whether anything was changed."""
        if self._connection.execute(sql, values).rowcount:
            return True
        self._pass_over(number)
        return False

    def _pass_over(self, number: int) -> None:
        """Let what is for a session that is gone go too; refuse what is for one that never was.

        The last writes of a session may come after its end, and a commit that is refused is tried for ever.
        """
        if number > self.counter.last_number:
            raise StorageError(f"there is no session of number {number}")

    def _add_session(self, write: AddSession) -> None:
        row, execute = write.row, self._connection.execute
        names = (row.number, row.uri, row.name, row.owner)
        values = (int(row.is_active), row.summary, row.private)
        execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*names, *values, row_sum(row.number, *values), names_sum(*names)),
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
        """Remove all of a session; one that is gone already stays gone."""
        execute = self._connection.execute
        if not execute("DELETE FROM session WHERE number = ?", (number,)).rowcount:
            return
        catch_up(self._connection, self.counter, self._seq)  # so that the index knows all of its entries
        self.counter.entry_count -= remove_entries(self._connection, number, self._seq)
        self.counter.session_count -= 1
        execute("DELETE FROM message WHERE number = ?", (number,))
        execute("DELETE FROM content WHERE number = ?", (number,))
        execute("DELETE FROM snapshot WHERE number = ?", (number,))
        execute("DELETE FROM resource WHERE number = ?", (number,))

    def _drop_log(self, number: int, up_to: int) -> None:
        """Remove entries, and have the floor say so, even where there were none."""
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
    """Remove all of the root, such that nobody resumes from before. All of its log has to be indexed."""
    counter.entry_count -= remove_entries(connection, ROOT, counter.last_seq)
    connection.execute("DELETE FROM snapshot WHERE number = ?", (ROOT,))
    connection.execute(
        """UPDATE resource SET state_seq = NULL, entry_count = 0, first = NULL, floor = :floor,
        floor_check = ~:floor WHERE number = :number""",
        {"floor": counter.last_seq, "number": ROOT},
    )


@cache
def _statement(sql: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return sql.format(rows=", ".join([row] * rows))


def _some_of(rows: list[T], columns: int = 1) -> Iterator[list[T]]:
    """Give rows some at a time, in few different numbers: `sqlite3` keeps statements that it knows.

    Where all values of all rows are in one list, `columns` says how many are a row.
    """
    place = 0
    for count in _ROWS_AT_ONCE:
        size = count * columns
        while len(rows) - place >= size:
            yield rows[place : place + size]
            place += size


def _placed(rows: Sequence[_MessageRow]) -> list[tuple[int, int, bytearray, int, int]]:
    """Add to each row the position of the first of its session."""
    first: dict[int, int] = {}
    return [(*row, first.setdefault(row[0], row[1])) for row in rows]


def _changed(row: SessionRow) -> tuple[int, bytearray, bytearray, int, int]:
    """Give what changes in the row of a session, its checksum, and its number."""
    is_active, summary, private = int(row.is_active), row.summary, row.private
    checksum = row_sum(row.number, is_active, summary, private)
    return is_active, bytearray(summary), bytearray(private), checksum, row.number


def _message_rows(number: int, position: int, messages: Iterable[bytes]) -> list[_MessageRow]:
    placed = enumerate(messages, position)
    return [(number, place, bytearray(body), message_sum(number, place, body)) for place, body in placed]
