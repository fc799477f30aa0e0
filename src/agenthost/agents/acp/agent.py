"""An agent that is a program: it speaks ACP (the Agent Client Protocol) on its standard input and output."""

import asyncio
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agenthost.agents.acp.servers import HandedServer, servers_of
from agenthost.commands import install
from agenthost.core.decisions.grants import Grant
from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Agent, Command, Declaration
from agenthost.host.programs.command import command_of
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

if TYPE_CHECKING:
    from agenthost.agents.acp.relay import Relay

__all__ = ["AcpAgent"]

log = logging.getLogger("agenthost.acp")

KNOWN_SECONDS = 10.0
"""How long a new session waits for the program to say what it offers."""

GRANTS: dict[str, Grant | None] = {
    "read": "files",
    "edit": "files",
    "delete": "files",
    "move": "files",
    "search": "files",
    "fetch": None,
    "think": None,
}
"""What approving a call needs, by its kind. All others may be anything, as programs may."""

IDLE_SECONDS = 600.0
"""After so long without a turn the program may leave."""


class AcpAgent(Agent):
    """An agent that is a program which speaks ACP: `AcpAgent("gemini", "gemini --acp")`.

    One process serves all sessions; see `peers`. What the program offers (modes, models, commands, images) is
    asked for when the host opens, and declared beside what is declared here.
    """

    def __init__(
        self,
        name: str,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        mode: str | None = None,
        mcp_servers: Sequence[HandedServer] = (),
        idle_seconds: float = IDLE_SECONDS,
        **declared: Unpack[Declaration],
    ) -> None:
        """Declare it; nothing is started yet.

        `command` is a line as for a shell, or the words of one. `env` is what the program gets beside the few
        variables that every program gets; `$NAME` in it is a variable of the host's own environment. `cwd` is
        the folder to work in; without it, that of the session. `mode` is the one that all sessions have: it
        cannot be changed then. `mcp_servers` are handed to the program.

        Raises:
            AgentUnavailable: the library for it is not installed.
            ValueError: the command is none, or an MCP server is none.
        """
        if importlib.util.find_spec("acp") is None:
            raise AgentUnavailable(f"agents that speak ACP need a library: {install('agenthost[acp]')}")
        declared.setdefault("client_tools", False)
        self.command = command_of(command, env or {})
        self.cwd = None if cwd is None else Path(cwd).expanduser().absolute()
        self.mode = mode
        self.mcp_servers = servers_of(mcp_servers)
        self.idle_seconds = idle_seconds
        super().__init__(name, **declared)
        self._declared = declared
        self._relay: Relay | None = None
        self._asking: asyncio.Task[None] | None = None

    def grant_of(self, call: JsonObject) -> Grant | None:
        """Return what approving a call needs: the program says its kind, not what it will do."""
        return GRANTS.get(call["toolName"], "run")

    async def start(self) -> None:
        """Begin to ask the program what it offers; a host opens whether it answers or not."""
        from agenthost.agents.acp.relay import Relay  # noqa: PLC0415 - the library takes its time to load

        self._relay = Relay(self)
        self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        try:
            await self.relay.get_to_know()
        except AgentUnavailable as error:
            log.warning("agent %s: %s", self.name, error)
        except Exception:
            log.exception("agent %s could not be asked what it offers", self.name)

    @property
    def relay(self) -> "Relay":
        """The way to the program; there once the host is open."""
        if self._relay is None:
            raise AgentUnavailable(f"the host of agent {self.name!r} is not open")
        return self._relay

    async def wait_known(self) -> None:
        """Wait until the program has said what it offers, or has failed to; within bounds."""
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=KNOWN_SECONDS)

    def offer(self, **offered: Any) -> None:
        """Declare what the program offers, where nothing else is declared."""
        news = {
            key: value
            for key, value in offered.items()
            if key not in self._declared and value != getattr(self, key)
        }
        if "options" in self._declared and "options" in offered:
            own = self._declared["options"]
            taken = {option.name for option in own}
            news["options"] = [*own, *(one for one in offered["options"] if one.name not in taken)]
        for key, value in news.items():
            setattr(self, key, value)
        if news:
            self.home.announce()

    def commands_of(self, session: str) -> Sequence[Command]:
        """Give the words with a slash that the program knows in a session."""
        return self.commands if self._relay is None else self._relay.commands_of(session) or self.commands

    async def answer(self, turn: Turn) -> None:
        """Hand a turn to the program, and show what it says and does."""
        await self.relay.answer(turn)

    async def forget(self, session: str) -> None:
        """Have the program close a session."""
        await self.relay.forget(session)

    async def stop(self) -> None:
        """End the program."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
        if self._relay is not None:
            await self._relay.close()
            self._relay = None
