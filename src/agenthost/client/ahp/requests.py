"""Pending requests, and their results. Knows no connection."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.client.ahp.dialect import Call, Dialect
from agenthost.client.ahp.errors import AhpError, Refused, error_from_code
from agenthost.wire.jsonrpc import Failure, Request, Success, encode_message

__all__ = ["OnResult", "PendingRequest", "PendingRequests"]

OnResult: TypeAlias = Callable[[Any], None]
"""Called with a result as soon as it comes, before anything that the host sends after it."""


@dataclass(slots=True)
class PendingRequest:
    """A request that waits for its answer."""

    id: int
    call: Call
    dialect: Dialect
    frame: bytes
    on_result: OnResult | None
    answer: asyncio.Future[Any]


class PendingRequests:
    """All requests that wait for an answer."""

    def __init__(self) -> None:
        self._ids = itertools.count(3)  # the handshake uses those below
        self._pending: dict[int, PendingRequest] = {}

    def create(self, call: Call, dialect: Dialect, on_result: OnResult | None = None) -> PendingRequest:
        """Return a new request, to be sent.

        Raises:
            Refused: the host has nothing of the kind.
        """
        said = dialect.say(call)
        if said is None:
            raise Refused(f"the host has no {call.method} for this")
        number = next(self._ids)
        frame = encode_message(Request(number, *said))
        future = asyncio.get_running_loop().create_future()
        request = PendingRequest(number, call, dialect, frame, on_result, future)
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
            result = request.dialect.read_result(request.call, message.result)
            # Q1: a snapshot has to be loaded before the next action is read, so not in the task that waits.
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
