"""A conversation: one session of the program, for one session of the host.

It outlives turns, and not the process that it is held with. Between turns its news is about what it offers;
text that comes too late belongs to nobody.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from acp.schema import PromptResponse

from agenthost.agents.acp.agreeing import Agreement
from agenthost.agents.acp.lines import PERMISSION
from agenthost.agents.acp.machine import Machine
from agenthost.agents.acp.peer import Peer, Refused
from agenthost.agents.acp.permissions import CANCELLED
from agenthost.agents.acp.settings import Settings
from agenthost.agents.acp.showing import Showing
from agenthost.host.agent import Command
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Conversation"]

log = logging.getLogger("agenthost.acp")

CANCEL_SECONDS = 10.0
"""How long the program may take to end a turn that was cancelled."""

QUIET_SECONDS = 0.3
REPEAT_SECONDS = 10.0
"""How long a program is silent that has repeated what was said before, and how long that may take."""

REMEMBERED = 1_000
"""How many calls of past turns are remembered, to know news that comes too late."""

BLANK = {"gemini-cli"}
"""Programs that create no file if they are told that it is not there: gemini-cli looks at the message of an
error where its library gives it an object, and so takes every error of `fs/read_text_file` for a failure."""


class Conversation:
    """One session of the program.

    Attributes:
        id: how the program calls it.
        peer: the program.
        settings: what can be chosen in it; `agreement` brings that together with what people choose.
        commands: the words with a slash that it knows.
        reasons: why calls of the last turn were denied, for the program to hear.
    """

    def __init__(
        self, peer: Peer, session_id: str, stuck: Callable[[Peer], None], pinned: str | None = None
    ) -> None:
        self.peer = peer
        self.id = session_id
        self.settings = Settings()
        self.agreement = Agreement(peer, session_id, self.settings, pinned)
        self.commands: list[Command] = []
        self.reasons: list[str] = []
        self._stuck = stuck
        self._is_muted = False
        self._repeated = True
        self._showing: Showing | None = None
        self._past: deque[str] = deque(maxlen=REMEMBERED)
        self._ending: asyncio.Task[bool] | None = None
        info = peer.info.agent_info
        self.machine = Machine(lambda: self._showing, is_blank=info is not None and info.name in BLANK)

    # How it begins

    @classmethod
    async def begin(
        cls, peer: Peer, place: JsonObject, stuck: Callable[[Peer], None], pinned: str | None = None
    ) -> "Conversation":
        """Begin a session in this place.

        `stuck` is told when the program does not end a turn that was cancelled; `pinned` is the mode that
        the session has, whatever the program says.

        Raises:
            AgentUnavailable: the program does not do it.
        """
        made = await peer.ask("session/new", place)
        session_id = made.get("sessionId") if type(made) is dict else None
        if not isinstance(session_id, str):
            raise Refused(f"{peer.name} does not speak ACP as it should: its session has no id")
        self = cls(peer, session_id, stuck, pinned)
        await self._settle(made)
        return self

    @classmethod
    async def resume(
        cls,
        peer: Peer,
        session_id: str,
        place: JsonObject,
        stuck: Callable[[Peer], None],
        pinned: str | None = None,
    ) -> "Conversation":
        """Take up a session that the program had before it was started; what it says again is not heard.

        Raises:
            AgentUnavailable: the program does not do it.
        """
        self = cls(peer, session_id, stuck, pinned)
        sessions = peer.can.session_capabilities
        can_resume = sessions is not None and sessions.resume is not None
        self._is_muted = True
        peer.listen(session_id, self)
        try:
            method = "session/resume" if can_resume else "session/load"
            made = await peer.ask(method, {**place, "sessionId": session_id})
            if not can_resume:
                await self._wait_quiet()
        except BaseException:
            peer.leave_alone(session_id)
            raise
        self._is_muted = False
        await self._settle(made)
        return self

    async def _wait_quiet(self) -> None:
        """Wait until what was said before is repeated: gemini-cli still does so when it has answered."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REPEAT_SECONDS):
                while self._repeated:
                    self._repeated = False
                    await asyncio.sleep(QUIET_SECONDS)

    async def _settle(self, made: Any) -> None:
        self.settings.learn(made)
        self.peer.listen(self.id, self)
        await self.agreement.pin()

    # What it says

    def hear(self, update: JsonObject) -> None:
        """Take news: of what it offers at any time, of what it does only in a turn."""
        match update.get("sessionUpdate"):
            case "available_commands_update":
                self.commands = _commands(update.get("availableCommands"))
            case "current_mode_update" | "config_option_update":
                self.settings.hear(update)
                self._look()
            case "session_info_update":
                title = update.get("title")
                self.agreement.title = title if isinstance(title, str) and title else None
                self._look()
            case _ if self._showing is not None and not self._is_muted:
                self._showing.hear(update)
            case kind:
                self._repeated = True
                log.debug("%s of %s comes when nobody listens", kind, self.peer.name)

    def _look(self) -> None:
        """Have people and the program agree, if one of them has changed something."""
        if self._showing is not None:
            self.agreement.look(self._showing.turn)

    def expect(self, params: JsonObject) -> None:
        """Take note of a request for permission."""
        if self._showing is not None:
            self._showing.expect(params)

    async def serve(self, method: str, params: JsonObject) -> Any:
        """Answer a request of the program."""
        if method == PERMISSION:
            return CANCELLED if self._showing is None else await self._showing.permit(params)
        return await self.machine.serve(method, params)

    async def breathe(self) -> None:
        """Wait while the disk is behind."""
        if self._showing is not None and not self._showing.turn.is_over:
            await self._showing.turn.breathe()

    # Turns

    async def answer(self, turn: Turn, prompt: Sequence[JsonObject]) -> PromptResponse:
        """Let the program answer, and show what it does until it has ended.

        Cancelling asks the program to stop, and does not wait for it: `wait_ended` does.

        Raises:
            AgentUnavailable: it broke, or is gone.
        """
        showing = self._showing = Showing(turn, self.machine.block, self._past.__contains__)
        turn.watch(self._look)
        asking = asyncio.ensure_future(
            self.peer.ask("session/prompt", {"sessionId": self.id, "prompt": list(prompt)})
        )
        try:
            response = self.peer.read(PromptResponse, await asyncio.shield(asking))
        except asyncio.CancelledError:
            self._ending = asyncio.create_task(self._end(asking))
            raise
        finally:
            showing.close()
            self._past.extend(showing.call_ids)
            self._showing = None
        self.reasons = showing.reasons
        return response

    async def _end(self, asking: asyncio.Future[Any]) -> bool:
        """Have a turn ended that was cancelled; tells whether the program did."""
        await self.peer.tell("session/cancel", {"sessionId": self.id})
        done, _ = await asyncio.wait([asking], timeout=CANCEL_SECONDS)
        if not done:
            asking.cancel()
            self._stuck(self.peer)
        elif not asking.cancelled():
            asking.exception()  # whatever became of it, nobody has to know
        return bool(done)

    @property
    def is_idle(self) -> bool:
        """Whether no turn runs, or winds down."""
        return self._showing is None and (self._ending is None or self._ending.done())

    async def wait_ended(self) -> bool:
        """Wait until a turn that was cancelled has ended, within bounds; tells whether it has."""
        if self._ending is None:
            return True
        return await asyncio.shield(self._ending)


def _commands(listed: Any) -> list[Command]:
    found = [one for one in listed or [] if type(one) is dict and isinstance(one.get("name"), str)]
    return [Command(one["name"], str(one.get("description") or "")) for one in found]
