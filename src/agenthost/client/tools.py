"""Client tools: Python functions of the application that the agent may call. Knows no protocol.

A function's name, docstring and signature describe it to the model. Whatever it raises becomes one sentence
for the model, because the turn has to go on.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agenthost.core.docstrings import read_docstring
from agenthost.core.signatures import Signature, read_signature
from agenthost.core.tool_text import describe_error, replace_surrogates
from agenthost.errors import HostError, InvalidValue
from agenthost.threads import run_in_thread
from agenthost.wire.json import Json, encode_json

__all__ = ["ClientTool", "Function", "ToolContent", "ToolFailure", "Tools", "result_content", "tools_by_name"]

Function: TypeAlias = Callable[..., Any]
"""A typed Python function, `async` or not."""

ToolContent: TypeAlias = str | list[dict[str, Any]]
"""The content that the model reads: text, or blocks of text and images as `image` makes them."""

_BLOCKS = {"text": "text", "image": "url"}
"""The types of blocks that a result may have, and the key that each needs."""

log = logging.getLogger("agenthost.client")


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """A call that has no result.

    Attributes:
        message: why, for the model.
        code: why, for programs.
    """

    message: str
    code: Literal["failed", "invalid-input", "timed-out", "unknown-tool"] = "failed"


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientTool:
    """A function that the agent may call; calling it from Python calls the function.

    Attributes:
        function: what runs, in a thread unless it is `async`.
        signature: its parameters.
        name: its name for the model.
        title: its name for people.
        description: what it does, for the model.
        timeout: after how many seconds a call fails; None leaves that to the limits of the turn.
    """

    function: Function
    signature: Signature = field(repr=False)
    name: str
    title: str | None = None
    description: str = ""
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        function: Function,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        timeout: float | None = None,
    ) -> "ClientTool":
        """Make a tool of a function. Name and description default to those of the function.

        Raises:
            TypeError: a parameter has no JSON type.
            ValueError: there is no name, or the timeout is not positive.
        """
        chosen = name or getattr(function, "__name__", "")
        if not chosen or chosen == "<lambda>":
            raise ValueError("a tool needs a name: ClientTool.of(function, name=…)")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"{chosen}: a timeout is a number of seconds above 0")
        summary = read_docstring(function.__doc__).summary if description is None else description
        return cls(
            function=function,
            signature=read_signature(function),
            name=chosen,
            title=title,
            description=summary,
            timeout=timeout,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function directly."""
        return self.function(*args, **kwargs)

    async def run(self, arguments: Json, limit: float | None = None) -> ToolContent | ToolFailure:
        """Run the function and return what the model reads. Raises only if it is cancelled.

        Cancelling stops an `async` function. A thread is abandoned, and its result dropped.
        """
        seconds = self.timeout if self.timeout is not None else limit
        clock = asyncio.timeout(seconds)
        try:
            values = self.signature.read(arguments)
            async with clock:
                return result_content(await self._call(values))
        except InvalidValue as error:
            return ToolFailure(f"{self.name} was not run: {error}", "invalid-input")
        except asyncio.CancelledError:
            # A tool may raise this too, for a task of its own that was cancelled.
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return ToolFailure(f"{self.name} failed: it was cancelled")
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                log.warning("tool %s took longer than %s seconds", self.name, seconds)
                return ToolFailure(
                    f"{self.name} took longer than {seconds:g} seconds and was given up", "timed-out"
                )
            if not isinstance(error, HostError):  # those are raised on purpose and need no traceback
                log.exception("tool %s failed", self.name)
            return ToolFailure(describe_error(error, self.name))

    async def _call(self, values: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        value = await run_in_thread(lambda: self.function(**values), f"tool {self.name}")
        # A plain function may return a coroutine, such as a partial of an `async` one.
        return await value if inspect.isawaitable(value) else value


Tools: TypeAlias = Iterable[Function | ClientTool]
"""Functions and tools."""


def tools_by_name(tools: Tools) -> dict[str, ClientTool]:
    """Return tools by name.

    Raises:
        TypeError: a parameter of a function has no JSON type.
        ValueError: two tools have the same name.
    """
    found: dict[str, ClientTool] = {}
    for one in tools:
        tool = one if isinstance(one, ClientTool) else ClientTool.of(one)
        if tool.name in found:
            raise ValueError(f"two tools are called {tool.name!r}")
        found[tool.name] = tool
    return found


def result_content(value: Any) -> ToolContent:
    """Return what the model reads of a function's result: text, blocks, or anything else as JSON.

    Raises:
        TypeError: the value has no JSON form.
    """
    if value is None or isinstance(value, str):
        return replace_surrogates(value or "")
    if _is_block(value):
        return [value]
    if isinstance(value, list) and value and all(map(_is_block, value)):
        return value
    return encode_json(value).decode()


def _is_block(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in _BLOCKS:
        return False
    return isinstance(value.get(_BLOCKS[value["type"]]), str)
