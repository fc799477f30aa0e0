"""A store: what it keeps, gives back, trims, and at what cost. Real ones."""

import threading

import pytest

from agenthost.errors import StorageError
from agenthost.host.storage import (
    ROOT,
    AddMessages,
    CopyContent,
    CutMessages,
    DropSession,
    Opening,
    PutContent,
    PutRow,
    PutSnapshot,
    Storage,
    StoredContent,
    Write,
)
from agenthost.host.storage.index import MAX_UNINDEXED
from storing import added, appended, commit, entry, row


def reopened(store: Storage) -> Opening:
    store.close()
    return store.open()


def seqs(store: Storage, *resources: int, after: int = 0, client: str = "me") -> list[int]:
    return [entry.seq for entry in store.replay(after, resources, client)]


def trim_all(store: Storage, per_session: int, total: int) -> int:
    removed = 0
    while gone := store.trim(per_session, total):
        removed += gone
    return removed


def test_a_new_store_is_empty(store: Storage) -> None:
    assert reopened(store) == Opening(last_seq=0, last_number=0, session_count=0, active=[], root=None)
    assert (store.find(uri="demo:/1"), store.load(1), store.load(ROOT)) == (None, None, None)
    assert (store.list(owner=None, before=None, limit=9), store.floor([1]), seqs(store, 0, 1)) == ([], 0, [])
    assert store.trim(0, 0) == 0


def test_what_was_committed_is_there_after_a_restart(store: Storage) -> None:
    writes: list[Write] = [added(1), added(2, is_active=True), *appended(range(1, 4), 2)]
    writes += [PutSnapshot(ROOT, b"root", 3), AddMessages(2, 1, (b"two", b"three"))]
    commit(store, writes, 3)
    assert reopened(store) == Opening(
        last_seq=3, last_number=2, session_count=2, active=[2], root=b"root", root_seq=3
    )
    session = store.load(2)
    assert session
    assert (session.row, session.state, session.state_seq) == (row(2, is_active=True), b"state", 0)
    assert (session.entries, session.messages) == (
        [entry(1, 2), entry(2, 2), entry(3, 2)],
        [b"hello", b"two", b"three"],
    )


def test_a_session_is_loaded_with_the_log_since_its_snapshot(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 6)), PutSnapshot(1, b"later", 3)], 5)
    session = store.load(1)
    assert session
    assert (session.state, session.state_seq, session.entries) == (b"later", 3, [entry(4), entry(5)])


def test_sequence_numbers_go_on_after_everything_was_trimmed(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 9)), PutSnapshot(1, b"", 8)], 20)
    assert trim_all(store, 0, 0) == 8
    assert reopened(store).last_seq == 20
    commit(store, [], 20)
    commit(store, [], 30)
    assert reopened(store).last_seq == 30


def test_the_number_of_a_dropped_session_is_remembered(store: Storage) -> None:
    commit(store, [added(1), added(2)], 0)
    commit(store, [DropSession(2), DropSession(77)], 0)
    opening = reopened(store)
    assert (opening.last_number, opening.session_count) == (2, 1)


def test_writes_for_a_removed_session_are_ignored(store: Storage) -> None:
    commit(store, [added(1), DropSession(1), *appended(range(1, 4), 1)], 3)
    store.trim(100, 100)
    assert seqs(store, 1) == []
    commit(store, [added(2), *appended(range(4, 7), 2), PutSnapshot(2, b"", 6)], 6)
    assert store.trim(100, 3) == 0  # nor is it counted


def test_a_session_is_found_by_its_uri_its_name_and_its_number(store: Storage) -> None:
    commit(store, [added(1), added(2)], 0)
    assert store.find(uri="demo:/2") == store.find(name="name-2") == store.find(number=2) == row(2)
    assert (store.find(uri="name-2"), store.find(number=3), store.find()) == (None, None, None)


def test_a_row_is_replaced_and_keeps_what_names_it(store: Storage) -> None:
    commit(store, [added(1)], 0)
    commit(store, [PutRow(row(1, owner="eve", is_active=True, summary=b"new"))], 0)
    assert store.find(name="name-1") == row(1, is_active=True, summary=b"new")
    assert reopened(store).active == [1]
    commit(store, [PutRow(row(1))], 0)
    assert reopened(store).active == []


def test_a_transcript_is_cut_and_goes_on(store: Storage) -> None:
    commit(
        store, [added(1), AddMessages(1, 1, (b"b", b"c")), CutMessages(1, 2), AddMessages(1, 2, (b"d",))], 0
    )
    session = store.load(1)
    assert session
    assert session.messages == [b"hello", b"b", b"d"]


def test_lists_are_newest_first_page_by_page_of_one_owner_or_of_all(store: Storage) -> None:
    commit(store, [added(number, owner="ann" if number % 2 else "bob") for number in range(1, 10)], 0)

    def page(owner: str | None, before: int | None, limit: int = 3) -> list[int]:
        return [found.number for found in store.list(owner=owner, before=before, limit=limit)]

    assert (page(None, None), page(None, 7), page(None, 2)) == ([9, 8, 7], [6, 5, 4], [1])
    assert (page("bob", None), page("bob", 4), page("bob", 2)) == ([8, 6, 4], [2], [])
    assert (page("eve", None), page(None, None, 0), page(None, None, -1)) == ([], [], [])


@pytest.mark.parametrize("padding", [0, MAX_UNINDEXED])
def test_a_replay_is_in_order_over_resources_and_hides_what_is_for_others(
    store: Storage, padding: int
) -> None:
    writes: list[Write] = [added(1), added(2), added(3), entry(1, ROOT), entry(2, 2)]
    writes += [
        entry(3, 1),
        entry(4, 2, "me"),
        entry(5, 1, "you"),
        entry(6, 3),
    ]
    commit(store, writes, 6)
    commit(store, appended(range(7, 7 + padding), 3), 6 + padding)  # indexed or not, it is the same
    assert seqs(store, ROOT, 1, 2, 2, after=0) == [1, 2, 3, 4]
    assert seqs(store, ROOT, 1, 2, after=2, client="you") == [3, 5]
    assert (seqs(store, 1, after=5), seqs(store, after=0)) == ([], [])


def test_a_long_log_is_trimmed_to_its_newest_entries_and_the_floor_says_so(store: Storage) -> None:
    commit(store, [added(1), added(2), *appended(range(1, 11), 1), *appended(range(11, 14), 2)], 13)
    commit(store, [PutSnapshot(1, b"", 10), PutSnapshot(2, b"", 13)], 13)
    assert trim_all(store, 4, 100) == 6
    assert (seqs(store, 1, 2), store.floor([1, 2]), store.floor([2])) == ([7, 8, 9, 10, 11, 12, 13], 6, 0)


def test_the_whole_log_is_trimmed_to_its_newest_entries(store: Storage) -> None:
    commit(store, [added(1), added(2), *appended(range(1, 5), 1), *appended(range(5, 9), 2)], 8)
    commit(store, [PutSnapshot(1, b"", 8), PutSnapshot(2, b"", 8)], 8)
    assert trim_all(store, 100, 3) == 5
    assert (seqs(store, 1, 2), store.floor([1]), store.floor([2])) == ([6, 7, 8], 4, 5)


@pytest.mark.parametrize("limits", [(0, 100), (100, 0), (0, 0)])
def test_trimming_removes_only_what_a_snapshot_holds(store: Storage, limits: tuple[int, int]) -> None:
    commit(store, [added(1), added(2), *appended(range(1, 5), 1), *appended(range(5, 9), 2)], 8)
    commit(store, [PutSnapshot(2, b"", 6)], 8)
    assert trim_all(store, *limits) == 2
    assert (seqs(store, 1, 2), store.floor([1]), store.floor([2])) == ([1, 2, 3, 4, 7, 8], 0, 6)
    commit(store, appended(range(9, 10), ROOT), 9)
    assert trim_all(store, 0, 0) == 0  # the root has no snapshot yet


def test_entries_that_must_stay_do_not_keep_others_from_being_trimmed(
    store: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthost.host.storage.retention.MAX_REMOVED", 5)
    commit(store, [added(1), added(2), *appended(range(1, 21), 1), *appended(range(21, 41), 2)], 40)
    commit(store, [PutSnapshot(2, b"", 40)], 40)
    assert trim_all(store, 100, 10) == 10
    assert seqs(store, 2) == list(range(31, 41))


def test_a_call_of_trim_is_bounded(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 12_001)), PutSnapshot(1, b"", 12_000)], 12_000)
    assert [store.trim(1_000, 100_000) for _ in range(3)] == [10_000, 1_000, 0]


def test_a_read_is_as_of_one_moment_while_commits_go_on(store: Storage) -> None:
    commit(store, [added(1)], 0)
    torn: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            session = store.load(1)
            if not session or session.state_seq + len(session.entries) != len(session.messages) - 1:
                torn.append(str(session))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for seq in range(1, 300):
        writes: list[Write] = [entry(seq), AddMessages(1, seq, (b"m",))]
        commit(store, [*writes, PutSnapshot(1, b"", seq)] if seq % 7 == 0 else writes, seq)
    done.set()
    for reader in readers:
        reader.join(10)
    assert torn == []


@pytest.mark.parametrize(
    ("writes", "last_seq", "reason"),
    [
        ([entry(1)], 2, "entry 1 is not above 1"),
        ([entry(3), entry(2)], 3, "entry 2 is not above 3"),
        ([added(1)], 1, "already holds"),
        ([PutRow(row(9))], 1, "no session with number 9"),
        ([PutSnapshot(9, b"", 1)], 1, "no session with number 9"),
        ([AddMessages(9, 0, (b"",))], 1, "no session with number 9"),
        ([PutContent(9, "a", "text/plain", b"")], 1, "no session with number 9"),
        ([CopyContent(1, 9)], 1, "no session with number 9"),
        ([AddMessages(1, 2, (b"",))], 1, "goes on at 1, not at 2"),
        ([AddMessages(1, 0, (b"",))], 1, "goes on at 1, not at 0"),
        ([PutSnapshot(1, b"", 2**70)], 1, "cannot hold this text or number"),
    ],
)
def test_an_invalid_write_refuses_the_whole_commit(
    store: Storage, writes: list[Write], last_seq: int, reason: str
) -> None:
    commit(store, [added(1), entry(1)], 1)
    with pytest.raises(StorageError, match=reason):
        commit(store, [PutSnapshot(ROOT, b"lost", 1), added(2), *writes], last_seq)
    commit(store, [PutRow(row(1))], 1)  # the store is as usable as before
    assert reopened(store) == Opening(last_seq=1, last_number=1, session_count=1, active=[], root=None)
    commit(store, [added(2), entry(2, 2)], 2)
    assert seqs(store, 1, 2) == [1, 2]


def test_invalid_unicode_is_refused_when_reading_too(store: Storage) -> None:
    with pytest.raises(StorageError, match="cannot hold this text"):
        store.find(uri="\ud800")
    assert store.find(uri="demo:/1") is None


def test_dropping_a_session_takes_its_log_and_its_contents(store: Storage) -> None:
    commit(store, [added(1), added(2), *appended(range(1, 4), 1), *appended(range(4, 6), 2)], 5)
    commit(store, [PutContent(1, "a", "text/plain", b"a"), PutContent(2, "a", "text/plain", b"b")], 5)
    commit(store, [entry(6, 1), DropSession(1), entry(7, 2)], 7)
    assert (store.load(1), store.find(name="name-1"), seqs(store, 1, 2)) == (None, None, [4, 5, 7])
    assert (store.content(1, "a"), store.content(2, "a")) == (None, StoredContent("text/plain", b"b"))


def test_a_store_is_closed_until_it_is_opened_and_opened_once(store: Storage) -> None:
    with pytest.raises(StorageError, match="open already"):
        store.open()
    store.close()
    store.close()
    with pytest.raises(StorageError, match="is closed"):
        commit(store, [], 0)
    with pytest.raises(StorageError, match="is closed"):
        store.load(1)
    store.open()


def test_whoever_reads_while_a_store_is_closed_is_told_or_gets_an_answer(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 2_000))], 2_000)
    ended: list[str] = []

    def read() -> None:
        while True:
            try:
                assert store.load(1)
            except StorageError as error:
                ended.append(str(error))
                return

    readers = [threading.Thread(target=read, daemon=True) for _ in range(8)]
    for reader in readers:
        reader.start()
    store.close()
    for reader in readers:
        reader.join(10)
    assert [error for error in ended if "is closed" not in error] == []
    assert len(ended) == 8
