"""An agent that is a program: it speaks ACP (the Agent Client Protocol) on its standard input and output."""

import asyncio
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Agent, Declaration
from agenthost.host.programs.command import command_of
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

if TYPE_CHECKING:
    from agenthost.agents.acp.peer import Peer

__all__ = ["AcpAgent"]

MISSING = "agents that speak ACP need a library: pip install 'agenthost[acp]'"


class AcpAgent(Agent):
    """An agent that is a program which speaks ACP: `AcpAgent("gemini", "gemini --acp")`.

    One process serves all sessions of the agent; it is started when it is needed, and again when it has died.
    """

    def __init__(
        self,
        name: str,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        **declared: Unpack[Declaration],
    ) -> None:
        """Declare it; nothing is started yet.

        `command` is a line as for a shell, or the words of one. `env` is what the program gets beside the few
        variables that every program gets; `$NAME` in it is a variable of the host's own environment. `cwd` is
        the folder to work in; without it, that of the session.

        Raises:
            AgentUnavailable: the library for it is not installed.
            ValueError: the command is none.
        """
        if importlib.util.find_spec("acp") is None:
            raise AgentUnavailable(MISSING)
        declared.setdefault("client_tools", False)
        self.command = command_of(command, env or {})
        self.cwd = None if cwd is None else Path(cwd).expanduser().absolute()
        super().__init__(name, **declared)
        self._peer: Peer | None = None
        self._starting = asyncio.Lock()
        self._sessions: dict[str, str] = {}

    async def answer(self, turn: Turn) -> None:
        """Hand a turn to the program, and show what it says."""
        peer = await self._running(turn.workspace)
        session_id = self._sessions.get(turn.session)
        if session_id is None:
            cwd = str(self.cwd or turn.workspace)
            made = await peer.ask("session/new", {"cwd": cwd, "mcpServers": []})
            session_id = self._sessions[turn.session] = made["sessionId"]
        peer.listen(session_id, _Ear(turn))
        prompt = [{"type": "text", "text": turn.text}]
        try:
            await peer.ask("session/prompt", {"sessionId": session_id, "prompt": prompt})
        except asyncio.CancelledError:
            await peer.tell("session/cancel", {"sessionId": session_id})
            raise

    async def _running(self, workspace: Path) -> "Peer":
        from agenthost.agents.acp.peer import Peer  # noqa: PLC0415 - the library takes its time to load

        async with self._starting:
            if self._peer is None:
                self._peer = await Peer.start(self.label, self.command, self.cwd or workspace)
            return self._peer

    async def stop(self) -> None:
        """End the program."""
        if self._peer is not None:
            await self._peer.leave()


class _Ear:
    """Shows what a session says in its turn."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def hear(self, update: JsonObject) -> None:
        text = update.get("content", {}).get("text", "") if isinstance(update.get("content"), dict) else ""
        if update.get("sessionUpdate") == "agent_message_chunk":
            self._turn._running.say("markdown", text)  # noqa: SLF001
        elif update.get("sessionUpdate") == "agent_thought_chunk":
            self._turn._running.say("reasoning", text)  # noqa: SLF001

    async def serve(self, method: str, params: JsonObject) -> Any:
        raise NotImplementedError(method, params)
