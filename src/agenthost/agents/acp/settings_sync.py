"""Keeps the settings of a session and those of the program's session in sync.

What people change is sent to the program; what the program changes is shown. If both changed a setting, the
people win. Nobody can change a pinned mode.
"""

import asyncio
import logging

from agenthost.agents.acp.peer import Peer, RequestRefused
from agenthost.agents.acp.settings import MODE, MODEL, SessionSettings
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.turn import Turn

__all__ = ["SettingsSync"]

log = logging.getLogger("agenthost.acp")


class SettingsSync:
    """Syncs the settings of one session with the program.

    Attributes:
        title: a title from the program that is not shown yet.
    """

    def __init__(self, peer: Peer, session_id: str, settings: SessionSettings, pinned: str | None) -> None:
        self.title: str | None = None
        self._peer = peer
        self._id = session_id
        self._settings = settings
        self._pinned = pinned
        self._seen: dict[str, str] = {}
        self._refused: set[tuple[str, str]] = set()
        self._syncing: asyncio.Task[None] | None = None

    async def pin(self) -> None:
        """Set the pinned mode in a new session.

        Raises:
            AgentUnavailable: the program does not have this mode.
        """
        if self._pinned is not None and MODE in self._settings.known:
            await self._set(MODE, self._pinned)

    def start_if_needed(self, turn: Turn) -> None:
        """Start a sync if what people see and what the program reports differ."""
        if not turn.is_over and self._syncing is None and self._needs_sync(turn):
            self._syncing = asyncio.create_task(self._sync_in_turn(turn))

    def _needs_sync(self, turn: Turn) -> bool:
        wanted, current = self._wanted(turn), self._settings.values()
        return self.title is not None or any(
            wanted.get(name, value) != value for name, value in current.items()
        )

    async def _sync_in_turn(self, turn: Turn) -> None:
        try:
            await self.sync(turn)
        except AgentUnavailable:
            log.debug("%s has ended; the turn will report it", self._peer.name)
        finally:
            self._syncing = None

    def _wanted(self, turn: Turn) -> dict[str, str]:
        """Return what people have chosen, without the values that the program has refused before."""
        wanted = {name: value for name, value in turn.settings.items() if name != MODEL}
        if self._pinned is not None:
            wanted[MODE] = self._pinned
        if turn.chosen_model is not None:
            wanted[MODEL] = turn.chosen_model
        return {name: value for name, value in wanted.items() if (name, value) not in self._refused}

    async def sync(self, turn: Turn) -> None:
        """Sync in both directions.

        Raises:
            AgentUnavailable: the program has ended.
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
        except RequestRefused as refused:
            self._refused.add((name, value))
            if not turn.is_over:
                await turn.notify(str(refused))

    async def _set(self, name: str, value: str) -> None:
        setting = self._settings.known[name]
        method, params = setting.request(value)
        answer = await self._peer.request(method, {**params, "sessionId": self._id})
        self._settings.apply_response(setting, value, answer)

    async def _show(self, turn: Turn, name: str, current: str) -> None:
        if turn.is_over:
            return
        if name != MODEL:
            await turn.configure({name: current})
        elif turn.agent.model(current) is not None:
            await turn.choose_model(current)
