"""The pending calls of a server, and to which of them an elicitation belongs.

Over HTTP, an elicitation arrives on the stream of its call, as does one in a result (`input_required`): a
context variable tells. Over stdio it names no call, so the call is known only if all pending calls belong to
one turn. From then on such a server gets the calls of one turn at a time, so that no user is asked about
another user's call.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from agenthost.host.authoring.tool_context import ToolContext

__all__ = ["ConnectionLost", "PendingCalls"]

_call: ContextVar[ToolContext | None] = ContextVar("call", default=None)


class ConnectionLost(Exception):
    """The connection has ended. `is_refused` if the server refused the call, and so did not run it."""

    def __init__(self, reason: str, *, is_refused: bool) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


class PendingCalls:
    """The calls that a server is working on."""

    def __init__(self) -> None:
        self._contexts: list[ToolContext] = []
        self._is_exclusive = False
        self._left = asyncio.Event()

    @asynccontextmanager
    async def call(self, context: ToolContext) -> AsyncIterator[None]:
        """Register a call as pending inside the block."""
        while self._is_exclusive and self._has_others(context):
            async with context.waiting():
                await self._left.wait()
        self._contexts.append(context)
        token = _call.set(context)
        try:
            yield
        finally:
            _call.reset(token)
            self._contexts.remove(context)
            left, self._left = self._left, asyncio.Event()
            left.set()

    def _has_others(self, context: ToolContext) -> bool:
        return any(_turn(one) != _turn(context) for one in self._contexts)

    def current(self) -> ToolContext | None:
        """Return the call that a request of the server belongs to; `None` if that is unknown."""
        if (context := _call.get()) is not None:
            return context
        self._is_exclusive = True
        turns = {_turn(one) for one in self._contexts}
        return self._contexts[-1] if len(turns) == 1 else None


def _turn(context: ToolContext) -> tuple[str, str]:
    return (context.session, context.turn_id)
