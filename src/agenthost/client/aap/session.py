"""Sessions: one conversation with an agent."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from agenthost.client.aap.content import UserContent, message_content
from agenthost.client.aap.errors import AapError, NotCreatedYet, NotFound, NothingToResume
from agenthost.client.aap.exchange import Exchange
from agenthost.client.aap.permission import Decide
from agenthost.client.aap.record import Answer, find_open_calls
from agenthost.client.aap.responder import CallResponder
from agenthost.client.aap.server import Server
from agenthost.client.aap.tools import tool_spec
from agenthost.client.aap.turn import Plan, Turn, TurnLimits
from agenthost.client.tools import ClientTool, Tools, tools_by_name
from agenthost.errors import InvalidValue
from agenthost.wire.aap.v3 import (
    GET_HISTORY_RESPONSE,
    AgentInfo,
    AgentOverrides,
    ApplicationMessage,
    History,
    HistoryMessage,
    HistoryType,
    PostSessionsRequest,
    ServerToolRef,
    SessionInfo,
    StreamMode,
    ToolCall,
)

__all__ = ["Defaults", "Session", "TurnOptions", "agent_overrides"]

_MODES: tuple[StreamMode, ...] = ("delta", "message", "none")
_HISTORIES: tuple[HistoryType, ...] = ("full", "compacted")


class TurnOptions(TypedDict, total=False):
    """Settings of a turn. All but `stream` and `limits` also hold for later turns (O1, O4, O5).

    Attributes:
        stream: how the server answers; by default, in the finest steps that the agent offers.
        options: values for options of the agent; the others stay.
        server_tools: server tools to enable; each call needs permission.
        trusted_tools: server tools to enable; the server may run them without asking.
        tools: the application's own tools.
        permission: decides about calls of `server_tools`.
        limits: how far the turn may go.
    """

    stream: StreamMode
    options: Mapping[str, str]
    server_tools: Collection[str]
    trusted_tools: Collection[str]
    tools: Tools
    permission: Decide
    limits: TurnLimits


class Defaults:
    """The initial values of a client's sessions."""

    def __init__(self, permission: Decide, limits: TurnLimits) -> None:
        self.permission = permission
        self.limits = limits


class Session:
    """One conversation, kept by the server. See `AapClient.create` and `AapClient.session`."""

    def __init__(
        self,
        server: Server,
        defaults: Defaults,
        *,
        session_id: str | None = None,
        unsent: PostSessionsRequest | None = None,
        tools: Mapping[str, ClientTool] | None = None,
        is_declared: bool = False,
    ) -> None:
        self._server = server
        self._exchange = Exchange(server, session_id, unsent)
        self._permission = defaults.permission
        self._limits = defaults.limits
        self._tools: Mapping[str, ClientTool] = tools or {}
        if self._tools and not is_declared:
            self._declare()
        self._agent_name = unsent["agent"]["name"] if unsent else None

    def __repr__(self) -> str:
        return f"<Session {self._exchange.session_id or 'not created yet'}>"

    @property
    def id(self) -> str:
        """The id of the session, for `AapClient.session`.

        Raises:
            NotCreatedYet: the server speaks version 1 or 2, and there was no turn yet.
        """
        if self._exchange.session_id is None:
            raise NotCreatedYet(
                "the session has no id yet: in versions 1 and 2 of AAP its first turn creates it; send one"
            )
        return self._exchange.session_id

    @property
    def is_created(self) -> bool:
        """Whether the server has created the session, so that it has an id."""
        return self._exchange.session_id is not None

    # Reading

    async def info(self) -> SessionInfo:
        """Return the settings of the session.

        Raises:
            AapError: such as `NotFound`.
        """
        return (await self._read())[0]

    async def history(self, kind: HistoryType | None = None) -> list[HistoryMessage]:
        """Return the messages: all of them (`full`), or those that the model is given (`compacted`).

        The default is the fullest that the agent offers (L4). The last calls may be open (L7).

        Raises:
            AapError: such as `NotFound`, if the agent does not offer it.
        """
        version = await self._server.version()
        wanted = kind or await self._fullest_history()
        if version.has_history:
            body = await self._server.transport.get(f"{version.path(self.id)}/history", type=wanted)
            try:
                history = GET_HISTORY_RESPONSE.take(body)["history"]
            except InvalidValue as error:
                raise self._server.violation(error) from error
        else:
            history = (await self._read(history=wanted))[1]
        if wanted not in history:
            raise NotFound(f"the server offers no {wanted} history of this session")
        return history[wanted]

    async def open_calls(self) -> list[ToolCall]:
        """Return the calls that the agent waits for, for example after a restart of the application.

        Raises:
            AapError: such as `NotFound`.
        """
        return find_open_calls(await self.history())

    async def delete(self) -> None:
        """Delete the session and its history for good.

        Raises:
            AapError: such as `NotFound`.
        """
        version = await self._server.version()
        await self._server.transport.send("DELETE", version.path(self.id))

    # Turns

    def send(self, content: UserContent, **how: Unpack[TurnOptions]) -> Turn:
        """Return a turn that says this to the agent: iterate it for events, or await its `answer`.

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        self._apply(how)

        async def prepare() -> Plan:
            return await self._plan(how, [{"role": "user", "content": message_content(content)}], [])

        return self._server.track(Turn(prepare, how.get("limits", self._limits)))

    async def ask(self, content: UserContent, **how: Unpack[TurnOptions]) -> Answer:
        """Say something to the agent and return its answer.

        Raises:
            AapError: the turn was refused, was cut off, or took too long.
        """
        return await self.send(content, **how).answer()

    def resume(self, **how: Unpack[TurnOptions]) -> Turn:
        """Return a turn that continues one that waits for the application, for example after a restart.

        The open calls are found in the history (L7). The turn raises `NothingToResume` if there are none.
        """
        self._apply(how)

        async def prepare() -> Plan:
            calls = await self.open_calls()
            if not calls:
                raise NothingToResume("no call of this session waits for the application")
            return await self._plan(how, [], calls)

        return self._server.track(Turn(prepare, how.get("limits", self._limits)))

    def _apply(self, how: TurnOptions) -> None:
        if "tools" in how:
            self._tools = tools_by_name(how["tools"])
            self._declare()
        self._permission = how.get("permission", self._permission)

    def _declare(self) -> None:
        self._exchange.undeclared = [tool_spec(tool) for tool in self._tools.values()]

    async def _plan(
        self, how: TurnOptions, messages: list[ApplicationMessage], calls: list[ToolCall]
    ) -> Plan:
        agent = await self._agent()
        mode = how.get("stream") or _finest_mode(agent)
        settings: dict[str, Any] = {"stream": mode}
        if overrides := agent_overrides(how):
            settings["agent"] = overrides
        chosen = {*how.get("server_tools", ()), *how.get("trusted_tools", ())}
        listed = {tool["name"] for tool in agent.get("tools", [])} if agent else set()
        limits = how.get("limits", self._limits)
        responder = CallResponder(
            self._tools, listed | chosen, self._declared, self._permission, limits.tool_seconds
        )
        post = self._exchange.with_settings(settings)
        return Plan(messages, calls, post, responder, lambda: self.id)

    async def _agent(self) -> AgentInfo | None:
        if self._agent_name is None:
            self._agent_name = (await self.info())["agent"]["name"]
        return await self._server.agent(self._agent_name)

    async def _declared(self) -> set[str]:
        """Return the names of the application's tools that the session has, if the server tells."""
        with suppress(AapError):
            return {tool["name"] for tool in (await self.info()).get("tools", [])}
        return set()

    async def _fullest_history(self) -> HistoryType:
        agent = await self._agent()
        offered = agent.get("capabilities", {}).get("history", {}) if agent else {}
        return next((kind for kind in _HISTORIES if kind in offered), "compacted")

    async def _read(self, **query: str) -> tuple[SessionInfo, History]:
        version = await self._server.version()
        body = await self._server.transport.get(version.path(self.id), **query)
        try:
            return version.session(body)
        except InvalidValue as error:
            raise self._server.violation(error) from error


def agent_overrides(how: TurnOptions) -> AgentOverrides:
    """Return the agent settings of a request; the server's tools only if `how` names any."""
    overrides: AgentOverrides = {}
    if "options" in how:
        overrides["options"] = dict(how["options"])
    if "server_tools" in how or "trusted_tools" in how:
        trusted = dict.fromkeys(how.get("trusted_tools", ()), True)
        chosen = dict.fromkeys(how.get("server_tools", ()), False) | trusted
        tools: list[ServerToolRef] = [{"name": name, "trust": trust} for name, trust in chosen.items()]
        overrides["tools"] = tools
    return overrides


def _finest_mode(agent: AgentInfo | None) -> StreamMode:
    """Return the finest stream mode. An agent that declares none has only `none` (M3)."""
    offered = agent.get("capabilities", {}).get("stream", {}) if agent else {}
    return next((mode for mode in _MODES if mode in offered), "none")
