"""A connection of AHP 0.1, from its handshake to its end, whatever carries its messages.

Messages are read in order. What changes the order of things (subscriptions, dispatches, sessions that come
and go) is done in that order; what only takes time (files, lists, completions) is done beside it. All that is
sent goes through one outbox, so that no action overtakes the answer that it belongs after.
"""

import asyncio
import contextlib
import logging
from contextlib import suppress
from typing import Any

from msgspec import Raw

from agenthost.edges.ahp.refusals import failure_of
from agenthost.edges.ahp.transport import Line, Outbox, Transport
from agenthost.edges.ahp.v0_1 import commands
from agenthost.edges.ahp.v0_1.frames import frame_of, frames_of, news_of
from agenthost.edges.ahp.v0_1.sight import Sight
from agenthost.errors import HostError, InvalidValue, SessionNotFound, SlowConsumer
from agenthost.host.callers import Caller
from agenthost.host.catalogue import Notice
from agenthost.host.feeds import Feed, View
from agenthost.host.host import Host
from agenthost.host.identity import Identity
from agenthost.host.senders import Sender
from agenthost.host.session import Session
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.ahp.snapshot import Snapshot
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
from agenthost.wire.mismatch import quote
from agenthost.wire.names import check_names

__all__ = ["Connection"]

log = logging.getLogger("agenthost.ahp")

CLOSE_CUT = 1011
CLOSE_SLOW = 4008
AT_ONCE = 32
"""How many requests of one client may be under way beside each other."""

MOST_SUBSCRIPTIONS = 10_000
"""How many resources may be named at once."""

TRIGGERS = ["@", "/"]


REST_SECONDS = 2.0
"""How long a client that has ended its side is still answered."""


class Connection:
    """One client, connected.

    Attributes:
        host: what it is connected to.
        owner: whose sessions it sees; `None` sees all.
        rights: what it may do.
        client_id: what it calls itself.
        identity: who it is, among the clients of all owners.
        locale: the language it wants to read.
        sender: the connection as one that actions come by, once it is open.
    """

    def __init__(
        self,
        host: Host,
        transport: Transport,
        caller: Caller,
        client_id: str,
        version: str,
        line: Line,
    ) -> None:
        self.host = host
        self.owner = caller.owner
        self.rights = caller.rights
        self.client_id = client_id
        self.identity = Identity.of(caller.owner, client_id)
        self.version = version
        self.locale: str | None = None
        self._transport = transport
        self._line = line
        self._sight = Sight(host.terminals, host.engine.sessions, caller.owner)
        self._outbox = Outbox(self.identity, host.limits, lambda why: line.end(CLOSE_SLOW, why))
        self.feed: Feed = host.engine.feed_for(self._outbox)
        self.sender: Sender | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_sending = False
        self._slots = asyncio.Semaphore(AT_ONCE)

    # The handshake

    async def open(self, request: Request, params: Any) -> None:
        """Answer the message that opens the connection.

        Raises:
            HostError: it cannot be opened so.
        """
        self.host.clients.joined(self.identity)
        try:
            await self._sight.open()
            is_new = request.method == "initialize"
            result = await (self._initialize(params) if is_new else self._reconnect(params))
            last_seen = None if is_new else params["lastSeenServerSeq"]
            self.sender = await self.host.engine.senders.join(self.identity, self.tell, last_seen)
        except BaseException:
            self.feed.close()
            self.host.clients.left(self.identity)
            raise
        # First of all that is sent: nothing that happened since may come before it.
        self._outbox.put_first(encode_message(Success(request.id, result)))

    async def _initialize(self, params: Any) -> Json:
        self.locale = params.get("locale")
        visible = await self._visible(params.get("initialSubscriptions", []), "$.initialSubscriptions")
        views = await self.feed.subscribe_all(visible)
        return {
            "protocolVersion": self.version,
            "serverSeq": self.host.engine.journal.shown_seq,
            "snapshots": [self.snapshot_of(view) for view in views],
            "defaultDirectory": self.host.workspace_of(self.owner).as_uri(),
            "completionTriggerCharacters": TRIGGERS,
        }

    async def _reconnect(self, params: Any) -> Json:
        wanted = list(dict.fromkeys(params["subscriptions"]))
        visible = await self._visible(wanted, "$.subscriptions")
        resumed = await self.feed.resume(params["lastSeenServerSeq"], visible)
        if resumed.replay is None:
            return {"type": "snapshot", "snapshots": [self.snapshot_of(view) for view in resumed.views]}
        missing = [uri for uri in wanted if uri not in visible or uri in resumed.missing]
        return {
            "type": "replay",
            "actions": [Raw(envelope) for envelope in self._sight.replay(resumed.replay)],
            "missing": missing,
        }

    async def _visible(self, uris: list[str], at: str) -> list[str]:
        """Give those of the resources that this client may see."""
        if len(uris) > MOST_SUBSCRIPTIONS:
            raise InvalidValue(at, f"at most {MOST_SUBSCRIPTIONS} resources", str(len(uris)))
        found = []
        for uri in dict.fromkeys(uris):
            with contextlib.suppress(HostError):
                await self.check_subscribable(uri)
                found.append(uri)
        return found

    # Who may see what

    async def check_visible(self, uri: str) -> None:
        """Refuse a resource that is not there, or belongs to somebody else.

        Raises:
            SessionNotFound: no difference is made between the two.
        """
        if uri == ROOT_URI or self.host.terminals.is_visible(uri, self.owner):
            return
        await self.session(uri)

    async def check_subscribable(self, uri: str) -> None:
        """Refuse a resource that this client does not see, or that it may not follow.

        Raises:
            GrantMissing, SwitchedOff: with what is missing.
            SessionNotFound: as `check_visible` does.
        """
        await self.check_visible(uri)
        if uri != ROOT_URI:
            is_terminal = self.host.terminals.is_visible(uri, self.owner)
            self.rights.check(f"subscribe/{'terminal' if is_terminal else 'session'}")

    def snapshot_of(self, view: View) -> Snapshot:
        """Give a view as it travels."""
        state = self._sight.root(view.state) if view.uri == ROOT_URI else view.state
        return {"resource": view.uri, "state": state, "fromSeq": view.seq}

    async def session(self, uri: str) -> Session:
        """Give a session that this client may see.

        Raises:
            SessionNotFound: there is none, or it belongs to somebody else.
        """
        session = await self.host.engine.sessions.get(uri)
        if self.owner not in (None, session.row.owner):
            raise SessionNotFound(uri)
        return session

    # Life

    async def run(self) -> None:
        """Read and write until the connection ends."""
        stop_listening = self.host.catalogue.listen(self._notice)
        writer = asyncio.create_task(self._write())
        writer.add_done_callback(self._written)
        try:
            await self._read()
            await self._say_the_rest(writer)
        finally:
            # First all that takes no time: nothing may come between.
            stop_listening()
            self.feed.close()
            self.host.clients.left(self.identity)
            if self.sender is not None:
                self.host.engine.senders.leave(self.sender)
            writer.remove_done_callback(self._written)
            tasks = [writer, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _say_the_rest(self, writer: asyncio.Task[None]) -> None:
        """Answer what was asked before the client ended its side: on a pipe it may still be reading."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                await asyncio.gather(*self._tasks, return_exceptions=True)
                while not writer.done() and (self._outbox.backlog or self._is_sending):  # noqa: ASYNC110
                    await asyncio.sleep(REST_SECONDS / 1000)

    def _written(self, writer: asyncio.Task[None]) -> None:
        """End the connection, as nothing more can be sent."""
        error = writer.exception()
        if not isinstance(error, OSError | SlowConsumer):
            log.error("a client could not be sent what it should be", exc_info=error)
        self._line.end(CLOSE_CUT, "nothing more can be sent")

    async def _write(self) -> None:
        """Send what is in the outbox, in order."""
        send, outbox, sight = self._transport.send, self._outbox, self._sight
        while True:
            self._is_sending = False
            items = await outbox.wait_next()
            self._is_sending = True
            for item in items:
                if outbox.is_message(item):
                    await send(item.text)
                    outbox.sent(item)
                elif sight.is_partial(item):
                    seen = sight.envelope(item)
                    if seen is not None:
                        await send(frame_of(seen))
                else:
                    for frame in item.shared(frames_of):
                        await send(frame)

    async def _read(self) -> None:
        """Take messages, one after the other."""
        while (data := await self._transport.receive()) is not None:
            await self._outbox.wait_room()
            try:
                message = decode_message(data, is_trusted=False)
            except BadFrame as bad:
                if bad.reply is not None:
                    self.send(bad.reply)
                continue
            await self._take(message)

    async def _take(self, message: Message) -> None:
        if isinstance(message, Request):
            if message.method in commands.BESIDE:
                await self._slots.acquire()
                task = asyncio.create_task(self._answer_beside(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                await self._answer(message)
        elif isinstance(message, Notification):
            await self._hear(message)
        # Answers to requests of ours: there are none so far.

    async def _answer_beside(self, request: Request) -> None:
        try:
            await self._answer(request)
        finally:
            self._slots.release()

    async def _answer(self, request: Request) -> None:
        """Answer a request, exactly once."""
        handler = commands.REQUESTS.get(request.method)
        if handler is None:
            is_opening = request.method in ("initialize", "reconnect")
            code = ErrorCode.INVALID_REQUEST if is_opening else ErrorCode.METHOD_NOT_FOUND
            unknown = f"there is no method {quote(request.method)}"
            sentence = "the connection is open already" if is_opening else unknown
            self.send(Failure(request.id, code, sentence))
            return
        try:
            params = METHODS[request.method].params.take(request.params)
            check_names(params)
            self.rights.check(request.method, params)
            # No await between a handler's last step and its answer: what follows comes after it.
            self.send(Success(request.id, await handler(self, params)))
        except Exception as error:
            if not isinstance(error, HostError):
                log.exception("%s failed", request.method)
            self.send(failure_of(error, request.id))

    async def _hear(self, notification: Notification) -> None:
        handler = commands.NOTIFICATIONS.get(notification.method)
        if handler is None:
            return
        try:
            await handler(self, notification.params)
        except HostError as error:
            log.info("%s of a client was ignored: %s", notification.method, error)
        except Exception:
            log.exception("%s failed", notification.method)

    def send(self, message: Message) -> None:
        """Queue a message."""
        self._outbox.put(encode_message(message))

    def tell(self, shown: Shown) -> None:
        """Queue what only this client is shown. As a message: no later view of the resource holds it."""
        self._outbox.put(frame_of(shown.envelope).encode())

    def _notice(self, notice: Notice) -> None:
        if self.owner in (None, notice.owner) and self.rights.may("listSessions"):
            self.send(Notification("notification", {"notification": news_of(notice)}))
