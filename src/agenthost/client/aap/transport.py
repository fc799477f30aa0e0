"""Transport: requests to one AAP server over HTTP. Knows no sessions and no turns.

Failures become errors of `errors`. Requests are retried where that is safe: if they surely never reached the
server, or only read.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from agenthost.client.aap.errors import AapError, ServerError, StreamError, Unreachable
from agenthost.client.aap.replies import Reply, raise_for_status, translated_errors
from agenthost.client.address import read_address
from agenthost.client.auth import bearer_headers
from agenthost.wire.json import Json, encode_json

__all__ = ["Timeouts", "Transport"]

T = TypeVar("T")

BACKOFF_SECONDS = 0.1
"""How long to wait before the first retry; each further wait doubles."""

MAX_WAIT = 5.0
"""If the server asks for a longer wait, the request fails instead."""

IDLE_SECONDS = 2.0
"""How long to keep an idle connection: shorter than servers do, which might be closing it."""

RETRY_STATUS = frozenset({502, 503, 504})
"""The status codes of proxies and servers during a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for the server, in seconds.

    Attributes:
        connect: for a connection.
        read: for the next bytes; while a turn streams, heartbeats count (Z2).
        answer: for the answer to a turn that does not stream, during which the server is silent.
    """

    connect: float = 10.0
    read: float = 90.0
    answer: float = 600.0


class Transport:
    """Sends requests to one server.

    Raises:
        ValueError: the URL or the key is unusable.
    """

    def __init__(self, url: str | None, key: str | None, timeouts: Timeouts, retries: int) -> None:
        address = read_address(url)
        self.url = _checked(address.aap)
        self.has_no_path = not address.path
        self.timeouts = timeouts
        self._retries = retries
        self._http = httpx.AsyncClient(
            headers={
                "User-Agent": "agenthost",
                **bearer_headers(address.find_token() if key is None else key),
            },
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect, pool=None),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
            trust_env=not address.is_local,  # no proxy leads back to this machine
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def get(self, path: str, **query: str | None) -> Json:
        """Send a GET request and return its body, with retries.

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

        return await self._retry(read, is_reading=True)

    async def send(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request that changes something and return the body of the answer.

        Raises:
            AapError: with what is wrong.
        """
        async with self.open(method, path, body) as reply:
            return await reply.json()

    @asynccontextmanager
    async def open(
        self, method: str, path: str, body: Json = None, *, read: float | None = None
    ) -> AsyncIterator[Reply]:
        """Send a request that changes something; the context is its reply, to be read in pieces.

        `read` is how long to wait for each piece, if not the usual time.

        Raises:
            AapError: with what is wrong.
        """
        response = await self._retry(lambda: self._begin(method, path, body=body, read=read))
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
        options: dict[str, Any] = {"params": query} if query else {}
        if body is not None:
            # Compression could hold back events until a block is full.
            options["headers"] = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            options["content"] = encode_json(body)
        seconds = read or self.timeouts.read
        if read is not None:
            options["timeout"] = httpx.Timeout(read, connect=self.timeouts.connect, pool=None)
        request = self._http.build_request(method, self.url + path, **options)
        with translated_errors(self.url, seconds, self.timeouts.connect):
            response = await self._http.send(request, stream=True)
        try:
            await raise_for_status(response, self.url, seconds)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _retry(self, call: Callable[[], Awaitable[T]], *, is_reading: bool = False) -> T:
        for attempt in range(self._retries):
            try:
                return await call()
            except AapError as error:
                wait = error.retry_after or BACKOFF_SECONDS * 2**attempt
                if wait > MAX_WAIT or not _is_safe(error, is_reading=is_reading):
                    raise
            await asyncio.sleep(wait)
        return await call()


def _is_safe(error: AapError, *, is_reading: bool) -> bool:
    """Return whether to retry. Not after a timeout: that would double a long wait."""
    if isinstance(error, Unreachable):
        return True
    is_temporary = isinstance(error, StreamError) or (
        isinstance(error, ServerError) and error.status in RETRY_STATUS
    )
    return is_reading and is_temporary


def _checked(url: str) -> str:
    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is not a URL: {error}") from None
    return url
