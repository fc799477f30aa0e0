"""Transport: requests to one AAP server over HTTP. Knows no sessions and no turns.

What goes wrong becomes an error of `errors`, and is tried again where that is safe: anything that surely
never reached the server, and reading.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, TypeVar

import httpx

from agenthost.client.aap.errors import AapError, ServerBroke, StreamBroke, Unreachable
from agenthost.client.aap.replies import Reply, plainly, refuse
from agenthost.client.address import read_address
from agenthost.wire.json import Json, encode_json

__all__ = ["Timeouts", "Transport"]

T = TypeVar("T")

BACKOFF_SECONDS = 0.1
"""How long to wait before the second try; each further wait is twice the one before."""

LONGEST_WAIT = 5.0
"""What the server asks to wait longer for is not tried again by itself."""

IDLE_SECONDS = 2.0
"""How long a connection is kept for the next request: less than servers do, which might be closing it."""

TRY_AGAIN = frozenset({502, 503, 504})
"""What a proxy says while the server behind it restarts, and a server that is starting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for the server, in seconds.

    Attributes:
        connect: for a connection.
        read: for the next sign of life; while a turn streams, heartbeats count.
        answer: for the answer to a turn that does not stream, as nothing is heard meanwhile.
    """

    connect: float = 10.0
    read: float = 90.0
    answer: float = 600.0


class Transport:
    """The way to one server.

    Raises:
        ValueError: the URL or the key cannot be used.
    """

    def __init__(self, url: str | None, key: str | None, timeouts: Timeouts, retries: int) -> None:
        address = read_address(url)
        base = _checked(address.aap)
        self.url = address.aap
        self.is_server_alone = not address.path
        """Whether the URL names a server, and nothing on it."""
        self.timeouts = timeouts
        self._retries = retries
        self._http = httpx.AsyncClient(
            headers=_headers(address.find_token() if key is None else key),
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect, pool=None),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
            trust_env=not _is_here(base.host),  # no proxy leads back to this machine
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def get(self, path: str, **query: str | None) -> Json:
        """Read something, more than once if need be.

        Raises:
            AapError: with what is wrong.
        """
        given = {name: value for name, value in query.items() if value is not None}

        async def read() -> Json:
            response = await self._begin("GET", path, query=given)
            try:
                return await Reply(response, self.url, self.timeouts.read).json()
            finally:
                await response.aclose()

        return await self._again(read, is_reading=True)

    async def send(self, method: str, path: str, body: Json = None) -> Json:
        """Ask for something to be done, once.

        Raises:
            AapError: with what is wrong.
        """
        async with self.open(method, path, body) as reply:
            return await reply.json()

    @asynccontextmanager
    async def open(
        self, method: str, path: str, body: Json = None, *, read: float | None = None
    ) -> AsyncIterator[Reply]:
        """Ask for something to be done, once, and give the answer to be read piece by piece.

        `read` is how long to wait for each piece, if it is not the usual time.

        Raises:
            AapError: with what is wrong.
        """
        response = await self._again(lambda: self._begin(method, path, body=body, read=read))
        try:
            yield Reply(response, self.url, read or self.timeouts.read)
        finally:
            await response.aclose()

    async def _begin(
        self,
        method: str,
        path: str,
        *,
        body: Json = None,
        query: Mapping[str, str] | None = None,
        read: float | None = None,
    ) -> httpx.Response:
        more: dict[str, Any] = {"params": query} if query else {}
        if body is not None:
            # A compressed stream could be held back until there is enough of it.
            more["headers"] = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            more["content"] = encode_json(body)
        seconds = read or self.timeouts.read
        if read is not None:
            more["timeout"] = httpx.Timeout(read, connect=self.timeouts.connect, pool=None)
        request = self._http.build_request(method, self.url + path, **more)
        with plainly(self.url, seconds, self.timeouts.connect):
            response = await self._http.send(request, stream=True)
        try:
            await refuse(response, self.url, seconds)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _again(self, call: Callable[[], Awaitable[T]], *, is_reading: bool = False) -> T:
        for attempt in range(self._retries):
            try:
                return await call()
            except AapError as error:
                wait = error.retry_after or BACKOFF_SECONDS * 2**attempt
                if wait > LONGEST_WAIT or not _is_safe(error, is_reading=is_reading):
                    raise
            await asyncio.sleep(wait)
        return await call()


def _is_safe(error: AapError, *, is_reading: bool) -> bool:
    """Tell whether to try again. A silent server is not asked twice: that would be a long wait."""
    if isinstance(error, Unreachable):
        return True
    is_passing = isinstance(error, StreamBroke) or (
        isinstance(error, ServerBroke) and error.status in TRY_AGAIN
    )
    return is_reading and is_passing


def _checked(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no URL: {error}") from None


def _headers(key: str | None) -> dict[str, str]:
    if key is None:
        return {"User-Agent": "agenthost"}
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is made of printable ASCII characters, without spaces")
    return {"User-Agent": "agenthost", "Authorization": f"Bearer {key}"}


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
