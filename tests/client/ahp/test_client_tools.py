"""The application's own tools over AHP: each call runs once, is reported, and never hangs."""

import asyncio
from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, Session, ToolError, report
from client.ahp.proxies import proxied
from hosting import run


def client_of(server: str, **how: Any) -> AhpClient:
    return AhpClient(f"{server}/ahp", **how)


def result_of(session: Session) -> Any:
    return next(part["toolCall"] for part in session.turns[-1]["responseParts"] if part["kind"] == "toolCall")


def test_tools_run_and_their_results_and_errors_are_reported(server: str) -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    async def picture() -> Any:
        """Show a picture."""
        return {"type": "image", "url": "data:image/png;base64,aGk="}

    async def refuse() -> None:
        """Refuse."""
        raise ToolError("I would rather not")

    async def story() -> None:
        async with client_of(server, name="Test") as client:
            session = await client.create("demo", tools=[shout, picture, refuse])
            assert session.confirmed.session["activeClients"][0]["displayName"] == "Test"
            assert await session.ask('/call shout {"text": "hey"}') == "shout -> HEY"
            assert result_of(session)["success"] is True
            await session.ask("/call picture")
            block = {"type": "embeddedResource", "data": "aGk=", "contentType": "image/png"}
            assert result_of(session)["content"] == [block]
            assert await session.ask("/call refuse") == "refuse -> I would rather not"
            assert (result_of(session)["success"], result_of(session)["error"]["code"]) == (False, "failed")
            await session.ask('/call shout {"text": 5}')
            assert result_of(session)["error"]["code"] == "invalid-input"

    run(story)


def test_other_clients_see_the_progress_of_a_tool(server: str) -> None:
    async def story() -> None:
        go_on = asyncio.Event()

        async def dig() -> str:
            """Dig."""
            report("half way")
            await go_on.wait()
            return "done"

        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create("demo", tools=[dig])
            theirs = await two.session(mine.uri)
            saying = mine.say("/call dig")
            await theirs.until(lambda _: any(call.get("content") for call in theirs.calls))
            assert theirs.calls[0].get("content") == [{"type": "text", "text": "half way"}]
            go_on.set()
            assert await saying.text() == "dig -> done"

    run(story)
    with pytest.raises(LookupError):
        report("outside")


def test_a_tool_of_a_turn_that_is_cancelled_is_stopped(server: str) -> None:
    async def story() -> None:
        stopped: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        begun = asyncio.Event()

        async def dig() -> None:
            """Dig."""
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set_result(True)

        async with client_of(server) as client:
            session = await client.create("demo", tools=[dig])
            saying = session.say("/call dig")
            await begun.wait()
            await session.cancel()
            assert await stopped
            await saying.turn()

    run(story)


def test_several_clients_bring_tools_and_each_may_leave(server: str) -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    def whisper(text: str) -> str:
        """Whisper."""
        return text.lower()

    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create("demo", tools=[shout])
            theirs = await two.session(mine.uri)
            await theirs.become_active([whisper])
            assert await mine.ask('/call shout {"text": "hey"}') == "shout -> HEY"
            assert await mine.ask('/call whisper {"text": "HEY"}') == "whisper -> hey"
            await mine.release()
            await mine.until(lambda state: len(state.session["activeClients"]) == 1)
            assert "no tool" in await mine.ask('/call shout {"text": "hey"}')
            await theirs.set_tools([shout])
            assert await mine.ask('/call shout {"text": "hey"}') == "shout -> HEY"

    run(story)


def test_a_tool_survives_a_lost_connection_and_runs_once(server: str) -> None:
    async def story() -> None:
        runs: list[str] = []
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def dig(what: str) -> str:
            """Dig."""
            runs.append(what)
            begun.set()
            await go_on.wait()
            return f"dug {what}"

        async with proxied(server) as proxy, client_of(proxy.url) as client:
            session = await client.create("demo", tools=[dig])
            came_back = asyncio.Event()
            client.listen(lambda event: came_back.set() if client.is_connected else None)
            saying = session.say('/call dig {"what": "a hole"}')
            await begun.wait()
            proxy.cut()
            await came_back.wait()
            go_on.set()
            assert await saying.text() == "dig -> dug a hole"
            # The host took the place of the active client away, and we have it again.
            await session.until(lambda state: state.session["activeClients"])
            assert await session.ask('/call dig {"what": "more"}') == "dig -> dug more"
            assert runs == ["a hole", "more"]

    run(story)


def test_a_result_that_is_ready_without_a_connection_is_sent_later(server: str) -> None:
    async def story() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def dig() -> str:
            """Dig."""
            begun.set()
            await go_on.wait()
            return "done"

        async with proxied(server) as proxy, client_of(proxy.url) as client:
            session = await client.create("demo", tools=[dig])
            lost = asyncio.Event()
            client.listen(lambda event: lost.set())
            saying = session.say("/call dig")
            await begun.wait()
            proxy.is_closed = True
            proxy.cut()
            await lost.wait()
            changes = session.changes()
            go_on.set()
            assert (await anext(changes)).kind == "dispatched"
            proxy.is_closed = False
            assert await saying.text() == "dig -> done"

    run(story)


def test_a_call_of_an_earlier_process_fails(server: str) -> None:
    async def story() -> None:
        runs: list[int] = []
        begun = asyncio.Event()

        async def dig() -> str:
            """Dig."""
            runs.append(1)
            begun.set()
            await asyncio.Event().wait()
            return "never"

        async with client_of(server) as watcher:
            async with client_of(server, client_id="phoenix") as client:
                session = await client.create("demo", tools=[dig])
                await session.send("/call dig")
                theirs = await watcher.session(session.uri)
                await begun.wait()
            async with client_of(server, client_id="phoenix") as client:
                await client.session(session.uri, tools=[dig])
                state = await theirs.until(lambda state: state.chat["turns"])
                call: Any = state.chat["turns"][0]["responseParts"][0]
                assert call["toolCall"]["success"] is False
                assert "restarted" in call["toolCall"]["error"]["message"]
                assert runs == [1]

    run(story)


def test_closing_a_session_fails_its_calls_and_releases_it(server: str) -> None:
    async def story() -> None:
        begun = asyncio.Event()

        async def dig() -> None:
            """Dig."""
            begun.set()
            await asyncio.Event().wait()

        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create("demo", tools=[dig])
            theirs = await two.session(mine.uri)
            saying = theirs.say("/call dig")
            await begun.wait()
            mine.close()
            assert "the application has left the session" in await saying.text()
            await theirs.until(lambda state: not state.session["activeClients"])

    run(story)
