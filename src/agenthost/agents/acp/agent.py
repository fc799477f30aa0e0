"""An agent backed by a program that speaks ACP (the Agent Client Protocol) over stdio."""

import asyncio
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agenthost.agents.acp.program import ProgramConfig
from agenthost.agents.acp.servers import McpServerConfig, check_servers
from agenthost.commands import install_command
from agenthost.core.decisions.grants import Grant
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.agent import Agent, Command, Declaration
from agenthost.host.authoring.turn import Turn
from agenthost.host.programs.command import parse_command
from agenthost.wire.json import JsonObject

if TYPE_CHECKING:
    from agenthost.agents.acp.relay import Relay

__all__ = ["AcpAgent"]

log = logging.getLogger("agenthost.acp")

DISCOVERY_SECONDS = 10.0
"""How long a new session waits for the program to report what it offers."""

GRANTS: dict[str, Grant | None] = {
    "read": "files",
    "edit": "files",
    "delete": "files",
    "move": "files",
    "search": "files",
    "fetch": None,
    "think": None,
}
"""The grant needed to approve a call, by ACP tool kind. A call of any other kind may do anything: `run`."""

IDLE_SECONDS = 600.0
"""An idle program is stopped after this long without a turn."""


class AcpAgent(Agent):
    """An agent backed by a program that speaks ACP: `AcpAgent("gemini", "gemini --acp")`.

    One process serves all sessions; see `peer_pool`. When the host opens, the program is asked what it offers
    (modes, models, commands, images). That is added to what is declared here.
    """

    def __init__(
        self,
        name: str,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        mode: str | None = None,
        mcp_servers: Sequence[McpServerConfig] = (),
        idle_seconds: float = IDLE_SECONDS,
        **declared: Unpack[Declaration],
    ) -> None:
        """Declare the agent. Nothing is started yet.

        `command` is a shell-like command line, or a list of words. `env` is added to the few variables that
        every program gets; `$NAME` in it stands for a variable of the host's own environment. `cwd` is the
        working folder, by default that of the session. `mode` pins the mode of all sessions. `mcp_servers`
        are passed to the program.

        Raises:
            AgentUnavailable: the ACP library is not installed.
            ValueError: the command or an MCP server is invalid.
        """
        if importlib.util.find_spec("acp") is None:
            raise AgentUnavailable(
                f"agents that speak ACP need a library: {install_command('agenthost[acp]')}"
            )
        declared.setdefault("client_tools", False)
        self.program = ProgramConfig(
            command=parse_command(command, env or {}),
            cwd=None if cwd is None else Path(cwd).expanduser().absolute(),
            mode=mode,
            mcp_servers=check_servers(mcp_servers),
            idle_seconds=idle_seconds,
        )
        super().__init__(name, **declared)
        self._declared = declared
        self._relay: Relay | None = None
        self._discovery: asyncio.Task[None] | None = None

    def grant_of(self, call: JsonObject) -> Grant | None:
        """Return the grant needed to approve a call. The program reports its kind, not what it will do."""
        return GRANTS.get(call["toolName"], "run")

    async def start(self) -> None:
        """Start asking the program what it offers. The host opens whether it answers or not."""
        from agenthost.agents.acp.relay import Relay  # noqa: PLC0415 - the library is slow to load

        self._relay = Relay(self, self.program, self.offer)
        self._discovery = asyncio.create_task(self._discover())

    async def _discover(self) -> None:
        try:
            await self.relay.discover()
        except AgentUnavailable as error:
            log.warning("agent %s: %s", self.name, error)
        except Exception:
            log.exception("agent %s could not be asked what it offers", self.name)

    @property
    def relay(self) -> "Relay":
        """The relay to the program. It exists while the host is open."""
        if self._relay is None:
            raise AgentUnavailable(f"the host of agent {self.name!r} is not open")
        return self._relay

    async def wait_known(self) -> None:
        """Wait until the program has reported what it offers or has failed to, up to `DISCOVERY_SECONDS`."""
        if self._discovery is not None:
            await asyncio.wait([self._discovery], timeout=DISCOVERY_SECONDS)

    def offer(self, **offered: Any) -> None:
        """Declare what the program offers. What the author declared takes precedence."""
        changed = {
            key: value
            for key, value in offered.items()
            if key not in self._declared and value != getattr(self, key)
        }
        if "options" in self._declared and "options" in offered:
            own = self._declared["options"]
            taken = {option.name for option in own}
            changed["options"] = [*own, *(one for one in offered["options"] if one.name not in taken)]
        for key, value in changed.items():
            setattr(self, key, value)
        if changed:
            self.home.announce()

    def commands_of(self, session: str) -> Sequence[Command]:
        """Return the slash commands that the program knows in a session."""
        return self.commands if self._relay is None else self._relay.commands_for(session) or self.commands

    async def answer(self, turn: Turn) -> None:
        """Let the program answer a turn, and show what it says and does."""
        await self.relay.answer(turn)

    async def forget(self, session: str) -> None:
        """Let the program close a session."""
        await self.relay.forget(session)

    async def stop(self) -> None:
        """End the program."""
        if self._discovery is not None:
            self._discovery.cancel()
            await asyncio.wait([self._discovery])
        if self._relay is not None:
            await self._relay.close()
            self._relay = None
