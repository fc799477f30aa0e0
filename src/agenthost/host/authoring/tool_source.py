"""Tool sources: tools that come and go while a host runs, such as those of another server."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from agenthost.host.authoring.tool import Tool
from agenthost.host.sandbox.bubblewrap import Sandbox

__all__ = ["ToolSource"]


class ToolSource(ABC):
    """A source of tools that can change over time. Listed among the `tools` of an agent.

    Attributes:
        name: its name for people.
        sandbox: the sandbox that its programs run in, if any; set before it is started.
    """

    name: str
    sandbox: Sandbox | None = None

    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """Return the tools that it has now."""

    @abstractmethod
    async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
        """Start, and return once the tools are known; there may be none for now.

        Call `changed` on the event loop whenever the list of tools changes. This is called once for each
        agent that has the source. Exceptions are logged. It is cancelled if the host closes.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Release everything; called once for each `start`."""
