"""An MCP server as a source of tools: started with the host, kept running, and restarted when it dies.

It decides when to connect; `connection` does it. That module is imported in a thread when it is first needed,
as the MCP library is slow to load.
"""

import asyncio
import importlib
import importlib.util
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from agenthost.commands import install_command
from agenthost.errors import AgentUnavailable, ToolError
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.tool_source import ToolSource
from agenthost.tools.mcp.offered_tools import build_tools, same_tools
from agenthost.tools.mcp.pending_calls import ConnectionLost
from agenthost.tools.mcp.settings import read_settings

if TYPE_CHECKING:
    from agenthost.tools.mcp.connection import McpConnection

__all__ = ["McpServer"]

log = logging.getLogger("agenthost.mcp")

MISSING = f"MCP servers need a library: {install_command('agenthost[mcp]')}"

START_SECONDS = 60.0
"""How long a server may take to start: some are downloaded first."""

RESTART_SECONDS = 20.0
"""How long a call waits for a server that is being restarted."""

FIRST_PAUSE = 0.5
MAX_PAUSE = 60.0
"""The pause before a restart, doubled each time up to the maximum."""

STABLE_SECONDS = 30.0
"""After a server has run this long, the pause starts over."""


class McpServer(ToolSource):
    """An MCP server whose tools an agent can use, declared in its `tools`.

    It is a program that the host starts (`command`), or a server at a `url` (streamable HTTP):

        McpServer("files", command=["npx", "-y", "@modelcontextprotocol/server-filesystem", "."])
        McpServer("github", url="https://…/mcp", headers={"Authorization": "Bearer $GITHUB_TOKEN"})
    """

    def __init__(
        self,
        name: str,
        *,
        command: str | Sequence[str] | None = None,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        tools: Collection[str] | None = None,
        trust: bool | Collection[str] | None = None,
        trusted: bool = False,
        prefix: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Declare the server. Nothing is started yet.

        Args:
            name: its name, which is also the prefix of its tools' names.
            command: the program, as a shell-like command line or a list of words.
            url: the address of the server.
            env: variables for the program, added to the few that every program gets; `$NAME` stands for a
                variable of the host's own environment.
            headers: HTTP headers of every request; `$NAME` likewise.
            cwd: the working folder of the program, by default the workspace.
            tools: the tools to use, by the server's names; by default all.
            trust: which tools run without approval where a session does not decide: all (`True`), none
                (`False`), or those named. By default none; of a trusted server, those that are read-only and
                closed-world according to their hints.
            trusted: whether the server's hints about its tools are believed. They decide which tools run
                without approval, and which calls are repeated after a failure or a restart.
            prefix: the prefix of its tools' names, instead of its name and `_`.
            timeout: how many seconds a call may take.

        Raises:
            AgentUnavailable: the MCP library is not installed.
            ValueError: an argument is invalid, or two contradict each other.
        """
        if importlib.util.find_spec("mcp") is None:
            raise AgentUnavailable(MISSING)
        self.name = name
        self._settings = read_settings(
            name,
            command=command,
            url=url,
            env=env or {},
            headers=headers or {},
            cwd=cwd,
            tools=tools,
            trust=trust,
            trusted=trusted,
            prefix=prefix,
            timeout=timeout,
        )
        self._tools: list[Tool] = []
        self._listeners: list[Callable[[], None]] = []
        self._users = 0
        self._trouble = ""

    def tools(self) -> list[Tool]:
        """Return its tools; during a restart, those that it had before."""
        return self._tools

    # Starting and stopping

    async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
        """Start it, unless another agent has, and wait until its tools are known or the start has failed."""
        self._users += 1
        self._listeners.append(changed)
        if self._users == 1:
            self._is_stopping = asyncio.Event()
            self._is_known = asyncio.Event()
            self._is_up = asyncio.Event()
            self._connection: McpConnection | None = None
            self._scope = anyio.CancelScope()
            self._task = asyncio.create_task(self._run(workspace), name=f"MCP server {self.name}")
        await self._is_known.wait()

    async def stop(self) -> None:
        """Stop it once no agent uses it."""
        self._users -= 1
        if self._users == 0:
            self._listeners.clear()
            self._is_stopping.set()
            self._scope.cancel()
            try:
                await asyncio.wait([self._task])
            finally:
                self._task.cancel()  # if this wait was cancelled

    async def _run(self, workspace: Path) -> None:
        """Keep it running."""
        pause = FIRST_PAUSE
        clock = asyncio.get_running_loop().time
        while not self._is_stopping.is_set():
            began = clock()
            reason = await self._serve(workspace)
            self._connection = None
            self._is_up.clear()
            self._is_known.set()
            if self._is_stopping.is_set():
                return
            if clock() - began > STABLE_SECONDS:
                pause = FIRST_PAUSE
            self._log_trouble(reason, pause)
            await _wait_for(self._is_stopping, pause)
            pause = min(pause * 2, MAX_PAUSE)

    def _log_trouble(self, reason: str, pause: float) -> None:
        # The same failure is a warning only once.
        level = logging.DEBUG if reason == self._trouble else logging.WARNING
        self._trouble = reason
        log.log(level, "MCP server %s: %s; next attempt in %g seconds", self.name, reason, pause)

    async def _serve(self, workspace: Path) -> str:
        """Connect, serve until the connection ends, and return the reason."""
        module = await asyncio.to_thread(importlib.import_module, "agenthost.tools.mcp.connection")
        connection: McpConnection | None = None
        with anyio.CancelScope(deadline=anyio.current_time() + START_SECONDS) as scope:
            self._scope = scope
            if self._is_stopping.is_set():
                return ""
            try:
                connection = module.McpConnection(self._settings.inside(self.sandbox), workspace)
                async with connection.opened():
                    await self._list(connection)
                    scope.deadline = math.inf
                    self._begin(connection)
                    while await connection.wait_tools_changed():
                        await self._list(connection)
            except AgentUnavailable as error:
                return str(error)
            except Exception as error:
                log.debug("MCP server %s", self.name, exc_info=True)
                return connection.describe_failure(error) if connection is not None else str(error)
            return connection.reason
        return f"it did not start within {START_SECONDS:g} seconds"

    def _begin(self, connection: "McpConnection") -> None:
        self._connection = connection
        self._trouble = ""
        self._is_up.set()
        self._is_known.set()
        log.info("MCP server %s is connected, with %d tools", self.name, len(self._tools))

    async def _list(self, connection: "McpConnection") -> None:
        listed = await connection.tools()
        new = build_tools(
            listed, self._settings, self._call, self._read if connection.has_resources else None
        )
        if not same_tools(self._tools, new):
            self._tools = new
            for changed in list(self._listeners):
                changed()

    # Calling

    async def _call(
        self, name: str, arguments: dict[str, Any], context: ToolContext, *, is_repeatable: bool
    ) -> ToolResult:
        return await self._ask(
            name, lambda connection: connection.call(name, arguments, context), is_repeatable=is_repeatable
        )

    async def _read(self, uri: str, context: ToolContext) -> ToolResult:
        is_repeatable = self._settings.trusted
        return await self._ask(
            uri, lambda connection: connection.read(uri, context), is_repeatable=is_repeatable
        )

    async def _ask(
        self, what: str, ask: "Callable[[McpConnection], Awaitable[ToolResult]]", *, is_repeatable: bool
    ) -> ToolResult:
        """Call the server. If the connection is lost, repeat the call once if it did not run or does no harm.

        Raises:
            ToolError: the server is not running, ended meanwhile, or refused.
        """
        try:
            return await self._ask_once(ask)
        except ConnectionLost as lost:
            if not lost.is_refused and not is_repeatable:
                raise ToolError(self._outcome_unknown(what, lost)) from lost
        try:
            return await self._ask_once(ask)
        except ConnectionLost as lost:
            raise ToolError(self._outcome_unknown(what, lost)) from lost

    async def _ask_once(self, ask: "Callable[[McpConnection], Awaitable[ToolResult]]") -> ToolResult:
        connection = await self._ready()
        try:
            return await ask(connection)
        except ConnectionLost:
            if self._connection is connection:
                self._connection = None
                self._is_up.clear()
            raise

    async def _ready(self) -> "McpConnection":
        await _wait_for(self._is_up, RESTART_SECONDS)
        if self._connection is None:
            raise ToolError(
                f"the MCP server {self.name} is not running: {self._trouble or 'it is being started'}"
            )
        return self._connection

    def _outcome_unknown(self, what: str, lost: ConnectionLost) -> str:
        gone = f"the MCP server {self.name} was lost during {what} ({lost})"
        return f"{gone}; whether that was done is unknown. The server is being restarted"


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most this long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
