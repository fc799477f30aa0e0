"""The connection: requests, notifications and actions to one host, whatever becomes of its links."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from agenthost.client.ahp.backoff import Backoff
from agenthost.client.ahp.dialect import Call
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import AhpError, Closed, Disconnected, Refused, TimedOut
from agenthost.client.ahp.events import Connected, ConnectionEvent
from agenthost.client.ahp.handshake import HandshakeSettings
from agenthost.client.ahp.link import Timeouts
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.client.ahp.receiver import OnAccessRequest, Receiver
from agenthost.client.ahp.reconnecting_link import ReconnectingLink, send_action
from agenthost.client.ahp.requests import OnResult, PendingRequests
from agenthost.client.ahp.tasks import BackgroundTasks
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.commands.connection import InitializeResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.jsonrpc import Notification, encode_message

__all__ = ["Connection"]

log = logging.getLogger("agenthost.client")


class Connection:
    """Talks to one host.

    Callbacks: `on_connected` runs after each handshake, `on_notification` with each notification of the host,
    and `on_stale` with resources whose state has to be fetched again.

    Attributes:
        replica: the states of all subscribed resources.
        tasks: what runs in the background until the connection is closed.
    """

    def __init__(
        self,
        settings: HandshakeSettings,
        replica: ObservableReplica,
        *,
        timeouts: Timeouts,
        backoff: Backoff,
        on_access_request: OnAccessRequest,
        on_connected: Callable[[], None],
        on_notification: Callable[[Call], None],
        on_stale: Callable[[URI], None],
    ) -> None:
        self.replica = replica
        self.tasks = BackgroundTasks()
        self._timeouts = timeouts
        self._on_connected = on_connected
        self._requests = PendingRequests()
        receiver = Receiver(
            replica,
            self._requests,
            self.tasks,
            on_access_request=on_access_request,
            on_notification=on_notification,
            on_stale=on_stale,
        )
        self._link = ReconnectingLink(
            settings,
            replica,
            self._requests,
            timeouts=timeouts,
            backoff=backoff,
            on_frame=receiver.receive,
            on_event=self._on_event,
        )
        self._tokens: dict[str, str] = {}
        self._listeners: list[Callable[[ConnectionEvent], object]] = []

    # Life

    async def open(self) -> None:
        """Connect for the first time.

        Raises:
            AhpError: it failed.
        """
        await self._link.start()

    async def aclose(self) -> None:
        """End the connection. Everything that waits fails with `Closed`."""
        await self._link.aclose()
        await self.tasks.aclose()

    @property
    def is_open(self) -> bool:
        """Whether there is a link to the host now."""
        return self._link.current is not None

    @property
    def has_several_clients(self) -> bool:
        """Whether several clients can be active in a session of this host."""
        link = self._link.current
        return link is None or link.dialect.has_several_clients

    @property
    def has_changesets(self) -> bool:
        """Whether sessions of this host may offer changesets."""
        link = self._link.current
        return link is None or link.dialect.has_changesets

    @property
    def error(self) -> AhpError | None:
        """Why the connection is over for good; None if it is not."""
        return self._link.error

    @property
    def welcome(self) -> InitializeResult:
        """The host's answer to `initialize`.

        Raises:
            Closed: there was none.
        """
        if self._link.welcome is None:
            raise Closed("the client was never connected")
        return self._link.welcome

    def listen(self, listener: Callable[[ConnectionEvent], object]) -> Callable[[], None]:
        """Call this when the connection comes or goes; returns a function that stops it."""
        # A new list: `_on_event` may be going through the old one.
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    def _on_event(self, event: ConnectionEvent) -> None:
        if isinstance(event, Connected):
            self._on_connected()
            for resource, token in self._tokens.items():
                self.tasks.spawn(self.authenticate(resource, token))
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener of the connection failed")

    # Talking

    async def request(
        self,
        method: str,
        params: Any,
        *,
        on_result: OnResult | None = None,
        is_repeatable: bool = False,
        means_done: type[AhpError] | None = None,
    ) -> Any:
        """Send a request and return its result.

        Args:
            method: the method.
            params: its params.
            on_result: called with the result before anything that the host sends after it.
            is_repeatable: whether to send it again if the connection is lost before the answer.
            means_done: the refusal of a repeated request that means that the first one succeeded.

        Raises:
            AhpError: the host refuses, does not answer, or cannot be reached.
        """
        clock = asyncio.timeout(self._timeouts.answer)
        try:
            async with clock:
                return await self._request(method, params, on_result, is_repeatable, means_done)
        except TimeoutError:
            # Not ours, such as a timeout of the caller.
            if not clock.expired():
                raise
            state = "" if self.is_open else "; there is no connection at the moment"
            raise TimedOut(f"no answer to {method} in {self._timeouts.answer:g} seconds{state}") from None

    async def _request(
        self,
        method: str,
        params: Any,
        on_result: OnResult | None,
        is_repeatable: bool,  # noqa: FBT001 - passed on
        means_done: type[AhpError] | None,
    ) -> Any:
        is_repeat = False
        while True:
            link = await self._link.wait()
            request = self._requests.create(Call(method, params), link.dialect, on_result)
            link.post(request.frame)
            try:
                return await request.answer
            except Disconnected:
                if not is_repeatable:
                    raise
            except Refused as error:
                # Only of a repeat: the first request may have been carried out, with its answer lost.
                if is_repeat and means_done is not None and isinstance(error, means_done):
                    return None
                raise
            finally:
                self._requests.discard(request)
            is_repeat = True

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, if there is a link; it would mean nothing on the next one."""
        link = self._link.current
        said = None if link is None else link.dialect.say(Call(method, params))
        if link is not None and said is not None:
            link.post(encode_message(Notification(*said)))

    def dispatch(self, channel: URI, action: Action) -> DispatchedAction:
        """Apply an action here at once, and send it as soon as there is a link.

        Raises:
            AhpError: there is no state of its channel, the host does not know it, or the connection is over.
        """
        if self._link.error is not None:
            raise self._link.error
        link = self._link.current
        if link is not None:
            # Raises if the host does not know the action, before it is shown as done.
            link.dialect.dispatches({"channel": channel, "clientSeq": 0, "action": action})
        outgoing = self.replica.submit(channel, action)
        if link is not None:
            send_action(outgoing, link)
        return outgoing.dispatched

    async def authenticate(self, resource: str, token: str) -> None:
        """Send the host a token, now and after each reconnection.

        Raises:
            AhpError: such as `AuthRequired` for an invalid token.
        """
        params = {"channel": ROOT_URI, "resource": resource, "token": token}
        await self.request("authenticate", params, is_repeatable=True)
        # Only now: a token that was refused is not sent again.
        self._tokens[resource] = token
