"""The store numbers a group when it commits it, once, however often the group is tried. Real ones."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthost.errors import StorageError
from agenthost.host.storage import (
    HERE,
    ROOT,
    AddMessages,
    DropLog,
    EchoReceipt,
    Entry,
    Group,
    PutSnapshot,
    Receipt,
    Skip,
    Storage,
    Write,
)
from agenthost.host.storage.sqlite import FILE
from databases import STORES, new_store
from storing import added


@pytest.fixture(params=STORES)
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Storage]:
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)
    with new_store(request.param, tmp_path) as opened:
        opened.open()
        opened.commit(Group([added(1)], at_least=10))
        yield opened


def new(resource: int = 1, *, count: int = 1, only_for: str | None = None) -> Entry:
    return Entry(0, resource, b'"action":{}', only_for, count)


def seqs(store: Storage, *resources: int) -> list[int]:
    return [entry.seq for entry in store.replay(0, resources, "me")]


def test_numbers_follow_the_base_in_the_order_of_the_writes(store: Storage) -> None:
    group = Group([new(), Skip(2), new(only_for="me"), new(ROOT), new(count=5), Skip(1)])
    assert store.commit(group) == 10
    assert (seqs(store, 1), seqs(store, ROOT)) == ([11, 14, 20], [15])
    assert store.commit(Group([new()])) == 21
    assert (store.holds(22), store.holds(23)) == (True, False)
    store.close()
    assert store.open().last_seq == 22


def test_writes_go_up_to_the_entry_before_them(store: Storage) -> None:
    receipt = Receipt("me", 0, 1, b"digest", HERE)
    waiting = Receipt("me", 1, 2, b"digest", None)
    writes: list[Write] = [
        new(),
        receipt,
        waiting,
        PutSnapshot(1, b"new"),
        new(),
        EchoReceipt("me", 2, b"digest"),
    ]
    store.commit(Group([*writes, new(ROOT), PutSnapshot(ROOT, b"root"), DropLog(ROOT), new(ROOT)]))
    session = store.load(1)
    assert session is not None
    assert (session.state, session.state_seq, [entry.seq for entry in session.entries]) == (b"new", 11, [12])
    assert [found.seq for found in store.receipts("me")] == [11, 12]
    assert (store.floor([ROOT]), seqs(store, ROOT)) == (13, [14])


def test_a_group_that_is_tried_again_is_written_once_and_has_the_base_that_it_had(
    store: Storage,
) -> None:
    group = Group([new(), AddMessages(1, 1, (b"said",)), new()], ordinal=1)
    assert [store.commit(group) for _ in range(3)] == [10, 10, 10]
    assert store.commit(Group([new()], ordinal=2)) == 12
    session = store.load(1)
    assert session is not None
    assert ([entry.seq for entry in session.entries], session.messages) == ([11, 12, 13], [b"hello", b"said"])


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_group_that_failed_is_numbered_when_it_succeeds(store: Storage, tmp_path: Path) -> None:
    group = Group([new(), new()], ordinal=1)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for _ in range(2):
        with pytest.raises(StorageError, match="locked"):
            store.commit(group)
    other.close()
    assert [store.commit(group), store.commit(group)] == [10, 10]
    assert seqs(store, 1) == [11, 12]


def test_the_groups_of_the_next_opening_are_others(store: Storage) -> None:
    store.commit(Group([new()], ordinal=1))
    store.close()
    store.open()
    assert store.commit(Group([new()], ordinal=1)) == 11
    assert seqs(store, 1) == [11, 12]


def test_no_number_up_to_the_given_one_is_assigned(store: Storage) -> None:
    assert store.commit(Group([new()], at_least=5)) == 10
    assert store.commit(Group([new()], at_least=20)) == 20
    assert store.commit(Group(at_least=30)) == 30
    assert store.commit(Group([new()])) == 30
    assert seqs(store, 1) == [11, 21, 31]
