"""Functions as agents: text in, text out, at once or piece by piece. Knows nothing of tools."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, TypeAlias, Unpack

from agenthost.core.recording import plain_text
from agenthost.core.transcript import Message
from agenthost.host.agent import Agent, Declaration
from agenthost.host.toolcontext import run_in_thread
from agenthost.host.turn import Turn

__all__ = ["TextAgent"]

TextFunction: TypeAlias = Callable[..., Any]
"""Takes what the user said, and the messages so far if it has room for them; gives text, or pieces of it."""


class TextAgent(Agent):
    """An agent of a function of text: `TextAgent("echo", stream)`.

    The function may be asynchronous or not, and return a text or yield pieces of one. One that is not
    asynchronous runs in a thread. With two parameters it is given the messages of the session, too.
    """

    client_tools = False

    def __init__(self, name: str, function: TextFunction, **declared: Unpack[Declaration]) -> None:
        declared.setdefault("description", inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0])
        self.function = function
        self._takes_messages = _takes_two(function)
        super().__init__(name, **declared)

    async def answer(self, turn: Turn) -> AsyncIterator[str]:
        """Call the function, and say what it gives."""
        messages = turn.messages
        given: list[Any] = [_said(messages), messages] if self._takes_messages else [_said(messages)]
        value = await self._called(given)
        if isinstance(value, str):
            yield value
        elif isinstance(value, AsyncIterator):
            async for piece in value:
                yield piece
        elif isinstance(value, Iterator):
            while (piece := await run_in_thread(lambda: next(value, None), self.name)) is not None:
                yield piece
        else:
            raise TypeError(f"agent {self.name!r}: expected text or pieces of it, not {type(value).__name__}")

    async def _called(self, given: Sequence[Any]) -> Any:
        call = getattr(self.function, "__call__", self.function)  # noqa: B004 - an object may be called too
        kinds = inspect.iscoroutinefunction, inspect.isasyncgenfunction
        if any(is_kind(one) for one in (self.function, call) for is_kind in kinds):
            value = self.function(*given)
        else:
            value = await run_in_thread(lambda: self.function(*given), self.name)
        return await value if inspect.isawaitable(value) else value


def _said(messages: Sequence[Message]) -> str:
    """Give what the user said last, which may have been said while the agent was at work."""
    last = next((one for one in reversed(messages) if one["role"] == "user"), None)
    return "" if last is None else plain_text(last["content"])


def _takes_two(function: TextFunction) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a function in C that does not say
        return False
    return sum(one.kind in kinds and one.default is one.empty for one in parameters) > 1
