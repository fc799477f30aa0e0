"""Sessions: one conversation with an agent.

Neighbours: `turn` (how a turn goes on), `exchange` (its requests).
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from agenthost.client.aap.answering import Answering
from agenthost.client.aap.content import Said, content_of
from agenthost.client.aap.errors import AapError, NotCreatedYet, NotFound, NothingToResume
from agenthost.client.aap.exchange import Exchange
from agenthost.client.aap.permission import Decide
from agenthost.client.aap.record import Answer, open_calls_of
from agenthost.client.aap.server import Server
from agenthost.client.aap.tools import ClientTool, Tools, tools_of
from agenthost.client.aap.turn import Plan, Turn, TurnLimits
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

__all__ = ["Defaults", "Session", "TurnOptions", "overrides_of"]

_MODES: tuple[StreamMode, ...] = ("delta", "message", "none")
_HISTORIES: tuple[HistoryType, ...] = ("full", "compacted")


class TurnOptions(TypedDict, total=False):
    """What may be said of a turn. All but `stream` and `limits` stays so for the turns after it.

    Attributes:
        stream: how the server is to answer; without, the liveliest way that the agent offers.
        options: values for options of the agent; the others stay.
        server_tools: tools of the server to switch on, each call of which needs permission.
        trusted_tools: tools of the server to switch on, which it may run by itself.
        tools: the application's own.
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
    """What a client's sessions begin with."""

    def __init__(self, permission: Decide, limits: TurnLimits) -> None:
        self.permission = permission
        self.limits = limits


class Session:
    """One conversation, which the server keeps. Made by `AapClient.create` or `AapClient.session`."""

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
        return f"<Session {self._exchange.session_id or 'that is not made yet'}>"

    @property
    def id(self) -> str:
        """The id of the session, to come back to it with `AapClient.session`.

        Raises:
            NotCreatedYet: the server speaks version 1 or 2, and there was no turn yet.
        """
        if self._exchange.session_id is None:
            raise NotCreatedYet(
                "the session has no id yet: in versions 1 and 2 of AAP, its first turn makes it; send one"
            )
        return self._exchange.session_id

    @property
    def is_created(self) -> bool:
        """Whether the server has the session, so that it has an id."""
        return self._exchange.session_id is not None

    # Reading

    async def info(self) -> SessionInfo:
        """Ask how the session is set up.

        Raises:
            AapError: such as `NotFound`.
        """
        return (await self._read())[0]

    async def history(self, kind: HistoryType | None = None) -> list[HistoryMessage]:
        """Ask what was said: everything (`full`), or what the model goes on from (`compacted`).

        Without a kind, the fullest that the agent offers. It may end in calls that are open.

        Raises:
            AapError: such as `NotFound`, if the agent does not offer it.
        """
        version = await self._server.version()
        wanted = kind or await self._fullest()
        if version.has_history:
            body = await self._server.transport.get(f"{version.path(self.id)}/history", type=wanted)
            try:
                history = GET_HISTORY_RESPONSE.take(body)["history"]
            except InvalidValue as error:
                raise self._server.broke_rules(error) from error
        else:
            history = (await self._read(history=wanted))[1]
        if wanted not in history:
            raise NotFound(f"the server gives no {wanted} history of this session")
        return history[wanted]

    async def open_calls(self) -> list[ToolCall]:
        """Ask which calls the agent waits for, such as after a restart of the application.

        Raises:
            AapError: such as `NotFound`.
        """
        return open_calls_of(await self.history())

    async def delete(self) -> None:
        """Remove the session and its history for good.

        Raises:
            AapError: such as `NotFound`.
        """
        version = await self._server.version()
        await self._server.transport.send("DELETE", version.path(self.id))

    # Turns

    def send(self, content: Said, **how: Unpack[TurnOptions]) -> Turn:
        """Say something to the agent; gives the turn, for its events or its answer.

        Raises:
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name.
        """
        self._take_settings(how)

        async def prepare() -> Plan:
            return await self._plan(how, [{"role": "user", "content": content_of(content)}], [])

        return self._server.opened(Turn(prepare, how.get("limits", self._limits)))

    async def ask(self, content: Said, **how: Unpack[TurnOptions]) -> Answer:
        """Say something to the agent, and wait for its answer.

        Raises:
            AapError: it cannot be done, broke, or took too long.
        """
        return await self.send(content, **how).answer()

    def resume(self, **how: Unpack[TurnOptions]) -> Turn:
        """Go on with a turn that waits for the application, such as after a restart.

        The calls that are open are found in the history. The turn raises `NothingToResume` if there are none.
        """
        self._take_settings(how)

        async def prepare() -> Plan:
            calls = await self.open_calls()
            if not calls:
                raise NothingToResume("no call of this session waits for the application")
            return await self._plan(how, [], calls)

        return self._server.opened(Turn(prepare, how.get("limits", self._limits)))

    def _take_settings(self, how: TurnOptions) -> None:
        if "tools" in how:
            self._tools = tools_of(how["tools"])
            self._declare()
        self._permission = how.get("permission", self._permission)

    def _declare(self) -> None:
        self._exchange.undeclared = [tool.spec() for tool in self._tools.values()]

    async def _plan(
        self, how: TurnOptions, messages: list[ApplicationMessage], calls: list[ToolCall]
    ) -> Plan:
        agent = await self._agent()
        mode = how.get("stream") or _liveliest(agent)
        more: dict[str, Any] = {"stream": mode}
        if overrides := overrides_of(how):
            more["agent"] = overrides
        chosen = {*how.get("server_tools", ()), *how.get("trusted_tools", ())}
        shown = {tool["name"] for tool in agent.get("tools", [])} if agent else set()
        limits = how.get("limits", self._limits)
        answering = Answering(
            self._tools, shown | chosen, self._declared, self._permission, limits.tool_seconds
        )
        post = self._exchange.with_settings(more)
        return Plan(messages, calls, post, answering, lambda: self.id)

    async def _agent(self) -> AgentInfo | None:
        if self._agent_name is None:
            self._agent_name = (await self.info())["agent"]["name"]
        return await self._server.agent(self._agent_name)

    async def _declared(self) -> set[str]:
        """Return the names of the application's tools that the server knows of, if it tells."""
        with suppress(AapError):
            return {tool["name"] for tool in (await self.info()).get("tools", [])}
        return set()

    async def _fullest(self) -> HistoryType:
        agent = await self._agent()
        offered = agent.get("capabilities", {}).get("history", {}) if agent else {}
        return next((kind for kind in _HISTORIES if kind in offered), "compacted")

    async def _read(self, **query: str) -> tuple[SessionInfo, History]:
        version = await self._server.version()
        body = await self._server.transport.get(version.path(self.id), **query)
        try:
            return version.session(body)
        except InvalidValue as error:
            raise self._server.broke_rules(error) from error


def overrides_of(how: TurnOptions) -> AgentOverrides:
    """Give what is to be set of the agent, in AAP's words; the server's tools only if any are named."""
    overrides: AgentOverrides = {}
    if "options" in how:
        overrides["options"] = dict(how["options"])
    if "server_tools" in how or "trusted_tools" in how:
        trusted = dict.fromkeys(how.get("trusted_tools", ()), True)
        chosen = dict.fromkeys(how.get("server_tools", ()), False) | trusted
        tools: list[ServerToolRef] = [{"name": name, "trust": trust} for name, trust in chosen.items()]
        overrides["tools"] = tools
    return overrides


def _liveliest(agent: AgentInfo | None) -> StreamMode:
    """Choose the way to answer. An agent that declares none has only `none`."""
    offered = agent.get("capabilities", {}).get("stream", {}) if agent else {}
    return next((mode for mode in _MODES if mode in offered), "none")
