"""Replies: what a server answers, as JSON, as events, or as the error that it stands for."""

import os
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from agenthost.client.aap.errors import (
    NotAap,
    StreamError,
    TimedOut,
    Unreachable,
    error_class,
)
from agenthost.errors import NotJson, TooLarge
from agenthost.wire.json import Json, decode_json
from agenthost.wire.sse import SseDecoder, SseEvent

__all__ = ["Reply", "raise_for_status", "translated_errors"]

MAX_BODY = 64 * 1024 * 1024
"""How many bytes a body may have; an endless one must not exhaust memory."""

MAX_ERROR_BODY = 64 * 1024
MAX_MESSAGE = 500
"""How many characters of a server's error message are shown."""


class Reply:
    """A successful answer."""

    def __init__(self, response: httpx.Response, url: str, seconds: float) -> None:
        self._response = response
        self._url = url
        self._seconds = seconds

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of events."""
        return _media_type(self._response) == "text/event-stream"

    async def json(self) -> Json:
        """Return the whole body; None if it is empty.

        Raises:
            AapError: it is not JSON, or the connection was lost.
        """
        data = await _read(self._response, self._url, self._seconds, MAX_BODY)
        if len(data) > MAX_BODY:
            raise NotAap(f"{_request_line(self._response)} returned more than {MAX_BODY} bytes")
        if not data:
            return None
        try:
            return decode_json(data)
        except NotJson as error:
            kind = _media_type(self._response) or "a body of no type"
            sentence = f"there is no AAP server at {self._url}"
            raise NotAap(f"{sentence}: {_request_line(self._response)} returned {kind}, not JSON") from error

    async def events(self) -> AsyncGenerator[SseEvent, None]:
        """Yield the events of a stream.

        Raises:
            AapError: the connection was lost, or silent for too long.
        """
        decoder = SseDecoder()
        with translated_errors(self._url, self._seconds):
            async for chunk in self._response.aiter_bytes():
                try:
                    events = decoder.feed(chunk)
                except TooLarge as error:
                    raise StreamError(str(error)) from error
                for event in events:
                    yield event


@contextmanager
def translated_errors(url: str, seconds: float, connect_seconds: float = 0) -> Iterator[None]:
    """Raise errors of the HTTP library as our own, with one sentence each.

    Raises:
        AapError: the request failed.
    """
    try:
        yield
    except (httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise Unreachable(f"cannot connect to {url} within {connect_seconds:g} seconds") from error
    except httpx.ConnectError as error:
        raise Unreachable(f"cannot connect to {url}: {_reason(error)}") from error
    except httpx.TimeoutException as error:
        raise TimedOut(f"{url} sent nothing for {seconds:g} seconds") from error
    except httpx.TransportError as error:
        raise StreamError(f"the connection to {url} was lost: {_reason(error)}") from error
    except httpx.HTTPError as error:
        raise NotAap(f"the answer of {url} is not readable: {error}") from error


async def raise_for_status(response: httpx.Response, url: str, seconds: float) -> None:
    """Raise the error that the status of an answer stands for; return if it is a success.

    Raises:
        AapError: with the server's code, message and path.
    """
    if response.is_success:
        return
    if response.is_redirect:
        target = response.headers.get("Location", "another URL")
        raise NotAap(f"{_request_line(response)} redirects to {target}: use the base of that as the URL")
    data = await _read(response, url, seconds, MAX_ERROR_BODY)
    code, message, path = _read_error(data)
    if message is None:
        message = f"{_request_line(response)} returned {response.status_code} {response.reason_phrase}"
    elif path and path not in message:
        message = f"{path}: {message}"
    kind = error_class(response.status_code)
    wait = _retry_after(response.headers.get("Retry-After"))
    raise kind(message, status=response.status_code, code=code, path=path, retry_after=wait)


async def _read(response: httpx.Response, url: str, seconds: float, limit: int) -> bytes:
    """Return a body, up to about one chunk more than the limit."""
    data = bytearray()
    with translated_errors(url, seconds):
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > limit:
                break
    return bytes(data)


def _read_error(data: bytes) -> tuple[str | None, str | None, str | None]:
    """Return code, message and path of an error body. AAP leaves its form open, so several are understood."""
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
    return " ".join(value.split())[:MAX_MESSAGE] or None if isinstance(value, str) else None


def _retry_after(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, which may be a date."""
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


def _request_line(response: httpx.Response) -> str:
    return f"{response.request.method} {response.request.url.copy_with(query=None)}"


def _reason(error: BaseException) -> str:
    """Return what the system said, which is at the end of the chain of causes."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno:
            # str(cause) repeats the address. The error numbers of name lookups are not those of os.strerror.
            return str(cause.strerror) if isinstance(cause, socket.gaierror) else os.strerror(cause.errno)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
