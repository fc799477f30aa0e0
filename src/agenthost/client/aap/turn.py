"""Turns: one question and all that follows, over as many requests as the agent needs.

When the agent waits for the application, its tools are run and its permission is asked for, all open calls
are answered together, and the turn goes on. Knows neither HTTP nor versions.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from agenthost.client.aap.answering import Answering
from agenthost.client.aap.errors import StreamBroke, TurnTooLong
from agenthost.client.aap.record import Answer, Record
from agenthost.wire.aap.v3 import ApplicationMessage, SSEEvent, ToolCall

__all__ = ["Plan", "Turn", "TurnLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """How far a turn may go.

    Attributes:
        rounds: how often the agent may ask for something of the application.
        tool_seconds: how long a tool of the application without a time-out of its own may take.
        total_seconds: how long the whole turn may take, the tools and the people who are asked included.
    """

    rounds: int = 50
    tool_seconds: float | None = 120.0
    total_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How a turn is done.

    Attributes:
        messages: what it begins with; none, if it begins with the answers to open calls.
        open_calls: those.
        post: sends one request and gives the events that follow; the record knows them already.
        answering: answers calls.
        session_id: gives the id of the session, once it has one.
    """

    messages: Sequence[ApplicationMessage]
    open_calls: Sequence[ToolCall]
    post: Callable[[Sequence[ApplicationMessage], Record], AsyncGenerator[SSEEvent, None]]
    answering: Answering
    session_id: Callable[[], str]


class Turn(AsyncIterator[SSEEvent]):
    """A turn: its events, once, as they come; or its answer, when it is over.

    Nothing is sent before the first event or the answer is asked for. However many requests there are, there
    is one `turn_start` and one `turn_stop`, and results of the application's own tools show as `tool_result`.
    Who leaves early should `aclose` it, or use `async with`; the turn itself goes on at the server.
    """

    def __init__(self, prepare: Callable[[], Awaitable[Plan]], limits: TurnLimits) -> None:
        self._prepare = prepare
        self._limits = limits
        self._record = Record()
        self._session_id = ""
        self._events = self._limited()

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
        """Listen no longer."""
        await self._events.aclose()

    async def answer(self) -> Answer:
        """Wait until the turn is over, and give all of it, what was seen as events included.

        Raises:
            AapError: it cannot be done, broke, or took too long.
        """
        async for _ in self._events:
            pass
        if self._record.stop_reason is None:
            raise StreamBroke("the turn was left before it was over")
        return Answer(self._record.stop_reason, self._record.messages, self._session_id)

    async def _limited(self) -> AsyncGenerator[SSEEvent, None]:
        """Give the events, each before the time is over; what is done with them does not count as a wait."""
        seconds = self._limits.total_seconds
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        events = self._steps()
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

    async def _steps(self) -> AsyncGenerator[SSEEvent, None]:
        plan = await self._prepare()
        record = self._record = Record(plan.open_calls)
        messages = plan.messages
        has_begun = not messages
        if has_begun:
            yield {"event": "turn_start"}
        for rounds in range(self._limits.rounds + 1):
            if rounds > 0 or not messages:
                messages = await plan.answering.answer(record.open_calls)
                for result in record.answer(messages):
                    yield {
                        "event": "tool_result",
                        "toolCallId": result["toolCallId"],
                        "content": result["content"],
                    }
            async with aclosing(plan.post(messages, record)) as events:
                async for event in events:
                    if not _is_inner(event, has_begun=has_begun):
                        yield event
                    has_begun = True
            self._session_id = plan.session_id()
            if record.stop_reason != "tool_use":
                return
            if not record.open_calls:
                raise StreamBroke("the turn waits for tools, but all its calls have results")
        record.stop_reason = None
        raise TurnTooLong(f"the agent asked for tools more than {self._limits.rounds} times in one turn")


def _is_inner(event: SSEEvent, *, has_begun: bool) -> bool:
    """Tell whether an event is only about one request of several."""
    if event["event"] == "turn_start":
        return has_begun
    return event["event"] == "turn_stop" and event["stopReason"] == "tool_use"
