"""The line: a connection that comes back by itself, and what goes over it.

A connection is opened with `initialize` once, and with `reconnect` ever after; a host that refuses that is
given `initialize` again. Between two connections requests wait, and actions are kept (see `mirrors`).
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from agenthost.client.ahp.calls import Calls, Take, checked_result
from agenthost.client.ahp.changes import Echo
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
from agenthost.client.ahp.events import Connected, Event, Lost, Patience
from agenthost.client.ahp.link import TOO_LARGE, Link, Timeouts, open_link
from agenthost.client.ahp.mirrors import Mirrors, Outgoing
from agenthost.client.ahp.opening import Opening, open_anew, resume
from agenthost.client.ahp.reading import Reader
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.commands.connection import InitializeResult
from agenthost.wire.jsonrpc import Notification, encode_message

__all__ = ["Line"]

log = logging.getLogger("agenthost.client")

FINAL = (Unauthorized, VersionMismatch, TakenOver, Closed)
"""What no waiting makes good."""

SHORT_SECONDS = 1.0
"""A connection that lasted less than this was none."""


class Line:
    """The way to one host.

    `reader` handles what comes; `tell` is told what becomes of the connection.
    """

    def __init__(
        self,
        opening: Opening,
        mirrors: Mirrors,
        *,
        timeouts: Timeouts,
        patience: Patience,
        tell: Callable[[Event], None],
    ) -> None:
        self.timeouts = timeouts
        self.welcome: InitializeResult | None = None
        self.reader: Reader
        self.calls = Calls()
        self._opening = opening
        self._mirrors = mirrors
        self._patience = patience
        self._tell = tell
        self._link: Link | None = None
        self._is_open = asyncio.Event()
        self._can_resume = False
        self._error: AhpError | None = None
        self._task: asyncio.Task[None] | None = None

    # Life

    async def start(self) -> None:
        """Connect.

        Raises:
            AhpError: it cannot be done; nothing is tried again yet.
        """
        if self._error is not None:
            raise self._error
        if self._task is not None:
            return  # it is, or comes back by itself
        link = await self._connect()
        self._task = asyncio.create_task(self._run(link), name="agenthost client")

    async def aclose(self) -> None:
        """End the connection, and fail all that waits for it."""
        link = self._link
        self.end(Closed("the client was closed"))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if link is not None:
            await link.close()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._link is not None

    @property
    def error(self) -> AhpError | None:
        """Why there will be no connection any more, if that is so."""
        return self._error

    def end(self, error: AhpError) -> None:
        """Have no connection any more."""
        if self._error is not None:
            return
        self._error = error
        self._link = None
        self.calls.break_off(error)
        self._mirrors.end(error)
        self._is_open.set()  # who waits for a connection learns that there is none

    async def _run(self, link: Link) -> None:
        """Serve one connection after the other."""
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
                # One that ends right after it began is no success: the next try waits longer.
                attempts = attempts + 1 if clock() - began < SHORT_SECONDS else 0
                link = await self._again(attempts)
            except AhpError as final:
                self._give_up(final)
                return

    async def _serve(self, link: Link) -> AhpError:
        """Read until the connection ends; gives why."""
        writer = asyncio.create_task(link.write())
        take = self.reader.take
        try:
            await link.pump(lambda frame: take(frame, link))
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
            self._mirrors.give_up_sent()
        broken = (
            error if isinstance(error, Refused) else Disconnected(f"{error}; what became of it is not known")
        )
        self.calls.break_off(broken)
        self._tell(Lost(error, is_final=False))

    def _give_up(self, error: AhpError) -> None:
        if self._error is None:
            self.end(error)
            self._tell(Lost(error, is_final=True))

    async def _again(self, attempt: int) -> Link:
        """Connect anew, as often as it takes.

        Raises:
            AhpError: it is of no use, or took too long.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            await asyncio.sleep(self._patience.wait(attempt))
            attempt += 1
            try:
                return await self._connect()
            except FINAL:
                raise
            except AhpError as error:
                log.info("no connection yet: %s", error)
                if self._patience.seconds is not None and clock() - began > self._patience.seconds:
                    raise Unreachable(f"given up after {clock() - began:.0f} seconds: {error}") from error

    async def _connect(self) -> Link:
        link = await open_link(self._opening.url, self._opening.headers, self.timeouts)
        try:
            async with asyncio.timeout(self.timeouts.answer):
                event = await self._shake_hands(link)
        except TimeoutError:
            link.drop()
            raise TimedOut("the host did not answer the handshake") from None
        except BaseException:
            link.drop()
            raise
        # Nothing was read after the answer that opened the connection, so what follows comes in order.
        self._link = link
        for outgoing in self._mirrors.to_send():
            self._send(outgoing, link)
        self._is_open.set()
        self._tell(event)
        return link

    async def _shake_hands(self, link: Link) -> Connected:
        if self._can_resume:
            try:
                result = checked_result("reconnect", await resume(link, self._mirrors))
            except (Refused, NotAhp) as error:
                if isinstance(error, VersionMismatch):
                    raise
                log.info("the host does not resume, so we begin anew: %s", error)
                self._can_resume = False
            else:
                return Connected(result["type"], self._mirrors.welcome(result))
        welcome, gone = await open_anew(link, self._opening, self._mirrors)
        self.welcome = welcome
        self._can_resume = True
        return Connected("initialize", gone)

    # Talking

    async def request(
        self,
        method: str,
        params: Any,
        *,
        take: Take | None = None,
        is_safe: bool = False,
        done: type[AhpError] | None = None,
    ) -> Any:
        """Ask the host for something, and wait for the answer.

        Args:
            method: what for.
            params: with what.
            take: takes the result before anything that the host sends after it.
            is_safe: whether it may be asked again when a connection breaks.
            done: the refusal that then means that the first time did it.

        Raises:
            AhpError: the host refuses, is silent, or is not there.
        """
        clock = asyncio.timeout(self.timeouts.answer)
        try:
            async with clock:
                return await self._request(method, params, take, is_safe=is_safe, done=done)
        except TimeoutError:
            if not clock.expired():
                raise
            away = "" if self.is_connected else "; there is no connection at present"
            raise TimedOut(f"no answer to {method} in {self.timeouts.answer:g} seconds{away}") from None

    async def _request(
        self, method: str, params: Any, take: Take | None, *, is_safe: bool, done: type[AhpError] | None
    ) -> Any:
        is_again = False
        while True:
            link = await self._connected()
            call = self.calls.begin(method, params, take)
            link.post(call.frame)
            try:
                return await call.answer
            except Disconnected:
                if not is_safe:
                    raise
            except Refused as error:
                if is_again and done is not None and isinstance(error, done):
                    return None
                raise
            finally:
                self.calls.forget(call)
            is_again = True

    async def _connected(self) -> Link:
        while True:
            if self._error is not None:
                raise self._error
            if self._link is not None:
                return self._link
            if self._task is None:
                raise Closed("the client is not connected yet: use `async with`, or `connect`")
            await self._is_open.wait()

    def notify(self, method: str, params: Any) -> None:
        """Tell the host something that has no answer; without a connection it is not worth telling."""
        if self._link is not None:
            self._link.post(encode_message(Notification(method, params)))

    def act(self, action: Action) -> Echo:
        """Let an action happen: here at once, at the host as soon as there is a connection.

        Raises:
            AhpError: what it is about is not watched, or the client is closed.
        """
        if self._error is not None:
            raise self._error
        outgoing = self._mirrors.act(action)
        if self._link is not None:
            self._send(outgoing, self._link)
        return outgoing.echo

    @staticmethod
    def _send(outgoing: Outgoing, link: Link) -> None:
        outgoing.is_sent = True
        link.post(encode_message(Notification("dispatchAction", outgoing.params)))  # type: ignore[arg-type]
