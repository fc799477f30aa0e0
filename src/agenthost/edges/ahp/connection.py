"""A connection of AHP, from its handshake to its end, whatever its version and whatever carries its messages.

Messages are read in order (HR-T01). Subscriptions, dispatches, and the creation and removal of sessions are
handled in that order; slow requests that do not depend on it (files, lists, completions) run concurrently.
Everything that is sent goes through one outbox, so no action overtakes the answer that it belongs after. The
connection class of each version defines what the messages mean.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

from agenthost.edges.ahp.errors import to_failure
from agenthost.edges.ahp.gathering import gather_text
from agenthost.edges.ahp.peer_context import PeerContext
from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.edges.ahp.transport import ConnectionHandle, Outbox, OutgoingMessage, Transport
from agenthost.errors import Damaged, HostError, InvalidValue, SlowConsumer, StorageError
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.client import HostClient
from agenthost.host.host import Host
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.list_notices import Notice
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.method import Method
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import (
    BadFrame,
    Failure,
    Message,
    Notification,
    Request,
    Success,
    decode_message,
    encode_message,
)
from agenthost.wire.name_limits import check_names

__all__ = ["TRIGGERS", "Connection", "action_frame"]

log = logging.getLogger("agenthost.ahp")

CLOSE_CUT = 1011
CLOSE_SLOW = 4008
MAX_CONCURRENT = 32
"""How many requests of one client may run concurrently."""

MAX_SUBSCRIPTIONS = 10_000
"""How many channels may be named at once."""

TRIGGERS = ["@", "/"]

FINISH_SECONDS = 2.0
"""How long a client that has closed its side is still answered."""

_HEAD, _TAIL = '{"jsonrpc":"2.0","method":"action","params":', "}"

C = TypeVar("C", bound=PeerContext)


def action_frame(envelope: bytes) -> str:
    """Return the message for one envelope (HR-R08)."""
    return f"{_HEAD}{envelope.decode()}{_TAIL}"


def outgoing(message: Message) -> OutgoingMessage:
    """Return a message as it is sent."""
    return OutgoingMessage.of(encode_message(message).decode())


class Connection(ABC, Generic[C]):
    """One client, connected.

    Attributes:
        client: the client, as commands see it.
        methods: the methods of the version.
        requests: the function for each request, `notifications` that for each notification.
        concurrent: the requests that may take time, and do not depend on the order of messages.
        rest_seconds: how long nothing follows the answer to `reconnect`, unless the client says something.
        earlier: the options of its subscriptions on its last connection, if it comes back.
    """

    methods: ClassVar[Mapping[str, Method]]
    requests: ClassVar[Mapping[str, Callable[[Any, Any], Awaitable[Json]]]]
    notifications: ClassVar[Mapping[str, Callable[[Any, Any], Awaitable[None]]]]
    concurrent: ClassVar[Collection[str]]
    rest_seconds: ClassVar[float] = 0.0

    def __init__(
        self,
        host: Host,
        transport: Transport,
        caller: Caller,
        client_id: str,
        version: str,
        handle: ConnectionHandle,
    ) -> None:
        identity = Identity.of(caller.owner, client_id)
        self.version = version
        self._outbox = Outbox(identity, host.limits, lambda why: handle.end(CLOSE_SLOW, why))
        self.client = self._context(host.client(identity, caller), self._outbox, self._deliver)
        self.client.notify = self.send
        self.client.run = self._run_task
        self.earlier = SubscriptionOptions()
        self._transport = transport
        self._handle = handle
        self._tasks: set[asyncio.Task[None]] = set()
        self._opening = ""
        self._is_back = False
        self._is_sending = True  # the answer that opens the connection
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    # Defined by each version

    @abstractmethod
    def _context(self, client: HostClient, outbox: Outbox, deliver: Callable[[LogItem], None]) -> C:
        """Return the client as the commands of this version see it."""

    @abstractmethod
    async def _initialize(self, params: Any) -> Json:
        """Answer `initialize`."""

    @abstractmethod
    async def _reconnect(self, params: Any) -> Json:
        """Answer `reconnect`."""

    @abstractmethod
    def _frames(self, item: LogItem) -> Iterable[str]:
        """Return the messages for an item of the log."""

    @abstractmethod
    def _refusal(self, item: LogItem) -> bytes:
        """Return the envelope of a refusal."""

    @abstractmethod
    def _notice(self, notice: Notice) -> OutgoingMessage | None:
        """Return the message for a change of the list of sessions; `None` if the client gets none."""

    # The handshake

    async def open(self, request: Request, params: Any) -> None:
        """Answer the message that opens the connection.

        Raises:
            HostError: the connection cannot be opened.
        """
        # HR-U06: it counts as connected from now on, also while its states are read.
        self.client.host.join()
        try:
            await self.client.root_view.open()
            is_new = request.method == "initialize"
            result = await (self._initialize(params) if is_new else self._reconnect(params))
            last_seen = None if is_new else params["lastSeenServerSeq"]
            self.client.sender = await self.client.host.open_sender(self._deliver, last_seen)
        except BaseException:
            self.client.close()
            self.client.feed.close()
            self.client.host.leave()
            raise
        # Not in the outbox: actions that follow the snapshots may wait there already.
        self._opening = encode_message(Success(request.id, result)).decode()
        self._is_back = not is_new

    async def _visible(self, uris: list[str], at: str) -> list[str]:
        """Return those of the channels that this client may see (HR-I10)."""
        if len(uris) > MAX_SUBSCRIPTIONS:
            raise InvalidValue(at, f"at most {MAX_SUBSCRIPTIONS} resources", str(len(uris)))
        found = []
        for uri in dict.fromkeys(uris):
            try:
                await self.client.check_subscribable(uri)
            except Damaged:
                continue
            except StorageError:
                raise  # nobody knows whether it is there, so the client must not be told that it is gone
            except HostError:
                continue
            found.append(uri)
        return found

    # Reading and writing

    async def run(self) -> None:
        """Read and write until the connection ends."""
        stop_listening = self.client.host.listen(self._on_notice)
        writer = asyncio.create_task(self._write())
        writer.add_done_callback(self._on_writer_done)
        try:
            await self._read()
            await self._finish_answers(writer)
        finally:
            # First everything that does not await, so that nothing can interrupt it.
            stop_listening()
            self.client.close()
            self.client.feed.close()
            self.client.host.leave()
            if self.client.sender is not None:
                self.client.host.close_sender(self.client.sender)
            # The writer ends because we end it: that is no failure.
            writer.remove_done_callback(self._on_writer_done)
            tasks = [writer, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _finish_answers(self, writer: asyncio.Task[None]) -> None:
        """Answer open requests after the client has closed its side: on a pipe it may still be reading."""
        self._outbox.hold_nothing()
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISH_SECONDS):
                await asyncio.gather(*self._tasks, return_exceptions=True)
                while not writer.done() and (self._outbox.backlog or self._is_sending):  # noqa: ASYNC110
                    await asyncio.sleep(FINISH_SECONDS / 1000)

    def _on_writer_done(self, writer: asyncio.Task[None]) -> None:
        """End the connection, because nothing more can be sent."""
        error = writer.exception()
        # These two are the client's: it is gone, or does not read.
        if not isinstance(error, OSError | SlowConsumer):
            log.error("sending to a client failed", exc_info=error)
        self._handle.end(CLOSE_CUT, "nothing more can be sent")

    async def _write(self) -> None:
        """Send the answer that opens the connection, and then the items of the outbox, in order."""
        send, outbox, root_view = self._transport.send, self._outbox, self.client.root_view
        await send(self._opening)
        self._opening = ""
        if self._is_back:
            await outbox.rest(self.rest_seconds)
        while True:
            self._is_sending = False
            if outbox.delays:
                await outbox.wait_due()
            items = await outbox.wait_next()
            self._is_sending = True
            for item in gather_text(items, outbox.delays) if outbox.delays else items:
                if outbox.is_message(item):
                    await send(item.text)
                    outbox.sent(item)
                elif not root_view.is_partial(item):
                    for frame in self._frames(item):
                        await send(frame)
                elif (seen := root_view.item(item)) is not None:
                    for frame in self._frames(seen):
                        await send(frame)
            del items, item  # an answer may be large, and the next wait long

    async def _read(self) -> None:
        """Read messages, one after the other."""
        while (data := await self._transport.receive()) is not None:
            self._outbox.hear()
            # HR-R07: a client that sends requests and reads no answers is not read either.
            await self._outbox.wait_room()
            try:
                message = decode_message(data, is_trusted=False)
            except BadFrame as bad:
                if bad.reply is not None:
                    self.send(bad.reply)
                continue
            await self._handle_message(message)

    async def _handle_message(self, message: Message) -> None:
        if isinstance(message, Request):
            if message.method in self.concurrent:
                # HR-R07: when all slots are taken, nothing more is read from this client.
                await self._slots.acquire()
                self._run_task(self._answer_concurrently(message))
            else:
                await self._answer(message)
        elif isinstance(message, Notification):
            await self._handle_notification(message)
        # Answers are ignored: we send no requests (HR-R10).

    def _run_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_concurrently(self, request: Request) -> None:
        try:
            await self._answer(request)
        finally:
            self._slots.release()

    def _handler(self, method: str) -> Callable[[Any, Any], Awaitable[Json]] | None:
        """Return the function for a request; `None` if there is no such method in the client's version."""
        return self.requests.get(method)

    async def _answer(self, request: Request) -> None:
        """Answer a request, exactly once (HR-R01)."""
        handler = self._handler(request.method)
        if handler is None:
            is_opening = request.method in ("initialize", "reconnect")
            # HR-I02: a connection is opened once. HR-R03: there is no such method.
            code = ErrorCode.INVALID_REQUEST if is_opening else ErrorCode.METHOD_NOT_FOUND
            unknown = f"there is no method {quote(request.method)}"
            sentence = "the connection is open already" if is_opening else unknown
            self.send(Failure(request.id, code, sentence))
            return
        try:
            params = self.methods[request.method].params.take(request.params)
            check_names(params)
            self.client.host.rights.check(request.method, params)
            # No await between a handler's last step and its answer: actions that follow come after it.
            self.send(Success(request.id, await handler(self.client, params)))
        except Exception as error:
            if not isinstance(error, HostError):
                log.exception("%s failed", request.method)
            self.send(to_failure(error, request.id))

    async def _handle_notification(self, notification: Notification) -> None:
        """Handle a notification. It is never answered, not even with an error (HR-R02)."""
        handler = self.notifications.get(notification.method)
        if handler is None:
            return
        try:
            await handler(self.client, notification.params)
        except HostError as error:
            log.info("%s of a client was ignored: %s", notification.method, error)
        except Exception:
            log.exception("%s failed", notification.method)

    def send(self, message: Message) -> None:
        """Queue a message."""
        self._outbox.put(outgoing(message))

    def _deliver(self, shown: LogItem) -> None:
        """Queue what only this client is shown. As a message, because no later view includes it."""
        self._outbox.put(OutgoingMessage.of(action_frame(self._refusal(shown))))

    def _on_notice(self, notice: Notice) -> None:
        message = self._notice(notice)
        if message is not None:
            self._outbox.put(message)
