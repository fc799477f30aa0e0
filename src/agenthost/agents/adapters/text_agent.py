"""Functions as agents: text in, text out, at once or in pieces. No tools."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, TypeAlias, Unpack

from agenthost.core.transcript import Message
from agenthost.core.turn_transcript import message_text
from agenthost.host.authoring.agent import Agent, Declaration
from agenthost.host.authoring.threads import run_in_thread
from agenthost.host.authoring.turn import Turn

__all__ = ["TextAgent"]

TextFunction: TypeAlias = Callable[..., Any]
"""Takes the user's text, and the messages as a second parameter; returns text or yields pieces of it."""


class TextAgent(Agent):
    """An agent made of a function of text: `TextAgent("echo", stream)`.

    The function may be async or not, and return a text or yield pieces of one. A function that is not async
    runs in a thread. With a second parameter, it also gets the messages of the session.
    """

    client_tools = False

    def __init__(self, name: str, function: TextFunction, **declared: Unpack[Declaration]) -> None:
        declared.setdefault("description", inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0])
        self.function = function
        self._takes_messages = _takes_messages_too(function)
        super().__init__(name, **declared)

    async def answer(self, turn: Turn) -> AsyncIterator[str]:
        """Call the function, and say what it returns or yields."""
        messages = turn.messages
        text = _last_user_text(messages)
        value = await self._call([text, messages] if self._takes_messages else [text])
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

    async def _call(self, given: Sequence[Any]) -> Any:
        call = getattr(self.function, "__call__", self.function)  # noqa: B004 - callable objects, too
        kinds = inspect.iscoroutinefunction, inspect.isasyncgenfunction
        if any(is_kind(one) for one in (self.function, call) for is_kind in kinds):
            value = self.function(*given)
        else:
            value = await run_in_thread(lambda: self.function(*given), self.name)
        return await value if inspect.isawaitable(value) else value


def _last_user_text(messages: Sequence[Message]) -> str:
    """Return the last message of the user, which may have arrived during the turn (steering)."""
    last = next((one for one in reversed(messages) if one["role"] == "user"), None)
    return "" if last is None else message_text(last["content"])


def _takes_messages_too(function: TextFunction) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a C function without a signature
        return False
    return sum(one.kind in kinds and one.default is one.empty for one in parameters) > 1
