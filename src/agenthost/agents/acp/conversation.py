"""A conversation: the program's session that belongs to one session of the host.

It lasts for many turns, but not longer than the process. Between turns, updates of commands and settings are
handled; text that arrives late is dropped.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from acp.schema import PromptResponse

from agenthost.agents.acp.client_methods import ClientMethods
from agenthost.agents.acp.output import ProgramOutput
from agenthost.agents.acp.peer import Peer, RequestRefused
from agenthost.agents.acp.permissions import CANCELLED
from agenthost.agents.acp.settings import SessionSettings
from agenthost.agents.acp.settings_sync import SettingsSync
from agenthost.agents.acp.transport import REQUEST_PERMISSION
from agenthost.host.authoring.agent import Command
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Conversation"]

log = logging.getLogger("agenthost.acp")

CANCEL_SECONDS = 10.0
"""How long the program may take to end a cancelled turn."""

QUIET_SECONDS = 0.3
MAX_REPLAY_SECONDS = 10.0
"""A program that was quiet for the first has finished its replay; after the second we wait no longer."""

MAX_PAST_CALLS = 1_000
"""How many call ids of past turns are remembered, to recognise late updates."""

READS_MISSING_AS_EMPTY = {"gemini-cli"}
"""Programs that create a file only if they are told that it is empty: gemini-cli compares an error message
where its library gives it an object, so it takes every error of `fs/read_text_file` for a failure."""


class Conversation:
    """One session of the program.

    Attributes:
        id: the program's id of it.
        peer: the program.
        settings: what can be chosen in it; `settings_sync` keeps that in sync with what people choose.
        commands: its slash commands.
        reasons: why calls of the last turn were denied; the program is to be told.
    """

    def __init__(
        self, peer: Peer, session_id: str, on_stuck: Callable[[Peer], None], pinned: str | None = None
    ) -> None:
        self.peer = peer
        self.id = session_id
        self.settings = SessionSettings()
        self.settings_sync = SettingsSync(peer, session_id, self.settings, pinned)
        self.commands: list[Command] = []
        self.reasons: list[str] = []
        self._on_stuck = on_stuck
        self._is_muted = False
        self._is_repeating = True
        self._output: ProgramOutput | None = None
        self._past: deque[str] = deque(maxlen=MAX_PAST_CALLS)
        self._cancellation: asyncio.Task[bool] | None = None
        info = peer.info.agent_info
        self.client_methods = ClientMethods(
            lambda: self._output,
            reads_missing_as_empty=info is not None and info.name in READS_MISSING_AS_EMPTY,
        )

    # Opening

    @classmethod
    async def begin(
        cls, peer: Peer, params: JsonObject, on_stuck: Callable[[Peer], None], pinned: str | None = None
    ) -> "Conversation":
        """Begin a session with these params of `session/new`.

        `on_stuck` is called when the program does not end a cancelled turn. `pinned` is the mode that the
        session must have.

        Raises:
            AgentUnavailable: the program refused, or has ended.
        """
        result = await peer.request("session/new", params)
        session_id = result.get("sessionId") if type(result) is dict else None
        if not isinstance(session_id, str):
            raise RequestRefused(f"{peer.name} does not speak ACP as it should: its session has no id")
        self = cls(peer, session_id, on_stuck, pinned)
        await self._open(result)
        return self

    @classmethod
    async def resume(
        cls,
        peer: Peer,
        session_id: str,
        params: JsonObject,
        on_stuck: Callable[[Peer], None],
        pinned: str | None = None,
    ) -> "Conversation":
        """Resume a session from an earlier process. What the program replays is not shown.

        Raises:
            AgentUnavailable: the program refused, or has ended.
        """
        self = cls(peer, session_id, on_stuck, pinned)
        sessions = peer.capabilities.session_capabilities
        can_resume = sessions is not None and sessions.resume is not None
        self._is_muted = True
        peer.add_listener(session_id, self)
        try:
            method = "session/resume" if can_resume else "session/load"
            result = await peer.request(method, {**params, "sessionId": session_id})
            if not can_resume:
                await self._wait_until_quiet()
        except BaseException:
            peer.remove_listener(session_id)
            raise
        self._is_muted = False
        await self._open(result)
        return self

    async def _wait_until_quiet(self) -> None:
        """Wait until the replay is over: gemini-cli goes on replaying after its response."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_REPLAY_SECONDS):
                while self._is_repeating:
                    self._is_repeating = False
                    await asyncio.sleep(QUIET_SECONDS)

    async def _open(self, result: Any) -> None:
        self.settings.load(result)
        self.peer.add_listener(self.id, self)
        await self.settings_sync.pin()

    # Messages of the program

    def on_update(self, update: JsonObject) -> None:
        """Handle an update: of commands and settings at any time, of output only in a turn."""
        match update.get("sessionUpdate"):
            case "available_commands_update":
                self.commands = _commands(update.get("availableCommands"))
            case "current_mode_update" | "config_option_update":
                self.settings.on_update(update)
                self._sync_settings()
            case "session_info_update":
                title = update.get("title")
                self.settings_sync.title = title if isinstance(title, str) and title else None
                self._sync_settings()
            case _ if self._output is not None and not self._is_muted:
                self._output.on_update(update)
            case kind:
                self._is_repeating = True
                log.debug("%s from %s arrived outside of a turn", kind, self.peer.name)

    def _sync_settings(self) -> None:
        """Start a sync if people or the program have changed a setting."""
        if self._output is not None:
            self.settings_sync.start_if_needed(self._output.turn)

    def on_permission_request(self, params: JsonObject) -> None:
        """Queue a permission request in the running turn."""
        if self._output is not None:
            self._output.on_permission_request(params)

    async def handle_request(self, method: str, params: JsonObject) -> Any:
        """Handle a request of the program."""
        if method == REQUEST_PERMISSION:
            return CANCELLED if self._output is None else await self._output.answer_permission(params)
        return await self.client_methods.handle_request(method, params)

    async def drain(self) -> None:
        """Wait while the journal cannot keep up."""
        if self._output is not None and not self._output.turn.is_over:
            await self._output.turn.yield_to_others()

    # Turns

    async def answer(self, turn: Turn, prompt: Sequence[JsonObject]) -> PromptResponse:
        """Send a prompt, and show what the program does until it has answered.

        Cancelling this asks the program to stop but does not wait for it: `wait_ended` does.

        Raises:
            AgentUnavailable: the program refused, or has ended.
        """
        output = self._output = ProgramOutput(turn, self.client_methods.block, self._past.__contains__)
        turn.watch(self._sync_settings)
        pending = asyncio.ensure_future(
            self.peer.request("session/prompt", {"sessionId": self.id, "prompt": list(prompt)})
        )
        try:
            response = self.peer.parse(PromptResponse, await asyncio.shield(pending))
        except asyncio.CancelledError:
            self._cancellation = asyncio.create_task(self._cancel(pending))
            raise
        finally:
            output.close()
            self._past.extend(output.call_ids)
            self._output = None
        self.reasons = output.reasons
        return response

    async def _cancel(self, pending: asyncio.Future[Any]) -> bool:
        """Cancel a prompt, and tell whether the program ended its turn in time."""
        await self.peer.notify("session/cancel", {"sessionId": self.id})
        done, _ = await asyncio.wait([pending], timeout=CANCEL_SECONDS)
        if not done:
            pending.cancel()
            self._on_stuck(self.peer)
        elif not pending.cancelled():
            pending.exception()  # retrieved, or asyncio would log it
        return bool(done)

    @property
    def is_idle(self) -> bool:
        """Whether no turn is running or being cancelled."""
        return self._output is None and (self._cancellation is None or self._cancellation.done())

    async def wait_ended(self) -> bool:
        """Wait until a cancelled turn has ended, up to `CANCEL_SECONDS`. Tell whether it has."""
        if self._cancellation is None:
            return True
        return await asyncio.shield(self._cancellation)


def _commands(listed: Any) -> list[Command]:
    found = [one for one in listed or [] if type(one) is dict and isinstance(one.get("name"), str)]
    return [Command(one["name"], str(one.get("description") or "")) for one in found]
