"""A connection to an MCP server: what it offers, calls, and what it asks for meanwhile.

Only this module, `transports`, `results` and `elicitation` know the library. Opened and closed by one task,
as it wants to be; calls come from any.
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
from agenthost.host.programs.outpour import Outpour
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.tools.mcp.elicitation import elicited
from agenthost.tools.mcp.results import result_of, result_of_resource
from agenthost.tools.mcp.settings import Settings
from agenthost.tools.mcp.transports import Streams, http, stdio
from agenthost.tools.mcp.underway import Lost, UnderWay

__all__ = ["Connection"]

log = logging.getLogger("agenthost.mcp")

T = TypeVar("T")

PAGES = 100
MAX_LISTED = 2_000
"""How many pages and tools a list may have: one without an end would never be known."""

PROBE_SECONDS = 10.0
"""How long a server may take to show that it is still there."""

SERVER_ERROR = 500
"""From this status on, whether a server has done something is unknown."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING}


class Connection:
    """A connection that is open."""

    def __init__(self, settings: Settings, workspace: Path) -> None:
        self._settings = settings
        self._workspace = workspace
        self._under_way = UnderWay()
        self._outpour = Outpour(log, settings.name)
        self._over = asyncio.Event()
        self._news = asyncio.Event()
        self._status: int | None = None  # with which it last refused a request
        self._code: int | None = None
        self._reason = "it ended"
        self._client = Client(
            self._streams(),
            elicitation_callback=self._elicit,
            list_roots_callback=self._roots,
            logging_callback=self._log,
            log_level="info",
            message_handler=self._hear,
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
        """Why it is over."""
        return f"{self._reason} with the code {self._code}" if self._code is not None else self._reason

    @property
    def has_resources(self) -> bool:
        """Whether the server has resources to be read."""
        return self._client.server_capabilities.resources is not None

    async def tools(self) -> list[mcp.Tool]:
        """List the tools that the server offers, all pages of it."""
        if self._client.server_capabilities.tools is None:
            return []
        self._news.clear()
        found: list[mcp.Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > MAX_LISTED:
                break
        if cursor is not None or len(found) > MAX_LISTED:
            log.warning(
                "MCP server %s lists more than %d tools, or more than %d pages; the rest is left out",
                *(self._settings.name, MAX_LISTED, PAGES),
            )
        return found[:MAX_LISTED]

    async def wait_news(self) -> bool:
        """Wait until the list of tools has changed; not so, if the connection is over first."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._over, self._news)]
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
            Lost: the connection ended, or had ended.
            ToolError: the server refused, or answered with nonsense.
        """

        async def show(progress: float, total: float | None, message: str | None) -> None:
            context.report(_progress(progress, total, message))

        async def ask() -> ToolResult:
            return result_of(await self._client.call_tool(name, arguments, progress_callback=show))

        return await self._ask(ask, context)

    async def read(self, uri: str, context: ToolContext) -> ToolResult:
        """Read a resource; raises the same."""

        async def ask() -> ToolResult:
            return result_of_resource(await self._client.read_resource(uri))

        return await self._ask(ask, context)

    async def _ask(self, ask: Callable[[], Awaitable[ToolResult]], context: ToolContext) -> ToolResult:
        async with self._under_way.call(context):
            self._status = None
            try:
                try:
                    return await ask()
                except MCPError as error:
                    if not await self._is_settled_elsewhere(error, context):
                        raise
                    return await ask()
            except MCPError as error:
                raise await self._told(error) from error
            except ValidationError as error:
                raise ToolError(f"{self._settings.name} answered with what is no result") from error
            except RuntimeError as error:  # what it answered does not fit what it said that it would
                raise ToolError(f"{self._settings.name} answered with nonsense: {error}") from error

    async def _is_settled_elsewhere(self, error: MCPError, context: ToolContext) -> bool:
        """Let the user open the pages that a server wants to have been to first; tells whether all were."""
        if error.code != mcp.URL_ELICITATION_REQUIRED:
            return False
        pages = mcp.ElicitationRequiredErrorData.model_validate(error.data).elicitations
        for page in pages:
            result = await elicited(self._settings.name, page, context)
            if isinstance(result, mcp.ErrorData) or result.action != "accept":
                return False
        return True

    async def _told(self, error: MCPError) -> Exception:
        """Find out what an error means: the call failed, or there is nobody to call any more."""
        if self._over.is_set() or (
            self._settings.command is not None and error.code == mcp.CONNECTION_CLOSED
        ):
            return Lost(self._reason, is_refused=False)
        is_refused = self._status is not None and self._status < SERVER_ERROR
        if (self._status or error.code == mcp.CONNECTION_CLOSED) and not await self._is_there():
            # One that was started anew does not know our session, and has done nothing for us.
            self._reason = "it does not know us any more" if is_refused else "the connection broke"
            self._over.set()
            return Lost(self._reason, is_refused=is_refused)
        return ToolError(error.message or f"{self._settings.name} refused the call and did not say why")

    async def _is_there(self) -> bool:
        try:
            with anyio.fail_after(PROBE_SECONDS):
                await self._client.list_tools()
        except (MCPError, TimeoutError):
            return False
        return True

    # What the server asks for, and says

    async def _elicit(
        self, context: ClientRequestContext, params: mcp.ElicitRequestParams
    ) -> mcp.ElicitResult | mcp.ErrorData:
        call = self._under_way.asking()
        if call is None:
            sentence = "calls of several turns are under way, and the question does not say whose it is"
            return mcp.ErrorData(code=mcp.INVALID_REQUEST, message=sentence)
        return await elicited(self._settings.name, params, call)

    async def _roots(self, context: ClientRequestContext) -> mcp.ListRootsResult:
        return mcp.ListRootsResult(roots=[mcp.Root(uri=self._workspace.as_uri(), name="workspace")])  # type: ignore[arg-type]

    async def _log(self, params: mcp.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else repr(params.data)
        self._outpour.write(_LEVELS.get(params.level, logging.ERROR), text)

    async def _hear(self, message: Any) -> None:
        if isinstance(message, mcp.ToolListChangedNotification):
            self._news.set()

    # Opening

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Be connected, inside of the block."""
        async with self._client, anyio.create_task_group() as group:
            if self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                group.start_soon(self._listen)
            yield
            group.cancel_scope.cancel()

    async def _listen(self) -> None:
        """Hear of other tools from a server that tells only those who ask for it."""
        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._news.set()
        except (MCPError, RuntimeError) as error:
            log.info("%s tells no more of other tools: %s", self._settings.name, error)

    def failed_by(self, error: BaseException) -> str:
        """Say why it could not be opened, or broke."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._status is not None:
            return f"it answered with the status {self._status}"
        if self._code is not None:
            return self.reason
        if isinstance(error, MCPError):
            return error.message or "it refused to begin"
        words = f" ({error})" if isinstance(error, httpx2.TransportError) and str(error) else ""
        return f"it cannot be spoken with: {type(error).__name__}{words}"


def _progress(done: float, total: float | None, message: str | None) -> str:
    far = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{message} ({far})" if message else far
