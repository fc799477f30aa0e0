"""The client: one AAP server, as an application sees it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from agenthost.client.aap.errors import NotFound
from agenthost.client.aap.permission import Decide, deny_all
from agenthost.client.aap.server import Server
from agenthost.client.aap.session import Defaults, Session, TurnOptions, overrides_of
from agenthost.client.aap.tools import Tools, tools_of
from agenthost.client.aap.transport import Timeouts, Transport
from agenthost.client.aap.turn import TurnLimits
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
"""Where `agenthost serve` serves AAP, unless it is told otherwise."""


class AapClient:
    """One AAP server. It may speak version 1, 2 or 3: that is asked once, when it is first needed.

    Args:
        url: the server, as `HOST:PORT` or a URL; without one, that of `AGENTHOST_URL`, or `DEFAULT_URL`. Of
            a URL with a path that is the base URL: what stands before `/meta`. Of a server alone, it is
            looked for below `/aap` too.
        key: the API key, if the server wants one.
        permission: decides about calls of the server's tools that a session does not trust.
        limits: how far a turn may go.
        timeouts: how long to wait for the server.
        retries: how often to try again what is safe to try again.

    Raises:
        ValueError: the URL or the key cannot be used.
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
        """Leave the turns that are under way, and close all connections."""
        await self._server.aclose()

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return self._server.transport.url

    async def version(self) -> int:
        """Ask which version of AAP the server speaks.

        Raises:
            AapError: such as `NotAap`.
        """
        return (await self._server.version()).number

    async def meta(self) -> GetMetaResponse:
        """Ask which agents there are, in the words of version 3 whichever the server speaks.

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
        """Make a session. In versions 1 and 2 of AAP that is put off until its first turn, which makes it.

        Args:
            agent: its name; may be left out where the server has only one.
            options: values for options of the agent.
            server_tools: tools of the server to switch on, each call of which needs permission.
            trusted_tools: tools of the server to switch on, which it may run by itself.
            tools: the application's own: typed functions.
            messages: a history to begin with.
            permission: decides for this session, in place of what the client has.
            limits: how far its turns may go.

        Raises:
            AapError: such as `Refused`.
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name, or there are several agents to choose from.
        """
        own = tools_of(tools)
        how: TurnOptions = {"server_tools": server_tools, "trusted_tools": trusted_tools}
        if options is not None:
            how["options"] = options
        name = agent if agent is not None else await self._only_agent()
        body: PostSessionsRequest = {"agent": {"name": name, **overrides_of(how)}}
        if messages:
            body["messages"] = list(messages)
        if own:
            body["tools"] = [tool.spec() for tool in own.values()]
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
        """Come back to a session by its id. Nothing is asked yet.

        The functions of `tools` are not kept by the server, so they have to be given again.

        Raises:
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name.
        """
        defaults = self._own(permission, limits)
        return Session(self._server, defaults, session_id=session_id, tools=tools_of(tools))

    async def sessions(self) -> AsyncIterator[SessionInfo]:
        """Give all sessions, page by page as they are needed.

        In version 1 of AAP a page has only ids, so that each session is asked for by itself.

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
                raise self._server.broke_rules(error) from error
            for one in page:
                info = await self._look_up(one) if isinstance(one, str) else one
                if info is not None:
                    yield info
            if cursor is None or cursor in seen:  # a server that goes in circles has nothing new
                return
            seen.add(cursor)

    async def _look_up(self, session_id: str) -> SessionInfo | None:
        try:
            return await self.session(session_id).info()
        except NotFound:
            return None  # deleted meanwhile

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
            raise self._server.broke_rules(error) from error

    def _own(self, permission: Decide | None, limits: TurnLimits | None) -> Defaults:
        return Defaults(permission or self._defaults.permission, limits or self._defaults.limits)
