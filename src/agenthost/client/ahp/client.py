"""The client: one AHP host, as an application sees it."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from agenthost.client.address import read_address
from agenthost.client.ahp.backoff import Backoff
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dialect import Call
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import AhpError, Conflict, NotFound
from agenthost.client.ahp.events import ConnectionEvent
from agenthost.client.ahp.files import Files
from agenthost.client.ahp.handshake import VERSIONS, HandshakeSettings
from agenthost.client.ahp.link import Timeouts
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.client.ahp.params import choices, new_fork, new_session, new_terminal
from agenthost.client.ahp.receiver import OnAccessRequest, deny_access
from agenthost.client.ahp.registry import ResourceRegistry
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.session_list import SessionList
from agenthost.client.ahp.terminal import Terminal
from agenthost.client.ahp.tools import active_client
from agenthost.client.auth import bearer_headers
from agenthost.client.tools import ClientTool, Tools, tools_by_name
from agenthost.core.actions import root_config_changed
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.commands.config import ResolveSessionConfigResult, SessionConfigValueItem
from agenthost.wire.ahp.commands.connection import InitializeResult
from agenthost.wire.ahp.commands.session import CreateSessionParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.notifications import AuthRequiredParams
from agenthost.wire.ahp.root import AgentInfo, RootState
from agenthost.wire.ahp.terminal import TerminalClaim
from agenthost.wire.json import JsonObject

__all__ = ["DEFAULT_AHP_URL", "AhpClient"]

DEFAULT_AHP_URL = "ws://127.0.0.1:8642/ahp"
"""Where `agenthost serve` serves AHP by default."""

OnAuthRequired: TypeAlias = Callable[[AuthRequiredParams], object]
"""Called when the host needs a token, or a new one."""


class AhpClient:
    """One AHP host. A lost connection is restored automatically.

    Args:
        url: the host, as `HOST:PORT` or a URL (`ws://…`, `http://…`) with or without `/ahp`; the default is
            `AGENTHOST_URL`, or else `DEFAULT_AHP_URL`.
        key: the API key, if the host needs one.
        client_id: who this is. An application that keeps it across restarts finds its calls again. Only one
            connection at a time can use it (HR-I13).
        name: what people call this client, shown where its tools are used.
        locale: the preferred language, such as `de`.
        versions: the protocol versions to offer, of 1.0, 0.9 and 0.1; hosts take the highest (V1).
        on_access_request: decides whether the host may access a file of the application.
        on_auth_required: called when the host needs a token.
        timeouts: how long to wait for the host.
        backoff: how to reconnect.

    Attributes:
        url: the URL of the host's WebSocket.
        client_id: who this is.
        sessions: the list of sessions.
        files: the files of the host.

    Raises:
        ValueError: the URL or the key is unusable.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        client_id: str | None = None,
        name: str | None = None,
        locale: str | None = None,
        versions: Sequence[str] = VERSIONS,
        on_access_request: OnAccessRequest = deny_access,
        on_auth_required: OnAuthRequired = lambda _: None,
        timeouts: Timeouts | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self.url = read_address(url).ahp
        self.client_id = client_id or secrets.token_hex(8)
        self._name = name
        self._on_auth_required = on_auth_required
        self._replica = ObservableReplica(self.client_id)
        self._connection = Connection(
            HandshakeSettings(self.url, bearer_headers(key), tuple(versions), locale),
            self._replica,
            timeouts=timeouts or Timeouts(),
            backoff=backoff or Backoff(),
            on_access_request=on_access_request,
            on_connected=self._on_connected,
            on_notification=self._on_notification,
            on_stale=self._on_stale,
        )
        self._registry = ResourceRegistry(self._connection, name)
        self.sessions = SessionList(self._connection)
        self.files = Files(self._connection)

    def _on_connected(self) -> None:
        self._registry.resume()
        if self.sessions.is_loaded:
            # HR-C05: notices that were missed do not come again.
            self._connection.tasks.spawn(self.sessions.load())

    def _on_notification(self, notification: Call) -> None:
        self.sessions.apply(notification)
        if notification.method == "root/sessionRemoved":
            self._registry.remove(notification.params["session"])
        elif notification.method == "auth/required":
            self._on_auth_required(notification.params)

    def _on_stale(self, uri: URI) -> None:
        self._registry.refetch(uri)

    # The connection

    async def connect(self) -> Self:
        """Connect for the first time.

        Raises:
            AhpError: it failed: `Unreachable`, `Unauthorized`, `VersionMismatch`, `NotAhp`.
        """
        await self._connection.open()
        return self

    async def aclose(self) -> None:
        """End the connection. Everything that waits fails with `Closed`, and no task is left."""
        await self._connection.aclose()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._connection.is_open

    @property
    def error(self) -> AhpError | None:
        """Why the client will not connect again; None if it may."""
        return self._connection.error

    @property
    def welcome(self) -> InitializeResult:
        """The host's answer to `initialize`: its version, and where its files begin.

        Raises:
            Closed: the client was never connected.
        """
        return self._connection.welcome

    @property
    def version(self) -> str:
        """The negotiated version of the protocol."""
        return self.welcome["protocolVersion"]

    def listen(self, listener: Callable[[ConnectionEvent], object]) -> Callable[[], None]:
        """Call this with `Connected` and `ConnectionLost`; returns a function that stops it."""
        return self._connection.listen(listener)

    async def ping(self) -> None:
        """Check that the host answers (HR-I12).

        Raises:
            AhpError: it does not.
        """
        await self._connection.request("ping", {"channel": ROOT_URI}, is_repeatable=True)

    async def authenticate(self, resource: str, token: str) -> None:
        """Send the host a token, now and after each reconnection.

        Raises:
            AhpError: such as `AuthRequired` for an invalid token.
        """
        await self._connection.authenticate(resource, token)

    # The host

    @property
    def root(self) -> RootState:
        """The root state of the host. Do not change it.

        Raises:
            AhpError: the client is closed.
        """
        if self._connection.error is not None:
            raise self._connection.error
        if not self._replica.is_subscribed(ROOT_URI):
            raise NotFound("the host has no root state")
        return self._replica.root()

    @property
    def agents(self) -> list[AgentInfo]:
        """The agents that sessions can be created with."""
        return self.root["agents"]

    def set_host_config(self, values: JsonObject) -> DispatchedAction:
        """Change settings of the host."""
        return self._connection.dispatch(ROOT_URI, root_config_changed(values))

    # Sessions

    async def create(
        self,
        agent: str | None = None,
        *,
        model: str | None = None,
        model_config: Mapping[str, Any] | None = None,
        config: JsonObject | None = None,
        folder: URI | None = None,
        tools: Tools = (),
        uri: URI | None = None,
    ) -> Session:
        """Create a session and subscribe to it.

        Args:
            agent: its name; optional if the host has only one.
            model: the id of one of the agent's models.
            model_config: settings of that model.
            config: settings of the session, as in `resolve_config`.
            folder: the URI of the folder to work in.
            tools: the application's own tools: typed functions.
            uri: the URI of the session; random by default.

        Raises:
            AhpError: such as `NotFound`, `AuthRequired` and `Refused`.
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name, or there are several agents to choose from.
        """
        provider = agent if agent is not None else self._only_agent()
        params = new_session(provider, uri=uri, config=config, folder=folder)
        # Before the request: a session with the wrong model would stay behind.
        self._check_model(provider, model)
        session = await self._create(params, tools_by_name(tools))
        if model is not None:
            session.set_model(model, model_config)
        return session

    async def fork(self, session: Session | URI, turn_id: str, *, tools: Tools = ()) -> Session:
        """Create a session that begins like another one, up to and including a turn.

        Raises:
            AhpError: such as `NotFound`, and `Conflict` while that turn is running (HR-L09).
        """
        if isinstance(session, str):
            params = new_fork(session, turn_id, None)
        else:
            params = new_fork(session.uri, turn_id, session.agent)
        return await self._create(params, tools_by_name(tools))

    async def _create(self, params: CreateSessionParams, tools: Mapping[str, ClientTool]) -> Session:
        client = active_client(self.client_id, self._name, tools) if tools else None
        if client is not None:
            params["activeClient"] = client
        # A repeated request may find the session that the first one created.
        await self._connection.request("createSession", params, is_repeatable=True, means_done=Conflict)
        session = await self.session(params["channel"])
        if client is not None:
            # The host made us active with the session; only the runner does not know the tools yet.
            self._registry.runner(session.uri).offer(tools, client)
        await session.ready()
        return session

    async def session(self, uri: URI, *, tools: Tools = (), turns: int | None = None) -> Session:
        """Subscribe to a session; with tools, as its active client. Returns the same object each time.

        Args:
            uri: the session.
            tools: the application's own tools: typed functions.
            turns: how many of the newest turns to load; `history` loads the others. All by default.

        Raises:
            AhpError: such as `NotFound`; `Refused` if this is not a session.
        """
        own = tools_by_name(tools)
        session = await self._registry.session(uri, turns)
        if own:
            session.become_active(own.values())
        return session

    def _check_model(self, agent: str, model: str | None) -> None:
        offered = [one["id"] for info in self.agents if info["provider"] == agent for one in info["models"]]
        if model is not None and offered and model not in offered:
            raise ValueError(f"there is no model {model!r}; there are {', '.join(offered)}")

    def _only_agent(self) -> str:
        names = [agent["provider"] for agent in self.agents]
        if len(names) == 1:
            return names[0]
        there = f"there are {', '.join(names)}" if names else "the host has none"
        raise ValueError(f"which agent? {there}")

    async def resolve_config(
        self, agent: str | None = None, *, folder: URI | None = None, config: JsonObject | None = None
    ) -> ResolveSessionConfigResult:
        """Return the form of a session's settings, given the choices so far.

        Raises:
            AhpError: such as `NotFound`.
        """
        params = choices(agent, folder, config)
        form: ResolveSessionConfigResult = await self._connection.request(
            "resolveSessionConfig", params, is_repeatable=True
        )
        return form

    async def config_values(
        self,
        setting: str,
        query: str = "",
        *,
        agent: str | None = None,
        folder: URI | None = None,
        config: JsonObject | None = None,
    ) -> list[SessionConfigValueItem]:
        """Return the values that a setting may have.

        Raises:
            AhpError: such as `NotFound`.
        """
        params = {**choices(agent, folder, config), "property": setting, "query": query}
        found = await self._connection.request("sessionConfigCompletions", params, is_repeatable=True)
        return found["items"]  # type: ignore[no-any-return] # checked

    # Terminals

    async def create_terminal(
        self,
        *,
        name: str | None = None,
        folder: URI | None = None,
        cols: int | None = None,
        rows: int | None = None,
        session: URI | None = None,
        uri: URI | None = None,
    ) -> Terminal:
        """Create a terminal and subscribe to it. It belongs to this client, or to a session.

        Raises:
            AhpError: such as `Refused`.
        """
        claim: TerminalClaim = {"kind": "client", "clientId": self.client_id}
        if session is not None:
            chat = (await self.session(session)).chat_uri
            claim = {"kind": "session", "session": session, "chat": chat}
        params = new_terminal(claim, uri=uri, name=name, folder=folder, cols=cols, rows=rows)
        await self._connection.request("createTerminal", params, is_repeatable=True, means_done=Conflict)
        return await self.terminal(params["channel"])

    async def terminal(self, uri: URI) -> Terminal:
        """Subscribe to a terminal. Returns the same object each time.

        Raises:
            AhpError: such as `NotFound`; `Refused` if this is not a terminal.
        """
        return await self._registry.terminal(uri)
