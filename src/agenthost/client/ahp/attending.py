"""Attending: a client's life, from connecting to closing, and what the host tells it by itself."""

import logging
import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from agenthost.client.ahp.changes import Echo
from agenthost.client.ahp.errors import AhpError, Closed, NotFound
from agenthost.client.ahp.events import Connected, Event, Patience
from agenthost.client.ahp.files import Files
from agenthost.client.ahp.line import Line
from agenthost.client.ahp.link import Timeouts, checked_url, headers_of
from agenthost.client.ahp.listing import SessionList
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.client.ahp.opening import Opening
from agenthost.client.ahp.reading import Grant, Reader, deny_access
from agenthost.client.ahp.resources import Resources
from agenthost.wire.ahp import PROTOCOL_VERSION, ROOT_URI
from agenthost.wire.ahp.commands.connection import InitializeResult
from agenthost.wire.ahp.notifications import AuthRequiredNotification
from agenthost.wire.ahp.root import AgentInfo, RootState
from agenthost.wire.json import JsonObject

__all__ = ["DEFAULT_AHP_URL", "Attending"]

log = logging.getLogger("agenthost.client")

DEFAULT_AHP_URL = "ws://127.0.0.1:8642/ahp"
"""Where `agenthost serve` serves AHP, unless it is told otherwise."""

AuthAsked: TypeAlias = Callable[[AuthRequiredNotification], object]
"""Hears that the host wants a token, or a new one."""


class Attending:
    """A client, as far as its connection goes. See `AhpClient`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        client_id: str | None = None,
        name: str | None = None,
        locale: str | None = None,
        versions: Sequence[str] = (PROTOCOL_VERSION,),
        grant: Grant = deny_access,
        auth_asked: AuthAsked = lambda _: None,
        timeouts: Timeouts | None = None,
        patience: Patience | None = None,
    ) -> None:
        opening = Opening(checked_url(url), headers_of(key), tuple(versions), locale)
        self.url = opening.url
        self.client_id = client_id or secrets.token_hex(8)
        self._name = name
        self._auth_asked = auth_asked
        self._mirrors = Mirrors(self.client_id)
        self._line = Line(
            opening,
            self._mirrors,
            timeouts=timeouts or Timeouts(),
            patience=patience or Patience(),
            tell=self._connection_changed,
        )
        self._resources = Resources(self._line, self._mirrors, name)
        self._reader = self._line.reader = Reader(
            self._mirrors,
            self._line.calls,
            grant=grant,
            notified=self._notified,
            doubtful=self._resources.doubtful,
        )
        self.sessions = SessionList(self._line)
        self.files = Files(self._line)
        self._tokens: dict[str, str] = {}
        self._listeners: list[Callable[[Event], object]] = []

    # Life

    async def connect(self) -> Self:
        """Connect for the first time.

        Raises:
            AhpError: it cannot be done: `Unreachable`, `Unauthorized`, `VersionMismatch`, `NotAhp`.
        """
        await self._line.start()
        return self

    async def aclose(self) -> None:
        """End the connection. All that waits fails with `Closed`, and nothing is left behind."""
        await self._line.aclose()
        await self._reader.aclose()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._line.is_connected

    @property
    def error(self) -> AhpError | None:
        """Why there will be no connection any more, if that is so."""
        return self._line.error

    @property
    def welcome(self) -> InitializeResult:
        """What the host said when it was first connected: its version, where its files begin.

        Raises:
            Closed: it never was.
        """
        if self._line.welcome is None:
            raise Closed("the client was never connected")
        return self._line.welcome

    @property
    def version(self) -> str:
        """The version of the protocol that was agreed on."""
        return self.welcome["protocolVersion"]

    def listen(self, listener: Callable[[Event], object]) -> Callable[[], None]:
        """Have this called with `Connected` and `Lost`; gives what ends it."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    async def ping(self) -> None:
        """Ask the host for a sign of life.

        Raises:
            AhpError: there is none.
        """
        await self._line.request("ping", {}, is_safe=True)

    # What there is

    @property
    def root(self) -> RootState:
        """What every client sees of the host. Not to be changed.

        Raises:
            AhpError: the client is closed.
        """
        if self._line.error is not None:
            raise self._line.error
        if not self._mirrors.is_watched(ROOT_URI):
            raise NotFound("the host shows nothing of itself")
        return self._mirrors.root()

    @property
    def agents(self) -> list[AgentInfo]:
        """The agents that sessions can be made with."""
        return self.root["agents"]

    def set_host_config(self, values: JsonObject) -> Echo:
        """Change settings of the host."""
        action: Any = {"type": "root/configChanged", "config": values}
        return self._line.act(action)

    async def authenticate(self, resource: str, token: str) -> None:
        """Give the host a token. It is kept here, and given again whenever a connection comes back.

        Raises:
            AhpError: such as `AuthRequired` for a token that is no good.
        """
        await self._line.request("authenticate", {"resource": resource, "token": token}, is_safe=True)
        self._tokens[resource] = token

    # What the host tells

    def _connection_changed(self, event: Event) -> None:
        if isinstance(event, Connected):
            self._resources.came_back()
            for resource, token in self._tokens.items():
                self._reader.spawn(self.authenticate(resource, token))
            if self.sessions.is_loaded:
                self._reader.spawn(self.sessions.load())
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("what was to be told of the connection failed")

    def _notified(self, news: Any) -> None:
        self.sessions.hear(news)
        if news["type"] == "notify/sessionRemoved":
            self._resources.removed(news["session"])
        elif news["type"] == "notify/authRequired":
            self._auth_asked(news)
