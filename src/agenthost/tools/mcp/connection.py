"""A connection to an MCP server: its tools, calls, and its requests during calls.

Only this module, `transports`, `results` and `elicitation` use the MCP library. The library requires that the
same task opens and closes a connection; calls may come from any task.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as mcp
from mcp.client import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agenthost import __version__
from agenthost.errors import ToolError
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.programs.output import ProgramOutput
from agenthost.tools.mcp.elicitation import elicit
from agenthost.tools.mcp.pending_calls import ConnectionLost, PendingCalls
from agenthost.tools.mcp.results import call_result, resource_result
from agenthost.tools.mcp.settings import ServerSettings
from agenthost.tools.mcp.transports import Streams, http, stdio

__all__ = ["McpConnection"]

log = logging.getLogger("agenthost.mcp")

T = TypeVar("T")

MAX_PAGES = 100
MAX_LISTED_TOOLS = 2_000
"""The limits of a list of tools: an endless list would never be complete."""

PROBE_SECONDS = 10.0
"""How long a server may take to show that it still responds."""

SERVER_ERROR = 500
"""From this HTTP status on, the server may have done something before it failed."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING}


class McpConnection:
    """A connection to one server."""

    def __init__(self, settings: ServerSettings, workspace: Path) -> None:
        self._settings = settings
        self._workspace = workspace
        self._pending_calls = PendingCalls()
        self._outpour = ProgramOutput(log, settings.name)
        self._over = asyncio.Event()
        self._tools_changed = asyncio.Event()
        self._status: int | None = None  # the HTTP status of the last error
        self._code: int | None = None
        self._reason = "it ended"
        self._client = Client(
            self._streams(),
            elicitation_callback=self._elicit,
            list_roots_callback=self._roots,
            logging_callback=self._log,
            log_level="info",
            message_handler=self._on_message,
            client_info=mcp.Implementation(name="agenthost", title="agenthost", version=__version__),
            cache=None,
        )

    def _streams(self) -> Streams:
        settings = self._settings
        settings.hide_secrets()
        if settings.command is not None:
            return stdio(settings.name, settings.command, settings.cwd or self._workspace, self._ended)
        return http(settings.url or "", settings.resolved_headers(), self._refused)

    def _refused(self, status: int) -> None:
        self._status = status

    def _ended(self, code: int | None) -> None:
        self._code = code
        self._over.set()

    @property
    def reason(self) -> str:
        """Why the connection ended."""
        return f"{self._reason} with exit code {self._code}" if self._code is not None else self._reason

    @property
    def has_resources(self) -> bool:
        """Whether the server has resources that can be read."""
        return self._client.server_capabilities.resources is not None

    async def tools(self) -> list[mcp.Tool]:
        """List all tools of the server. MCP: lists are paginated."""
        if self._client.server_capabilities.tools is None:
            return []
        self._tools_changed.clear()
        found: list[mcp.Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > MAX_LISTED_TOOLS:
                break
        if cursor is not None or len(found) > MAX_LISTED_TOOLS:
            log.warning(
                "MCP server %s lists more than %d tools, or more than %d pages; the rest is left out",
                *(self._settings.name, MAX_LISTED_TOOLS, MAX_PAGES),
            )
        return found[:MAX_LISTED_TOOLS]

    async def wait_tools_changed(self) -> bool:
        """Wait until the list of tools changes. Return `False` if the connection ends first."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._over, self._tools_changed)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return not self._over.is_set()

    # Calls

    async def call(self, name: str, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Call a tool.

        Raises:
            ConnectionLost: the connection has ended.
            ToolError: the server refused the call, or sent an invalid result.
        """

        async def show(progress: float, total: float | None, message: str | None) -> None:
            context.report(_progress(progress, total, message))

        async def ask() -> ToolResult:
            return call_result(await self._client.call_tool(name, arguments, progress_callback=show))

        return await self._ask(ask, context)

    async def read(self, uri: str, context: ToolContext) -> ToolResult:
        """Read a resource. Raises the same as `call`."""

        async def ask() -> ToolResult:
            return resource_result(await self._client.read_resource(uri))

        return await self._ask(ask, context)

    async def _ask(self, ask: Callable[[], Awaitable[ToolResult]], context: ToolContext) -> ToolResult:
        async with self._pending_calls.call(context):
            self._status = None
            try:
                try:
                    return await ask()
                except MCPError as error:
                    if not await self._pages_accepted(error, context):
                        raise
                    return await ask()
            except MCPError as error:
                raise await self._call_error(error) from error
            except ValidationError as error:
                raise ToolError(f"{self._settings.name} sent a malformed result") from error
            except RuntimeError as error:  # MCP: structured content must match the tool's output schema
                raise ToolError(f"{self._settings.name} sent an invalid result: {error}") from error

    async def _pages_accepted(self, error: MCPError, context: ToolContext) -> bool:
        """Ask the user to open the pages that a call requires (URL elicitation). Tell whether they did."""
        if error.code != mcp.URL_ELICITATION_REQUIRED:
            return False
        pages = mcp.ElicitationRequiredErrorData.model_validate(error.data).elicitations
        for page in pages:
            result = await elicit(self._settings.name, page, context)
            if isinstance(result, mcp.ErrorData) or result.action != "accept":
                return False
        return True

    async def _call_error(self, error: MCPError) -> Exception:
        """Return the exception for an error: the call failed, or the connection is lost."""
        if self._over.is_set() or (
            self._settings.command is not None and error.code == mcp.CONNECTION_CLOSED
        ):
            return ConnectionLost(self._reason, is_refused=False)
        is_refused = self._status is not None and self._status < SERVER_ERROR
        if (self._status or error.code == mcp.CONNECTION_CLOSED) and not await self._responds():
            # A server that was restarted does not know our session, so it did not run the call.
            self._reason = "it no longer knows our session" if is_refused else "the connection broke"
            self._over.set()
            return ConnectionLost(self._reason, is_refused=is_refused)
        return ToolError(error.message or f"{self._settings.name} refused the call without a reason")

    async def _responds(self) -> bool:
        try:
            with anyio.fail_after(PROBE_SECONDS):
                await self._client.list_tools()
        except (MCPError, TimeoutError):
            return False
        return True

    # Requests and notifications of the server

    async def _elicit(
        self, context: ClientRequestContext, params: mcp.ElicitRequestParams
    ) -> mcp.ElicitResult | mcp.ErrorData:
        call = self._pending_calls.current()
        if call is None:
            sentence = (
                "calls of several turns are running, and the request does not say which one it belongs to"
            )
            return mcp.ErrorData(code=mcp.INVALID_REQUEST, message=sentence)
        return await elicit(self._settings.name, params, call)

    async def _roots(self, context: ClientRequestContext) -> mcp.ListRootsResult:
        return mcp.ListRootsResult(roots=[mcp.Root(uri=self._workspace.as_uri(), name="workspace")])  # type: ignore[arg-type]

    async def _log(self, params: mcp.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else repr(params.data)
        self._outpour.write(_LEVELS.get(params.level, logging.ERROR), text)

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, mcp.ToolListChangedNotification):
            self._tools_changed.set()

    # Opening

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Connect, and stay connected inside the block."""
        async with self._client, anyio.create_task_group() as group:
            if self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                group.start_soon(self._listen)
            yield
            group.cancel_scope.cancel()

    async def _listen(self) -> None:
        """Subscribe to changes of the tool list. Newer versions of MCP send them only to subscribers."""
        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._tools_changed.set()
        except (MCPError, RuntimeError) as error:
            log.info("MCP server %s no longer reports changes of its tools: %s", self._settings.name, error)

    def describe_failure(self, error: BaseException) -> str:
        """Say why the connection could not be opened, or broke."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._status is not None:
            return f"it answered with status {self._status}"
        if self._code is not None:
            return self.reason
        if isinstance(error, MCPError):
            return error.message or "it refused the connection"
        details = f" ({error})" if isinstance(error, httpx2.TransportError) and str(error) else ""
        return f"the connection failed: {type(error).__name__}{details}"


def _progress(done: float, total: float | None, message: str | None) -> str:
    amount = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{message} ({amount})" if message else amount
