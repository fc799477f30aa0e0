"""A server in this process, on a real socket, with routes beside ours."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from starlette.routing import BaseRoute

from agenthost.edges.app import App
from agenthost.edges.health import Phase
from agenthost.edges.page import Page
from agenthost.edges.server import _app, _config, _end, _names, _Server, _url, listen
from agenthost.host.access.keys import Keys
from agenthost.host.authoring.agent import Agent
from agenthost.host.host import Host
from agenthost.settings import as_argument, read_settings
from serving import Answer, ask


class Site:
    """A server in this process."""

    def __init__(self, app: App, host: Host, url: str) -> None:
        self.app, self.host, self.url = app, host, url

    async def ask(self, path: str, method: str = "GET", /, body: Any = None, **headers: str) -> Answer:
        return await asyncio.to_thread(ask, self.url, path, method, body=body, **headers)

    async def metrics(self) -> dict[tuple[str, ...], float]:
        text = (await self.ask("/metrics")).body.decode()
        families = text_string_to_metric_families(text)
        return {(one.name, *one.labels.values()): one.value for each in families for one in each.samples}


@asynccontextmanager
async def site(
    folder: Path, *extra: BaseRoute, agents: Sequence[Agent] = (), page: Page | None = None, **given: Any
) -> AsyncIterator[Site]:
    """Serve a host with these agents and settings, and with routes beside ours."""
    settings = read_settings({**given, "data": folder}, {}, spelling=as_argument)
    host = Host(data=folder, workspace=settings.workspace, sandbox="off")
    for agent in agents:
        host.add(agent)
    async with host:
        keys = Keys(folder)
        listener = listen("127.0.0.1", 0, has_keys=keys.is_needed)
        app = _app(host, settings, keys, _names(listener, "127.0.0.1"), extra, page)
        server = _Server(_config(app, settings.max_body, settings.max_connections))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await server.listening.wait()
        app.phase = Phase.READY
        await host.wait_restored()
        try:
            yield Site(app, host, _url(listener))
        finally:
            await _end(app, server, running)
