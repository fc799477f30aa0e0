"""An MCP server as a source of tools: started with its host, kept running, started again when it dies.

Knows when to connect and what to make of the tools; how to is the business of `connection`, which is loaded
when it is first needed, in a thread: the library behind it takes its time.
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

from agenthost.commands import install
from agenthost.errors import AgentUnavailable, ToolError
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import Tool
from agenthost.host.toolsources import ToolSource
from agenthost.tools.mcp.offers import is_same, tools_of
from agenthost.tools.mcp.settings import read_settings
from agenthost.tools.mcp.underway import Lost

if TYPE_CHECKING:
    from agenthost.tools.mcp.connection import Connection

__all__ = ["McpServer"]

log = logging.getLogger("agenthost.mcp")

MISSING = f"MCP servers need a library: {install('agenthost[mcp]')}"

START_SECONDS = 60.0
"""How long a server may take to begin: some are fetched from the network first."""

RESTART_SECONDS = 20.0
"""How long a call waits for a server that is being started again."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""How long to wait before a server is started again: each time twice as long, up to this."""

STABLE_SECONDS = 30.0
"""A server that ran for so long may be started again at once."""


class McpServer(ToolSource):
    """The tools of an MCP server, for the `tools` of an agent.

    A program that is started (`command`), or one that is there already (`url`, by streamable HTTP):

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
        """Declare it; nothing is started yet.

        Args:
            name: how it is called, and what the names of its tools begin with.
            command: the program, as for a shell, or its words.
            url: where it is.
            env: what the program gets beside the few variables that every program gets; `$NAME` in it is a
                variable of the host's own environment.
            headers: what is sent with every request; `$NAME` likewise.
            cwd: where the program runs; without it, in the workspace.
            tools: its tools that are offered, by its own names; without it, all.
            trust: whether its tools run without asking where a session does not say: all, none, or those of
                these names. Without it, none; of a trusted server, those that change nothing and reach no
                further than the server, as it says itself.
            trusted: whether what the server says of its tools is believed: which of them run without asking,
                and which calls can be made again after a failure or a restart.
            prefix: what the names of its tools begin with, instead of its name.
            timeout: how many seconds a call may take.

        Raises:
            AgentUnavailable: the library for it is not installed.
            ValueError: it makes no sense.
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
        self._told: list[Callable[[], None]] = []
        self._users = 0
        self._trouble = ""

    def tools(self) -> list[Tool]:
        """List its tools; while it is started again, those that it had."""
        return self._tools

    # Starting and stopping

    async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
        """Start it, unless another agent has, and wait until it is known what it offers, or that it fails."""
        self._users += 1
        self._told.append(changed)
        if self._users == 1:
            self._is_stopping = asyncio.Event()
            self._is_known = asyncio.Event()
            self._is_up = asyncio.Event()
            self._connection: Connection | None = None
            self._scope = anyio.CancelScope()
            self._task = asyncio.create_task(self._run(workspace), name=f"MCP server {self.name}")
        await self._is_known.wait()

    async def stop(self) -> None:
        """Stop it, once no agent needs it any more."""
        self._users -= 1
        if self._users == 0:
            self._told.clear()
            self._is_stopping.set()
            self._scope.cancel()
            try:
                await asyncio.wait([self._task])
            finally:
                self._task.cancel()  # if nobody waits any longer

    async def _run(self, workspace: Path) -> None:
        """Keep it running."""
        pause = FIRST_PAUSE
        clock = asyncio.get_running_loop().time
        while not self._is_stopping.is_set():
            began = clock()
            reason = await self._live(workspace)
            self._connection = None
            self._is_up.clear()
            self._is_known.set()
            if self._is_stopping.is_set():
                return
            if clock() - began > STABLE_SECONDS:
                pause = FIRST_PAUSE
            self._tell_trouble(reason, pause)
            await _wait_for(self._is_stopping, pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _tell_trouble(self, reason: str, pause: float) -> None:
        # What goes wrong again and again is news once.
        level = logging.DEBUG if reason == self._trouble else logging.WARNING
        self._trouble = reason
        log.log(level, "MCP server %s: %s; it is tried again in %g seconds", self.name, reason, pause)

    async def _live(self, workspace: Path) -> str:
        """Connect, serve until the connection ends, and tell why it did."""
        module = await asyncio.to_thread(importlib.import_module, "agenthost.tools.mcp.connection")
        connection: Connection | None = None
        with anyio.CancelScope(deadline=anyio.current_time() + START_SECONDS) as scope:
            self._scope = scope
            if self._is_stopping.is_set():
                return ""
            try:
                connection = module.Connection(self._settings.inside(self.sandbox), workspace)
                async with connection.opened():
                    await self._list(connection)
                    scope.deadline = math.inf
                    self._begin(connection)
                    while await connection.wait_news():
                        await self._list(connection)
            except AgentUnavailable as error:
                return str(error)
            except Exception as error:
                log.debug("MCP server %s", self.name, exc_info=True)
                return connection.failed_by(error) if connection is not None else str(error)
            return connection.reason
        return f"it did not begin within {START_SECONDS:g} seconds"

    def _begin(self, connection: "Connection") -> None:
        self._connection = connection
        self._trouble = ""
        self._is_up.set()
        self._is_known.set()
        log.info("MCP server %s is there, with %d tools", self.name, len(self._tools))

    async def _list(self, connection: "Connection") -> None:
        listed = await connection.tools()
        new = tools_of(listed, self._settings, self._call, self._read if connection.has_resources else None)
        if not is_same(self._tools, new):
            self._tools = new
            for changed in list(self._told):
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
        self, what: str, ask: "Callable[[Connection], Awaitable[ToolResult]]", *, is_repeatable: bool
    ) -> ToolResult:
        """Ask the server; once more, if it went and had done nothing yet, or if twice does no harm.

        Raises:
            ToolError: it is not there, went meanwhile, or refused.
        """
        try:
            return await self._ask_once(ask)
        except Lost as lost:
            if not lost.is_refused and not is_repeatable:
                raise ToolError(self._unknown(what, lost)) from lost
        try:
            return await self._ask_once(ask)
        except Lost as lost:
            raise ToolError(self._unknown(what, lost)) from lost

    async def _ask_once(self, ask: "Callable[[Connection], Awaitable[ToolResult]]") -> ToolResult:
        connection = await self._ready()
        try:
            return await ask(connection)
        except Lost:
            if self._connection is connection:
                self._connection = None
                self._is_up.clear()
            raise

    async def _ready(self) -> "Connection":
        await _wait_for(self._is_up, RESTART_SECONDS)
        if self._connection is None:
            raise ToolError(
                f"the MCP server {self.name} is not there: {self._trouble or 'it is being started'}"
            )
        return self._connection

    def _unknown(self, what: str, lost: Lost) -> str:
        gone = f"the MCP server {self.name} went away while {what} was under way ({lost})"
        return f"{gone}; whether that was done is unknown. The server is being started again"


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
