"""What a server is busy with: whose call it means when it asks for something while it works on several.

By HTTP a question comes on the stream of its call, and so does one in an answer (`input_required`): the
context variable tells. On pipes it says nothing of calls, so it is known only if all calls under way are of
one turn. A server that has asked like that is given the calls of one turn at a time from then on: nobody is
ever asked what somebody else's call is about.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from agenthost.host.toolcontext import ToolContext

__all__ = ["Lost", "UnderWay"]

_call: ContextVar[ToolContext | None] = ContextVar("call", default=None)


class Lost(Exception):
    """The connection is no more. `is_refused` if the server said so, and has done nothing for the call."""

    def __init__(self, reason: str, *, is_refused: bool) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


class UnderWay:
    """The calls that a server works on."""

    def __init__(self) -> None:
        self._contexts: list[ToolContext] = []
        self._takes_turns = False
        self._left = asyncio.Event()

    @asynccontextmanager
    async def call(self, context: ToolContext) -> AsyncIterator[None]:
        """Be a call under way, inside of the block."""
        while self._takes_turns and self._has_others(context):
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

    def asking(self) -> ToolContext | None:
        """Tell which call the server asks for; nothing if that is not known."""
        if (context := _call.get()) is not None:
            return context
        self._takes_turns = True
        turns = {_turn(one) for one in self._contexts}
        return self._contexts[-1] if len(turns) == 1 else None


def _turn(context: ToolContext) -> tuple[str, str]:
    return (context.session, context.turn_id)
