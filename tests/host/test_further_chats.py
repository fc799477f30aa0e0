"""Further chats of a session in the host: records of their own, which belong to their session."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.chats import new_chat
from agenthost.errors import ChatExists, SessionNotFound, UriReserved
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.turn import Turn
from agenthost.host.chats import NewChat
from agenthost.host.host import Host
from agenthost.host.offline import cancel_turn
from agenthost.host.sessions.action_source import ActionSource
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage.integrity import examine
from agenthost.host.storage.repair import repair
from agenthost.host.storage.sqlite import FILE
from hosting import new_session, run, started, user_message
from talking import talking
from turning import crash, made

URI, CHAT = "demo:/one", "ahp-chat:/more"
ME = ActionSource(None, Identity("me"))


def first_state(uri: str = CHAT) -> Any:
    return new_chat(uri, "2026-01-01T00:00:00.000Z", {"kind": "user"})


def test_a_chat_and_its_entry_are_one_commit_and_so_is_their_removal(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            await host.journal.wait()
            commits = host.journal.stats.commits
            chat = await host.additions.add_chat(session, first_state())
            assert host.journal.stats.commits == commits + 1
            assert [one["resource"] for one in session.shown_state["chats"]][1:] == [CHAT]
            chat.act(actions.turn_started("t1", user_message(), "2026-01-02T00:00:00.000Z"))
            await host.journal.wait()
            assert host.journal.stats.commits == commits + 2
            assert session.shown_state["chats"][1]["status"] == 8
            await host.removals.remove(chat.uri)
            assert host.journal.stats.commits == commits + 3
            assert host.storage.find(uri=CHAT) is None
            with pytest.raises(SessionNotFound):
                await host.removals.remove(chat.uri)

    run(story)


def test_a_chat_is_found_by_its_uri_and_counts_as_no_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path, sessions_in_memory=1) as host:
            session = await new_session(host, URI, owner="ann")
            chat = await host.additions.add_chat(session, first_state())
            assert (host.session_counts.total, await host.session_counts.count_of("ann")) == (1, 1)
            assert [row.uri for row in await host.sessions.page(owner=None, before=None, limit=9)] == [URI]
            assert await host.sessions.find(CHAT) is chat
            await new_session(host, "demo:/two")
            await new_session(host, "demo:/three")
            assert host.sessions.peek(CHAT) is None
            again = await host.sessions.find(CHAT)
            assert isinstance(again, FurtherChat)
            assert again.home is host.sessions.peek(URI)
            await new_session(host, "demo:/four")
            assert host.sessions.peek(URI) is not None or host.sessions.peek(CHAT) is None

    run(story)


def test_the_uri_of_a_chat_is_nobody_elses(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, owner="ann")
            other = await new_session(host, "demo:/two", owner="bob")
            both = await asyncio.gather(
                host.additions.add_chat(session, first_state()),
                host.additions.add_chat(session, first_state()),
                return_exceptions=True,
            )
            assert sorted(type(one).__name__ for one in both) == ["ChatExists", "FurtherChat"]
            with pytest.raises(ChatExists):
                await host.additions.add_chat(session, first_state(session.chat_uri))
            with pytest.raises(UriReserved):
                await host.additions.add_chat(other, first_state())
            with pytest.raises(UriReserved):
                await new_session(host, "demo:/more", owner="bob", name="more")
            assert len(session.state["chats"]) == 2

    run(story)


def test_a_session_that_goes_takes_chats_that_are_being_added(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            await host.additions.add_chat(session, first_state())
            adding = asyncio.create_task(host.additions.add_chat(session, first_state("ahp-chat:/late")))
            await until(lambda: len(session.state["chats"]) == 3)
            await host.removals.remove(URI)
            await asyncio.gather(adding, return_exceptions=True)
            await host.journal.wait()
            for uri in (CHAT, "ahp-chat:/late", URI):
                assert host.storage.find(uri=uri) is None
                with pytest.raises(SessionNotFound):
                    await host.sessions.find(uri)
            fresh = await new_session(host, URI)
            await host.additions.add_chat(fresh, first_state())

    run(story)


def test_private_data_of_the_session_is_shared_and_the_rest_is_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, private={"trusted": ["look"], "kept": {"a": 1}})
            chat = await host.additions.add_chat(session, first_state())
            assert chat.private == {"trusted": ["look"]}
            chat.keep({"trusted": ["look", "save"], "kept": {"b": 2}})
            assert session.private == {"trusted": ["look", "save"], "kept": {"a": 1}}
            assert chat.private == {"trusted": ["look", "save"], "kept": {"b": 2}}
            chat.keep({"kept": {"b": 3}})
            await host.journal.wait()
        async with started(tmp_path) as host:
            again = await host.sessions.find(CHAT)
            assert (again.private, again.home.private) == ({"kept": {"b": 3}}, {"kept": {"a": 1}})

    run(story)


# Turns


async def waiting(turn: Turn) -> None:
    """Say something, and wait for an answer."""
    await turn.say(f"I heard {turn.text}. ")
    await turn.ask("Go on?")
    await turn.say("It goes on.")


async def until(look: Callable[[], Any]) -> None:
    """Wait until something is so."""
    while not look():  # noqa: ASYNC110 - a state, not an event
        await asyncio.sleep(0)


async def begun(host: Host) -> tuple[Session, FurtherChat]:
    """Make a session with a further chat, and let a turn wait in both."""
    home = await host.parts.lifecycle.create(NewSession(agent="demo", uri=URI))
    await until(lambda: home.state["lifecycle"] == "ready")
    chat = await host.parts.chats.create(home, NewChat(uri=CHAT, message=user_message("second")), ME)
    start = actions.turn_started("t1", user_message("first"), home.now())
    host.parts.dispatcher.act(home, start)
    await until(lambda: len(home.state.get("inputNeeded", [])) == 2)
    return home, chat


async def answered(host: Host, one: Session) -> Any:
    """Answer what waits in a chat, and return its turn."""
    (needed,) = [need for need in one.state["inputNeeded"] if need["chat"] == one.chat_uri]
    request: Any = needed
    host.parts.dispatcher.act(one, actions.input_completed(request["request"]["id"], "decline"))
    await until(lambda: one.chat["turns"])
    return one.chat["turns"][0]


@pytest.mark.parametrize("dies", [False, True])
def test_waiting_turns_of_all_chats_go_on_after_a_restart(tmp_path: Path, dies: bool) -> None:
    (tmp_path / "a").mkdir()

    async def story() -> None:
        folder = tmp_path / "a"
        async with talking(folder, made(waiting)) as host:
            home, _ = await begun(host)
            await host.parts.engine.journal.wait()
            if dies:
                folder = tmp_path / "b"
                crash(tmp_path / "a", folder)
        async with talking(folder, made(waiting)) as host:
            await host.wait_restored()
            chat = await host.parts.engine.sessions.find(CHAT)
            home = chat.home
            for one, text in ((home, "first"), (chat, "second")):
                turn = await answered(host, one)
                said = "".join(
                    part["content"] for part in turn["responseParts"] if part["kind"] == "markdown"
                )
                assert said == f"I heard {text}. It goes on."
            assert "inputNeeded" not in home.state
            await host.parts.engine.journal.wait()
            assert [one["status"] & 31 for one in home.state["chats"]] == [1, 1]
            assert [len(one.messages) for one in (home, chat)] == [2, 2]

    run(story)


def test_turns_of_all_chats_of_a_session_are_ended_offline(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(waiting)) as host:
            await begun(host)
        offered: list[str] = []

        def choose(uris: Any) -> str:
            offered.extend(uris)
            return URI

        assert await cancel_turn(tmp_path / "data", choose) == URI
        assert offered == [URI]
        async with started(tmp_path / "data") as engine:
            for uri in (URI, CHAT):
                assert (await engine.sessions.find(uri)).chat["turns"][0]["state"] == "cancelled"

    run(story)


# The store


async def stored(folder: Path) -> None:
    """Make a store with a session that has two further chats, and another session."""
    async with started(folder) as host:
        session = await new_session(host, URI)
        await new_session(host, "demo:/two")
        for uri in (CHAT, "ahp-chat:/third"):
            chat = await host.additions.add_chat(
                session, first_state(uri), messages=[TranscriptEntry(None, {"role": "user", "content": uri})]
            )
            chat.act(actions.turn_started("t1", user_message(), "2026-01-02T00:00:00.000Z"))
        await host.journal.wait()


@pytest.mark.sqlite
def test_a_store_with_chats_has_no_damage_and_damage_in_a_chat_is_found(tmp_path: Path) -> None:
    run(lambda: stored(tmp_path))
    assert examine(tmp_path / FILE, is_deep=True).is_sound
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE session SET parent = 2 WHERE uri = ?", (CHAT,))
    report = examine(tmp_path / FILE, is_deep=True)
    assert [what for _, what in report.damaged.values()] == ["row: its names"]


@pytest.mark.sqlite
def test_a_repair_keeps_chats_with_their_session_and_loses_them_with_it(tmp_path: Path) -> None:
    run(lambda: stored(tmp_path))
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE session SET summary = x'7b7d' WHERE uri = 'demo:/two'")
    assert repair(examine(tmp_path / FILE, is_deep=True)).sessions == 3

    async def story() -> None:
        async with started(tmp_path) as host:
            assert host.session_counts.total == 1
            assert (await host.sessions.find(CHAT)).messages[0].message["content"] == CHAT

    run(story)
    for kept in tmp_path.glob("*damaged*"):
        kept.unlink()
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE session SET summary = x'7b7d' WHERE uri = ?", (URI,))
    assert repair(examine(tmp_path / FILE, is_deep=True)).sessions == 0
