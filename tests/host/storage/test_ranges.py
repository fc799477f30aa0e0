"""Ranges of numbers: whatever happens to a store, no number means two things."""

import shutil
from pathlib import Path

import pytest

from agenthost.core.actions import title_changed
from agenthost.host.access.identity import Identity
from agenthost.host.storage import Entry, Receipt
from agenthost.host.storage.ranges import (
    EPOCH_MS,
    MAX_BY_CLOCK,
    MAX_NUMBER,
    MAX_RANGES,
    MIN_GAP,
    NUMBERS_PER_MS,
    Ranges,
    next_start,
)
from agenthost.host.storage.sqlite import SqliteStorage
from hosting import new_session, run, started
from storing import added, commit

NOW = EPOCH_MS + 50_000_000_000


def test_a_range_begins_where_the_clock_is() -> None:
    assert next_start(0, NOW) == 50_000_000_000 * NUMBERS_PER_MS
    assert next_start(0, NOW + 1) == next_start(0, NOW) + NUMBERS_PER_MS
    assert next_start(next_start(0, NOW), NOW + 60_000) < MAX_NUMBER


@pytest.mark.parametrize("now", [0, EPOCH_MS - 1, NOW - 3_600_000, NOW, EPOCH_MS + MAX_BY_CLOCK])
def test_a_clock_that_is_wrong_is_ignored_and_no_two_jumps_are_the_same(now: int) -> None:
    last = next_start(0, NOW)
    starts = {next_start(last, now) for _ in range(20)}
    assert len(starts) == 20
    assert all(last + MIN_GAP <= start < MAX_NUMBER for start in starts)


def test_numbers_never_run_out_however_often_the_clock_is_wrong() -> None:
    last = MAX_BY_CLOCK
    for _ in range(500_000):
        start = next_start(last, 0)
        assert last < start < MAX_NUMBER
        last = start


def test_only_assigned_numbers_are_held() -> None:
    ranges = Ranges([(0, 0), (100, 120), (1_000, 1_000)])
    held = [0, 100, 110, 120, 1_000, 1_050]
    assert [seq for seq in held if ranges.holds(seq, 1_050)] == held
    assert not any(ranges.holds(seq, 1_050) for seq in (-1, 1, 99, 121, 999, 1_051, 2**60))


def test_counting_back_works_across_several_ranges() -> None:
    ranges = Ranges([(0, 0), (100, 120), (1_000, 1_000)])
    assert [ranges.before(count, 1_050) for count in (0, 50, 51, 70, 71, 999)] == [
        1_050,
        1_000,
        119,
        100,
        0,
        0,
    ]


def test_every_opening_begins_a_range_above_all_known_numbers(tmp_path: Path) -> None:
    store, seen = SqliteStorage(tmp_path), [0]
    for _ in range(3):
        first = store.open().last_seq
        assert first > seen[-1]
        assert all(store.holds(seq) for seq in (*seen, first))
        assert not any(store.holds(seq + 1) for seq in (seen[-1], first))
        commit(store, [], first + 5)
        seen += [first, first + 5]
        assert store.holds(first + 5)
        store.close()


def test_the_number_of_ranges_is_limited(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    store = SqliteStorage(tmp_path / "data", begin=lambda last: last + 10)
    store.open()
    assert store._writer is not None
    store._writer.execute("DELETE FROM range")
    store._writer.executemany(
        "INSERT INTO range VALUES (?, ?, 0)", [(-place, -place) for place in range(2 * MAX_RANGES)]
    )
    store.close()
    store.open()
    assert store._writer.execute("SELECT count(*), max(first) FROM range").fetchone() == (MAX_RANGES, 20)
    store.close()


def test_a_damaged_range_holds_nothing_and_extends_no_other(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path)
    first = store.open().last_seq
    commit(store, [], first + 5)
    store.close()
    second = store.open().last_seq
    commit(store, [], second + 5)
    assert store._writer is not None
    store._writer.execute("UPDATE range SET last = last + 4096 WHERE first = ?", (second,))
    store.close()
    store.open()
    assert [store.holds(seq) for seq in (first, first + 5, first + 6, second, second + 5)] == [
        *(True, True, False, False, False)
    ]
    store.close()


def test_receipts_survive_a_restart_like_the_log(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path)
    first = store.open().last_seq
    writes = [Entry(first + place, 1, b"{}") for place in (1, 2, 3)]
    commit(store, [added(1, state_seq=first), *writes, Receipt("me", 0, 1, b"digest", first + 2)], first + 3)
    store.close()
    store.open()
    store.trim(1_000, 1_000)
    assert [found.slot for found in store.receipts("me")] == [0]
    store.trim(1_000, 0)
    assert store.receipts("me") == []
    store.close()


def test_a_client_from_another_history_gets_a_fresh_view_and_never_a_replay(tmp_path: Path) -> None:
    """An old copy is put back: it goes on, and who saw what it never knew of comes back."""

    async def story() -> None:
        uri, data, copy = "demo:/one", tmp_path / "data", tmp_path / "copy"
        async with started(data) as host:
            session = await new_session(host, uri)
            known = host.line.shown_seq
        shutil.copytree(data, copy)
        seen = []
        for _ in range(2):  # once more, so that a number lies in a whole range that is unknown
            async with started(data) as host:
                session = await host.sessions.get(uri)
                for title in ("a", "b", "c"):
                    session.act(title_changed(title))
                    await host.journal.wait()
                    seen.append(host.line.shown_seq)
        shutil.rmtree(data)
        shutil.copytree(copy, data)
        async with started(data) as host:
            session = await host.sessions.get(uri)
            for place in range(20):
                session.act(title_changed(str(place)))
            await host.journal.wait()
            assert not {entry.seq for entry in host.storage.replay(0, [session.number], "me")} & set(seen)
            for number in seen:
                back = await host.feed(Identity("me")).resume(number, [uri])
                assert back.replay is None
                assert back.views[0].state == session.state
                assert back.views[0].seq > number
            back = await host.feed(Identity("me")).resume(known, [uri])
            assert back.replay is not None
            assert len(back.replay) == 20

    run(story)
