"""The journal: groups, order, and a store that cannot be written for a while."""

import asyncio
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import StorageError
from agenthost.host import journal as journal_module
from agenthost.host.identity import Identity
from agenthost.host.storage.sqlite import FILE
from agenthost.host.turn import Turn
from hosting import new_state, run, started
from talking import Talk
from turning import tell

URI = "demo:/one"


def rename(title: str) -> Any:
    return {"type": "session/titleChanged", "session": URI, "title": title}


def test_what_happens_in_one_tick_is_one_transaction(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            before = host.journal.stats.commits
            for place in range(100):
                session.act(rename(str(place)))
            await host.journal.wait()
            assert host.journal.stats.commits == before + 1
            assert host.journal.stats.largest_group >= 100

    run(story)


def test_a_short_turn_is_one_transaction(tmp_path: Path) -> None:
    async def brief(turn: Turn) -> None:
        await turn.say("Yes.")

    async def story(talk: Talk) -> None:
        await talk.say("A first one, which also names the session.")
        before = talk.host.engine.journal.stats.commits
        await talk.say("And now?")
        assert talk.host.engine.journal.stats.commits == before + 1

    tell(tmp_path, brief, story)


def test_one_who_never_stops_is_written_all_the_same(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            before = host.journal.shown_seq
            place = 0
            while host.journal.shown_seq == before:
                session.act(rename(str(place := place + 1)))
                await asyncio.sleep(0)

    run(story)


def test_what_is_done_between_two_groups_tells_its_result_or_its_failure(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            assert await host.journal.in_turn(divmod, 7, 3) == (2, 1)
            with pytest.raises(ZeroDivisionError):
                await host.journal.in_turn(divmod, 7, 0)
            given_up = asyncio.create_task(host.journal.in_turn(time.sleep, 0.05))
            await asyncio.sleep(0)
            given_up.cancel()
            assert await host.journal.in_turn(divmod, 7, 3) == (2, 1)

    run(story)


def test_what_piles_up_while_a_group_is_written_goes_into_the_next(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            for place in range(300):
                session.act(rename(str(place)))
                await asyncio.sleep(0)
            await host.journal.wait()
            assert host.journal.stats.commits < 300
            assert host.journal.shown_seq == host.journal.last_seq == host.opening.last_seq + 301

    run(story)


def test_numbers_go_on_after_a_restart_in_a_new_range(tmp_path: Path) -> None:
    async def story() -> None:
        last = 0
        for place in range(3):
            async with started(tmp_path) as host:
                assert host.opening.last_seq > last
                if place == 0:
                    await host.sessions.create(new_state(URI))
                before = host.journal.shown_seq
                session = await host.sessions.get(URI)
                await host.journal.wait(session.act(rename(str(place))))
                last = host.journal.shown_seq
                assert last == before + 1

    run(story)


def test_a_row_is_written_once_in_a_group_with_all_that_changed_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            before = host.journal.stats.writes
            for place in range(10):
                session.act(rename(str(place)))
                session.keep({"place": place})
            await host.journal.wait()
            assert host.journal.stats.writes == before + 11
            row = host.storage.find(uri=URI)
            assert row is not None
            assert row == session.row
            assert (json.loads(row.summary)["title"], json.loads(row.private)) == ("9", {"place": 9})

    run(story)


def test_the_metrics_count_commits_by_their_size_and_time(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            sizes = host.journal.stats.group_sizes
            counts, total = list(sizes.counts), sizes.total
            for place in range(15):
                session.act(rename(str(place)))
            await host.journal.wait()
            counts[sizes.bounds.index(16)] += 1
            assert (sizes.counts, sizes.total) == (counts, total + 16)  # and the row
            seconds = host.journal.stats.commit_seconds
            assert sum(seconds.counts) == sum(sizes.counts) == host.journal.stats.commits
            assert seconds.total > 0

    run(story)


def test_one_that_fails_to_hand_in_what_it_has_keeps_nobody_else_from_being_written(tmp_path: Path) -> None:
    class Broken:
        def gather(self) -> None:
            raise RuntimeError("a bug")

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            host.journal.expect(Broken())
            await host.journal.wait(session.act(rename("written")))
            assert session.shown.state["summary"]["title"] == "written"

    run(story)


def test_waiting_for_an_older_ticket_does_not_wait_for_newer_ones(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            first = session.act(rename("a"))
            last = asyncio.ensure_future(host.journal.wait(session.act(rename("b"))))
            await host.journal.wait(first)
            await last
            await host.journal.wait(first)

    run(story)


def test_a_store_that_cannot_be_written_loses_nothing_and_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program has the database locked; when it lets go, everything is written, in order."""
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            for place in range(10):
                session.act(rename(str(place)))
            while host.journal.stats.failures < 3:  # noqa: ASYNC110 - nobody is told of a try that failed
                await asyncio.sleep(0.01)
            assert feed.subscriber.backlog == 0
            with pytest.raises(StorageError, match="locked by another program"):
                await host.sessions.create(new_state("demo:/two"))
            other.execute("ROLLBACK")
            other.close()
            await host.journal.wait()
            assert host.journal.trouble is None
            titles = [
                json.loads(item.envelope)["action"]["title"] for item in await feed.subscriber.wait_next()
            ]
            assert titles == [str(place) for place in range(10)]
            await host.sessions.create(new_state("demo:/two"))

    run(story)


def test_closing_while_the_store_cannot_be_written_ends_in_time_and_tells_those_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(host.journal.wait(session.act(rename("lost"))))
            await host.journal.close(timeout=0.2)
            with pytest.raises(StorageError):
                await waiting
            other.close()
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["summary"]["title"] == "New"

    run(story)
