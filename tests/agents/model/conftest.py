"""One model service and one server with an agent of each wire format, for all tests of a module."""

import asyncio
import warnings
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from hosting import TIMEOUT
from modelling import WIRES, Service, model_agent, model_service
from sites import Site, site

with warnings.catch_warnings():
    # Python warns about a string in one of them when it is first compiled.
    warnings.simplefilter("ignore")
    import pydantic_ai.models.anthropic
    import pydantic_ai.models.google
    import pydantic_ai.models.openai  # noqa: F401 - so that no test has to

T = TypeVar("T")


@pytest.fixture(scope="session", autouse=True)
def _version_of_gemini() -> Iterator[None]:
    """Ask for the version of Google's interface that the model service knows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOOGLE_GENAI_API_VERSION", "v1beta")
        yield


@dataclass(frozen=True)
class Served:
    """A server with agents, the service that runs their models, and the loop that all of it runs on."""

    site: Site
    service: Service
    runner: asyncio.Runner

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        """Run a story on that loop, under a time limit."""

        async def limited() -> T:
            async with asyncio.timeout(TIMEOUT):
                return await story

        return self.runner.run(limited())


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with model_service(folder, request.module.FIXTURES) as service, asyncio.Runner() as runner:
        stack = AsyncExitStack()
        agents = [model_agent(wire, service.url) for wire in WIRES]
        serving = site(folder / "data", agents=agents)
        yield Served(runner.run(stack.enter_async_context(serving)), service, runner)
        runner.run(stack.aclose())
