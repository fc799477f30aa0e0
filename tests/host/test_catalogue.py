"""List notices: sessions that are added and removed, and summaries that change."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import SessionNotFound
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.host.sessions.list_notices import Added, Changed, Notice, Removed, summary_changes
from agenthost.host.sessions.new_session import NewSession
from hosting import run
from talking import Talk, talking
from turning import made


class Listener:
    """Hears notices, one after the other."""

    def __init__(self, host: Host) -> None:
        self._notices: asyncio.Queue[Notice] = asyncio.Queue()
        self.stop = host.parts.list_notices.listen(self._notices.put_nowait)

    async def next(self) -> Notice:
        return await self._notices.get()

    @property
    def is_idle(self) -> bool:
        return self._notices.empty()


async def answers(turn: Turn) -> None:
    await turn.activity("Thinking")
    await turn.title("Greetings")
    await turn.say("Hello")
    await turn.activity(None)


def test_sessions_that_come_and_go_are_told_with_their_owners(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(answers)) as host:
            listener = Listener(host)
            session = await host.parts.lifecycle.create(NewSession(agent="demo", owner="ann"))
            added = await listener.next()
            assert isinstance(added, Added)
            assert (added.owner, added.summary["resource"]) == ("ann", session.row.uri)
            await host.parts.lifecycle.dispose(session.row.uri)
            assert await listener.next() == Removed("ann", session.row.uri)
            with pytest.raises(SessionNotFound):
                await host.parts.lifecycle.dispose(session.row.uri)
            listener.stop()
            await host.parts.lifecycle.create(NewSession(agent="demo"))
            assert listener.is_idle

    run(story)


def test_changes_that_come_close_together_are_told_as_one_and_only_what_differs(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(answers)) as host:
            talk = await Talk.begin(host)
            await asyncio.sleep(0)  # until those have been told
            listener = Listener(host)
            await talk.say("Hi")
            summary: Any = talk.session.summary(talk.session.shown_state)
            told: list[Any] = []
            while not told or told[-1]["modifiedAt"] != summary["modifiedAt"]:
                notice = await listener.next()
                assert isinstance(notice, Changed)
                assert notice.uri == talk.uri
                told.append(notice.changes)
            assert len(told) <= 2  # of six actions that changed the summary
            assert told[0].keys() <= {"title", "status", "modifiedAt", "activity", "chats"}
            assert (told[0] | told[-1])["title"] == summary["title"] == "Greetings"

    run(story)


def test_a_field_that_is_gone_is_told_as_none() -> None:
    before: Any = {"title": "A", "activity": "Reading", "resource": "x"}
    after: Any = {"title": "B", "resource": "y"}
    assert summary_changes(before, after) == {"title": "B", "activity": None}
    assert summary_changes(after, after) == {}


def test_a_field_that_was_cleared_is_told_to_those_who_knew_it(tmp_path: Path) -> None:
    ready = asyncio.Event()

    async def busy(turn: Turn) -> None:
        await turn.activity("Reading")
        await ready.wait()
        await turn.activity(None)

    async def story() -> None:
        async with talking(tmp_path, made(busy)) as host:
            talk = await Talk.begin(host)
            await asyncio.sleep(0)  # until those have been told
            listener = Listener(host)
            await talk.send("Hi")
            assert await told_activity(listener) == "Reading"
            ready.set()
            assert await told_activity(listener) is None

    run(story)


async def told_activity(listener: Listener) -> Any:
    while True:
        notice = await listener.next()
        assert isinstance(notice, Changed)
        if "activity" in notice.changes:
            return notice.changes["activity"]


def test_nothing_is_told_of_a_session_after_it_was_removed(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(answers)) as host:
            gone, stays = await Talk.begin(host), await Talk.begin(host)
            await asyncio.sleep(0)  # until those have been told
            listener = Listener(host)
            await gone.say("Hi")
            await host.parts.lifecycle.dispose(gone.uri)
            await stays.say("Hi")
            while not (isinstance(notice := await listener.next(), Changed) and notice.uri == stays.uri):
                assert notice == Removed("", gone.uri)

    run(story)
