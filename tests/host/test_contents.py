"""Contents outside the state, on a real SQLite file: kept, found by reference, copied, removed."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.errors import ContentNotFound
from agenthost.host.state.session import Session
from agenthost.host.storage import StoredContent
from agenthost.wire.ahp.common import ContentRef
from chat_building import BEGUN
from hosting import keep_blob, new_session, run, started, user_message

URI = "demo:/one"


def told(session: Session, data: bytes, content_type: str = "text/plain") -> ContentRef:
    """Keep a content and show it in a turn of its own, all in one tick."""
    session.act(actions.turn_started("t1", user_message(), BEGUN))
    ref = keep_blob(session, data, content_type)
    session.act(actions.response_part("t1", {"kind": "contentRef", **ref}))
    session.act(actions.turn_complete("t1", 5))
    return ref


def test_a_content_is_found_by_its_reference_also_after_a_restart(tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            ref = told(session, data, "image/png")
            with pytest.raises(ContentNotFound):
                await host.contents.read(ref["uri"])  # not durable yet, as the action is not
            await host.journal.wait()
            assert (ref["sizeHint"], ref["contentType"]) == (len(data), "image/png")
            assert ref["uri"].startswith(f"{URI}/content/")
        async with started(tmp_path) as host:
            chat = (await host.sessions.get(URI)).chat
            part: Any = chat["turns"][0]["responseParts"][0]
            assert await host.contents.read(part["uri"]) == StoredContent("image/png", data)

    run(story)


def test_a_content_and_the_action_that_refers_to_it_are_one_transaction(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.journal.stats.commits
            told(session, b"one")
            await host.journal.wait()
            assert host.journal.stats.commits == before + 1

    run(story)


def test_the_same_bytes_twice_are_two_contents(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            refs = [keep_blob(session, b"same") for _ in range(2)]
            await host.journal.wait()
            assert refs[0] != refs[1]
            assert {(await host.contents.read(ref["uri"])).data for ref in refs} == {b"same"}

    run(story)


@pytest.mark.parametrize(
    "uri",
    ["", URI, f"{URI}/content/", f"{URI}/content/unknown", "demo:/two/content/1", "file:///a", "/content/x"],
)
def test_a_uri_without_content_is_not_found(tmp_path: Path, uri: str) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            told(await new_session(host, URI), b"there")
            await host.journal.wait()
            with pytest.raises(ContentNotFound, match="there is no content") as missed:
                await host.contents.read(uri)
            assert missed.value.uri == uri

    run(story)


def test_contents_of_sessions_whose_uris_look_like_contents_are_told_apart(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            uris = [URI, f"{URI}/content/1", f"{URI}/content/1/content/2", "any thing ü/content/"]
            refs = []
            for uri in uris:
                session = await new_session(host, uri)
                refs.append(keep_blob(session, uri.encode()))
            await host.journal.wait()
            for uri, ref in zip(uris, refs, strict=True):
                assert (await host.contents.read(ref["uri"])).data == uri.encode()

    run(story)


def test_contents_go_with_their_session_also_those_that_come_late(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            early = told(session, b"early")
            await host.removals.remove(URI)
            late = keep_blob(session, b"late")
            await new_session(host, URI)
            for ref in (early, late):
                with pytest.raises(ContentNotFound):
                    await host.contents.read(ref["uri"])

    run(story)


def test_a_fork_has_contents_of_its_own(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            ref = told(session, b"shared")
            await host.additions.fork(URI, "t1", "demo:/fork")  # nothing was waited for: the order sees to it
            await host.removals.remove(URI)
            with pytest.raises(ContentNotFound):
                await host.contents.read(ref["uri"])
        async with started(tmp_path) as host:
            chat = (await host.sessions.get("demo:/fork")).chat
            part: Any = chat["turns"][0]["responseParts"][0]
            assert part["uri"] == ref["uri"].replace(URI, "demo:/fork")
            assert (await host.contents.read(part["uri"])).data == b"shared"

    run(story)
