"""Pending requests, and their results. Knows no connection."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.client.ahp.errors import AhpError, NotAhp, error_from_code
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import Failure, Request, Success, encode_message

__all__ = ["OnResult", "PendingRequest", "PendingRequests", "checked_result"]

OnResult: TypeAlias = Callable[[Any], None]
"""Called with a result as soon as it comes, before anything that the host sends after it."""


@dataclass(slots=True)
class PendingRequest:
    """A request that waits for its answer."""

    id: int
    method: str
    frame: bytes
    on_result: OnResult | None
    answer: asyncio.Future[Any]


def checked_result(method: str, result: Json) -> Any:
    """Return the result of a method if it has the right shape.

    Raises:
        NotAhp: it has not.
    """
    shape = METHODS[method].result
    try:
        return result if shape is None else shape.take(result)
    except InvalidValue as error:
        raise NotAhp(f"the host's answer to {method} violates AHP: {error}") from error


class PendingRequests:
    """All requests that wait for an answer."""

    def __init__(self) -> None:
        self._ids = itertools.count(3)  # the handshake uses those below
        self._pending: dict[int, PendingRequest] = {}

    def create(self, method: str, params: Any, on_result: OnResult | None = None) -> PendingRequest:
        """Return a new request, to be sent."""
        number = next(self._ids)
        frame = encode_message(Request(number, method, params))
        future = asyncio.get_running_loop().create_future()
        request = PendingRequest(number, method, frame, on_result, future)
        self._pending[number] = request
        return request

    def discard(self, request: PendingRequest) -> None:
        """Stop waiting for an answer; a late one is ignored."""
        self._pending.pop(request.id, None)
        request.answer.cancel()

    def resolve(self, message: Success | Failure) -> None:
        """Resolve the request with this id (HR-R01); without one, ignore the answer."""
        request = self._pending.pop(message.id, None) if isinstance(message.id, int) else None
        if request is None or request.answer.done():
            return
        if isinstance(message, Failure):
            self._fail(request, error_from_code(message.code, message.message, message.data))
            return
        try:
            result = checked_result(request.method, message.result)
            if request.on_result is not None:
                request.on_result(result)
        except AhpError as error:
            self._fail(request, error)
        else:
            request.answer.set_result(result)

    def fail_all(self, error: AhpError) -> None:
        """Fail all pending requests."""
        pending, self._pending = self._pending, {}
        for request in pending.values():
            self._fail(request, error)

    @staticmethod
    def _fail(request: PendingRequest, error: AhpError) -> None:
        if not request.answer.done():
            request.answer.set_exception(error)
            request.answer.exception()  # the caller may have given up; asyncio would log it
