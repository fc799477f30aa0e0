"""Lost connections: cut anywhere, ended by a host that is killed, or refused."""

import asyncio
import gc
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest

from aap_servers import demo_server
from agenthost.client.ahp import (
    AhpClient,
    Backoff,
    Closed,
    Connected,
    ConnectionLost,
    Disconnected,
    Unauthorized,
)
from client.ahp.cutting import QUICK, comparable, cut_again_and_again, host_state
from client.ahp.hosts import tasks
from client.ahp.proxies import proxied
from hosting import run
from serving import serving, wait_ready

CUTS = 40


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_number_of_cuts_the_client_has_what_the_host_has(server: str, seed: int) -> None:
    async def story() -> None:
        async with asyncio.timeout(120):
            await cut_again_and_again(server, CUTS, seed)

    asyncio.run(story())


def test_the_client_reconnects_to_a_host_that_was_killed_and_restarted(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def story() -> None:
        with serving("--data", data, "--workspace", tmp_path) as served:
            url = await asyncio.to_thread(served.wait_url)
            await asyncio.to_thread(wait_ready, url)
            client = await AhpClient(f"{url}/ahp", backoff=QUICK).connect()
            session = await client.create("demo")
            await client.sessions.load()
            assert await session.ask("before") == "You said: before"
            saying = session.say("/wait 1")
            assert await anext(saying) == "."
            lost, back = asyncio.Event(), asyncio.Event()
            client.listen(lambda event: (lost if isinstance(event, ConnectionLost) else back).set())
            await asyncio.to_thread(served.stop, signal.SIGKILL)
            await lost.wait()
            waiting = asyncio.create_task(session.ask("/history"))
        port = url.rpartition(":")[2]
        with serving("--port", port, "--data", data, "--workspace", tmp_path) as served:
            await asyncio.to_thread(served.wait_url)
            await back.wait()
            rest = "".join([piece async for piece in saying])
            assert set(rest) == {"."}
            # What was said while the turn before it still ran was refused; the host has the last word.
            await asyncio.gather(waiting, return_exceptions=True)
            assert await session.ask("after") == "You said: after"
            assert comparable(session.confirmed) == comparable(await host_state(url, session.uri))
            await client.aclose()

    run(story)


def test_a_repeatable_request_waits_for_the_connection(server: str) -> None:
    async def story() -> None:
        async with proxied(server) as proxy, AhpClient(f"{proxy.url}/ahp", backoff=QUICK) as client:
            events: list[Any] = []
            client.listen(events.append)
            proxy.is_closed = True
            proxy.cut()
            asking = asyncio.create_task(client.sessions.load())
            making = asyncio.create_task(client.create("demo"))
            while not events:
                await asyncio.wait({asking}, timeout=0.01)
            proxy.is_closed = False
            await asking
            assert await (await making).ask("hello") == "You said: hello"
            assert [type(event) for event in events] == [ConnectionLost, Connected]

    run(story)


def test_a_request_that_changes_something_is_not_repeated(server: str) -> None:
    async def story() -> None:
        async with proxied(server) as proxy, AhpClient(f"{proxy.url}/ahp", backoff=QUICK) as client:
            base = client.welcome["defaultDirectory"]
            proxy.budget = lambda: None
            writing = asyncio.create_task(client.files.write(f"{base}/x.txt", "x" * 5_000_000))
            await asyncio.wait({writing}, timeout=0.001)
            proxy.cut()
            with pytest.raises(Disconnected):
                await writing
            await client.ping()

    run(story)


def test_the_list_is_loaded_again_because_notifications_are_not_repeated(server: str) -> None:
    async def story() -> None:
        async with (
            proxied(server) as proxy,
            AhpClient(f"{proxy.url}/ahp", backoff=QUICK) as client,
            AhpClient(f"{server}/ahp") as other,
        ):
            await client.sessions.load()
            proxy.is_closed = True
            proxy.cut()
            session = await other.create("demo")
            there = asyncio.Event()
            client.sessions.listen(lambda: there.set() if session.uri in client.sessions else None)
            proxy.is_closed = False
            await there.wait()

    run(story)


def test_a_session_that_is_disposed_of_during_a_lost_connection_is_gone(server: str) -> None:
    async def story() -> None:
        async with (
            proxied(server) as proxy,
            AhpClient(f"{proxy.url}/ahp", backoff=QUICK) as client,
            AhpClient(f"{server}/ahp") as other,
        ):
            session = await client.create("demo")
            back: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            client.listen(lambda event: back.set_result(event) if isinstance(event, Connected) else None)
            proxy.is_closed = True
            proxy.cut()
            await (await other.session(session.uri)).dispose()
            proxy.is_closed = False
            assert (await back).gone == [session.uri]
            assert session.is_gone

    run(story)


def test_a_missing_or_revoked_key_is_final(tmp_path: Path) -> None:
    from client.test_keys import create_key  # noqa: PLC0415 - of a neighbour

    key = create_key(tmp_path / "data", "ann")

    async def story() -> None:
        with pytest.raises(Unauthorized):
            await AhpClient(f"{url}/ahp").connect()
        with pytest.raises(Unauthorized):
            await AhpClient(f"{url}/ahp", key="wrong").connect()
        async with AhpClient(f"{url}/ahp", key=key) as client:
            assert await (await client.create("demo")).ask("hello") == "You said: hello"

    with demo_server(tmp_path) as url:
        run(story)


def test_closing_leaves_no_task_and_fails_everything_that_waits(server: str) -> None:
    async def story() -> None:
        before = tasks()
        client = await AhpClient(f"{server}/ahp").connect()
        session = await client.create("demo")
        saying = session.say("/wait 60")
        await saying.dispatched
        waiting = [
            asyncio.ensure_future(saying.turn()),
            asyncio.ensure_future(session.until(lambda _: False)),
        ]
        await asyncio.wait(waiting, timeout=0.001)
        await client.aclose()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [Closed] * 2
        assert tasks() == before
        await client.aclose()

    run(story)


def test_closing_without_a_connection_leaves_no_task(server: str) -> None:
    async def story() -> None:
        async with proxied(server) as proxy:
            before = tasks()
            client = await AhpClient(f"{proxy.url}/ahp", backoff=Backoff(initial=60, maximum=60)).connect()
            session = await client.create("demo")
            lost = asyncio.Event()
            client.listen(lambda event: lost.set())
            proxy.is_closed = True
            proxy.cut()
            await lost.wait()
            asking = asyncio.create_task(client.ping())
            echo = session.rename("nobody hears")
            await asyncio.wait({asking}, timeout=0.01)
            await client.aclose()
            for waiting in (asking, echo):
                with pytest.raises(Closed):
                    await waiting
            assert tasks() == before

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(story)
        gc.collect()
