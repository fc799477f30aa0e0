"""URIs and names of sessions and their chats: each is given once, and found again."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agenthost.errors import SessionExists, SessionNotFound, UriReserved
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.session import Session
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT_URI
from hosting import chat_of, new_session, new_states, run, started
from talking import Talk, talking
from turning import made

URI = "demo:/one"


def test_a_uri_or_a_name_is_given_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            made = await asyncio.gather(*(new_session(host, URI) for _ in range(3)), return_exceptions=True)
            assert sorted(type(one).__name__ for one in made) == ["Session", "SessionExists", "SessionExists"]
            await new_session(host, "demo:/two", name="same")
            with pytest.raises(SessionExists):
                await new_session(host, "demo:/three", name="same")
            assert host.session_counts.total == 2

    run(story)


@pytest.mark.parametrize("uri", [ROOT_URI, LEGACY_ROOT_URI, chat_of(URI)])
def test_the_uris_of_the_root_and_of_the_own_chat_are_no_sessions(tmp_path: Path, uri: str) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            with pytest.raises(UriReserved):
                await new_session(host, uri, name="one")
            await new_session(host, URI)

    run(story)


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("at_once", [False, True])
def test_the_uri_of_a_chat_is_given_once_too(tmp_path: Path, is_first: bool, at_once: bool) -> None:
    """The chat of the session `one` has a URI that another session must not have, before or after it."""

    async def story() -> None:
        async with started(tmp_path) as host:
            wanted = [partial(new_session, host, URI), partial(new_session, host, chat_of(URI), name="two")]
            if not is_first:
                wanted.reverse()
            made: list[Session | BaseException] = []
            if at_once:
                made += await asyncio.gather(*(make() for make in wanted), return_exceptions=True)
            else:
                for make in wanted:
                    made += await asyncio.gather(make(), return_exceptions=True)
            assert [type(one) for one in made] == [Session, SessionExists]
            assert host.session_counts.total == 1

    run(story)


def test_a_chat_is_found_by_its_uri_in_memory_or_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            assert session.chat_uri == chat_of(URI)
            assert await host.sessions.find(chat_of(URI)) is await host.sessions.find(URI) is session
            assert (
                host.sessions.peek_chat(chat_of(URI))
                is await host.sessions.find_chat(chat_of(URI))
                is session
            )
        async with started(tmp_path) as host:
            assert host.sessions.peek_chat(chat_of(URI)) is None
            again = await host.sessions.find(chat_of(URI))
            assert again is await host.sessions.find_chat(chat_of(URI))
            assert again is await host.sessions.get(URI)
            await host.removals.remove(URI)
            assert host.sessions.peek_chat(chat_of(URI)) is None
            for uri in (chat_of(URI), "ahp-chat:/", "ahp-chat:/other", "ahp-chat:/one/", URI, ROOT_URI, ""):
                with pytest.raises(SessionNotFound):
                    await host.sessions.find_chat(uri)
                with pytest.raises(SessionNotFound):
                    await host.sessions.find(uri)

    run(story)


def test_a_disposed_session_is_gone_and_its_uri_is_free_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            await new_session(host, URI)
            await host.removals.remove(URI)
            with pytest.raises(SessionNotFound):
                await host.sessions.get(URI)
            with pytest.raises(SessionNotFound):
                await host.removals.remove(URI)
            await new_session(host, URI)
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).conversation == new_states(URI)
            assert host.session_counts.total == 1

    run(story)


@pytest.mark.parametrize("owner", ["ann", "bob"])
def test_no_session_is_made_at_the_uri_of_a_chat_whoever_asks(tmp_path: Path, owner: str) -> None:
    async def silent(_turn: object) -> None:
        """Say nothing."""

    async def story() -> None:
        async with talking(tmp_path, made(silent)) as host:
            talk = await Talk.begin(host, owner="ann", name="one")
            assert talk.session.chat_uri == chat_of(URI)
            error = SessionExists if owner == "ann" else UriReserved  # only its owner learns what is there
            with pytest.raises(error):
                await host.parts.lifecycle.create(
                    NewSession(agent="demo", uri=talk.session.chat_uri, owner=owner)
                )
            with pytest.raises(UriReserved):
                await host.parts.lifecycle.create(
                    NewSession(agent="demo", uri="ahp-chat:/another", owner=owner)
                )

    run(story)
