"""A host whose power is cut again and again, with clients of both protocols attached.

The long form is `./run power`. `power/harness.py` has what is done, `power/book.py` what has to be true.
"""

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from power.book import Book, Wrong
from power.disk import HEAD, Disk
from power.harness import LOSS_SECONDS, Harness, compile_recorder

SEED = 5
CUTS = 8


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    found = compile_recorder(tmp_path)
    if found is None:
        pytest.skip("this needs Linux and a C compiler")
    return found


@pytest.mark.parametrize("sync", ["full", "normal"])
def test_no_cut_takes_what_was_promised_and_no_number_means_two_things(
    tmp_path: Path, recorder: Path, sync: str
) -> None:
    summary = asyncio.run(Harness(tmp_path, recorder, SEED, sync).run(CUTS, copies=0.2))
    assert summary.cuts == CUTS
    assert summary.numbers > 100
    assert summary.probes > 0
    assert summary.lost == 0 or sync == "normal"


def test_what_was_shown_a_few_seconds_before_a_cut_is_there_also_where_commits_do_not_wait(
    tmp_path: Path, recorder: Path
) -> None:
    harness = Harness(tmp_path, recorder, SEED, "normal")
    summary = asyncio.run(harness.run(4, copies=0, rest=2 * LOSS_SECONDS))
    assert summary.numbers > 100
    assert summary.lost == 0


def record(kind: str, inode: int, offset: int = 0, path: str = "", data: bytes = b"") -> bytes:
    head = HEAD.pack(ord(kind), inode, offset, len(path), len(data))
    return head + path.encode() + data


def test_a_disk_keeps_what_was_synced_and_may_lose_what_was_not(tmp_path: Path) -> None:
    """What the harness calls a cut has to be one: here a log is written by hand."""
    folder, log, chance = tmp_path / "data", tmp_path / "written", random.Random(0)  # noqa: S311
    found: dict[str, dict[str, bytes]] = {}
    for _ in range(40):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "old").write_bytes(b"before")
        old, new = (folder / "old").stat().st_ino, 1
        records = [
            *(record("w", old, 0, data=b"synced"), record("s", old, 1), record("w", old, 0, data=b"shown!")),
            *(record("c", new, path="new"), record("w", new, 0, data=b"named"), record("s", new, 5)),
            *(record("d", 0, 6), record("r", 0, path="old\0moved"), record("w", new, 0, data=b"torn")[:-1]),
        ]
        log.write_bytes(b"".join(records))
        way = Disk(folder).cut(log, chance)
        found[way] = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert found["nothing"] == {"old": b"synced", "new": b"named"}
    assert found["everything"] == {"moved": b"shown!", "new": b"named"}
    assert found.keys() == {"nothing", "everything", "first", "some"}


def test_a_book_finds_what_is_lost_and_what_means_two_things(tmp_path: Path) -> None:
    book = Book()
    book.take("teller:/a", {"serverSeq": 5, "action": {"type": "x"}})
    with pytest.raises(Wrong, match="number 5 meant"):
        book.take("teller:/a", {"serverSeq": 5, "action": {"type": "y"}})
    book.made["teller:/a"] = 0.0
    with pytest.raises(Wrong, match="was made and is lost"):
        book.check(tmp_path, may_lose_after=1.0)
