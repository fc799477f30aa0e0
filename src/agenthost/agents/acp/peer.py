"""A running program that speaks ACP: its process and its connection, shared by any number of sessions.

Knows the protocol's messages and which session they belong to, nothing of turns. What a session has to say
goes to its `Ear`; news that comes before anybody listens, as a session's first may, waits for it.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import PROTOCOL_VERSION
from acp.schema import AgentCapabilities, InitializeResponse
from pydantic import BaseModel, ValidationError

from agenthost import __version__
from agenthost.agents.acp.lines import UPDATE, Lines
from agenthost.errors import AgentUnavailable
from agenthost.host.programs.command import Command
from agenthost.host.programs.process import Program
from agenthost.wire.json import JsonObject

__all__ = ["Ear", "Peer", "Refused"]

log = logging.getLogger("agenthost.acp")

START_SECONDS = 60.0
"""How long it may take until it has introduced itself: some are fetched from a registry first."""

GONE_SECONDS = 3.0
"""How long is waited for the exit code of one that prints no more."""

MOST_EARLY = 1_000
"""How much news of sessions that nobody knows yet is kept."""

AUTH_REQUIRED = -32000

CAPABILITIES: JsonObject = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}},
}
"""What we do for it."""

TASKS = {
    "initialize": "introduce itself",
    "session/new": "begin a session",
    "session/load": "take up its session",
    "session/resume": "take up its session",
    "session/prompt": "answer",
    "session/set_mode": "change its mode",
    "session/set_model": "change its model",
    "session/set_config_option": "change a setting",
}

M = TypeVar("M", bound=BaseModel)


class Refused(AgentUnavailable):
    """The program is there, but did not do what it was asked for."""


class Ear(Protocol):
    """Who listens to a session of the program."""

    def hear(self, update: JsonObject) -> None:
        """Take news; called in order."""

    def expect(self, params: JsonObject) -> None:
        """Take note of a request for permission, in its order; `serve` is asked for the answer later."""

    async def serve(self, method: str, params: JsonObject) -> Any:
        """Answer a request.

        Raises:
            RequestError: it cannot be done.
        """

    async def breathe(self) -> None:
        """Wait while what was said cannot be written down as fast as it comes."""


class Peer:
    """One running program.

    Attributes:
        info: how it introduced itself.
        is_over: whether it has ended, or is about to.
    """

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.info = InitializeResponse(protocol_version=PROTOCOL_VERSION)
        self.is_over = False
        self._program = program
        self._ears: dict[str, Ear] = {}
        self._early: dict[str, list[JsonObject]] = {}
        self._connection = Connection(self._serve, Lines(program, self._hear, self._breathe))
        self._watching = asyncio.create_task(self._watch())

    @classmethod
    async def start(cls, name: str, command: Command, cwd: Path) -> Self:
        """Start the program, and let it introduce itself.

        Raises:
            AgentUnavailable: it cannot be started, ends at once, or does not speak ACP.
        """
        env = command.environment()
        self = cls(name, await Program.start(name, command.found(env, cwd), cwd=cwd, env=env))
        try:
            await self._introduce()
        except BaseException:
            await self.end()
            raise
        return self

    async def _introduce(self) -> None:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": CAPABILITIES,
            "clientInfo": {"name": "agenthost", "title": "agenthost", "version": __version__},
        }
        try:
            async with asyncio.timeout(START_SECONDS):
                self.info = self.read(InitializeResponse, await self.ask("initialize", params))
        except TimeoutError:
            said = f"{self.name} did not introduce itself within {START_SECONDS:g} seconds"
            raise AgentUnavailable(f"{said}; is it a program that speaks ACP?{self._told()}") from None
        if self.info.protocol_version != PROTOCOL_VERSION:
            theirs = self.info.protocol_version
            sentence = f"{self.name} speaks version {theirs} of ACP, and this host version {PROTOCOL_VERSION}"
            raise AgentUnavailable(sentence)

    @property
    def can(self) -> AgentCapabilities:
        """What it can do."""
        return self.info.agent_capabilities or AgentCapabilities()

    @property
    def can_resume(self) -> bool:
        """Whether it takes up sessions that it had before it was started."""
        sessions = self.can.session_capabilities
        return bool(self.can.load_session or (sessions and sessions.resume is not None))

    # Both ways

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Send a request, and wait for the answer.

        Raises:
            AgentUnavailable: it has ended, or refuses; the sentence says why.
        """
        try:
            return await self._connection.send_request(method, params)
        except ConnectionError:
            await self._wait_gone()
            raise AgentUnavailable(self._ending()) from None
        except RequestError as error:
            raise self._refusal(method, error) from error

    async def tell(self, method: str, params: JsonObject) -> None:
        """Send a notification; one that has ended need not hear it."""
        try:
            await self._connection.send_notification(method, params)
        except ConnectionError:
            log.debug("%s has ended, and does not hear %s", self.name, method)

    def listen(self, session_id: str, ear: Ear) -> None:
        """Have somebody hear a session, beginning with what it said already."""
        self._ears[session_id] = ear
        for update in self._early.pop(session_id, []):
            ear.hear(update)

    def leave_alone(self, session_id: str) -> None:
        """Hear a session no more."""
        self._ears.pop(session_id, None)

    def _hear(self, method: str, params: Any) -> None:
        session_id = params.get("sessionId") if type(params) is dict else None
        update = params.get("update") if type(params) is dict else None
        ear = self._ears.get(str(session_id))
        if method != UPDATE:
            if ear is not None:
                ear.expect(params)
        elif type(update) is not dict:
            log.warning("%s sent news without a form", self.name)
        elif ear is not None:
            ear.hear(update)
        elif sum(map(len, self._early.values())) < MOST_EARLY:
            self._early.setdefault(str(session_id), []).append(update)

    async def _breathe(self) -> None:
        await asyncio.sleep(0)
        for ear in list(self._ears.values()):
            await ear.breathe()

    async def _serve(self, method: str, params: Any, is_notification: bool) -> Any:  # noqa: FBT001 - the form of the library
        session_id = params.get("sessionId") if type(params) is dict else None
        ear = self._ears.get(str(session_id))
        if is_notification:
            return None
        if ear is None:
            raise RequestError.invalid_params({"details": f"there is no session {session_id!r}"})
        return await ear.serve(method, params)

    def read(self, model: type[M], value: Any) -> M:
        """Read an answer of the program.

        Raises:
            AgentUnavailable: it does not have the form that the protocol asks for.
        """
        try:
            return model.model_validate(value)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or "all of it"
            what = f"{model.__name__}, at {place}: {error.errors()[0]['msg']}"
            raise Refused(f"{self.name} does not speak ACP as it should: {what}") from None

    # Its end

    def _refusal(self, method: str, error: RequestError) -> AgentUnavailable:
        if error.code == AUTH_REQUIRED:
            return Refused(self._locked(error))
        data = error.data if isinstance(error.data, dict) else {"details": error.data}
        details = data.get("details") or data.get("message")
        more = f" ({details})" if details and str(details) not in str(error) else ""
        task = TASKS.get(method, f"do {method}")
        return Refused(f"{self.name} could not {task}: {error}{more}"[:2_000])

    def _locked(self, error: RequestError) -> str:
        """Say what to do about a program that wants to know who its user is."""
        ways = [method.name for method in self.info.auth_methods or []]
        known = f" It offers: {', '.join(ways)}." if ways else ""
        return (
            f"{self.name} needs to be logged in: {error}.{known} Log in with the program itself, as the user "
            "that runs this host, or hand it a key by its environment (`env`, --acp-env); then try again."
        )

    def _ending(self) -> str:
        code = self._program.code
        how = f"ended with exit code {code}" if code is not None else "ended"
        return f"{self.name} {how}; the next message starts it again.{self._told()}"

    def _told(self) -> str:
        words = self._program.last_words
        return f" Its last words: {words}" if words else ""

    async def _watch(self) -> None:
        await self._program.wait()
        self.is_over = True

    async def _wait_gone(self) -> None:
        """Wait a moment for its exit code and its last words."""
        self.is_over = True
        await asyncio.wait([self._watching], timeout=GONE_SECONDS)

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._program.wait()

    async def leave(self) -> None:
        """Let it leave by itself, and end what stays."""
        self.is_over = True
        await self._program.leave()
        await self._close()

    async def end(self) -> None:
        """End it with all that it started."""
        self.is_over = True
        await self._program.end()
        await self._close()

    async def _close(self) -> None:
        await self._connection.close()
        await asyncio.wait([self._watching])
