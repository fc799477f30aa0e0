"""A server in this process that speaks AHP on a real socket, with a workspace of its own."""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from agenthost.agents.demo import demo
from agenthost.core.decisions.grants import GRANTS, Grant
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.health import Phase
from agenthost.edges.server import _app, _config, _end, _names, _Server, _url, listen
from agenthost.host.access.keys import KeyFile, Keys
from agenthost.host.authoring.agent import Agent
from agenthost.host.host import Host
from agenthost.settings import as_argument, read_settings
from ahp_speaking import Client
from hosting import run
from sites import Site


class Place(Site):
    """A server in this process, and its clients."""

    folder: Path
    keys: dict[str, str]
    server: _Server

    @property
    def workspace(self) -> Path:
        return self.host.workspace

    def uri(self, *names: str) -> str:
        """Return the URI of something in the workspace."""
        return self.workspace.joinpath(*names).as_uri()

    @property
    def peers(self) -> Peers:
        return self.app._ahp._peers

    @asynccontextmanager
    async def client(
        self, client_id: str = "me", key: str | None = None, **more: Any
    ) -> AsyncIterator[Client]:
        """Return a client that has opened its connection."""
        async with Client.connected(self.url, client_id, key) as client:
            await client.open(**more)
            yield client

    @asynccontextmanager
    async def stranger(self, client_id: str = "me", key: str | None = None) -> AsyncIterator[Client]:
        """Return a client that has not said anything yet."""
        async with Client.connected(self.url, client_id, key) as client:
            yield client


@asynccontextmanager
async def served(
    folder: Path,
    *agents: Agent,
    keys: tuple[str, ...] = (),
    worth: Mapping[str, Collection[Grant]] | None = None,
    config: Any = None,
    **host: Any,
) -> AsyncIterator[Place]:
    """Serve a host with the demo agent and these.

    `keys` are owners that have one with all grants, `worth` names keys of one owner with these grants,
    `config` are settings, and all else is for `Host`.
    """
    data, workspace = folder / "data", folder / "workspace"
    for one in (data, workspace):
        one.mkdir(parents=True, exist_ok=True)
    settings = read_settings({**(config or {}), "data": data}, {}, spelling=as_argument)
    secrets = {owner: KeyFile(data).create(owner, grants=GRANTS)[1] for owner in keys}
    for name, grants in (worth or {}).items():
        secrets[name] = KeyFile(data).create("ann", name, grants=grants)[1]
    built = Host(data=data, workspace=workspace, **{"sandbox": "off", **host})
    for agent in (demo, *agents):
        built.add(agent)
    async with built:
        known = Keys(data)
        listener = listen("127.0.0.1", 0, has_keys=known.is_needed)
        app = _app(built, settings, known, _names(listener, "127.0.0.1"))
        server = _Server(_config(app, settings.max_body, settings.max_connections))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await server.listening.wait()
        app.phase = Phase.READY
        await built.wait_restored()
        place = Place(app, built, _url(listener))
        place.folder, place.keys, place.server = data, secrets, server
        try:
            yield place
        finally:
            await _end(app, server, running)


def on_a_host(
    *agents: Agent, may_fail: bool = False, **settings: Any
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Make a test of a story that is given a server; `settings` are for `served`.

    It fails if the server logs an error, unless it `may_fail`.
    """

    def decorate(story: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def test(tmp_path: Path, **given: Any) -> None:
            async def told() -> None:
                async with served(tmp_path, *agents, **settings) as place:
                    await story(place, **given)

            with heard_errors() as errors:
                run(told)
            assert may_fail or errors == []

        kinds = inspect.Parameter
        first = kinds("tmp_path", kinds.POSITIONAL_OR_KEYWORD)
        others = list(inspect.signature(story).parameters.values())[1:]
        test.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        test.__name__ = getattr(story, "__name__", "test")
        test.__doc__ = story.__doc__
        return test

    return decorate


@contextmanager
def heard_errors() -> Iterator[list[str]]:
    """Collect what the server logs as an error."""
    errors: list[str] = []

    class Ears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "without completing handshake" not in record.msg:  # refused with an answer, uvicorn means
                errors.append(self.format(record))

    ears = Ears(logging.ERROR)
    names = ("agenthost", "uvicorn.error", "asyncio")
    for name in names:
        logging.getLogger(name).addHandler(ears)
    yield errors
    for name in names:
        logging.getLogger(name).removeHandler(ears)
