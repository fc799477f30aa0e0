"""The interface of a store that several nodes use at the same time, and what they hear of each other."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from agenthost.host.storage import Entry, SessionRow, Storage

__all__ = ["Committed", "NodeNotice", "NodeRow", "Progress", "SharedStorage", "shared_of"]


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit, as all nodes of a host hear of it, in the order of the numbers.

    Attributes:
        place: its place in the ledger. The next one has the next.
        node: whose it is.
        ordinal: which of that node's groups it is.
        base: the number before its first.
        count: how many numbers it took.
        resources: the resources whose logs have new entries; `None` if it is not known.
        rows: the session rows that were added (`+`), changed (`~`) or removed (`-`), by number.
        has_presence: whether clients came or went, if `resources` is known.
    """

    place: int
    node: int
    ordinal: int
    base: int
    count: int
    resources: frozenset[int] | None = None
    rows: Mapping[int, str] = field(default_factory=dict)
    has_presence: bool = True

    @property
    def last_seq(self) -> int:
        """The last number that it took."""
        return self.base + self.count


@dataclass(frozen=True, slots=True)
class NodeNotice:
    """Something about a node: it is `dead`, has `released` its sessions, has other `facts`, or is to `drain`.

    `missed` says that notices were lost: `Committed.place` of the next one will show how many.
    """

    kind: str
    node: int


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node that is alive: its id, its name, where others reach it, and what it has that all show."""

    id: int
    name: str
    url: str
    is_leaving: bool
    facts: bytes


@dataclass(frozen=True, slots=True)
class Progress:
    """What a followed session has become: its row, and its messages from a position on."""

    row: SessionRow
    position: int
    messages: list[bytes]


class SharedStorage(Storage, Protocol):
    """A store that several nodes use at the same time; each session has one of them as its owner.

    Attributes:
        node: the id of this node, once the store is open. No other run of a server ever had it.
        place: the place of the newest commit in the ledger when the store was opened.
    """

    node: int
    place: int

    def listen(self, hear: Callable[[Committed | NodeNotice], None]) -> None:
        """Call a function, in a thread of the store, with every notice since the store was opened."""

    def ledger_after(self, place: int) -> Sequence[Committed]:
        """Read the commits after this place, without what they are about."""

    def owner_of(self, number: int) -> int:
        """Return the id of the node that owns a session; 0 if it is free."""

    def claim(self, numbers: Collection[int]) -> Mapping[int, int]:
        """Take these sessions if they are free. Return the node that owns each of those that exist.

        A session is free if its owner is dead, or has released its sessions. It belongs to a node with its
        family: its chats, and the tasks below it.
        """

    def claim_root(self) -> int:
        """Take the root if it is free. Return the node that owns it."""

    def unattended(self, limit: int, held: Collection[int]) -> Sequence[SessionRow]:
        """Return rows of sessions and chats with a turn that nobody goes on with, in no order.

        They are free, or belong to this node and are not among those that it holds.
        """

    def release(self) -> None:
        """Give all sessions away. Everything about them was committed; other nodes may take them."""

    def reserve(
        self, uri: str, name: str, owner: str, others: tuple[Sequence[str], Sequence[str]]
    ) -> int | str:
        """Reserve a URI and a name for a new session. Return its number, or the owner of what has them.

        `others` are further URIs and names that nothing may have.
        """

    def unreserve(self, number: int) -> None:
        """Give a reservation back."""

    def entries_between(self, after: int, up_to: int, resources: Collection[int]) -> Sequence[Entry]:
        """Read the log of these resources after one number and up to another, in order."""

    def progress(self, known: Mapping[int, int]) -> Mapping[int, Progress]:
        """Read rows and new messages of sessions; `known` is how many messages of each are known."""

    def nodes(self) -> Sequence[NodeRow]:
        """Return the nodes that are alive."""

    def put_facts(self, facts: bytes) -> None:
        """Replace the facts of this node, and tell the others."""

    def rows_of(self, numbers: Collection[int]) -> Mapping[int, SessionRow]:
        """Read rows of sessions, by their numbers."""

    def removed(self, numbers: Collection[int]) -> Sequence[tuple[int, str, str, bool]]:
        """Return number, URI and owner of what was removed lately, and whether it was a task."""

    def presence_after(self, place: int) -> tuple[int, Sequence[tuple[int, str, bool]]]:
        """Return the newest place, and node, identity and presence of clients that changed at it or since."""

    def session_count(self) -> int:
        """Return how many sessions there are, without further chats."""


def shared_of(storage: Storage) -> SharedStorage | None:
    """Return a store as one that several nodes use, if it is."""
    return cast("SharedStorage", storage) if storage.is_shared else None
