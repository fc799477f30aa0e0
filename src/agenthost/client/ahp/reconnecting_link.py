"""The reconnecting link: one WebSocket after the other, so that there is always one if the host allows it.

The first connection begins with `initialize`, later ones with `reconnect`. A host that refuses `reconnect`
gets `initialize` again.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeAlias

from agenthost.client.ahp.backoff import Backoff
from agenthost.client.ahp.dialect import Dialect
from agenthost.client.ahp.errors import (
    AhpError,
    Closed,
    Disconnected,
    NotAhp,
    Refused,
    TakenOver,
    TimedOut,
    Unauthorized,
    Unreachable,
    VersionMismatch,
)
from agenthost.client.ahp.events import Connected, ConnectionEvent, ConnectionLost
from agenthost.client.ahp.handshake import HandshakeSettings, initialize, reconnect
from agenthost.client.ahp.link import TOO_LARGE, Link, Timeouts, open_link
from agenthost.client.ahp.observable_replica import ObservableReplica, OutgoingAction
from agenthost.client.ahp.requests import PendingRequests
from agenthost.wire.ahp.commands.connection import InitializeResult
from agenthost.wire.jsonrpc import Notification, encode_message

__all__ = ["OnFrame", "ReconnectingLink", "send_action"]

log = logging.getLogger("agenthost.client")

FINAL = (Unauthorized, VersionMismatch, TakenOver, Closed)
"""Errors after which reconnecting is pointless."""

SHORT_SECONDS = 1.0
"""A connection that ends sooner counts as a failed attempt."""

OnFrame: TypeAlias = Callable[[bytes, Link], None]
"""Handles a frame that came by a link."""


class ReconnectingLink:
    """Keeps a link to one host. `on_event` is called when it comes or goes."""

    def __init__(
        self,
        settings: HandshakeSettings,
        replica: ObservableReplica,
        requests: PendingRequests,
        *,
        timeouts: Timeouts,
        backoff: Backoff,
        on_frame: OnFrame,
        on_event: Callable[[ConnectionEvent], None],
    ) -> None:
        self.welcome: InitializeResult | None = None
        self._settings = settings
        self._replica = replica
        self._requests = requests
        self._timeouts = timeouts
        self._backoff = backoff
        self._on_frame = on_frame
        self._on_event = on_event
        self._link: Link | None = None
        self._is_open = asyncio.Event()
        self._dialect: Dialect | None = None  # of a host that may resume
        self._error: AhpError | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def current(self) -> Link | None:
        """The link, if there is one now."""
        return self._link

    @property
    def error(self) -> AhpError | None:
        """Why there will be no link any more; None if there may be."""
        return self._error

    async def wait(self) -> Link:
        """Wait for a link.

        Raises:
            AhpError: there will be none.
        """
        while True:
            if self._error is not None:
                raise self._error
            if self._link is not None:
                return self._link
            if self._task is None:
                raise Closed("the client is not connected yet: use `async with`, or `connect`")
            await self._is_open.wait()

    # Opening and closing

    async def start(self) -> None:
        """Connect for the first time.

        Raises:
            AhpError: it failed; the first attempt is not repeated.
        """
        if self._error is not None:
            raise self._error
        if self._task is not None:
            return  # connected, or reconnecting
        link = await self._connect()
        self._task = asyncio.create_task(self._run(link), name="agenthost client")

    async def aclose(self) -> None:
        """Close the link and fail everything that waits for it."""
        link = self._link
        self._end(Closed("the client was closed"))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if link is not None:
            await link.close()

    def _end(self, error: AhpError) -> None:
        if self._error is not None:
            return
        self._error = error
        self._link = None
        self._requests.fail_all(error)
        self._replica.close(error)
        self._is_open.set()  # wakes up `wait`, which raises

    # Serving

    async def _run(self, link: Link) -> None:
        """Serve one link after the other."""
        clock = asyncio.get_running_loop().time
        attempts = 0
        while True:
            began = clock()
            error = await self._serve(link)
            if isinstance(error, FINAL):
                self._give_up(error)
                return
            self._lose(error)
            try:
                # A host that takes connections and drops them at once is not called again without a pause.
                attempts = attempts + 1 if clock() - began < SHORT_SECONDS else 0
                link = await self._reconnect(attempts)
            except AhpError as final:
                self._give_up(final)
                return

    async def _serve(self, link: Link) -> AhpError:
        """Read until the link ends, and return why it did."""
        writer = asyncio.create_task(link.write())
        on_frame = self._on_frame
        try:
            await link.pump(lambda frame: on_frame(frame, link))
        except AhpError as error:
            return error
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            if self._error is None:
                link.drop()

    def _lose(self, error: AhpError) -> None:
        self._link = None
        self._is_open.clear()
        if error.code == TOO_LARGE:
            # Which message was too large is unknown, and sending it again would end the next connection too.
            self._replica.abandon_sent()
        lost = error if isinstance(error, Refused) else Disconnected(f"{error}; its outcome is unknown")
        self._requests.fail_all(lost)
        self._on_event(ConnectionLost(error, is_final=False))

    def _give_up(self, error: AhpError) -> None:
        if self._error is None:
            self._end(error)
            self._on_event(ConnectionLost(error, is_final=True))

    # Connecting

    async def _reconnect(self, attempt: int) -> Link:
        """Connect again, with as many attempts as it takes.

        Raises:
            AhpError: it is pointless, or took too long.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            await asyncio.sleep(self._backoff.delay(attempt))
            attempt += 1
            try:
                return await self._connect()
            except FINAL:
                raise
            except AhpError as error:
                log.info("not connected yet: %s", error)
                limit = self._backoff.give_up_after
                if limit is not None and clock() - began > limit:
                    raise Unreachable(f"gave up after {clock() - began:.0f} seconds: {error}") from error

    async def _connect(self) -> Link:
        link = await open_link(self._settings.url, self._settings.headers, self._timeouts)
        try:
            async with asyncio.timeout(self._timeouts.answer):
                event = await self._shake_hands(link)
        except TimeoutError:
            link.drop()
            raise TimedOut("the host did not answer the handshake") from None
        except BaseException:
            link.drop()
            raise
        # Nothing was read after the answer to the handshake, so everything after it arrives in order.
        self._link = link
        # Before anybody else can send: actions keep their order.
        for outgoing in self._replica.unanswered():
            send_action(outgoing, link)
        self._is_open.set()
        self._on_event(event)
        return link

    async def _shake_hands(self, link: Link) -> Connected:
        if self._dialect is not None:
            try:
                result = await reconnect(link, self._replica, self._dialect)
            except (Refused, NotAhp) as error:
                # `initialize` would be refused for the same reason.
                if isinstance(error, VersionMismatch):
                    raise
                log.info("the host refused to resume, so the client initializes again: %s", error)
                self._dialect = None
            else:
                return Connected(result["type"], self._replica.resume(result))
        self.welcome, gone = await initialize(link, self._settings, self._replica)
        self._dialect = link.dialect
        return Connected("initialize", gone)


def send_action(outgoing: OutgoingAction, link: Link) -> None:
    """Send an action over a link, as its host knows it."""
    outgoing.is_sent = True
    try:
        said = link.dialect.dispatches(outgoing.params)
    except Refused as error:  # it was dispatched while there was no link, and this host does not know it
        outgoing.dispatched.resolve(error)
        return
    for params in said:
        link.post(encode_message(Notification("dispatchAction", params)))
