"""Tools: typed Python functions that a model may call. Knows nothing of sessions or permissions.

Neighbours: `signatures` (what a function takes), `toolcontext` (what it may tell while it runs),
`toolresults` (what came of it), `toolset` (many of them).
"""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, overload

from agenthost.core.decisions.grants import Grant
from agenthost.core.docstrings import read_docstring
from agenthost.core.signatures import SchemaSignature, Signature, read_signature
from agenthost.errors import HostError, InvalidValue
from agenthost.host.previews import FindEdits, FindScope, Scope
from agenthost.host.toolcontext import ToolContext, run_in_thread
from agenthost.host.toolresults import ToolOutcome, ToolResult, failure, outcome_of, sentence_of
from agenthost.wire.ahp.tool import ObjectSchema, ToolAnnotations, ToolDefinition
from agenthost.wire.json import Json, JsonObject, encode_json

__all__ = ["Tool", "ToolContext", "ToolOptions", "ToolOutcome", "ToolResult", "tool"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider of models takes for the name of a tool."""

LONGEST_WORD = 80
"""How much of an argument is in the words that say what a call does."""

logger = logging.getLogger("agenthost.tools")


class ToolOptions(TypedDict, total=False):
    """What may be said of a tool beside its function; the attributes of `Tool` explain."""

    name: str
    title: str
    description: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    exposed: bool
    trusted: bool
    resumable: bool
    timeout: float
    editable: bool
    needs_result_confirmation: bool
    invocation: str
    preview: FindEdits
    scope: FindScope
    mask_errors: bool
    source: str
    believed: bool
    grant: Grant


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """A function that a model may call; calling it from Python calls the function.

    Attributes:
        function: what is run, in a thread unless it is `async`.
        signature: what it takes.
        name: how the model calls it.
        title: how people call it.
        description: what it does, for the model.
        read_only: it changes nothing. This and the next three are hints, absent unless said.
        destructive: it may undo or overwrite, not only add.
        idempotent: doing it twice is the same as once.
        open_world: it reaches beyond this machine.
        exposed: whether applications see it, and may switch it on.
        trusted: whether it runs without asking where a session does not say.
        resumable: a call that was interrupted by a restart finds what it began, and goes on with it.
        timeout: after so many seconds it is given up; without, the caller's limit holds.
        editable: whether its input may be changed by who approves it.
        needs_result_confirmation: whether its result has to be approved before the model sees it.
        invocation: what a call does, for people, with its arguments in it: `Read {path}`.
        preview: gives the edits that a call would make, for who is asked; a thread runs it, unless `async`.
        scope: gives what an approval for the session covers, if not all calls of the tool.
        mask_errors: whether only the class of what it raises is shown, not the text; unless said, the agent's
            own setting holds. The text of a `ToolError` is always shown.
        source: what says where it comes from, if that is another server: an approval is then good only for
            the definition that was shown (see `pins`).
        believed: whether the hints count for what the host does, and are not only shown.
        grant: what a key must have to approve or to trust it, such as `run` for one that runs programs.
    """

    function: Callable[..., Any]
    signature: Signature | SchemaSignature = field(repr=False)
    name: str
    title: str | None = None
    description: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    exposed: bool = True
    trusted: bool = False
    resumable: bool = False
    timeout: float | None = None
    editable: bool = False
    needs_result_confirmation: bool = False
    invocation: str | None = None
    preview: FindEdits | None = None
    scope: FindScope | None = None
    mask_errors: bool | None = None
    source: str | None = None
    believed: bool = True
    grant: Grant | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name for a tool: 1 to 64 letters, digits, _ or -")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"{self.name}: a timeout is a number of seconds above 0")
        try:
            self.told({})
        except (KeyError, ValueError, IndexError):
            known = ", ".join(self.schema.get("properties", {})) or "none"
            raise ValueError(
                f"{self.name}: `invocation` names what the tool does not take; it takes {known}"
            ) from None

    @classmethod
    def of(cls, function: Callable[..., Any], **options: Unpack[ToolOptions]) -> "Tool":
        """Make a tool of a function: its name, docstring and signature say what the options do not.

        Raises:
            TypeError: the function takes what has no JSON, or is a generator.
            ValueError: not a name for a tool.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__}: a generator cannot be a tool; report progress instead")
        said: ToolOptions = {
            "name": getattr(function, "__name__", ""),
            "description": read_docstring(function.__doc__).summary,
            **options,
        }
        return cls(function=function, signature=read_signature(function, ToolContext), **said)

    @classmethod
    def by_schema(
        cls,
        function: Callable[[JsonObject, ToolContext], Awaitable[Any]],
        schema: JsonObject,
        **options: Unpack[ToolOptions],
    ) -> "Tool":
        """Make a tool whose input a JSON Schema describes; `function` takes the input, and the context.

        Its parameters are called `arguments` and `context`. Patterns and formats are for it to check.

        Raises:
            ValueError: not a name for a tool.
        """
        said: ToolOptions = {"name": getattr(function, "__name__", ""), **options}
        return cls(function=function, signature=SchemaSignature(schema), **said)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, as if it were no tool."""
        return self.function(*args, **kwargs)

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of the input."""
        return self.signature.schema

    @property
    def label(self) -> str:
        """What to call the tool in front of people."""
        return self.title or self.name

    @property
    def is_repeatable(self) -> bool:
        """Whether a call that may have run already can safely be run again."""
        is_harmless = self.believed and (self.read_only or self.idempotent)
        return bool(is_harmless or self.resumable)

    def read(self, arguments: Json) -> dict[str, Any]:
        """Check arguments without running anything, such as before somebody is asked to approve them.

        Raises:
            InvalidValue: they do not fit the schema.
        """
        return self.signature.read(arguments)

    def told(self, arguments: JsonObject) -> str:
        """Say in a few words what a call is about to do."""
        if self.invocation is None:
            return self.label
        fields = self.schema.get("properties", {})
        given = {name: arguments.get(name, fields[name].get("default", "")) for name in fields}
        return self.invocation.format_map({name: _short(value) for name, value in given.items()})

    def scope_of(self, arguments: JsonObject) -> Scope | None:
        """Give what an approval of this call for the whole session would cover; nothing means all calls."""
        if self.scope is None:
            return None
        try:
            return self.scope(**self.read(arguments))
        except InvalidValue:
            return Scope.exactly(arguments)
        except Exception:
            logger.exception("the scope of a call of tool %s could not be told", self.name)
            return Scope.exactly(arguments)

    def definition(self) -> ToolDefinition:
        """Describe the tool to whoever may call it."""
        schema: ObjectSchema = {"type": "object"}
        schema.update(self.schema)  # type: ignore[typeddict-item] # further keywords may be there
        definition: ToolDefinition = {"name": self.name, "inputSchema": schema}
        if self.title:
            definition["title"] = self.title
        if self.description:
            definition["description"] = self.description
        if annotations := self.annotations():
            definition["annotations"] = annotations
        return definition

    def annotations(self) -> ToolAnnotations:
        """Give the hints that were given."""
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: hint for name, hint in hints.items() if hint is not None}  # type: ignore[return-value]

    async def run(
        self,
        arguments: Json,
        context: ToolContext | None = None,
        *,
        limit: float | None = None,
        mask_errors: bool = False,
    ) -> ToolOutcome:
        """Check the arguments, run the function, and say what came of it; whatever it raises is an outcome.

        Cancelling stops an `async` function; one in a thread is left to itself and what it gives is dropped.
        `limit`, the time in seconds, and `mask_errors` hold for a tool that does not say.
        """
        try:
            values = self.read(arguments)
        except InvalidValue as error:
            return self._failure(f"{self.name} was not run: {error}", "invalid-arguments")
        context = context or ToolContext()
        if self.signature.context:
            values[self.signature.context] = context
        seconds = self.timeout if self.timeout is not None else limit
        masked = self.mask_errors if self.mask_errors is not None else mask_errors
        return await self._attempt(values, context, seconds, masked=masked)

    async def _attempt(
        self, values: dict[str, Any], context: ToolContext, seconds: float | None, *, masked: bool
    ) -> ToolOutcome:
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                with context.running(clock):
                    value = await self._call(values)
            return outcome_of(value, title=self.label)
        except asyncio.CancelledError as error:
            # A tool may raise this by itself, for something of its own that was cancelled.
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return self._raised(error, masked=masked)
        except (Exception, SystemExit) as error:
            if isinstance(error, TimeoutError) and clock.expired():
                return self._timed_out(seconds)
            return self._raised(error, masked=masked)

    async def _call(self, values: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        value = await run_in_thread(lambda: self.function(**values), self.name)
        # Such as of a function that wraps an asynchronous one.
        return await value if inspect.isawaitable(value) else value

    def _timed_out(self, seconds: float | None) -> ToolOutcome:
        logger.warning("tool %s took longer than %s seconds", self.name, seconds)
        return self._failure(f"{self.name} took longer than {seconds} seconds and was given up", "timeout")

    def _raised(self, error: BaseException, *, masked: bool) -> ToolOutcome:
        """Tell the model in a sentence and the log in full; what is said on purpose needs no traceback."""
        if isinstance(error, HostError):
            logger.info("tool %s raised %s", self.name, type(error).__name__)
        else:
            logger.error("tool %s failed", self.name, exc_info=error)
        return self._failure(sentence_of(error, self.name, masked=masked), "failed")

    def _failure(self, sentence: str, code: str) -> ToolOutcome:
        return failure(sentence, title=self.label, code=code)


def _short(value: Json) -> str:
    text = " ".join((value if isinstance(value, str) else encode_json(value).decode()).split())
    return text if len(text) <= LONGEST_WORD else text[: LONGEST_WORD - 1] + "…"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool: `@tool`, or `@tool(read_only=True)`."""
    if function is not None:
        return Tool.of(function, **options)
    return lambda function: Tool.of(function, **options)
