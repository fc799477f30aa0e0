"""Agreeing: what people choose in a session, and what the program says that it is.

What people changed goes to the program, what the program changed is shown; if both did, people are right. A
mode that is pinned is nobody's to change.
"""

import asyncio
import logging

from agenthost.agents.acp.peer import Peer, Refused
from agenthost.agents.acp.settings import MODE, MODEL, Settings
from agenthost.errors import AgentUnavailable
from agenthost.host.turn import Turn

__all__ = ["Agreement"]

log = logging.getLogger("agenthost.acp")


class Agreement:
    """The settings of one session of the program, and those of the host's.

    Attributes:
        title: what the program called the session, until it is shown.
    """

    def __init__(self, peer: Peer, session_id: str, settings: Settings, pinned: str | None) -> None:
        self.title: str | None = None
        self._peer = peer
        self._id = session_id
        self._settings = settings
        self._pinned = pinned
        self._seen: dict[str, str] = {}
        self._refused: set[tuple[str, str]] = set()
        self._agreeing: asyncio.Task[None] | None = None

    async def pin(self) -> None:
        """Give a new session the mode that it has to have.

        Raises:
            AgentUnavailable: the program does not have it.
        """
        if self._pinned is not None and MODE in self._settings.known:
            await self._set(MODE, self._pinned)

    def look(self, turn: Turn) -> None:
        """Begin to agree, if what people see and what the program says differ."""
        if not turn.is_over and self._agreeing is None and self._is_news(turn):
            self._agreeing = asyncio.create_task(self._agree_in_turn(turn))

    def _is_news(self, turn: Turn) -> bool:
        wanted, current = self._wanted(turn), self._settings.values()
        return self.title is not None or any(
            wanted.get(name, value) != value for name, value in current.items()
        )

    async def _agree_in_turn(self, turn: Turn) -> None:
        try:
            await self.agree(turn)
        except AgentUnavailable:
            log.debug("%s is gone; the turn says so", self._peer.name)
        finally:
            self._agreeing = None

    def _wanted(self, turn: Turn) -> dict[str, str]:
        """Give what people have chosen, but what the program refused before."""
        wanted = {name: value for name, value in turn.settings.items() if name != MODEL}
        if self._pinned is not None:
            wanted[MODE] = self._pinned
        if turn.chosen_model is not None:
            wanted[MODEL] = turn.chosen_model
        return {name: value for name, value in wanted.items() if (name, value) not in self._refused}

    async def agree(self, turn: Turn) -> None:
        """Bring both together.

        Raises:
            AgentUnavailable: the program is gone.
        """
        wanted = self._wanted(turn)
        for name, setting in list(self._settings.known.items()):
            value = wanted.get(name, setting.current)
            is_pinned = name == MODE and self._pinned is not None
            if value != setting.current and (value != self._seen.get(name) or is_pinned):
                await self._change(turn, name, value)
        for name, current in self._settings.values().items():
            await self._show(turn, name, current)
            self._seen[name] = current
        if self.title is not None and not turn.is_over:
            title, self.title = self.title, None
            await turn.title(title)

    async def _change(self, turn: Turn, name: str, value: str) -> None:
        try:
            await self._set(name, value)
        except Refused as refused:
            self._refused.add((name, value))
            if not turn.is_over:
                await turn.notify(str(refused))

    async def _set(self, name: str, value: str) -> None:
        setting = self._settings.known[name]
        method, params = setting.request(value)
        answer = await self._peer.ask(method, {**params, "sessionId": self._id})
        self._settings.answered(setting, value, answer)

    async def _show(self, turn: Turn, name: str, current: str) -> None:
        if turn.is_over:
            return
        if name != MODEL:
            await turn.configure({name: current})
        elif turn.agent.model(current) is not None:
            await turn.choose_model(current)
