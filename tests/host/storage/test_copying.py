"""Copies of stores: everything is in them, whatever they are kept in, and clients resume at them."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import (
    ROOT,
    AddMessages,
    AddSession,
    DropSession,
    Entry,
    PutClient,
    PutContent,
    PutSnapshot,
    Receipt,
)
from agenthost.host.storage.copying import CopiedStore, copy_store
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.storage.sqlite import SqliteStorage
from databases import STORES, needs_postgres, own_schema, shared_postgres
from storing import added, appended, commit, entry, row

Make = Callable[..., CopiedStore]


class Places:
    """Makes stores of both kinds, each in a place of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._count = 0

    def make(self, kind: str) -> Make:
        self._count += 1
        if kind == "sqlite":
            place = self._folder / str(self._count)
            return lambda **options: SqliteStorage(place, **_without(options, "is_copy"))
        url = shared_postgres().url(self._stack.enter_context(own_schema(shared_postgres())))
        return lambda **options: PostgresStorage(url, **options)


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != name}


@pytest.fixture(name="places")
def some_places(tmp_path: Path) -> Any:
    with ExitStack() as stack:
        yield Places(tmp_path, stack)


def fill(store: CopiedStore) -> int:
    """Put something of everything into a store, over two runs. Return its last number."""
    base = store.open().last_seq
    commit(store, [added(1, owner="ann", is_active=True), added(2, owner="bob")], base)
    commit(store, [AddSession(replace(row(3), parent=1), b"chat", base), added(4)], base)
    commit(store, appended(range(base + 1, base + 2_500), 1), base + 2_500)
    commit(store, [PutSnapshot(1, b"later", base + 1_000), Entry(base + 2_501, 2, b"{}", "me")], base + 2_501)
    store.trim(500, 10_000)
    store.close()
    base = store.open().last_seq
    commit(store, [PutSnapshot(ROOT, b"root", base + 1), entry(base + 2, ROOT), DropSession(4)], base + 2)
    commit(
        store, [AddMessages(1, 1, (b"two", b"\xff\0")), PutContent(1, "a\0b", "image/png", b"\0\1")], base + 2
    )
    commit(
        store,
        [PutClient("you", "0.9"), PutClient("me", "1.0"), Receipt("me", 3, 4, b"digest", base)],
        base + 2,
    )
    store.close()
    return base + 2


def contents(store: CopiedStore) -> list[Any]:
    """Return everything that a store tells."""
    found: list[Any] = [store.load(number) for number in range(1, 5)]
    found += [store.find(number=number) for number in range(1, 5)]
    found += [store.content(1, "a\0b"), store.receipts("me"), store.version_of("me"), store.version_of("you")]
    found += [store.floor([number]) for number in (ROOT, 1, 2)]
    found += [store.replay(0, [ROOT, 1, 2, 3], client) for client in ("me", "you")]
    found += [store.list(owner=None, before=None, limit=9), store.count("ann")]
    return found


def silent(_what: str, _count: int, _total: int) -> None:
    pass


@pytest.mark.parametrize("target", STORES)
@pytest.mark.parametrize("source", STORES)
def test_a_copy_has_everything_and_clients_resume_at_it(places: Places, source: str, target: str) -> None:
    original, copy = places.make(source), places.make(target)
    last_seq = fill(original())
    said: list[tuple[str, int, int]] = []
    made = copy(begin=lambda _: 0, is_copy=True)
    assert copy_store(original(), made, lambda *told: said.append(told)) == 2
    assert said[-1][1] == said[-1][2] > 500
    first, second = original(), copy()
    openings = [store.open() for store in (first, second)]
    assert [replace_seq(opening) for opening in openings] == [replace_seq(openings[0])] * 2
    assert openings[1].last_number == 4
    assert contents(first) == contents(second)
    # Numbers that were given are known, and those between two runs are not.
    for seq in (1, last_seq - 1, last_seq, last_seq + 1, 7):
        assert second.holds(seq) == first.holds(seq)
    assert second.holds(last_seq)
    commit(second, [entry(openings[1].last_seq + 1, 1)], openings[1].last_seq + 1)
    first.close()
    second.close()


def replace_seq(opening: Any) -> Any:
    return (opening.session_count, opening.active, opening.root, opening.root_seq, opening.root_entries)


def test_a_copy_is_made_into_a_new_place_only(places: Places, tmp_path: Path) -> None:
    original = places.make("sqlite")
    fill(original())
    used = SqliteStorage(tmp_path / "used", begin=lambda _: 0)
    used.open()
    commit(used, [added(1)], 0)
    used.close()
    with pytest.raises(StorageError):
        copy_store(original(), used, silent)


@needs_postgres
def test_a_copy_that_was_not_finished_cannot_be_served(places: Places) -> None:
    original, copy = places.make("sqlite"), places.make("postgres")
    fill(original())

    def stop(what: str, _count: int, _total: int) -> None:
        if what != "sessions":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(original(), copy(begin=lambda _: 0, is_copy=True), stop)
    with pytest.raises(StorageError, match="was not finished; drop it and copy again: DROP SCHEMA"):
        copy().open()
    with pytest.raises(StorageError, match="has a store already"):
        copy(is_copy=True).open()


@needs_postgres
def test_what_is_damaged_is_not_copied_silently(places: Places, tmp_path: Path) -> None:
    original = places.make("postgres")
    store = original()
    fill(store)
    assert isinstance(store, PostgresStorage)
    shared_postgres().execute("UPDATE message SET body = 'x'", schema=store.address.schema)
    with pytest.raises(Damaged):
        copy_store(original(), SqliteStorage(tmp_path / "copy", begin=lambda _: 0), silent)
