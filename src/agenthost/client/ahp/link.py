"""The link: one WebSocket to a host, from opening to close. Knows frames, not what is in them.

Failures become errors of `errors`; their class says whether to try again.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, cast

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from agenthost.client.address import read_address
from agenthost.client.ahp.dialect import CurrentDialect, Dialect
from agenthost.client.ahp.errors import (
    AhpError,
    Disconnected,
    NotAhp,
    Refused,
    TakenOver,
    Unauthorized,
    Unreachable,
)
from agenthost.client.ahp.fast_frames import MAX_FRAME, FilteredConnection
from agenthost.client.auth import bearer_headers

__all__ = ["TOO_LARGE", "Link", "Timeouts", "open_link"]

MAX_QUEUED_FRAMES = 1_024
"""How many frames the library may hold back for us."""

POLICY, TOO_LARGE, TAKEN_OVER = 1008, 1009, 4001
"""Close codes."""

CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for the host, in seconds.

    Attributes:
        connect: for a connection.
        answer: for the answer to a request, including the time until a lost connection is back.
        silence: how often to ping the host, and how long to wait for its pong (HR-T03).
    """

    connect: float = 10.0
    answer: float = 60.0
    silence: float = 20.0


async def open_link(url: str, headers: dict[str, str], timeouts: Timeouts) -> "Link":
    """Open a WebSocket. Without headers, use the token of this user's own server.

    Raises:
        AhpError: `Unauthorized`, `NotAhp` or `Unreachable`.
    """
    address = read_address(url)
    # Looked up each time: a restarted server may have a new token.
    token = None if headers else await asyncio.to_thread(address.find_token)
    try:
        socket = await connect(
            url,
            additional_headers=headers or bearer_headers(token),
            user_agent_header="agenthost",
            compression=None,  # costs more than it saves with many small frames
            proxy=None if address.is_local else True,  # no proxy leads back to this machine
            open_timeout=timeouts.connect,
            ping_interval=timeouts.silence,
            ping_timeout=timeouts.silence,
            close_timeout=CLOSE_SECONDS,
            max_size=MAX_FRAME,
            max_queue=MAX_QUEUED_FRAMES,
            create_connection=FilteredConnection,
        )
    except InvalidStatus as error:
        raise _refusal(url, error.response.status_code) from error
    except InvalidURI as error:
        raise NotAhp(f"{url} cannot be used: {error}") from error
    except (InvalidHandshake, OSError, TimeoutError, EOFError) as error:
        raise Unreachable(f"cannot connect to {url}: {_reason(error)}") from error
    return Link(cast("FilteredConnection", socket))


def _refusal(url: str, status: int) -> AhpError:
    if status in (401, 403):
        return Unauthorized(f"{url} needs a valid key (HTTP {status})")
    if status == 429 or status >= 500:
        return Unreachable(f"{url} is unavailable at the moment (HTTP {status})")
    return NotAhp(f"there is no AHP host at {url} (HTTP {status})")


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return "it takes too long"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # asyncio's own message repeats the address
    return str(error) or type(error).__name__


class Link:
    """One connection. Posted frames are sent in order by `write`, which has to run as a task.

    Attributes:
        dialect: how the host is talked to, as the handshake has found.
    """

    def __init__(self, socket: FilteredConnection) -> None:
        self.dialect: Dialect = CurrentDialect()
        self._socket = socket
        self._frames = socket.frames
        self._outbox: deque[bytes] = deque()
        self._posted = asyncio.Event()

    def post(self, frame: bytes) -> None:
        """Queue a frame."""
        self._outbox.append(frame)
        self._posted.set()

    async def send(self, frame: bytes) -> None:
        """Send a frame now, while nothing is posted.

        Raises:
            AhpError: the connection is over.
        """
        try:
            await self._socket.send(frame, text=True)  # one message in each text frame (HR-T02)
        except ConnectionClosed as closed:
            raise _ending(closed) from closed

    async def write(self) -> None:
        """Send what is posted until the connection ends."""
        try:
            while True:
                while self._outbox:
                    await self._socket.send(self._outbox.popleft(), text=True)
                self._posted.clear()
                await self._posted.wait()
        except ConnectionClosed:
            return  # the reader raises it

    async def receive(self) -> bytes:
        """Return the next frame.

        Raises:
            AhpError: the connection is over; the class says whether to try again.
        """
        frames = self._frames
        while frames.is_active and not frames.messages and not frames.is_lost:
            frames.changed.clear()
            await frames.changed.wait()
        # HR-T01: what was filtered came before anything that the library has.
        if frames.messages:
            return frames.messages.popleft()
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as closed:
            raise _ending(closed) from closed

    async def pump(self, receive: Callable[[bytes], None]) -> NoReturn:
        """Call `receive` with each frame, in order, until the connection ends.

        Raises:
            AhpError: the connection is over; the class says whether to try again.
        """
        frames = self._frames
        try:
            while True:
                if frames.is_active and not frames.messages:
                    frames.sink = receive  # from here on no frame waits for this task
                receive(await self.receive())
        finally:
            frames.sink = None

    async def close(self) -> None:
        """End the connection with a closing handshake."""
        await self._socket.close()

    def drop(self) -> None:
        """End the connection at once."""
        self._socket.transport.abort()


def _ending(closed: ConnectionClosed) -> AhpError:
    code = closed.rcvd.code if closed.rcvd is not None else None
    reason = closed.rcvd.reason if closed.rcvd is not None else ""
    if code == POLICY:
        return Unauthorized(f"the host closed the connection: {reason or 'it is not allowed'}", code=code)
    if code == TAKEN_OVER:  # HR-I13
        return TakenOver(reason or "another connection has the same client id", code=code)
    if code == TOO_LARGE:
        return Refused(f"the host refused a message as too large{reason and ': '}{reason}", code=code)
    if closed.sent is not None and closed.sent.code == TOO_LARGE:
        return NotAhp(f"the host sent a message that is larger than {MAX_FRAME} bytes")
    return Disconnected(f"the connection was closed ({reason or code or 'no reason given'})", code=code)
