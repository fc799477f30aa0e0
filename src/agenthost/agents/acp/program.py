"""How an ACP program is run: the declaration that `AcpAgent` and `Relay` share."""

from dataclasses import dataclass
from pathlib import Path

from agenthost.agents.acp.servers import McpServerConfig
from agenthost.host.programs.command import Command

__all__ = ["ProgramConfig"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramConfig:
    """How a program is run.

    Attributes:
        command: the program, its arguments and its environment.
        cwd: the working folder; `None` for that of the session.
        mode: the pinned mode of all sessions; `None` if sessions choose.
        mcp_servers: the MCP servers that are passed to the program.
        idle_seconds: an idle program is stopped after this long without a turn.
    """

    command: Command
    cwd: Path | None
    mode: str | None
    mcp_servers: tuple[McpServerConfig, ...]
    idle_seconds: float
