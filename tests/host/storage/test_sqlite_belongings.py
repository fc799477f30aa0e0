"""The SQLite store: what belongs to the root and to sessions beside their rows. Real files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthost.host.storage import (
    ROOT,
    AddMessages,
    CopyContent,
    CutMessages,
    DropLog,
    DropSession,
    Opening,
    PutContent,
    PutRow,
    PutSnapshot,
    StoredContent,
    Write,
)
from agenthost.host.storage.sqlite import SqliteStorage
from storing import added, appended, commit, dense_store, entry, row


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStorage]:
    opened = dense_store(tmp_path)
    opened.open()
    yield opened
    opened.close()


def reopened(store: SqliteStorage) -> Opening:
    store.close()
    return store.open()


def seqs(store: SqliteStorage, *resources: int) -> list[int]:
    return [found.seq for found in store.replay(0, resources, "me")]


def test_the_root_comes_with_its_log_since_its_snapshot(store: SqliteStorage) -> None:
    commit(store, [added(1), *appended(range(1, 4), ROOT), *appended(range(4, 6))], 5)
    opening = reopened(store)
    assert (opening.root, opening.root_seq, opening.root_entries) == (None, 0, appended(range(1, 4), ROOT))
    commit(store, [PutSnapshot(ROOT, b"root", 2), entry(6, ROOT, "me")], 6)
    opening = reopened(store)
    assert (opening.root_seq, opening.root_entries) == (2, [entry(3, ROOT), entry(6, ROOT, "me")])


def test_the_last_writes_of_a_session_may_come_after_its_end(store: SqliteStorage) -> None:
    """Else the whole commit would be refused, with what is of others, and be tried again for ever."""
    commit(store, [added(1), added(2), DropSession(1)], 0)
    late: list[Write] = [PutRow(row(1)), PutSnapshot(1, b"", 1), AddMessages(1, 5, (b"",)), CutMessages(1, 0)]
    late += [PutContent(1, "a", "text/plain", b""), CopyContent(2, 1), CopyContent(1, 2), DropLog(1, 1)]
    commit(store, [entry(1, 2), *late, entry(2, 1)], 2)
    assert (store.load(1), store.content(1, "a"), store.content(2, "a")) == (None, None, None)
    assert seqs(store, 2) == [1]


def test_a_content_is_stored_separately_from_its_session(store: SqliteStorage) -> None:
    large = bytes(range(256)) * 4_000
    commit(store, [added(1), added(2), PutContent(1, "a", "image/png", large)], 0)
    reopened(store)
    assert store.content(1, "a") == StoredContent("image/png", large)
    assert (store.content(1, "b"), store.content(2, "a"), store.content(9, "a")) == (None, None, None)
    said: list[str] = []
    (reader,) = store._idle
    reader.set_trace_callback(said.append)
    assert store.load(1)
    reader.set_trace_callback(None)
    assert said
    assert [sql for sql in said if "content" in sql] == []


def test_copies_of_contents_do_not_depend_on_the_session_they_come_from(store: SqliteStorage) -> None:
    contents = [PutContent(1, name, "text/plain", name.encode()) for name in ("a", "b")]
    commit(store, [added(1), *contents, added(2), CopyContent(1, 2), added(3), CopyContent(3, 2)], 0)
    commit(store, [DropSession(1)], 0)
    assert [store.content(2, name) for name in ("a", "b", "c")] == [
        StoredContent("text/plain", b"a"),
        StoredContent("text/plain", b"b"),
        None,
    ]


def test_a_log_that_is_dropped_is_never_replayed(store: SqliteStorage) -> None:
    commit(store, [added(1), *appended(range(1, 6), ROOT), entry(6), entry(7, ROOT)], 7)
    commit(store, [PutSnapshot(ROOT, b"root", 7), entry(8, ROOT), DropLog(ROOT, 7), entry(9, ROOT)], 9)
    assert (seqs(store, ROOT, 1), store.floor([ROOT]), store.floor([1])) == ([6, 8, 9], 7, 0)
    assert [found.seq for found in reopened(store).root_entries] == [8, 9]
    assert store.trim(0, 0) == 0  # what is counted as kept is what there is
    commit(store, [PutSnapshot(ROOT, b"root", 9), DropLog(ROOT, 9), DropLog(ROOT, 3)], 9)
    assert (seqs(store, ROOT), store.floor([ROOT])) == ([], 9)
