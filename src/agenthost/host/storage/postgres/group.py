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
    PutPresence,
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
from agenthost.host.storage.postgres.notices import encode_about

__all__ = ["PUT_GROUP", "GroupCall", "entry_check", "receipt_check", "snapshot_check"]

_Other: TypeAlias = tuple[Any, ...]
"""Kind, number, another number, three texts, data, more data, two checksums, and a family."""

_LISTED = {"A": "+", "S": "+", "D": "-"}

_COLUMNS = {"entries": 5, "rows": 7, "messages": 5, "receipts": 7, "others": 11}

PUT_GROUP = f"SELECT put_group_v1({', '.join(f'${place}' for place in range(1, 6 + sum(_COLUMNS.values())))})"


def receipt_check(receipt: Receipt) -> int:
    """Return the checksum of a receipt. The server may give its slot and number, so they are added."""
    rest = receipt_sum(receipt.identity, 0, receipt.client_seq, receipt.digest, None)
    return rest + receipt.slot + (receipt.seq or 0)


def snapshot_check(number: int, state_seq: int, state: bytes) -> int:
    """Return the checksum of a snapshot. The server may give its number, so that is added to the rest."""
    return snapshot_sum(number, 0, state) + state_seq


def entry_check(seq: int, resource: int, envelope: bytes, only_for: str | None) -> int:
    """Return the checksum of an entry. The server gives it its number, so that is added to the rest."""
    return entry_sum(0, resource, envelope, only_for) + seq


class GroupCall:
    """The writes of one commit. The server gives the base: numbers here are offsets from it.

    Attributes:
        count: how many numbers they take.
        has_numbers: whether some have numbers of their own, as copies do; those are offsets from `base`.
    """

    def __init__(self, writes: Iterable[Write], base: int) -> None:
        """Collect the writes.

        Raises:
            StorageError: the number of a copied entry is out of order.
        """
        self._base = base
        self.count = 0
        self.has_numbers = False
        self._entries: list[tuple[int, int, bytes, bytes | None, int]] = []
        self._rows: dict[tuple[int, int], tuple[Any, ...]] = {}
        self._messages: list[tuple[int, int, int, bytes, int]] = []
        self._receipts: dict[tuple[int, str, int], tuple[Any, ...]] = {}
        self._others: list[_Other] = []
        for write in writes:
            self._add(write)

    def notice(self) -> str:
        """Return what other nodes are told of it; see `notices`."""
        rows = {number: "~" for _, number in self._rows}
        for kind, number, *_ in self._others:
            if kind in _LISTED:
                rows[number] = _LISTED[kind]
        return encode_about({one[1] for one in self._entries}, rows, has_presence=self._has("I", "O"))

    def _has(self, *kinds: str) -> bool:
        return any(one[0] in kinds for one in self._others)

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
            self._rows[key] = (*key, row.is_active, row.summary, row.private, write.family, checksum)
        elif type(write) is AddMessages:
            self._add_messages(write.number, write.position, write.messages)
        elif type(write) is Receipt:
            one = write
            seq = self._here() if one.seq == HERE else one.seq
            values = (step, one.identity.encode(), one.slot, one.client_seq, one.digest, seq)
            self._receipts[step, one.identity, one.slot] = (*values, receipt_check(replace(one, seq=None)))
        elif type(write) is Skip:
            self.count += write.count
        elif isinstance(write, AddSession):
            self._add_session(write)
        else:
            self._others.append(_other(write, self._here()))  # type: ignore[arg-type] # `type(…) is` does not narrow

    def _here(self) -> int:
        """Return the number of the entry before, as `number_v1` in functions.sql takes it."""
        return -self.count - 1

    def _add_entry(self, entry: Entry) -> None:
        if entry.seq:
            if entry.seq <= self._base + self.count:
                raise StorageError(f"entry {entry.seq} is not above {self._base + self.count}")
            self.has_numbers = True
        self.count = offset = entry.seq - self._base if entry.seq else self.count + entry.count
        resource, envelope, only_for = entry.resource, entry.envelope, entry.only_for
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
        self._others.append(("A" if row.is_active else "S", *values, checksum, of_names, write.family))
        self._others.append(_other(PutSnapshot(row.number, write.state, write.state_seq), self._here()))
        self._add_messages(row.number, 0, write.messages)


def _other(  # noqa: C901 - a table of the writes
    write: PutSnapshot
    | DropSession
    | DropLog
    | CutMessages
    | PutContent
    | CopyContent
    | DropReceipts
    | EchoReceipt
    | PutClient
    | PutPresence,
    here: int,
) -> _Other:
    """Return the values of a write. `here` is the number of the entry before it, see `GroupCall`."""
    match write:
        case PutSnapshot(number, state, given):
            state_seq = here if given == HERE else given
            checksum = snapshot_sum(number, 0, state)
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
            checksum = receipt_check(Receipt(identity, 0, client_seq, digest, None))
            return _values("E", client_seq, seq, identity, data=digest, checksum=checksum)
        case PutClient(identity, version):
            return _values("V", None, MAX_CLIENTS, identity, version)
        case PutPresence(identity, is_there):
            return _values("I" if is_there else "O", None, None, identity)
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
    return kind, number, other, *texts, None, data, None, checksum, None, None
