"""Sessions of a real server, in each version of AAP: created, read, listed, found again, deleted."""

import asyncio

import pytest

from agenthost.client import AapClient, HistoryMessage, NotAap, NotCreatedYet, NotFound, Refused, image
from hosting import run

PNG = b"\x89PNG\r\n\x1a\n rest"


def test_meta_has_the_same_form_in_each_version(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            assert await client.version() == int(base[-1])
            (agent,) = (await client.meta())["agents"]
            assert agent["name"] == "demo"
            assert "parameters" in agent["tools"][0]

    run(story)


def test_a_session_is_created_read_and_deleted(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo", options={"style": "loud"}, trusted_tools=["clock"])
            assert (await session.ask("hello")).text == "YOU SAID: HELLO"
            info = await session.info()
            assert (info["sessionId"], info["agent"]["name"]) == (session.id, "demo")
            assert info["agent"]["options"]["style"] == "loud"
            assert info["agent"]["tools"] == [{"name": "clock", "trust": True}]
            assert await session.history() == [
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "YOU SAID: HELLO"},
            ]
            await session.delete()
            with pytest.raises(NotFound, match=session.id) as caught:
                await session.info()
            assert (caught.value.status, caught.value.code) == (404, "session_not_found")

    run(story)


def test_version_3_creates_a_session_at_once_and_older_ones_with_its_first_turn(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            assert session.is_created == base.endswith("v3")
            if not session.is_created:
                with pytest.raises(NotCreatedYet, match="its first turn creates it"):
                    session.id  # noqa: B018 - reading it is the test
                with pytest.raises(NotCreatedYet):
                    await session.history()
            answer = await session.ask("hello")
            assert answer.session_id == session.id == (await session.info())["sessionId"]

    run(story)


def test_a_session_may_begin_with_a_history(base: str) -> None:
    seed: list[HistoryMessage] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
    ]

    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo", messages=seed)
            await session.ask("again")
            assert (await session.history())[:3] == seed
            assert (await session.history("compacted"))[-1]["content"] == "You said: again"

    run(story)


def test_settings_of_a_turn_hold_for_later_turns(base: str) -> None:
    def count() -> int:
        """Count."""
        return 7

    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            await session.ask("hello", options={"style": "loud"}, server_tools=["add"], tools=[count])
            assert (await session.ask("/call count")).text == "COUNT -> 7"
            info = await session.info()
            assert info["agent"]["tools"] == [{"name": "add", "trust": False}]
            assert [tool["name"] for tool in info["tools"]] == ["count"]

    run(story)


def test_a_session_is_found_by_its_id_and_declares_the_tools_it_is_given(base: str) -> None:
    def count() -> int:
        """Count."""
        return 7

    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            await session.ask("hello")
        async with AapClient(base) as client:
            again = client.session(session.id, tools=[count])
            assert (await again.ask("/call count")).text == "count -> 7"
            assert (await again.ask("/history")).text == "7"

    run(story)


def test_tools_that_were_refused_with_a_turn_are_declared_with_the_next(base: str) -> None:
    def count() -> int:
        """Count."""
        return 7

    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            await session.ask("hello")
            with pytest.raises(Refused) as caught:
                await session.ask("/call count", tools=[count], options={"style": "rude"})
            assert caught.value.path == "$.agent.options.style"
            assert (await session.ask("/call count")).text == "count -> 7"

    run(story)


def test_images_travel_as_a_url_or_as_bytes(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create("demo")
            answer = await session.ask(["/image", image("https://example.org/a.png"), image(PNG)])
            assert answer.text == "2 images: 1 http, 1 data"

    run(story)


def test_all_sessions_are_listed_over_all_pages(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            made = [await client.create("demo") for _ in range(55)]
        for number in (1, 2, 3):
            async with AapClient(f"{server}/aap/v{number}") as client:
                listed = [info["sessionId"] async for info in client.sessions()]
                assert len(listed) == len(set(listed))
                assert {session.id for session in made} <= set(listed)

    run(story)


def test_the_only_agent_needs_no_name_and_an_unknown_one_is_refused(base: str) -> None:
    async def story() -> None:
        async with AapClient(base) as client:
            session = await client.create()
            assert (await session.ask("hello")).text == "You said: hello"
            with pytest.raises(Refused, match="'demo'") as caught:
                await (await client.create("nobody")).ask("hello")
            assert (caught.value.status, caught.value.path) == (422, "$.agent.name")

    run(story)


def test_the_address_of_the_server_alone_is_enough(server: str) -> None:
    async def story() -> None:
        for url in (server, f"{server}/"):
            async with AapClient(url) as client:
                assert (await client.meta())["version"] == 3
                session = await client.create()
                assert (await session.ask("hello")).text == "You said: hello"

    run(story)


def test_a_url_with_a_path_that_is_not_aap_is_an_error(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/other") as client:
            with pytest.raises(NotAap, match=r"there is no AAP server at .*/other: it has no /meta"):
                await client.meta()

    run(story)


def test_concurrent_requests_ask_for_the_version_once(server: str) -> None:
    async def story() -> None:
        async with AapClient(f"{server}/aap") as client:
            sessions = await asyncio.gather(*(client.create("demo") for _ in range(8)))
            answers = await asyncio.gather(*(session.ask(session.id) for session in sessions))
            assert [answer.text for answer in answers] == [f"You said: {one.id}" for one in sessions]

    run(story)
