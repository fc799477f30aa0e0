"""Bits that flip, in each part of each page of a store: whatever is served is what was written."""

import math
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import ROOT, AddMessages, Entry, PutContent, PutSnapshot, Receipt, integrity
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from pages import byte_kinds
from storing import added, appended, commit, dense_store

SESSIONS = 6
FLIPS = 12
"""How many bits of each part of each table are flipped, one at a time."""

LAST = 150
OWNERS = (None, "ann", "bob")
REFUSED = object()


def fill(folder: Path) -> None:
    """Make a store with rows of every kind; the newest entries of its log have no index yet."""
    store = dense_store(folder, sync="normal")
    store.open()
    seq = 0
    for number in range(1, SESSIONS + 1):
        body = b'{"text": "%s"}' % (b"message of %d " % number * 10)
        new = added(number, owner="ann" if number % 2 else "bob", is_active=number == 3)
        content = PutContent(number, f"content-{number}", "text/plain", body * 3)
        entries = appended(range(seq + 1, seq + 21), number)
        seq += 20
        snapshot = PutSnapshot(number, body * 2, seq - 5)
        commit(store, [new, *entries, AddMessages(number, 1, (body,) * 3), content, snapshot], seq)
    receipts = [Receipt("me", 0, 1, b"d" * 16, seq), Receipt("me", 1, 2, b"e" * 16, None)]
    commit(store, [PutSnapshot(ROOT, b"root", seq), *receipts, Receipt("you", 0, 2, b"e" * 16, seq)], seq)
    store.trim(18, 1_000)
    for _ in range(2):
        newest = [
            Entry(seq + 1 + number, number, b'{"newest":%d}' % number) for number in range(SESSIONS + 1)
        ]
        commit(store, [*newest, Entry(seq + 9, 2, b'{"refused":1}', "me")], seq + 10)
        seq += 10
        store.close()
        store.open()
    store.close()


def read_all(store: SqliteStorage) -> Iterator[tuple[str, object]]:
    """Read all that a store serves, each by itself; what it refuses is `REFUSED`."""
    opening = store.open()
    yield "root", (opening.root, opening.root_seq, opening.root_entries)
    yield "last_seq", opening.last_seq
    reads: dict[str, Callable[[], object]] = {}
    for number in range(1, SESSIONS + 1):
        reads[f"find {number}"] = partial(store.find, uri=f"demo:/{number}")
        reads[f"name {number}"] = partial(store.find, name=f"name-{number}")
        reads[f"load {number}"] = partial(store.load, number)
        reads[f"content {number}"] = partial(store.content, number, f"content-{number}")
    for number in range(SESSIONS + 1):
        reads[f"replay {number}"] = partial(_replay, store, number)
        reads[f"pages {number}"] = partial(_replay, store, number, max_bytes=99)
    for owner in OWNERS:
        reads[f"list {owner}"] = partial(store.list, owner=owner, before=None, limit=99)
    for identity in ("me", "you"):
        reads[f"receipts {identity}"] = partial(store.receipts, identity)
    reads["holds"] = lambda: [seq for seq in range(2 * LAST) if store.holds(seq)]
    for name, read in reads.items():
        try:
            yield name, read()
        except StorageError:
            yield name, REFUSED


def _replay(store: SqliteStorage, number: int, max_bytes: float = math.inf) -> object:
    """Read the log of a resource page by page."""
    entries: list[Entry] = []
    after = store.floor([number])
    while page := store.replay(after, [number], "me", max_bytes):
        entries += page
        after = page[-1].seq
    return entries


def is_less(found: object, truth: object) -> bool:
    """Tell whether nothing was served that was not there. What has lost its place cannot be found."""
    if isinstance(found, list) and isinstance(truth, list):
        return len(found) < len(truth) and all(one in truth for one in found)
    return found is REFUSED or found is None


def outcome(name: str, found: dict[str, object], truth: dict[str, object]) -> str:
    """Say what became of one thing that was read."""
    if found[name] == truth[name]:
        return "as before"
    if name in ("root", "replay 0", "pages 0"):  # a root that is damaged is begun anew, and nobody resumes
        return "refused" if found["root"] == (None, 0, []) else "other"
    # A session comes whole or not at all, and so does what happened in it.
    may_be_less = not name.startswith(("load", "replay", "pages")) or found[name] is None
    return (
        "refused"
        if is_less(found[name], truth[name]) and (found[name] is REFUSED or may_be_less)
        else "other"
    )


def flips(path: Path, seed: int) -> list[tuple[str, int, int]]:
    """Choose some bits of each part of each table: the part, the place and the bit."""
    chance = random.Random(seed)  # noqa: S311
    chosen = []
    for kind, places in byte_kinds(path).items():
        bits = [(kind, place, bit) for place in places for bit in range(8)]
        chosen += chance.sample(bits, min(FLIPS, len(bits)))
    return chosen


def test_an_owner_is_not_shown_what_a_damaged_index_says_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "MAX_SECONDS", 0)
    fill(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    pointers = byte_kinds(tmp_path / FILE)["session_by_owner pointers"]
    # In the place of the first of ann's three is the first of bob's.
    data[pointers[0] : pointers[2]] = data[pointers[6] : pointers[8]]
    (tmp_path / FILE).write_bytes(data)
    store = dense_store(tmp_path, sync="normal")
    store.open()
    for owner in ("ann", "bob"):
        assert {row.owner for row in store.list(owner=owner, before=None, limit=99)} <= {owner}
    store.close()


def test_an_entry_whose_number_seems_older_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "MAX_SECONDS", 0)
    store = dense_store(tmp_path, sync="normal")
    store.open()
    commit(store, [added(1), *appended(range(290, 300), 1), PutSnapshot(1, b"{}", 298)], 300)
    store.close()
    file = tmp_path / FILE
    data = file.read_bytes()
    place = data.rindex(b'{"serverSeq":299}')  # before it: its length, its number in two bytes, six of types
    number = data.rindex(b"\x82\x2b", place - 12, place)
    file.write_bytes(data[:number] + b"\x81\x2b" + data[number + 2 :])
    again = dense_store(tmp_path, sync="normal")
    again.open()
    with pytest.raises(Damaged):
        again.load(1)
    again.close()


@pytest.mark.parametrize("is_checked", [True, False], ids=["checked", "too-large-to-be-checked"])
def test_no_flipped_bit_of_any_part_of_any_table_makes_a_store_serve_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_checked: bool
) -> None:
    monkeypatch.setattr(integrity, "MAX_SECONDS", integrity.MAX_SECONDS if is_checked else 0)
    fill(tmp_path / "whole")
    sound = (tmp_path / "whole" / FILE).read_bytes()
    places = flips(tmp_path / "whole" / FILE, 14)
    truth = dict(read_all(whole := dense_store(tmp_path / "whole", sync="normal")))
    whole.close()
    assert REFUSED not in truth.values()
    outcomes: Counter[str] = Counter()
    for kind, place, bit in places:
        folder = tmp_path / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / FILE).write_bytes(sound[:place] + bytes([sound[place] ^ 1 << bit]) + sound[place + 1 :])
        store = dense_store(folder, sync="normal")
        try:
            found = dict(read_all(store))
        except StorageError:
            outcomes["not opened"] += 1
            continue
        finally:
            store.close()
        others = [name for name in truth if outcome(name, found, truth) == "other"]
        assert not others, f"{kind}, byte {place}, bit {bit}: {others}"
        outcomes["as before" if found == truth else "refused"] += 1
    assert min(outcomes.values()) > len(places) // 50, outcomes
