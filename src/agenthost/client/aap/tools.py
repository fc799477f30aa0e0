"""Client tools: Python functions of the application that the agent may call.

A function's name, docstring and signature say what the agent needs to know. Whatever it raises becomes a
short text for the model, because a turn has to go on.
"""

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from agenthost.core.docstrings import read_docstring
from agenthost.core.signatures import Signature, read_signature
from agenthost.errors import HostError, InvalidValue
from agenthost.wire.aap.message import Content
from agenthost.wire.aap.tool import ToolSpec
from agenthost.wire.json import Json, encode_json

__all__ = ["ClientTool", "Function", "Tools", "in_thread", "tools_of"]

T = TypeVar("T")

Function: TypeAlias = Callable[..., Any]
"""A typed Python function, `async` or not."""

LONGEST_REASON = 200
"""How much of the message of an unexpected error the model is shown."""

_BLOCKS = {"text": "text", "image": "url"}
"""The kinds of blocks that a result may be made of, and the key that each has."""

log = logging.getLogger("agenthost.client")


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientTool:
    """A function that the agent may call; calling it from Python calls the function.

    Attributes:
        function: what is run, in a thread unless it is `async`.
        signature: what it takes.
        name: how the model calls it.
        title: how people call it.
        description: what it does, for the model.
        timeout: after so many seconds it is given up; without, the limit of the turn holds.
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
        """Make a tool of a function, which says itself what is not given here.

        Raises:
            TypeError: the function takes what has no JSON.
            ValueError: it has no name, or the time-out is not above 0.
        """
        called = name or getattr(function, "__name__", "")
        if not called or called == "<lambda>":
            raise ValueError("a tool needs a name: ClientTool.of(function, name=…)")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"{called}: a timeout is a number of seconds above 0")
        summary = read_docstring(function.__doc__).summary if description is None else description
        return cls(
            function=function,
            signature=read_signature(function),
            name=called,
            title=title,
            description=summary,
            timeout=timeout,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, as if it were no tool."""
        return self.function(*args, **kwargs)

    def spec(self) -> ToolSpec:
        """Describe the tool to the server."""
        schema = self.signature.schema
        spec: ToolSpec = {"name": self.name, "description": self.description, "parameters": schema}
        if self.title:
            spec["title"] = self.title
        return spec

    async def run(self, arguments: Json, limit: float | None = None) -> Content:
        """Run the function, and give what the model is to read; it never raises, unless it is cancelled.

        Cancelling stops an `async` function; one in a thread is left to itself, and what it gives is dropped.
        """
        seconds = self.timeout if self.timeout is not None else limit
        clock = asyncio.timeout(seconds)
        try:
            values = self.signature.read(arguments)
            async with clock:
                return content_of_result(await self._call(values))
        except InvalidValue as error:
            return f"{self.name} was not run: {error}"
        except asyncio.CancelledError:
            # A tool may raise this by itself, for something of its own that was cancelled.
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return f"{self.name} failed: it was cancelled"
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                log.warning("tool %s took longer than %s seconds", self.name, seconds)
                return f"{self.name} took longer than {seconds:g} seconds and was given up"
            return self._told(error)

    async def _call(self, values: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        value = await in_thread(lambda: self.function(**values), f"tool {self.name}")
        # Such as of a function that wraps an asynchronous one.
        return await value if inspect.isawaitable(value) else value

    def _told(self, error: Exception) -> str:
        """Tell the model in a sentence and the log in full; what is said on purpose needs no traceback."""
        if isinstance(error, HostError):
            return str(error) or f"{self.name} failed"
        log.error("tool %s failed", self.name, exc_info=error)
        # The text of an error of the system has names of files, which are nobody else's business.
        said = (isinstance(error, OSError) and error.strerror) or str(error)
        words = " ".join(said.split())
        short = words if len(words) <= LONGEST_REASON else words[:LONGEST_REASON] + "…"
        return f"{self.name} failed: {type(error).__name__}" + (f": {short}" if short else "")


Tools: TypeAlias = Iterable[Function | ClientTool]
"""Functions and tools."""


def tools_of(tools: Tools) -> dict[str, ClientTool]:
    """Give tools by name.

    Raises:
        TypeError: a function takes what has no JSON.
        ValueError: two tools have one name.
    """
    found: dict[str, ClientTool] = {}
    for one in tools:
        tool = one if isinstance(one, ClientTool) else ClientTool.of(one)
        if tool.name in found:
            raise ValueError(f"two tools are called {tool.name!r}")
        found[tool.name] = tool
    return found


def content_of_result(value: Any) -> Content:
    """Turn what a function returned into what the model reads: text, blocks, or anything else as JSON.

    Raises:
        TypeError: it has no JSON.
    """
    if value is None or isinstance(value, str):
        return _clean(value or "")
    if _is_block(value):
        return [value]
    if isinstance(value, list) and value and all(map(_is_block, value)):
        return value
    return encode_json(value).decode()


def _is_block(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in _BLOCKS:
        return False
    return isinstance(value.get(_BLOCKS[value["type"]]), str)


def _clean(text: str) -> str:
    """Replace what UTF-8 cannot hold, such as parts of the name of a file."""
    return text if text.isascii() else text.encode(errors="replace").decode()


async def in_thread(call: Callable[[], T], name: str) -> T:
    """Run a blocking call in a thread of its own, with the caller's context variables.

    The thread is not of a pool, so one that never ends takes nobody's place and does not hold up the end of
    the process. Cancelling leaves it to itself.
    """
    done: Future[tuple[Any, BaseException | None]] = Future()
    done.set_running_or_notify_cancel()  # from now on it cannot be cancelled under the thread's feet

    def work() -> None:
        try:
            done.set_result((call(), None))
        except BaseException as error:  # raised again where it is awaited
            done.set_result((None, error))

    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(work,), name=name, daemon=True).start()
    value, error = await asyncio.wrap_future(done)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return] # what `call` gave
