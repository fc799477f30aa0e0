"""One server for all of these tests, in this process, so that they can look at it from the other side."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from aap_agents import AGENTS
from aap_here import Here
from aap_talking import Speaker
from agenthost.agents.demo import demo
from hosting import TIMEOUT
from sites import site


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("here")
    started: list[Here] = []
    is_up, is_over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with site(folder, agents=(demo, *AGENTS)) as served:
            started.append(Here(served, asyncio.get_running_loop()))
            is_up.set()
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    assert is_up.wait(TIMEOUT)
    yield started[0]
    is_over.set()
    thread.join(TIMEOUT)


@pytest.fixture(params=[1, 2, 3], ids=lambda number: f"v{number}")
def app(here: Here, request: pytest.FixtureRequest) -> Speaker:
    """Return an application that speaks each of the versions."""
    return Speaker(here.url, request.param)


@pytest.fixture
def newest(here: Here) -> Speaker:
    """Return an application that speaks version 3, for tests that do not depend on the version."""
    return Speaker(here.url, 3)
