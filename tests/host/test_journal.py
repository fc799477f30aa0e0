"""The journal: groups, order, and a store that cannot be written for a while."""

import asyncio
import json
import sqlite3
import time
from pathlib import Path

import pytest

from agenthost.core.actions import title_changed
from agenthost.errors import StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.turn import Turn
from agenthost.host.log import journal as journal_module
from agenthost.host.log.stats import GROUP_SIZES
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import TranscriptEntry
from agenthost.host.storage import Group
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from hosting import new_session, run, started
from talking import Talk
from turning import tell

URI = "demo:/one"


def test_what_happens_in_one_tick_is_one_transaction(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.journal.stats.commits
            for place in range(100):
                session.act(title_changed(str(place)))
            await host.journal.wait()
            assert host.journal.stats.commits == before + 1
            assert host.journal.stats.largest_group >= 100

    run(story)


def test_a_short_turn_is_one_transaction(tmp_path: Path) -> None:
    async def brief(turn: Turn) -> None:
        await turn.say("Yes.")

    async def story(talk: Talk) -> None:
        await talk.say("A first one, which also names the session.")
        before = talk.host.parts.engine.journal.stats.commits
        await talk.say("And now?")
        assert talk.host.parts.engine.journal.stats.commits == before + 1

    tell(tmp_path, brief, story)


def test_a_group_is_written_even_if_entries_never_stop(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.line.shown_seq
            place = 0
            while host.line.shown_seq == before:
                session.act(title_changed(str(place := place + 1)))
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
            session = await new_session(host, URI)
            for place in range(300):
                session.act(title_changed(str(place)))
                await asyncio.sleep(0)
            await host.journal.wait()
            assert host.journal.stats.commits < 300
            assert host.line.shown_seq == host.opening.last_seq + 301

    run(story)


def test_numbers_go_on_after_a_restart_in_a_new_range(tmp_path: Path) -> None:
    async def story() -> None:
        last = 0
        for place in range(3):
            async with started(tmp_path) as host:
                assert host.opening.last_seq > last
                if place == 0:
                    await new_session(host, URI)
                before = host.line.shown_seq
                session = await host.sessions.get(URI)
                await host.journal.wait(session.act(title_changed(str(place))))
                last = host.line.shown_seq
                assert last == before + 1

    run(story)


def test_a_row_is_written_once_in_a_group_with_all_that_changed_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.journal.stats.writes
            for place in range(10):
                session.act(title_changed(str(place)))
                session.keep({"kept": {"place": place}})
            await host.journal.wait()
            assert host.journal.stats.writes == before + 11
            row = host.storage.find(uri=URI)
            assert row is not None
            assert row == session.row
            assert json.loads(row.summary)["title"] == "9"
            assert json.loads(row.private) == {"kept": {"place": 9}}

    run(story)


def test_the_metrics_count_commits_by_their_size_and_time(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            stats = host.journal.stats
            counts, total = list(stats.group_sizes), stats.group_size_total
            for place in range(15):
                session.act(title_changed(str(place)))
            await host.journal.wait()
            counts[GROUP_SIZES.index(16)] += 1
            assert (stats.group_sizes, stats.group_size_total) == (counts, total + 16)  # and the row
            assert sum(stats.commit_seconds) == sum(stats.group_sizes) == stats.commits
            assert stats.commit_seconds_total > 0

    run(story)


def test_a_source_that_fails_does_not_block_the_others(tmp_path: Path) -> None:
    class Broken:
        def gather(self) -> None:
            raise RuntimeError("a bug")

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            host.journal.expect(Broken())
            await host.journal.wait(session.act(title_changed("written")))
            assert session.shown_state["title"] == "written"

    run(story)


def test_waiting_for_an_older_ticket_does_not_wait_for_newer_ones(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            first = session.act(title_changed("a"))
            last = asyncio.ensure_future(host.journal.wait(session.act(title_changed("b"))))
            await host.journal.wait(first)
            await last
            await host.journal.wait(first)

    run(story)


@pytest.mark.sqlite
def test_a_store_that_cannot_be_written_loses_nothing_and_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program has the database locked; when it lets go, everything is written, in order."""
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            await feed.subscribe(URI)
            other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            for place in range(10):
                session.act(title_changed(str(place)))
            while host.journal.stats.failures < 3:  # noqa: ASYNC110 - nobody is told of a try that failed
                await asyncio.sleep(0.01)
            assert feed.subscriber.backlog == 0
            with pytest.raises(StorageError, match="locked by another program"):
                await new_session(host, "demo:/two")
            other.execute("ROLLBACK")
            other.close()
            await host.journal.wait()
            assert host.journal.trouble is None
            titles = [
                json.loads(item.envelopes()[0])["action"]["title"]
                for item in await feed.subscriber.wait_next()
            ]
            assert titles == [str(place) for place in range(10)]
            await new_session(host, "demo:/two")

    run(story)


@pytest.mark.sqlite
def test_closing_while_the_store_cannot_be_written_ends_in_time_and_tells_those_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.host.storage.sqlite.BUSY_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(host.journal.wait(session.act(title_changed("lost"))))
            await host.journal.close(timeout=0.2)
            with pytest.raises(StorageError):
                await waiting
            other.close()
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["title"] == "New"

    run(story)


class LosesAnswers(SqliteStorage):
    """A store whose answer is lost at every other commit: it was written, and nobody is told."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.commits = 0

    def commit(self, group: Group) -> int:
        base = super().commit(group)
        self.commits += 1
        if self.commits % 2:
            raise StorageError("the answer was lost")
        return base


@pytest.mark.sqlite
def test_a_group_whose_commit_was_in_doubt_is_neither_written_nor_numbered_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)

    async def story() -> None:
        async with Engine(LosesAnswers(tmp_path)) as host:
            session = await new_session(host, URI)
            feed = host.feed(Identity("me"))
            seen = (await feed.subscribe(URI)).seq
            for place in range(3):
                messages = [TranscriptEntry(None, {"role": "user", "content": str(place)})]
                await host.journal.wait(session.act(title_changed(str(place)), messages=messages))
            items = await feed.subscriber.wait_next()
            assert [item.seq for item in items] == [seen + 1, seen + 2, seen + 3]
            shown = [line for item in items for line in item.envelopes()]
            failures = host.journal.stats.failures
        assert failures > 3
        async with started(tmp_path) as host:
            back = await host.feed(Identity("me")).resume(seen, [URI])
            assert [entry.envelope for entry in back.replay or []] == shown
            assert len((await host.sessions.get(URI)).messages) == 3

    run(story)
