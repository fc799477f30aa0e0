"""Tool sources: tools that come and go while a host runs, such as those of another server.

A source starts in the background, so that a slow one holds up nobody who does not need it; those who do wait
a little. Whenever its tools change, its agents get a tool set that has them. Knows no protocol.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agenthost.host.sandbox import Sandbox
from agenthost.host.tools import Tool

if TYPE_CHECKING:
    from agenthost.host.agent import Agent

__all__ = ["Sourcing", "ToolSource"]

log = logging.getLogger("agenthost.tools")

READY_SECONDS = 20.0
"""For how long after the start turns, and requests that name a tool, wait for sources that are not there."""

STOP_SECONDS = 10.0
"""How long a source may take to stop."""


class ToolSource(ABC):
    """Something that has tools, and not always the same ones. Goes among the `tools` of an agent.

    Attributes:
        name: how people call it.
        sandbox: what programs of it run in, if anything; said before it is started.
    """

    name: str
    sandbox: Sandbox | None = None

    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """List the tools that there are now."""

    @abstractmethod
    async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
        """Begin, and give back once it is known which tools there are, or that there are none for now.

        `changed` is to be called whenever that is another list, on the event loop. It is called once for each
        agent that has the source. What this raises goes to the log, and is cancelled if the host closes.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Let go of everything; called once for each `start`."""


class Sourcing:
    """The sources of all agents, while the host is open. `changed` is told of agents with other tools."""

    def __init__(
        self, workspace: Path, changed: "Callable[[Agent], None]", sandbox: Sandbox | None = None
    ) -> None:
        self._workspace = workspace
        self._sandbox = sandbox
        self._changed = changed
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._started: list[ToolSource] = []
        self._settled: set[str] = set()
        self._deadline = 0.0

    def start(self, agents: "Iterable[Agent]") -> None:
        """Start the sources of these agents, in the background."""
        self._deadline = asyncio.get_running_loop().time() + READY_SECONDS
        for agent in agents:
            if agent.sources:
                self._starting[agent.name] = asyncio.create_task(self._start(agent))

    async def _start(self, agent: "Agent") -> None:
        await asyncio.gather(*(self._start_one(agent, source) for source in agent.sources))
        self._settled.add(agent.name)
        self._update(agent)

    async def _start_one(self, agent: "Agent", source: ToolSource) -> None:
        self._started.append(source)
        source.sandbox = self._sandbox
        try:
            await source.start(self._workspace, lambda: self._update(agent))
            self._update(agent)
        except Exception:  # of somebody else's making: the agent does without
            log.exception("the tools of %s for agent %s could not be started", source.name, agent.name)

    def _update(self, agent: "Agent") -> None:
        agent.gather_tools()
        self._changed(agent)

    def is_settled(self, agent: "Agent") -> bool:
        """Tell whether it is known of all sources of an agent which tools they have."""
        return not agent.sources or agent.name in self._settled

    async def wait(self, agent: "Agent", names: Iterable[str] | None = None) -> None:
        """Wait a little until the tools of an agent are known: these, or all."""
        task = self._starting.get(agent.name)
        if task is None or task.done() or (names is not None and set(names) <= agent.toolset.keys()):
            return
        left = self._deadline - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.wait([task], timeout=left)

    async def stop(self) -> None:
        """Stop all sources, side by side."""
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        await asyncio.gather(*(self._stop_one(source) for source in self._started))

    async def _stop_one(self, source: ToolSource) -> None:
        try:
            await asyncio.wait_for(source.stop(), STOP_SECONDS)
        except TimeoutError:
            log.warning("the tools of %s did not stop when they were asked to", source.name)
        except Exception:
            log.exception("the tools of %s could not be stopped", source.name)
