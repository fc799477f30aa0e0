"""Storage: the interface of a store, small enough for another engine to implement, and two stores.

A store keeps the log (every envelope, by sequence number), a row and a snapshot for each session, each
session's transcript and large contents, and receipts for what clients sent. It handles bytes and numbers and
does not interpret them, except where `upgrade` gives them another form. All calls block. The host makes
writing calls from one thread, in order; reading calls may come from any thread, at any time.

`sqlite` is the usual store. `batch` writes, `reader` reads, `index` finds entries of the log, `retention` and
`space` make room, `migrations` has the tables; `upgrade` and `legacy_form` are for what is in older ones.
`counter`, `ranges`, `receipts` and `checksums` are parts of these. `integrity` and `repair` are for
`agenthost doctor`. `data_folder` locks the folder, `errors` explains what SQLite raises, `cursors` are for
paged lists. The package `postgres` is the store that other machines can reach, `stores` loads it when it is
used, and `copying` copies one store into another. `shared` is the interface of a store that several nodes
use at the same time. May import: store_address.

Another engine would have to give: transactions that are durable before a commit returns, and happen once even
if the connection is lost meanwhile; one order of all commits; reads as of one moment; and a way to know that
no other process writes, which has to be looked up within each commit.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec

ROOT = 0
"""The number of the root. It has a log and a snapshot, but no row and no transcript."""

HERE = -1
"""In a write: the sequence number of the entry before it, which is known when its group is committed."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An entry of the log: one envelope, or a run of text that stands for several.

    Attributes:
        seq: its sequence number. In a write it is 0, and the store assigns it; copies keep the one they had.
        resource: the number of the resource whose log it is in.
        envelope: the envelope, without its number, or the run.
        only_for: the key of the one client that may see it (see `Identity.key`); refusals have one.
        count: in a write, how many numbers it takes. It has the last of them.
    """

    # Types that every turn creates are structs: creating a frozen dataclass takes ten times as long.

    seq: int
    resource: int
    envelope: bytes
    only_for: str | None = None
    count: int = 1


class Skip(msgspec.Struct, frozen=True, gc=False):
    """Take sequence numbers for something that is shown but not written."""

    count: int


class SessionRow(msgspec.Struct, frozen=True, gc=False):
    """The stored row of a session, or of a further chat of one: everything but its state.

    Attributes:
        number: the store's own number for it. Newer sessions have higher numbers.
        uri: its URI, which identifies it to clients.
        name: a short name, unique in the store.
        owner: whose it is.
        is_active: whether a turn is running or waiting, which the host resumes after a restart.
        summary: its encoded `SessionSummary`, for lists.
        private: encoded data that is shown to nobody, such as settings and sealed secrets.
        parent: of a further chat, the number of its session; 0 for a session. The summary of
            one that has moved says where to.
    """

    number: int
    uri: str
    name: str
    owner: str
    is_active: bool
    summary: bytes
    private: bytes
    parent: int = 0


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A complete session: its row, its last snapshot, the log since then, and its transcript."""

    row: SessionRow
    state: bytes
    state_seq: int
    entries: list[Entry]
    messages: list[bytes]


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Content of a session that is too large for its state."""

    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class AddSession:
    """Create a session: its row, its first snapshot and its first messages. `family` as in `PutRow`."""

    row: SessionRow
    state: bytes
    state_seq: int
    messages: tuple[bytes, ...] = ()
    family: int = 0


class PutRow(msgspec.Struct, frozen=True, gc=False):
    """Replace the row of a session. Its number, URI, name, owner and parent do not change.

    `family` is the number of the session that it belongs to: of a chat or a task that of another one. With
    several nodes, a family has one owner. 0 is not known.
    """

    row: SessionRow
    family: int = 0


@dataclass(frozen=True, slots=True)
class PutSnapshot:
    """Replace the snapshot of a session, or of the root, with one that holds everything up to `state_seq`."""

    number: int
    state: bytes
    state_seq: int = HERE


@dataclass(frozen=True, slots=True)
class DropSession:
    """Remove a session and everything that belongs to it, including its log."""

    number: int


@dataclass(frozen=True, slots=True)
class DropLog:
    """Remove the log of a session, or of the root, up to this number. Its snapshot must include all of it.

    For a change that no action can express: clients that were away since before it get no replay.
    """

    number: int
    up_to: int = HERE


class AddMessages(msgspec.Struct, frozen=True, gc=False):
    """Append messages to a transcript. The first of them has this position, counted from 0."""

    number: int
    position: int
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CutMessages:
    """Remove all messages of a transcript from this position on."""

    number: int
    position: int


@dataclass(frozen=True, slots=True)
class PutContent:
    """Store content of a session, under an id that is unique within that session."""

    number: int
    content_id: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class CopyContent:
    """Copy all contents of one session to another, under the same ids."""

    source: int
    target: int


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """A record that an action of a client was accepted, so that it is recognized when it is sent again.

    Attributes:
        identity: whose action it was.
        slot: its place among the receipts of this client. A new receipt replaces the one in its slot.
        client_seq: the number that the client gave the action.
        digest: a digest of the action as it was sent.
        seq: the sequence number of its echo or refusal, in a write `HERE`; `None` while it has none.
    """

    identity: str
    slot: int
    client_seq: int
    digest: bytes
    seq: int | None


class DropReceipts(msgspec.Struct, frozen=True, gc=False):
    """Remove one receipt of a client, or all of them if `slot` is `None`."""

    identity: str
    slot: int | None = None


class EchoReceipt(msgspec.Struct, frozen=True, gc=False):
    """Record the sequence number of a late echo on the receipts that wait for it."""

    identity: str
    client_seq: int
    digest: bytes
    seq: int = HERE


class PutClient(msgspec.Struct, frozen=True, gc=False):
    """Remember which protocol version was agreed with a client. The oldest clients are forgotten.

    The version is followed by `PARTIAL` if the client does not have all turns of some chat.
    """

    identity: str
    version: str


PARTIAL = "+partial"


class PutPresence(msgspec.Struct, frozen=True, gc=False):
    """Tell other nodes that a client is connected to this one, or no longer. Only for a shared store."""

    identity: str
    is_there: bool


Write: TypeAlias = (
    Entry
    | Skip
    | PutClient
    | PutPresence
    | Receipt
    | DropReceipts
    | EchoReceipt
    | AddSession
    | PutRow
    | PutSnapshot
    | DropSession
    | DropLog
    | AddMessages
    | CutMessages
    | PutContent
    | CopyContent
)


@dataclass(slots=True)
class Group:
    """Writes that are committed together.

    Attributes:
        writes: the writes, in order.
        ordinal: identifies the group, so that it is not written twice if it is tried again. Later groups have
            higher ones; 0 is none.
        at_least: no number up to this one is assigned any more.
    """

    writes: list[Write] = field(default_factory=list)
    ordinal: int = 0
    at_least: int = 0


@dataclass(frozen=True, slots=True)
class Opening:
    """The contents of a store when it was opened.

    Attributes:
        last_seq: the sequence number to continue from. It starts a new range, above all earlier numbers.
        last_number: the highest number that any session ever had.
        session_count: how many sessions there are, without further chats.
        active: the numbers of the sessions and further chats with a turn to resume, oldest first.
        root: the root's last snapshot.
        root_seq: the sequence number up to which that snapshot holds everything; 0 without one.
        root_entries: the root's log since then.
    """

    last_seq: int
    last_number: int
    session_count: int
    active: list[int]
    root: bytes | None
    root_seq: int = 0
    root_entries: list[Entry] = field(default_factory=list)


class Storage(Protocol):
    """A store. Methods raise `StorageError` when they fail, and then nothing has changed.

    `is_shared` says whether it is a `SharedStorage`; see `shared`.
    """

    is_shared: bool

    def open(self) -> Opening:
        """Open the store. Create or migrate it first if needed.

        Raises:
            StorageError: it is in use by another process, damaged, or written by a newer agenthost.
        """

    def commit(self, group: Group) -> int:
        """Apply all writes of a group in order, or none. Return its base: the number before its first.

        The store assigns numbers without gaps, in the order of the writes. A group with the ordinal of the
        last one is that group, tried again: it is not applied twice, and has the base that it had. Writes for
        a session that was dropped are ignored: their author may not know yet that it is gone.
        """

    def sync(self) -> None:
        """Wait until everything that was committed is on the disk, if commits do not wait for that."""

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number.

        Raises:
            Damaged: what was read is not what was written. All reading methods may raise this.
        """

    def load(self, number: int) -> StoredSession | None:
        """Read a complete session as of one moment, without its contents."""

    def content(self, number: int, content_id: str) -> StoredContent | None:
        """Read one content of a session."""

    def list(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions of one owner, or of all, newest first, starting below the number `before`.

        Further chats, and sessions whose rows are damaged, are left out.
        """

    def count(self, owner: str) -> int:
        """Count the sessions of an owner."""

    def holds(self, seq: int) -> bool:
        """Return whether this sequence number was assigned in the history that this store holds.

        A power cut or a restored backup takes history back. Clients may still know numbers from it.
        """

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of these sessions that contain every word, in any of its spellings.

        Each message comes with the number of its session; the messages of one session are in order. The
        search compares bytes, ignoring the case of ASCII letters.
        """

    def floor(self, resources: Collection[int]) -> int:
        """Return the highest number trimmed from the log of any of these resources; 0 if none was."""

    def replay(
        self, after: int, resources: Collection[int], client: str, max_bytes: float = math.inf
    ) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order, as this client may see it.

        Reading stops once the entries have more than `max_bytes` together, so at least one is read if there
        is any. The next page is read after the last of them.
        """

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client, oldest first; those without an echo come last."""

    def version_of(self, identity: str) -> str | None:
        """Return the protocol version that was agreed with a client, if it is remembered; see `PutClient`."""

    def trim(self, per_session: int, total: int) -> int:
        """Remove old entries beyond these limits, per session and in total. Return how many were removed.

        Only entries that a snapshot includes are removed, so no state is lost. Receipts of that age are
        removed too. A call does a bounded amount of work: call again until it returns 0.
        """

    def shrink(self) -> int:
        """Return space of removed rows to the disk. Return how many pages; 0 once there is little left.

        A call does a bounded amount of work: call again until it returns 0.
        """

    def close(self) -> None:
        """Close the store and release its lock."""
