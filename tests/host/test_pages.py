"""What was missed of a session, read in pages: each thing once, in order, and then what comes live."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.actions import title_changed
from agenthost.host.access.identity import Identity
from agenthost.host.log.text_runs import MAX_RUN, unpack
from agenthost.host.state import pages as pages_module
from agenthost.host.state.engine import Engine
from agenthost.host.state.pages import Pages
from agenthost.host.state.session import Session
from agenthost.host.storage import Entry
from chat_building import BEGUN
from hosting import new_session, run, started, user_message

URI = "demo:/one"
ME = Identity("me")
TURN: Any = {
    "id": "t1",
    "startedAt": BEGUN,
    "message": user_message(),
    "responseParts": [{"kind": "markdown", "id": "p1", "content": ""}],
}


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_module, "PAGE_BYTES", 1_000)


@asynccontextmanager
async def speaking(folder: Path) -> AsyncIterator[tuple[Engine, Session]]:
    """Run an engine with a session whose turn can be streamed to."""
    async with started(folder) as host:
        session = await new_session(host, URI, chat={"activeTurn": TURN})
        await host.journal.wait()
        yield host, session


def say(session: Session, *texts: str) -> None:
    for text in texts:
        session.stream("chat/delta", "t1", "p1", text)


def told(entries: Sequence[Entry], after: int = 0) -> list[tuple[int, str]]:
    """Return the numbers and the texts of entries."""
    single = unpack(entries, after)
    actions = [(one.seq, json.loads(one.envelope)["action"]) for one in single]
    return [(seq, action.get("content", action.get("title"))) for seq, action in actions]


async def read_all(pages: Pages) -> list[Sequence[Entry]]:
    found = []
    while not pages.is_over:
        page = await pages.read_next()
        assert page is not None
        found.append(page)
    return found


def test_pages_meet_in_the_middle_of_text_that_streamed(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            texts = [str(place) for place in range(3 * MAX_RUN)]
            say(session, *texts)
            await host.journal.wait()
            found = await read_all(host.feed(ME).follow(session, seen))
            assert [len(page) for page in found] == [1, 1, 1]
            whole = [entry for page in found for entry in page]
            assert told(whole) == list(enumerate(texts, seen + 1))

    run(story)


def test_one_that_saw_half_of_a_run_reads_on_in_the_middle_of_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            before = host.line.shown_seq
            say(session, *"abcdef")
            await host.journal.wait()
            (page,) = await read_all(host.feed(ME).follow(session, before + 4))
            assert told(page, after=before + 4) == [(before + 5, "e"), (before + 6, "f")]

    run(story)


def test_what_happens_while_pages_are_read_comes_live_and_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(40):
                session.act(title_changed(f"{place}" + "." * 100))
            await host.journal.wait()
            feed = host.feed(ME)
            pages = feed.follow(session, seen)
            entries: list[Entry] = []
            while not pages.is_over:
                page = await pages.read_next()
                assert page
                entries += page
                say(session, f"after {len(entries)}")
                await host.journal.wait()
            live = await feed.subscriber.wait_next()
            numbers = [entry.seq for entry in (*entries, *live)]
            assert len(live) > 3
            assert numbers == list(range(seen + 1, session.shown_seq + 1))
            assert [title.rstrip(".") for _, title in told(entries)] == list(map(str, range(40)))

    run(story)


def test_one_that_leaves_between_two_pages_is_held_by_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(40):
                session.act(title_changed(f"{place}" + "." * 100))
            await host.journal.wait()
            feed = host.feed(ME)
            pages = feed.follow(session, seen)
            assert await pages.read_next()
            reading = asyncio.create_task(pages.read_next())
            await asyncio.sleep(0)
            reading.cancel()
            feed.close()
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert not host.hub.is_heard(session.number)
            session.act(title_changed("on"))
            await host.journal.wait()
            assert feed.subscriber.backlog == 0

    run(story)


def test_a_page_has_little_more_than_it_may_have(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(100):
                session.act(title_changed("x" * (3_000 if place % 10 == 5 else 10)))
            await host.journal.wait()
            found = await read_all(host.feed(ME).follow(session, seen))
            assert len(found) > 10
            for page in found:
                assert sum(len(entry.envelope) for entry in page[:-1]) <= 1_000

    run(story)


def test_refusals_of_others_end_no_page(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(50):
                session.refuse(
                    URI, title_changed("no"), {"clientId": "you", "clientSeq": place}, "No.", Identity("you")
                )
            session.act(title_changed("yes"))
            await host.journal.wait()
            (page,) = await read_all(host.feed(ME).follow(session, seen))
            assert [title for _, title in told(page)] == ["yes"]

    run(story)


def test_a_log_that_is_trimmed_between_two_pages_makes_no_gap(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(40):
                session.act(title_changed(f"{place}" + "." * 100))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            pages = host.feed(ME).follow(session, seen)
            assert await pages.read_next()
            while host.storage.trim(1, 1):
                pass
            assert await pages.read_next() is None
            assert not pages.is_over

    run(story)


def test_of_a_session_that_is_gone_there_is_no_next_page(tmp_path: Path) -> None:
    async def story() -> None:
        async with speaking(tmp_path) as (host, session):
            seen = host.line.shown_seq
            for place in range(40):
                session.act(title_changed(f"{place}" + "." * 100))
            await host.journal.wait()
            pages = host.feed(ME).follow(session, seen)
            assert await pages.read_next()
            await host.removals.remove(URI)
            assert await pages.read_next() is None

    run(story)
