"""A group: the writes of one commit, as the arguments of the one call that makes it.

`put_group_v1` in functions.sql takes columns. Rows that every turn writes are collected by kind. The other
writes are applied one by one, in order; each begins a step, and collected rows say which step they follow.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, assert_never

from msgspec.structs import replace

from agenthost.errors import StorageError
from agenthost.host.storage import (
    HERE,
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
    PutRow,
    PutSnapshot,
    Receipt,
    Skip,
    Write,
)
from agenthost.host.storage.batch import MAX_CLIENTS
from agenthost.host.storage.checksums import (
    content_sum,
    entry_sum,
    message_sum,
    names_sum,
    receipt_sum,
    row_sum,
    snapshot_sum,
)

__all__ = ["PUT_GROUP", "GroupCall", "entry_check", "receipt_check"]

_Other: TypeAlias = tuple[Any, ...]
"""Kind, number, another number, three texts, data, more data, and two checksums."""

_COLUMNS = {"entries": 5, "rows": 6, "messages": 5, "receipts": 7, "others": 10}

PUT_GROUP = f"SELECT put_group_v1({', '.join(f'${place}' for place in range(1, 5 + sum(_COLUMNS.values())))})"


def receipt_check(receipt: Receipt) -> int:
    """Return the checksum of a receipt. SQL can change its slot, so that is added to the rest."""
    rest = receipt_sum(receipt.identity, 0, receipt.client_seq, receipt.digest, receipt.seq)
    return rest + receipt.slot


def entry_check(seq: int, resource: int, envelope: bytes, only_for: str | None) -> int:
    """Return the checksum of an entry. The server gives it its number, so that is added to the rest."""
    return entry_sum(0, resource, envelope, only_for) + seq


class GroupCall:
    """The writes of one commit, numbered from `base`. `last_seq` is their last number."""

    def __init__(self, writes: Iterable[Write], base: int) -> None:
        """Collect the writes.

        Raises:
            StorageError: the number of a copied entry is out of order.
        """
        self._base = base
        self.last_seq = base
        self._entries: list[tuple[int, int, bytes, bytes | None, int]] = []
        self._rows: dict[tuple[int, int], tuple[Any, ...]] = {}
        self._messages: list[tuple[int, int, int, bytes, int]] = []
        self._receipts: dict[tuple[int, str, int], tuple[Any, ...]] = {}
        self._others: list[_Other] = []
        for write in writes:
            self._add(write)

    def columns(self) -> list[Sequence[Any]]:
        """Return the columns, in the order of the function's parameters."""
        tables = {
            "entries": self._entries,
            "rows": [*self._rows.values()],
            "messages": self._messages,
            "receipts": [*self._receipts.values()],
            "others": self._others,
        }
        return [
            column
            for name, rows in tables.items()
            for column in (zip(*rows, strict=True) if rows else [()] * _COLUMNS[name])
        ]

    def _add(self, write: Write) -> None:
        step = len(self._others)
        if isinstance(write, Entry):
            self._add_entry(write)
        elif type(write) is PutRow:
            row = write.row
            checksum = row_sum(row.number, int(row.is_active), row.summary, row.private)
            key = (step, row.number)
            self._rows[key] = (*key, row.is_active, row.summary, row.private, checksum)
        elif type(write) is AddMessages:
            self._add_messages(write.number, write.position, write.messages)
        elif type(write) is Receipt:
            one = write
            if one.seq == HERE:
                one = replace(one, seq=self.last_seq)
            values = (step, one.identity.encode(), one.slot, one.client_seq, one.digest, one.seq)
            self._receipts[step, one.identity, one.slot] = (*values, receipt_check(one))
        elif type(write) is Skip:
            self.last_seq += write.count
        elif isinstance(write, AddSession):
            self._add_session(write)
        else:
            self._others.append(_other(write, self.last_seq))  # type: ignore[arg-type] # `type(…) is` does not narrow

    def _add_entry(self, entry: Entry) -> None:
        if entry.seq and entry.seq <= self.last_seq:
            raise StorageError(f"entry {entry.seq} is not above {self.last_seq}")
        self.last_seq = seq = entry.seq or self.last_seq + entry.count
        resource, envelope, only_for = entry.resource, entry.envelope, entry.only_for
        offset = seq - self._base
        checksum = entry_check(offset, resource, envelope, only_for)
        client = None if only_for is None else only_for.encode()
        self._entries.append((offset, resource, envelope, client, checksum))

    def _add_messages(self, number: int, position: int, messages: Iterable[bytes]) -> None:
        step = len(self._others)
        self._messages += [
            (step, number, place, body, message_sum(number, place, body))
            for place, body in enumerate(messages, position)
        ]

    def _add_session(self, write: AddSession) -> None:
        row = write.row
        names = (row.uri.encode(), row.name.encode(), row.owner.encode())
        checksum = row_sum(row.number, int(row.is_active), row.summary, row.private)
        of_names = names_sum(row.number, row.uri, row.name, row.owner, row.parent)
        values = (row.number, row.parent, *names, row.summary, row.private)
        self._others.append(("A" if row.is_active else "S", *values, checksum, of_names))
        self._others.append(_other(PutSnapshot(row.number, write.state, write.state_seq), self.last_seq))
        self._add_messages(row.number, 0, write.messages)


def _other(
    write: PutSnapshot
    | DropSession
    | DropLog
    | CutMessages
    | PutContent
    | CopyContent
    | DropReceipts
    | EchoReceipt
    | PutClient,
    here: int,
) -> _Other:
    """Return the values of a write. `here` is the number of the entry before it."""
    match write:
        case PutSnapshot(number, state, given):
            state_seq = here if given == HERE else given
            checksum = snapshot_sum(number, state_seq, state)
            return _values("P", number, state_seq, data=state, checksum=checksum)
        case DropSession(number):
            return _values("D", number)
        case DropLog(number, up_to):
            return _values("L", number, here if up_to == HERE else up_to)
        case CutMessages(number, position):
            return _values("M", number, position)
        case PutContent(number, content_id, content_type, data):
            checksum = content_sum(content_id, content_type, data)
            return _values("C", number, None, content_id, content_type, data, checksum)
        case CopyContent(source, target):
            return _values("Y", target, source)
        case DropReceipts(identity, slot):
            return _values("R", None, slot, identity)
        case EchoReceipt(identity, client_seq, digest, given):
            seq = here if given == HERE else given
            checksum = receipt_check(Receipt(identity, 0, client_seq, digest, seq))
            return _values("E", client_seq, seq, identity, data=digest, checksum=checksum)
        case PutClient(identity, version):
            return _values("V", None, MAX_CLIENTS, identity, version)
        case _:
            assert_never(write)


def _values(
    kind: str,
    number: int | None,
    other: int | None = None,
    text1: str | None = None,
    text2: str | None = None,
    data: bytes | None = None,
    checksum: int | None = None,
) -> _Other:
    texts = [None if text is None else text.encode() for text in (text1, text2)]
    return kind, number, other, *texts, None, data, None, checksum, None
