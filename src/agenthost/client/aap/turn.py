"""Turns: one question and its answer, over as many requests as the agent needs.

When the agent waits for the application (P2, P3), tools run and permission is asked, all open calls are
answered together (P7), and the turn goes on. Knows no HTTP and no versions.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from agenthost.client.aap.errors import StreamError, TurnTooLong
from agenthost.client.aap.record import Answer, Record
from agenthost.client.aap.responder import CallResponder
from agenthost.wire.aap.v3 import ApplicationMessage, SSEEvent, ToolCall

__all__ = ["Plan", "Turn", "TurnLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """The limits of a turn.

    Attributes:
        rounds: how often the agent may wait for the application.
        tool_seconds: how long a tool of the application may take, unless it has its own timeout.
        total_seconds: how long the whole turn may take, including tools and questions to people.
    """

    rounds: int = 50
    tool_seconds: float | None = 120.0
    total_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts that a turn works with.

    Attributes:
        messages: what it begins with; empty, if it begins with the answers to open calls.
        open_calls: those calls.
        post: sends one request and yields its events, after adding them to the record.
        responder: answers calls.
        session_id: returns the id of the session, once it has one.
    """

    messages: Sequence[ApplicationMessage]
    open_calls: Sequence[ToolCall]
    post: Callable[[Sequence[ApplicationMessage], Record], AsyncGenerator[SSEEvent, None]]
    responder: CallResponder
    session_id: Callable[[], str]


class Turn(AsyncIterator[SSEEvent]):
    """A turn: an iterator of its events, and its answer.

    Nothing is sent before the first event or the answer is requested. However many requests the turn takes,
    it has one `turn_start` and one `turn_stop`, and a `tool_result` for each of the application's own tools.
    To leave early, `aclose` it or use `async with`; the turn itself goes on at the server (Z1).
    """

    def __init__(self, prepare: Callable[[], Awaitable[Plan]], limits: TurnLimits) -> None:
        self._prepare = prepare
        self._limits = limits
        self._record = Record()
        self._session_id = ""
        self._events = self._limited_events()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SSEEvent:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop listening; the turn goes on at the server."""
        await self._events.aclose()

    async def answer(self) -> Answer:
        """Wait until the turn is over and return its answer, including what was already iterated.

        Raises:
            AapError: the turn was refused, was cut off, or took too long.
        """
        async for _ in self._events:
            pass
        if self._record.stop_reason is None:
            raise StreamError("the turn was closed before it was over")
        return Answer(self._record.stop_reason, self._record.messages, self._session_id)

    async def _limited_events(self) -> AsyncGenerator[SSEEvent, None]:
        """Yield the events until the deadline. It is checked only while waiting for an event."""
        seconds = self._limits.total_seconds
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        events = self._all_events()
        clock = asyncio.timeout_at(deadline)
        try:
            while True:
                clock = asyncio.timeout_at(deadline)
                async with clock:
                    event = await anext(events, None)
                if event is None:
                    return
                yield event
        except TimeoutError as error:
            if clock.expired():
                raise TurnTooLong(f"the turn took longer than {seconds:g} seconds") from error
            raise
        finally:
            await events.aclose()

    async def _all_events(self) -> AsyncGenerator[SSEEvent, None]:
        plan = await self._prepare()
        record = self._record = Record(plan.open_calls)
        messages = plan.messages
        has_begun = not messages
        if has_begun:
            yield {"event": "turn_start"}
        for rounds in range(self._limits.rounds + 1):
            if rounds > 0 or not messages:
                messages = await plan.responder.answer(record.open_calls)
                for result in record.answer(messages):
                    yield {
                        "event": "tool_result",
                        "toolCallId": result["toolCallId"],
                        "content": result["content"],
                    }
            async with aclosing(plan.post(messages, record)) as events:
                async for event in events:
                    if not _is_internal(event, has_begun=has_begun):
                        yield event
                    has_begun = True
            self._session_id = plan.session_id()
            if record.stop_reason != "tool_use":
                return
            if not record.open_calls:
                raise StreamError("the turn waits for tools, but none of its calls is open")
        record.stop_reason = None
        raise TurnTooLong(f"the agent waited for tools more than {self._limits.rounds} times in one turn")


def _is_internal(event: SSEEvent, *, has_begun: bool) -> bool:
    """Return whether an event belongs to one request only, not to the turn."""
    if event["event"] == "turn_start":
        return has_begun
    return event["event"] == "turn_stop" and event["stopReason"] == "tool_use"
