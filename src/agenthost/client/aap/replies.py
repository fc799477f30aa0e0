"""Replies: what a server answers, as JSON, as events, or as the error that it means."""

import os
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from agenthost.client.aap.errors import (
    NotAap,
    StreamBroke,
    TimedOut,
    Unreachable,
    refusal_of,
)
from agenthost.errors import NotJson, TooLarge
from agenthost.wire.json import Json, decode_json
from agenthost.wire.sse import SseDecoder, SseEvent

__all__ = ["Reply", "plainly", "refuse"]

LARGEST_BODY = 64 * 1024 * 1024
"""How many bytes one body may have: an endless one must not take all memory."""

LARGEST_ERROR = 64 * 1024
LONGEST_SENTENCE = 500
"""How much of what is wrong a server may tell."""


class Reply:
    """An answer that is not an error."""

    def __init__(self, response: httpx.Response, url: str, seconds: float) -> None:
        self._response = response
        self._url = url
        self._seconds = seconds

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of events."""
        return _media_type(self._response) == "text/event-stream"

    async def json(self) -> Json:
        """Read it whole; nothing, if it has no body.

        Raises:
            AapError: it is not JSON, or the connection broke.
        """
        data = await _read(self._response, self._url, self._seconds, LARGEST_BODY)
        if len(data) > LARGEST_BODY:
            raise NotAap(f"{_asked(self._response)} is answered with more than {LARGEST_BODY} bytes")
        if not data:
            return None
        try:
            return decode_json(data)
        except NotJson as error:
            kind = _media_type(self._response) or "something"
            sentence = f"there is no AAP server at {self._url}"
            raise NotAap(f"{sentence}: {_asked(self._response)} is answered with {kind}, not JSON") from error

    async def events(self) -> AsyncGenerator[SseEvent, None]:
        """Read it event by event.

        Raises:
            AapError: the connection broke, or was silent for too long.
        """
        decoder = SseDecoder()
        with plainly(self._url, self._seconds):
            async for chunk in self._response.aiter_bytes():
                try:
                    events = decoder.feed(chunk)
                except TooLarge as error:
                    raise StreamBroke(str(error)) from error
                for event in events:
                    yield event


@contextmanager
def plainly(url: str, seconds: float, connect_seconds: float = 0) -> Iterator[None]:
    """Say what goes wrong on the way in one sentence.

    Raises:
        AapError: something did.
    """
    try:
        yield
    except (httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise Unreachable(f"no connection to {url} came about in {connect_seconds:g} seconds") from error
    except httpx.ConnectError as error:
        raise Unreachable(f"cannot connect to {url}: {_reason(error)}") from error
    except httpx.TimeoutException as error:
        raise TimedOut(f"nothing was heard of {url} for {seconds:g} seconds") from error
    except httpx.TransportError as error:
        raise StreamBroke(f"the connection to {url} broke: {_reason(error)}") from error
    except httpx.HTTPError as error:
        raise NotAap(f"the answer of {url} cannot be read: {error}") from error


async def refuse(response: httpx.Response, url: str, seconds: float) -> None:
    """Raise the error that the status of an answer means, if it means one.

    Raises:
        AapError: with what the server says about it.
    """
    if response.is_success:
        return
    if response.is_redirect:
        place = response.headers.get("Location", "another place")
        raise NotAap(f"{_asked(response)} leads to {place}: use what that begins with as the URL")
    data = await _read(response, url, seconds, LARGEST_ERROR)
    code, message, path = _told(data)
    if message is None:
        message = f"{_asked(response)} is answered with {response.status_code} {response.reason_phrase}"
    elif path and path not in message:
        message = f"{path}: {message}"
    kind = refusal_of(response.status_code)
    wait = _seconds_of(response.headers.get("Retry-After"))
    raise kind(message, status=response.status_code, code=code, path=path, retry_after=wait)


async def _read(response: httpx.Response, url: str, seconds: float, limit: int) -> bytes:
    """Read a body, up to a little more than the limit."""
    data = bytearray()
    with plainly(url, seconds):
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > limit:
                break
    return bytes(data)


def _told(data: bytes) -> tuple[str | None, str | None, str | None]:
    """Read code, sentence and path of an error. Its form is each server's own, so many are understood."""
    try:
        body = decode_json(data)
    except NotJson:
        return None, None, None
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, dict):
        return None, None, None
    message = _text(error.get("message")) or _text(error.get("detail"))
    return _text(error.get("code")), message, _text(error.get("path"))


def _text(value: Json) -> str | None:
    return " ".join(value.split())[:LONGEST_SENTENCE] or None if isinstance(value, str) else None


def _seconds_of(header: str | None) -> float | None:
    """Read `Retry-After`: seconds, or a date."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    if date.tzinfo is None:
        return None
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def _asked(response: httpx.Response) -> str:
    return f"{response.request.method} {response.request.url.copy_with(query=None)}"


def _reason(error: BaseException) -> str:
    """Find what the system said, which is the cause of the cause of what a library says."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno:
            # Its own text has addresses in it; but names that cannot be looked up have numbers of their own.
            return str(cause.strerror) if isinstance(cause, socket.gaierror) else os.strerror(cause.errno)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
