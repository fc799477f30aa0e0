"""Link: one WebSocket to a host, from its opening to its end. Knows no protocol above frames.

What goes wrong becomes an error of `errors`, so that whoever holds the link can tell what to try again.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn, cast
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from agenthost.client.address import read_address
from agenthost.client.ahp.errors import (
    AhpError,
    Disconnected,
    NotAhp,
    Refused,
    TakenOver,
    Unauthorized,
    Unreachable,
)
from agenthost.client.ahp.quick import LARGEST_FRAME, QuickConnection

__all__ = ["Link", "Timeouts", "checked_url", "headers_of", "open_link"]

FRAMES_AT_ONCE = 1_024
"""How many frames may wait to be read, where the library reads them."""

POLICY, TOO_LARGE, TAKEN_OVER = 1008, 1009, 4001

CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for the host, in seconds.

    Attributes:
        connect: for a connection.
        answer: for the answer to a request; while the connection is away, for that to come back too.
        silence: after so long without a sign of life the host is asked for one, and given the same time.
    """

    connect: float = 10.0
    answer: float = 60.0
    silence: float = 20.0


def checked_url(url: str | None) -> str:
    """Return the URL of a host's WebSocket, however the host is named.

    Raises:
        ValueError: it cannot be used.
    """
    return read_address(url).ahp


def headers_of(key: str | None) -> dict[str, str]:
    """Give the headers that say who we are.

    Raises:
        ValueError: the key cannot be sent.
    """
    if key is None:
        return {}
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is made of printable ASCII characters, without spaces")
    return {"Authorization": f"Bearer {key}"}


async def open_link(url: str, headers: dict[str, str], timeouts: Timeouts) -> "Link":
    """Open a WebSocket; without headers, with the token of a server of this user.

    Raises:
        AhpError: `Unauthorized`, `NotAhp` or `Unreachable`.
    """
    # Looked up each time: a server that was started anew may have another token.
    token = None if headers else await asyncio.to_thread(read_address(url).find_token)
    try:
        socket = await connect(
            url,
            additional_headers=headers_of(token) if token else headers,
            user_agent_header="agenthost",
            compression=None,  # for many small frames it costs more than it saves
            proxy=None if _is_here(url) else True,
            open_timeout=timeouts.connect,
            ping_interval=timeouts.silence,
            ping_timeout=timeouts.silence,
            close_timeout=CLOSE_SECONDS,
            max_size=LARGEST_FRAME,
            max_queue=FRAMES_AT_ONCE,
            create_connection=QuickConnection,
        )
    except InvalidStatus as error:
        raise _refusal(url, error.response.status_code) from error
    except InvalidURI as error:
        raise NotAhp(f"{url} cannot be used: {error}") from error
    except (InvalidHandshake, OSError, TimeoutError, EOFError) as error:
        raise Unreachable(f"no connection to {url}: {_plainly(error)}") from error
    return Link(cast("QuickConnection", socket))


def _refusal(url: str, status: int) -> AhpError:
    if status in (401, 403):
        return Unauthorized(f"{url} wants a valid key (HTTP {status})")
    if status == 429 or status >= 500:
        return Unreachable(f"{url} cannot be used now (HTTP {status})")
    return NotAhp(f"{url} is no address of an AHP host (HTTP {status})")


def _plainly(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return "it takes too long"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # asyncio's own words repeat the address
    return str(error) or type(error).__name__


def _is_here(url: str) -> bool:
    """Tell whether a URL is of this machine: no proxy leads back to it."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Link:
    """One connection. What is posted is sent in order, by `write`, which has to run beside."""

    def __init__(self, socket: QuickConnection) -> None:
        self._socket = socket
        self._waiting: deque[bytes] = deque()
        self._news = asyncio.Event()

    def post(self, frame: bytes) -> None:
        """Queue a frame."""
        self._waiting.append(frame)
        self._news.set()

    async def send(self, frame: bytes) -> None:
        """Send a frame now, while nobody posts any.

        Raises:
            AhpError: the connection is over.
        """
        try:
            await self._socket.send(frame, text=True)
        except ConnectionClosed as closed:
            raise _ending(closed) from closed

    async def write(self) -> None:
        """Send what is posted, until the connection ends."""
        try:
            while True:
                while self._waiting:
                    await self._socket.send(self._waiting.popleft(), text=True)
                self._news.clear()
                await self._news.wait()
        except ConnectionClosed:
            return  # whoever reads hears of it

    async def receive(self) -> bytes:
        """Wait for the next frame.

        Raises:
            AhpError: the connection is over; the kind says whether to try again.
        """
        socket = self._socket
        while not socket.messages and not socket.is_slow and not socket.is_lost:
            socket.news.clear()
            await socket.news.wait()
        if socket.messages:
            return socket.messages.popleft()
        try:
            return await socket.recv(decode=False)
        except ConnectionClosed as closed:
            raise _ending(closed) from closed

    async def pump(self, take: Callable[[bytes], None]) -> NoReturn:
        """Have all frames taken, in order, until the connection ends.

        Raises:
            AhpError: the connection is over; the kind says whether to try again.
        """
        socket = self._socket
        try:
            while True:
                if not socket.messages and not socket.is_slow:
                    socket.sink = take  # from here on nothing waits
                take(await self.receive())
        finally:
            socket.sink = None

    async def close(self) -> None:
        """End the connection in order, if the host has a moment for it."""
        await self._socket.close()

    def drop(self) -> None:
        """End the connection at once."""
        self._socket.transport.abort()


def _ending(closed: ConnectionClosed) -> AhpError:
    code = closed.rcvd.code if closed.rcvd is not None else None
    reason = closed.rcvd.reason if closed.rcvd is not None else ""
    if code == POLICY:
        return Unauthorized(f"the host ended the connection: {reason or 'it is not allowed'}", code=code)
    if code == TAKEN_OVER:
        return TakenOver(reason or "another connection has the same client id", code=code)
    if code == TOO_LARGE:
        return Refused(f"the host found a message too large{reason and ': '}{reason}", code=code)
    if closed.sent is not None and closed.sent.code == TOO_LARGE:
        return NotAhp(f"the host sent a message that is larger than {LARGEST_FRAME} bytes")
    return Disconnected(f"the connection ended ({reason or code or 'without a word'})", code=code)
