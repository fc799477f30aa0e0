"""What the tests of stores put into them."""

from pathlib import Path

from agenthost.host.storage import AddSession, Entry, SessionRow
from agenthost.host.storage.sqlite import SqliteStorage, Sync


def dense_store(folder: Path, *, sync: Sync = "full") -> SqliteStorage:
    """Make a store whose numbers go on where they ended, so that a test can name them."""
    return SqliteStorage(folder, sync=sync, begin=lambda last_seq: last_seq)


def row(number: int, *, owner: str = "ann", is_active: bool = False, summary: bytes = b"{}") -> SessionRow:
    return SessionRow(number, f"demo:/{number}", f"name-{number}", owner, is_active, summary, b"private")


def added(number: int, *, owner: str = "ann", is_active: bool = False, state_seq: int = 0) -> AddSession:
    return AddSession(row(number, owner=owner, is_active=is_active), b"state", state_seq, (b"hello",))


def entry(seq: int, resource: int = 1, only_for: str | None = None) -> Entry:
    return Entry(seq, resource, b'{"serverSeq":%d}' % seq, only_for)


def appended(seqs: range, resource: int = 1) -> list[Entry]:
    return [entry(seq, resource) for seq in seqs]
