"""The client: one AAP server, as an application sees it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from agenthost.client.aap.errors import NotFound
from agenthost.client.aap.permission import Decide, deny_all
from agenthost.client.aap.server import Server
from agenthost.client.aap.session import Defaults, Session, TurnOptions, agent_overrides
from agenthost.client.aap.tools import tool_spec
from agenthost.client.aap.transport import Timeouts, Transport
from agenthost.client.aap.turn import TurnLimits
from agenthost.client.tools import Tools, tools_by_name
from agenthost.errors import InvalidValue
from agenthost.wire.aap.v3 import (
    POST_SESSIONS_RESPONSE,
    GetMetaResponse,
    HistoryMessage,
    PostSessionsRequest,
    SessionInfo,
)

__all__ = ["DEFAULT_URL", "AapClient"]

DEFAULT_URL = "http://127.0.0.1:8642/aap"
"""Where `agenthost serve` serves AAP by default."""


class AapClient:
    """One AAP server of version 1, 2 or 3; which one is found out on first use.

    Args:
        url: the server, as `HOST:PORT` or a URL; the default is `AGENTHOST_URL`, or else `DEFAULT_URL`. A
            path must be the base URL: what comes before `/meta`. Without a path, `/aap` is tried too.
        key: the API key, if the server needs one.
        permission: decides about calls of server tools that a session does not trust.
        limits: how far a turn may go.
        timeouts: how long to wait for the server.
        retries: how often to retry what is safe to retry.

    Raises:
        ValueError: the URL or the key is unusable.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        permission: Decide = deny_all,
        limits: TurnLimits | None = None,
        timeouts: Timeouts | None = None,
        retries: int = 2,
    ) -> None:
        self._server = Server(Transport(url, key, timeouts or Timeouts(), retries))
        self._defaults = Defaults(permission, limits or TurnLimits())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop listening to running turns and close all connections."""
        await self._server.aclose()

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return self._server.transport.url

    async def version(self) -> int:
        """Return the version of AAP that the server speaks.

        Raises:
            AapError: such as `NotAap`.
        """
        return (await self._server.version()).number

    async def meta(self) -> GetMetaResponse:
        """Return the server's agents, in the form of version 3 whichever the server speaks.

        Raises:
            AapError: such as `NotAap`.
        """
        return await self._server.meta()

    async def create(
        self,
        agent: str | None = None,
        *,
        options: Mapping[str, str] | None = None,
        server_tools: Collection[str] = (),
        trusted_tools: Collection[str] = (),
        tools: Tools = (),
        messages: Sequence[HistoryMessage] = (),
        permission: Decide | None = None,
        limits: TurnLimits | None = None,
    ) -> Session:
        """Create a session. In versions 1 and 2 of AAP its first turn creates it (C2).

        Args:
            agent: its name; optional if the server has only one.
            options: values for options of the agent.
            server_tools: server tools to enable; each call needs permission.
            trusted_tools: server tools to enable; the server may run them without asking.
            tools: the application's own tools: typed functions.
            messages: a history to begin with.
            permission: decides for this session, instead of the client's.
            limits: how far its turns may go.

        Raises:
            AapError: such as `Refused`.
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name, or there are several agents to choose from.
        """
        own = tools_by_name(tools)
        how: TurnOptions = {"server_tools": server_tools, "trusted_tools": trusted_tools}
        if options is not None:
            how["options"] = options
        name = agent if agent is not None else await self._only_agent()
        body: PostSessionsRequest = {"agent": {"name": name, **agent_overrides(how)}}
        if messages:
            body["messages"] = list(messages)
        if own:
            body["tools"] = [tool_spec(tool) for tool in own.values()]
        made = None if (await self._server.version()).opens_with_turn else await self._post(body)
        defaults = self._own(permission, limits)
        return Session(self._server, defaults, session_id=made, unsent=body, tools=own, is_declared=True)

    def session(
        self,
        session_id: str,
        *,
        tools: Tools = (),
        permission: Decide | None = None,
        limits: TurnLimits | None = None,
    ) -> Session:
        """Return a session by its id. Nothing is sent yet.

        The server knows the names of `tools`, not the functions, so pass them again.

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        defaults = self._own(permission, limits)
        return Session(self._server, defaults, session_id=session_id, tools=tools_by_name(tools))

    async def sessions(self) -> AsyncIterator[SessionInfo]:
        """Yield all sessions, fetching pages as they are needed.

        In version 1 of AAP a page has only ids (L1), so each session takes another request.

        Raises:
            AapError: such as `Unauthorized`.
        """
        version = await self._server.version()
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            body = await self._server.transport.get("/sessions", after=cursor)
            try:
                page, cursor = version.page(body)
            except InvalidValue as error:
                raise self._server.violation(error) from error
            for one in page:
                info = await self._look_up(one) if isinstance(one, str) else one
                if info is not None:
                    yield info
            if cursor is None or cursor in seen:  # a repeated cursor would loop endlessly
                return
            seen.add(cursor)

    async def _look_up(self, session_id: str) -> SessionInfo | None:
        try:
            return await self.session(session_id).info()
        except NotFound:
            return None  # deleted in the meantime

    async def _only_agent(self) -> str:
        names = [agent["name"] for agent in (await self.meta())["agents"]]
        if len(names) == 1:
            return names[0]
        there = f"there are {', '.join(names)}" if names else "the server has none"
        raise ValueError(f"which agent? {there}")

    async def _post(self, body: PostSessionsRequest) -> str:
        answer: Any = await self._server.transport.send("POST", "/sessions", body)
        try:
            return POST_SESSIONS_RESPONSE.take(answer)["sessionId"]
        except InvalidValue as error:
            raise self._server.violation(error) from error

    def _own(self, permission: Decide | None, limits: TurnLimits | None) -> Defaults:
        return Defaults(permission or self._defaults.permission, limits or self._defaults.limits)
