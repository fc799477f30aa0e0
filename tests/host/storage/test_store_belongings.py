"""A store: what belongs to the root and to sessions beside their rows. Real ones."""

from msgspec.structs import replace

from agenthost.host.storage import (
    ROOT,
    AddMessages,
    AddSession,
    CopyContent,
    CutMessages,
    DropLog,
    DropSession,
    Entry,
    Opening,
    PutClient,
    PutContent,
    PutRow,
    PutSnapshot,
    Receipt,
    Storage,
    StoredContent,
    Write,
)
from storing import added, appended, commit, entry, row


def reopened(store: Storage) -> Opening:
    store.close()
    return store.open()


def seqs(store: Storage, *resources: int) -> list[int]:
    return [found.seq for found in store.replay(0, resources, "me")]


def test_the_root_comes_with_its_log_since_its_snapshot(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 4), ROOT), *appended(range(4, 6))], 5)
    opening = reopened(store)
    assert (opening.root, opening.root_seq, opening.root_entries) == (None, 0, appended(range(1, 4), ROOT))
    commit(store, [PutSnapshot(ROOT, b"root", 2), entry(6, ROOT, "me")], 6)
    opening = reopened(store)
    assert (opening.root_seq, opening.root_entries) == (2, [entry(3, ROOT), entry(6, ROOT, "me")])


def test_the_last_writes_of_a_session_may_come_after_its_end(store: Storage) -> None:
    """Else the whole commit would be refused, with what is of others, and be tried again for ever."""
    commit(store, [added(1), added(2), DropSession(1)], 0)
    late: list[Write] = [PutRow(row(1)), PutSnapshot(1, b"", 1), AddMessages(1, 5, (b"",)), CutMessages(1, 0)]
    late += [PutContent(1, "a", "text/plain", b""), CopyContent(2, 1), CopyContent(1, 2), DropLog(1, 1)]
    commit(store, [entry(1, 2), *late, entry(2, 1)], 2)
    assert (store.load(1), store.content(1, "a"), store.content(2, "a")) == (None, None, None)
    assert seqs(store, 2) == [1]


def test_copies_of_contents_do_not_depend_on_the_session_they_come_from(store: Storage) -> None:
    contents = [PutContent(1, name, "text/plain", name.encode()) for name in ("a", "b")]
    commit(store, [added(1), *contents, added(2), CopyContent(1, 2), added(3), CopyContent(3, 2)], 0)
    commit(store, [DropSession(1)], 0)
    assert [store.content(2, name) for name in ("a", "b", "c")] == [
        StoredContent("text/plain", b"a"),
        StoredContent("text/plain", b"b"),
        None,
    ]


def test_a_log_that_is_dropped_is_never_replayed(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 6), ROOT), entry(6), entry(7, ROOT)], 7)
    commit(store, [PutSnapshot(ROOT, b"root", 7), entry(8, ROOT), DropLog(ROOT, 7), entry(9, ROOT)], 9)
    assert (seqs(store, ROOT, 1), store.floor([ROOT]), store.floor([1])) == ([6, 8, 9], 7, 0)
    assert [found.seq for found in reopened(store).root_entries] == [8, 9]
    assert store.trim(0, 0) == 0  # what is counted as kept is what there is
    commit(store, [PutSnapshot(ROOT, b"root", 9), DropLog(ROOT, 9), DropLog(ROOT, 3)], 9)
    assert (seqs(store, ROOT), store.floor([ROOT])) == ([], 9)


def test_a_content_is_as_it_was_put_after_a_restart(store: Storage) -> None:
    large = bytes(range(256)) * 4_000
    commit(store, [added(1), added(2), PutContent(1, "a", "image/png", large)], 0)
    reopened(store)
    assert store.content(1, "a") == StoredContent("image/png", large)
    assert (store.content(1, "b"), store.content(2, "a"), store.content(9, "a")) == (None, None, None)


def test_a_further_chat_has_a_row_but_is_no_session_of_its_owner(store: Storage) -> None:
    chat = replace(row(2), parent=1)
    commit(store, [added(1), AddSession(chat, b"state", 0), added(3)], 0)
    assert (store.find(number=2), store.find(uri=chat.uri), store.find(name=chat.name)) == (chat, chat, chat)
    assert [found.number for found in store.list(owner=None, before=None, limit=9)] == [3, 1]
    assert [found.number for found in store.list(owner="ann", before=3, limit=9)] == [1]
    assert store.count("ann") == 2
    commit(store, [PutRow(replace(chat, is_active=True))], 0)
    opening = reopened(store)
    assert (opening.session_count, opening.active, opening.last_number) == (2, [2], 3)
    commit(store, [DropSession(2)], 0)
    assert reopened(store).session_count == 2
    commit(store, [DropSession(1)], 0)
    assert reopened(store).session_count == 1


def test_the_version_of_a_client_is_the_last_one_that_was_agreed(store: Storage) -> None:
    commit(store, [PutClient("me", "0.9"), PutClient("you", "1.0"), PutClient("me", "1.0")], 0)
    reopened(store)
    assert (store.version_of("me"), store.version_of("you"), store.version_of("eve")) == ("1.0", "1.0", None)


def test_names_may_be_anything_that_a_client_sends(store: Storage) -> None:
    odd = "a\0b\u20ac'\\" + "x" * 10_000
    named = replace(row(1), uri=odd, name=odd + "n", owner=odd + "o")
    commit(store, [AddSession(named, b"", 0), PutContent(1, odd, odd, b""), PutClient(odd, odd)], 0)
    assert (store.find(uri=odd), store.find(name=odd + "n"), store.count(odd + "o")) == (named, named, 1)
    assert (store.content(1, odd), store.version_of(odd)) == (StoredContent(odd, b""), odd)
    commit(store, [Entry(1, 1, b"{}", odd), Receipt(odd, 1, 1, b"", None)], 1)
    assert store.replay(0, [1], odd) == [Entry(1, 1, b"{}", odd)]
    assert store.receipts(odd) == [Receipt(odd, 1, 1, b"", None)]


def test_messages_are_found_by_their_words(store: Storage) -> None:
    bodies = (b"The Cat sat", "caf\u00e9 50%".encode(), b"a_b cat\\dog", b"\\303 cat", b"\xff\x00CAT")
    commit(store, [added(1), added(2), AddMessages(1, 1, bodies), AddMessages(2, 1, (b"cat",))], 0)

    def found(*words: str, numbers: tuple[int, ...] = (1, 2)) -> list[tuple[int, bytes]]:
        return list(store.messages_with(numbers, [[word] for word in words]))

    assert found("cat", numbers=(2,)) == [(2, b"cat")]
    assert found("THE", "cat") == [(1, bodies[0])]
    assert found("50%") == found("\u00e9") == [(1, bodies[1])]
    assert found("a_b") == found("\\dog") == [(1, bodies[2])]
    assert found("%") == [(1, bodies[1])]
    assert list(store.messages_with([1], [["sat", "50%"]])) == [(1, bodies[0]), (1, bodies[1])]
    assert found("nothing") == []
