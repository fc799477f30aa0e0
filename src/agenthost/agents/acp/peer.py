"""A running program that speaks ACP: its process and its connection, shared by any number of sessions.

It knows the messages of the protocol and which session they belong to, but nothing of turns. Messages of a
session go to its `UpdateListener`. The first updates of a session may arrive before there is one; they wait.
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
from agenthost.agents.acp.transport import SESSION_UPDATE, LineTransport
from agenthost.errors import AgentUnavailable
from agenthost.host.programs.command import Command
from agenthost.host.programs.process import Program
from agenthost.wire.json import JsonObject

__all__ = ["Peer", "RequestRefused", "UpdateListener"]

log = logging.getLogger("agenthost.acp")

START_SECONDS = 60.0
"""How long `initialize` may take: some programs are fetched from a registry first."""

EXIT_CODE_SECONDS = 3.0
"""How long to wait for the exit code once the output has ended."""

MAX_EARLY_UPDATES = 1_000
"""How many updates of sessions without a listener are kept."""

AUTH_REQUIRED = -32000  # ACP's error code

CAPABILITIES: JsonObject = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}},
}
"""The client capabilities that we announce."""

TASKS = {
    "initialize": "initialize the connection",
    "session/new": "begin a session",
    "session/load": "resume its session",
    "session/resume": "resume its session",
    "session/prompt": "answer",
    "session/set_mode": "change its mode",
    "session/set_model": "change its model",
    "session/set_config_option": "change a setting",
}

M = TypeVar("M", bound=BaseModel)


class RequestRefused(AgentUnavailable):
    """The program runs, but refused a request."""


class UpdateListener(Protocol):
    """Receives the messages of one session of the program."""

    def on_update(self, update: JsonObject) -> None:
        """Handle an update. Called in order."""

    def on_permission_request(self, params: JsonObject) -> None:
        """Queue a permission request, in the order of updates. `handle_request` answers it later."""

    async def handle_request(self, method: str, params: JsonObject) -> Any:
        """Handle a request, and return its result.

        Raises:
            RequestError: it is not possible, or not allowed.
        """

    async def drain(self) -> None:
        """Wait while updates cannot be written as fast as they arrive."""


class Peer:
    """One running program.

    Attributes:
        name: what to call it in messages.
        info: its answer to `initialize`.
        is_over: whether it has ended or is ending.
    """

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.info = InitializeResponse(protocol_version=PROTOCOL_VERSION)
        self.is_over = False
        self._program = program
        self._listeners: dict[str, UpdateListener] = {}
        self._early_updates: dict[str, list[JsonObject]] = {}
        self._connection = Connection(
            self._handle_request, LineTransport(program, self._on_message, self._drain)
        )
        self._watcher = asyncio.create_task(self._watch())

    @classmethod
    async def start(cls, name: str, command: Command, cwd: Path) -> Self:
        """Start the program and initialize the connection.

        Raises:
            AgentUnavailable: it cannot be started, ends at once, or does not speak ACP.
        """
        env = command.environment()
        self = cls(name, await Program.start(name, command.found(env, cwd), cwd=cwd, env=env))
        try:
            await self._initialize()
        except BaseException:
            await self.end()
            raise
        return self

    async def _initialize(self) -> None:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": CAPABILITIES,
            "clientInfo": {"name": "agenthost", "title": "agenthost", "version": __version__},
        }
        try:
            async with asyncio.timeout(START_SECONDS):
                self.info = self.parse(InitializeResponse, await self.request("initialize", params))
        except TimeoutError:
            sentence = f"{self.name} did not answer within {START_SECONDS:g} seconds"
            raise AgentUnavailable(f"{sentence}; does it speak ACP?{self._last_words()}") from None
        if self.info.protocol_version != PROTOCOL_VERSION:
            theirs = self.info.protocol_version
            sentence = (
                f"{self.name} speaks version {theirs} of ACP; this host speaks version {PROTOCOL_VERSION}"
            )
            raise AgentUnavailable(sentence)

    @property
    def capabilities(self) -> AgentCapabilities:
        """The capabilities that the program announced."""
        return self.info.agent_capabilities or AgentCapabilities()

    @property
    def can_resume(self) -> bool:
        """Whether it can resume sessions from an earlier process."""
        sessions = self.capabilities.session_capabilities
        return bool(self.capabilities.load_session or (sessions and sessions.resume is not None))

    # Messages

    async def request(self, method: str, params: JsonObject) -> Any:
        """Send a request, and return its result.

        Raises:
            AgentUnavailable: the program has ended, or refused; the message says why.
        """
        try:
            return await self._connection.send_request(method, params)
        except ConnectionError:
            await self._wait_exit_code()
            raise AgentUnavailable(self._exit_message()) from None
        except RequestError as error:
            raise self._refusal(method, error) from error

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. It is dropped if the program has ended."""
        try:
            await self._connection.send_notification(method, params)
        except ConnectionError:
            log.debug("%s has ended; %s was not sent", self.name, method)

    def add_listener(self, session_id: str, listener: UpdateListener) -> None:
        """Send the messages of a session to a listener, beginning with those that arrived early."""
        self._listeners[session_id] = listener
        for update in self._early_updates.pop(session_id, []):
            listener.on_update(update)

    def remove_listener(self, session_id: str) -> None:
        """Ignore further updates of a session."""
        self._listeners.pop(session_id, None)

    def _on_message(self, method: str, params: Any) -> None:
        session_id = params.get("sessionId") if type(params) is dict else None
        update = params.get("update") if type(params) is dict else None
        listener = self._listeners.get(str(session_id))
        if method != SESSION_UPDATE:
            if listener is not None:
                listener.on_permission_request(params)
        elif type(update) is not dict:
            log.warning("%s sent a malformed session update", self.name)
        elif listener is not None:
            listener.on_update(update)
        elif sum(map(len, self._early_updates.values())) < MAX_EARLY_UPDATES:
            self._early_updates.setdefault(str(session_id), []).append(update)

    async def _drain(self) -> None:
        await asyncio.sleep(0)
        for listener in list(self._listeners.values()):
            await listener.drain()

    async def _handle_request(self, method: str, params: Any, is_notification: bool) -> Any:  # noqa: FBT001 - the library's signature
        session_id = params.get("sessionId") if type(params) is dict else None
        listener = self._listeners.get(str(session_id))
        if is_notification:
            return None
        if listener is None:
            raise RequestError.invalid_params({"details": f"there is no session {session_id!r}"})
        return await listener.handle_request(method, params)

    def parse(self, model: type[M], value: Any) -> M:
        """Parse a result of the program.

        Raises:
            AgentUnavailable: it is not what the protocol asks for.
        """
        try:
            return model.model_validate(value)
        except ValidationError as error:
            path = ".".join(map(str, error.errors()[0]["loc"])) or "the top level"
            what = f"{model.__name__}, at {path}: {error.errors()[0]['msg']}"
            raise RequestRefused(f"{self.name} does not speak ACP as it should: {what}") from None

    # Errors and exit

    def _refusal(self, method: str, error: RequestError) -> AgentUnavailable:
        if error.code == AUTH_REQUIRED:
            return RequestRefused(self._login_message(error))
        data = error.data if isinstance(error.data, dict) else {"details": error.data}
        details = data.get("details") or data.get("message")
        more = f" ({details})" if details and str(details) not in str(error) else ""
        task = TASKS.get(method, f"do {method}")
        return RequestRefused(f"{self.name} could not {task}: {error}{more}"[:2_000])

    def _login_message(self, error: RequestError) -> str:
        """Say what to do about a program that requires a login."""
        ways = [method.name for method in self.info.auth_methods or []]
        known = f" It offers: {', '.join(ways)}." if ways else ""
        return (
            f"{self.name} needs to be logged in: {error}.{known} Log in with the program itself, as the user "
            "that runs this host, or pass it a key in its environment (`env`, --acp-env); then try again."
        )

    def _exit_message(self) -> str:
        code = self._program.code
        how = f"ended with exit code {code}" if code is not None else "ended"
        return f"{self.name} {how}; the next message starts it again.{self._last_words()}"

    def _last_words(self) -> str:
        text = self._program.stderr_tail
        return f" Its last output: {text}" if text else ""

    async def _watch(self) -> None:
        await self._program.wait()
        self.is_over = True

    async def _wait_exit_code(self) -> None:
        """Wait a moment for the exit code and the last output."""
        self.is_over = True
        await asyncio.wait([self._watcher], timeout=EXIT_CODE_SECONDS)

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._program.wait()

    async def leave(self) -> None:
        """Let the program exit by itself, and kill it if it does not."""
        self.is_over = True
        await self._program.leave()
        await self._close()

    async def end(self) -> None:
        """Kill the program and all of its child processes."""
        self.is_over = True
        await self._program.end()
        await self._close()

    async def _close(self) -> None:
        await self._connection.close()
        await asyncio.wait([self._watcher])
