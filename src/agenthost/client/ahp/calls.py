"""Calls: requests under way, and what they come to. Knows no connection."""

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.client.ahp.errors import AhpError, NotAhp, refusal_of
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import Failure, Request, Success, encode_message

__all__ = ["Call", "Calls", "Take", "checked_result"]

log = logging.getLogger("agenthost.client")

Take: TypeAlias = Callable[[Any], None]
"""Takes a result the moment it comes, before what the host sends after it."""


@dataclass(slots=True)
class Call:
    """A request that was sent."""

    id: int
    method: str
    frame: bytes
    take: Take | None
    answer: asyncio.Future[Any]


def checked_result(method: str, result: Json) -> Any:
    """Check the result of a method.

    Raises:
        NotAhp: it is not what the protocol says.
    """
    shape = METHODS[method].result
    try:
        return result if shape is None else shape.take(result)
    except InvalidValue as error:
        raise NotAhp(f"the host's answer to {method} breaks the rules: {error}") from error


class Calls:
    """All requests that wait for an answer."""

    def __init__(self) -> None:
        self._numbers = itertools.count(3)  # those before are of the handshake
        self._waiting: dict[int, Call] = {}

    def begin(self, method: str, params: Any, take: Take | None = None) -> Call:
        """Make a request."""
        number = next(self._numbers)
        frame = encode_message(Request(number, method, params))
        call = Call(number, method, frame, take, asyncio.get_running_loop().create_future())
        self._waiting[number] = call
        return call

    def forget(self, call: Call) -> None:
        """Wait for it no more; an answer that comes later is ignored."""
        self._waiting.pop(call.id, None)
        call.answer.cancel()

    def answer(self, message: Success | Failure) -> None:
        """Take an answer; one to nothing that was asked is ignored."""
        call = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if call is None or call.answer.done():
            return
        if isinstance(message, Failure):
            self._fail(call, refusal_of(message.code, message.message, message.data))
            return
        try:
            result = checked_result(call.method, message.result)
            if call.take is not None:
                call.take(result)
        except AhpError as error:
            self._fail(call, error)
        else:
            call.answer.set_result(result)

    def break_off(self, error: AhpError) -> None:
        """Fail all that wait."""
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            self._fail(call, error)

    @staticmethod
    def _fail(call: Call, error: AhpError) -> None:
        if not call.answer.done():
            call.answer.set_exception(error)
            call.answer.exception()  # who asked may have given up
