"""Storage: what the host needs of a store, small enough that another engine can stand behind it.

A store keeps the log (every envelope, by its sequence number), a row and a snapshot for each session, and
each session's transcript and large contents, and receipts for what clients sent. It knows bytes and numbers,
nothing of what they mean. All calls block: the host makes the writing ones from one thread, in order; the
reading ones may come from any thread, at any time.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec

ROOT = 0
"""The number of the root, which has a log and a snapshot, but no row and no transcript."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """What happened: one envelope, or a run of text that `packing` makes envelopes of.

    `only_for` is the key of the one client that may see it (a refusal); see `Identity.key`.
    What every turn makes is a struct: a frozen dataclass takes ten times as long to make.
    """

    seq: int
    resource: int
    envelope: bytes
    only_for: str | None = None


class SessionRow(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a session beside its state.

    Attributes:
        number: the store's own number for it, ever increasing: newer sessions have higher ones.
        uri: how AHP calls it.
        name: how AAP calls it; unique.
        owner: whose it is.
        is_active: a turn is running or waiting, so that the host has to take it up after a restart.
        summary: its `SessionSummary`, encoded, for lists.
        private: what belongs to it and is shown to nobody (settings, secrets sealed), encoded.
    """

    number: int
    uri: str
    name: str
    owner: str
    is_active: bool
    summary: bytes
    private: bytes


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session whole: its row, its last snapshot, the log since, and its transcript."""

    row: SessionRow
    state: bytes
    state_seq: int
    entries: list[Entry]
    messages: list[bytes]


@dataclass(frozen=True, slots=True)
class StoredContent:
    """A content of a session that is too large for its state."""

    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class AddSession:
    """Make a session: its row, its first snapshot and its first messages."""

    row: SessionRow
    state: bytes
    state_seq: int
    messages: tuple[bytes, ...] = ()


class PutRow(msgspec.Struct, frozen=True, gc=False):
    """Replace the row of a session (its number, URI, name and owner stay)."""

    row: SessionRow


@dataclass(frozen=True, slots=True)
class PutSnapshot:
    """Replace the snapshot of a session, or of the root, by one that holds everything up to `state_seq`."""

    number: int
    state: bytes
    state_seq: int


@dataclass(frozen=True, slots=True)
class DropSession:
    """Remove a session and all that belongs to it, its log too."""

    number: int


@dataclass(frozen=True, slots=True)
class DropLog:
    """Remove the log of a session, or of the root, up to this number, which its snapshot has to hold.

    Whoever was away since before gets no replay any more: for a change that no action can express.
    """

    number: int
    up_to: int


class AddMessages(msgspec.Struct, frozen=True, gc=False):
    """Append to a transcript; the first of these messages has this position, from 0."""

    number: int
    position: int
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CutMessages:
    """Remove the messages of a transcript from this position on."""

    number: int
    position: int


@dataclass(frozen=True, slots=True)
class PutContent:
    """Keep a content of a session, under an id that is its own within that session."""

    number: int
    content_id: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class CopyContent:
    """Give a session a copy of all contents of another, under the same ids."""

    source: int
    target: int


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """That an action of a client was taken: enough to know it again when it is sent once more.

    Attributes:
        identity: whose action it was.
        slot: its place among those of this client; what was there before goes.
        client_seq: the number that the client gave it.
        digest: of the action, as it was sent.
        seq: the number of its echo or refusal; `None` as long as it has none.
    """

    identity: str
    slot: int
    client_seq: int
    digest: bytes
    seq: int | None


class DropReceipts(msgspec.Struct, frozen=True, gc=False):
    """Remove a receipt of a client; all of them without a slot."""

    identity: str
    slot: int | None = None


class EchoReceipt(msgspec.Struct, frozen=True, gc=False):
    """Note the number of an echo that came late, on the receipts that wait for it."""

    identity: str
    client_seq: int
    digest: bytes
    seq: int


Write: TypeAlias = (
    Entry
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


@dataclass(frozen=True, slots=True)
class Opening:
    """What a store held when it was opened.

    Attributes:
        last_seq: the sequence number to go on from: the beginning of a new range, above all earlier ones.
        last_number: the highest number that a session ever had.
        session_count: how many sessions there are.
        active: the numbers of the sessions that have a turn to take up, oldest first.
        root: the root's last snapshot.
        root_seq: the number up to which that snapshot holds everything; 0 without one.
        root_entries: the root's log since.
    """

    last_seq: int
    last_number: int
    session_count: int
    active: list[int]
    root: bytes | None
    root_seq: int = 0
    root_entries: list[Entry] = field(default_factory=list)


class Storage(Protocol):
    """A store. Every method raises `StorageError` when the store cannot do it; then nothing has changed."""

    def open(self) -> Opening:
        """Open the store, making or migrating it first where needed.

        Raises:
            StorageError: in use by another process, damaged, or written by a newer agenthost.
        """

    def commit(self, writes: Sequence[Write], last_seq: int) -> None:
        """Do all of these writes, in order, or none; from then on the store goes on from `last_seq`.

        The numbers of entries ascend, above the earlier `last_seq` and up to this one. What comes for a
        session that was dropped is passed over: whoever wrote it may not have heard of that yet.
        """

    def sync(self) -> None:
        """Wait until the disk has all that was committed, where commits do not wait for it themselves."""

    def find(
        self, *, uri: str | None = None, name: str | None = None, number: int | None = None
    ) -> SessionRow | None:
        """Find a session by its URI, by its name or by its number.

        Raises:
            Damaged: it is not as it was written. All that reads may raise this.
        """

    def load(self, number: int) -> StoredSession | None:
        """Read a session whole, as of one moment, without its contents."""

    def content(self, number: int, content_id: str) -> StoredContent | None:
        """Read one content of a session."""

    def list(self, *, owner: str | None, before: int | None, limit: int) -> Sequence[SessionRow]:
        """List sessions, newest first, from the one before this number on; of one owner, or of all.

        Those whose rows are damaged are left out.
        """

    def count(self, owner: str) -> int:
        """Count the sessions of an owner."""

    def holds(self, seq: int) -> bool:
        """Tell whether this number was given in the past that this store holds.

        One that was not is of another past, which a power cut or a restored copy took back.
        """

    def messages_with(
        self, numbers: Sequence[int], words: Sequence[Sequence[str]]
    ) -> Sequence[tuple[int, bytes]]:
        """Return the messages of some sessions that hold each of these words, in one of its spellings.

        Each comes with the number of its session, and those of one session are in order. The words are looked
        for in the bytes as they are, whatever those mean; the case of ASCII does not matter.
        """

    def floor(self, resources: Collection[int]) -> int:
        """Give the number up to which the log of any of these resources was trimmed; 0 if none was."""

    def replay(self, after: int, resources: Collection[int], client: str) -> Sequence[Entry]:
        """Read the log of these resources after this number, in order, as that client may see it."""

    def receipts(self, identity: str) -> Sequence[Receipt]:
        """Read the receipts of a client, oldest first; those without an echo come last."""

    def trim(self, per_session: int, total: int) -> int:
        """Remove what is older than the newest so many entries, of each session and in all; give how many.

        Only what a snapshot holds is removed, so that no state is lost. A call does a bounded amount of it:
        call again until it gives 0. Receipts go with what would be too old for a log of so many entries.
        """

    def shrink(self) -> int:
        """Give back space that what was removed has left; give how much of it, 0 if that is no more worth it.

        A call does a bounded amount: call again until it gives 0.
        """

    def close(self) -> None:
        """Close the store and let go of it."""
