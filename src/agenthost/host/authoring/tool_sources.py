"""The tool sources of all agents, while the host is open.

A source starts in the background, so a slow one delays only those who need it, for a limited time. Whenever
its tools change, its agents get a new tool set. Knows no protocol.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.tool_source import ToolSource
from agenthost.host.sandbox.bubblewrap import Sandbox

__all__ = ["ToolSources"]

log = logging.getLogger("agenthost.tools")

READY_SECONDS = 20.0
"""How long after the start turns, and requests that name a tool, wait for sources that are not ready."""

STOP_SECONDS = 10.0
"""How long a source may take to stop."""


class ToolSources:
    """The sources of all agents, while the host is open. `changed(agent)` is called when its tools change."""

    def __init__(
        self, workspace: Path, changed: Callable[[Agent], None], sandbox: Sandbox | None = None
    ) -> None:
        self._workspace = workspace
        self._sandbox = sandbox
        self._changed = changed
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._started: list[ToolSource] = []
        self._settled: set[str] = set()
        self._deadline = 0.0

    def start(self, agents: Iterable[Agent]) -> None:
        """Start the sources of these agents, in the background."""
        self._deadline = asyncio.get_running_loop().time() + READY_SECONDS
        for agent in agents:
            if agent.sources:
                self._starting[agent.name] = asyncio.create_task(self._start(agent))

    async def _start(self, agent: Agent) -> None:
        await asyncio.gather(*(self._start_one(agent, source) for source in agent.sources))
        self._settled.add(agent.name)
        self._update(agent)

    async def _start_one(self, agent: Agent, source: ToolSource) -> None:
        self._started.append(source)
        source.sandbox = self._sandbox
        try:
            await source.start(self._workspace, lambda: self._update(agent))
            self._update(agent)
        except Exception:  # foreign code: the agent goes on without these tools
            log.exception("the tools of %s for agent %s could not be started", source.name, agent.name)

    def _update(self, agent: Agent) -> None:
        agent.gather_tools()
        self._changed(agent)

    def is_settled(self, agent: Agent) -> bool:
        """Return whether the tools of all sources of an agent are known."""
        return not agent.sources or agent.name in self._settled

    async def wait(self, agent: Agent, names: Iterable[str] | None = None) -> None:
        """Wait, for a limited time, until these tools of an agent are known, or all."""
        task = self._starting.get(agent.name)
        if task is None or task.done() or (names is not None and set(names) <= agent.toolset.keys()):
            return
        left = self._deadline - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.wait([task], timeout=left)

    async def stop(self) -> None:
        """Stop all sources, concurrently."""
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        await asyncio.gather(*(self._stop_one(source) for source in self._started))

    async def _stop_one(self, source: ToolSource) -> None:
        try:
            await asyncio.wait_for(source.stop(), STOP_SECONDS)
        except TimeoutError:
            log.warning("the tools of %s did not stop in time", source.name)
        except Exception:
            log.exception("the tools of %s could not be stopped", source.name)
