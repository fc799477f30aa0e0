"""Tools: typed Python functions that a model may call. Knows nothing of sessions or permissions.

Related: `signatures` (what a function takes), `tool_context` (what it can use while it runs), `tool_results`
(what it returns), `toolset` (tools by name).
"""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypedDict, Unpack, overload

from agenthost.core.decisions.grants import Grant
from agenthost.core.docstrings import read_docstring
from agenthost.core.signatures import SchemaSignature, Signature, read_signature
from agenthost.core.tool_text import describe_error
from agenthost.errors import HostError, InvalidValue
from agenthost.host.authoring.scope import FindScope, Scope
from agenthost.host.authoring.threads import run_in_thread
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolOutcome, ToolResult, failure, outcome_of
from agenthost.wire.ahp.tool import ObjectSchema, ToolAnnotations, ToolDefinition
from agenthost.wire.json import Json, JsonObject, encode_json

__all__ = ["Tool", "ToolContext", "ToolOptions", "ToolOutcome", "ToolResult", "tool"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The tool names that every model provider accepts."""

MAX_WORD = 80
"""How many characters of an argument are shown in `invocation`."""

logger = logging.getLogger("agenthost.tools")

FindEdits: TypeAlias = Callable[..., Any]
"""Takes what the tool takes; returns the blocks of the edits that it would make (`ToolContext.edited`)."""


class ToolOptions(TypedDict, total=False):
    """What may be declared of a tool besides its function; see the attributes of `Tool`."""

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
        signature: the function's parameters.
        name: its name for the model.
        title: its name for people.
        description: what it does, for the model.
        read_only: it changes nothing. This and the next three are hints; None if not declared.
        destructive: it may undo or overwrite, not only add.
        idempotent: running it twice has the same effect as once.
        open_world: it reaches beyond this machine.
        exposed: whether clients see it, and can switch it on.
        trusted: whether it runs without asking, unless the session says otherwise.
        resumable: a call that was interrupted by a restart finds what it began, and continues.
        timeout: its time limit in seconds; None for the caller's limit.
        editable: whether the user can change its input when approving it.
        needs_result_confirmation: whether its result must be approved before the model sees it.
        invocation: what a call does, for people, with its arguments filled in: `Read {path}`.
        preview: returns the edits that a call would make, to show with the question; runs in a thread unless
            `async`.
        scope: returns what an approval for the session covers, if not all calls of the tool.
        mask_errors: whether to show only the class of an exception that it raises, not its text; None for the
            agent's setting. The text of a `ToolError` is always shown.
        source: where it comes from, if that is another server: an approval then covers only the definition
            that was shown (see `tool_pins`).
        believed: whether the host acts on the hints, and does not only show them.
        grant: the grant that a key needs to approve or trust it, such as `run` if it runs programs.
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
            raise ValueError(f"{self.name!r} is not a valid tool name: use 1 to 64 letters, digits, _ or -")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"{self.name}: the timeout must be a number of seconds above 0")
        try:
            self.told({})
        except (KeyError, ValueError, IndexError):
            known = ", ".join(self.schema.get("properties", {})) or "none"
            raise ValueError(
                f"{self.name}: `invocation` names an unknown parameter; the tool takes {known}"
            ) from None

    @classmethod
    def of(cls, function: Callable[..., Any], **options: Unpack[ToolOptions]) -> "Tool":
        """Make a tool from a function. Its name, docstring and signature are the defaults.

        Raises:
            TypeError: a parameter has no JSON type, or the function is a generator.
            ValueError: the name is not valid for a tool.
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
        """Make a tool whose input is described by a JSON Schema.

        `function` has the parameters `arguments`, for the input, and `context`. It has to check patterns and
        formats itself.

        Raises:
            ValueError: the name is not valid for a tool.
        """
        said: ToolOptions = {"name": getattr(function, "__name__", ""), **options}
        return cls(function=function, signature=SchemaSignature(schema), **said)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function directly."""
        return self.function(*args, **kwargs)

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of the input."""
        return self.signature.schema

    @property
    def label(self) -> str:
        """Its name for people: the title, if it has one."""
        return self.title or self.name

    @property
    def is_repeatable(self) -> bool:
        """Whether a call that may have run already can safely be run again."""
        is_harmless = self.believed and (self.read_only or self.idempotent)
        return bool(is_harmless or self.resumable)

    def read(self, arguments: Json) -> dict[str, Any]:
        """Check arguments without running anything, such as before the user is asked to approve them.

        Raises:
            InvalidValue: they do not match the schema.
        """
        return self.signature.read(arguments)

    def told(self, arguments: JsonObject) -> str:
        """Return in a few words what a call is about to do (HR-U05)."""
        if self.invocation is None:
            return self.label
        fields = self.schema.get("properties", {})
        given = {name: arguments.get(name, fields[name].get("default", "")) for name in fields}
        return self.invocation.format_map({name: _short(value) for name, value in given.items()})

    @property
    def runs_commands(self) -> bool:
        """Whether its scopes are commands, which are approved one by one."""
        return self.grant == "run" and self.scope is not None

    def scope_of(self, arguments: JsonObject) -> Scope | None:
        """Return what an approval of this call for the whole session would cover; None means all calls."""
        if self.scope is None:
            return None
        try:
            return self.scope(**self.read(arguments))
        except InvalidValue:
            return Scope.exactly(arguments)
        except Exception:
            logger.exception("the scope function of tool %s failed", self.name)
            return Scope.exactly(arguments)

    def definition(self) -> ToolDefinition:
        """Return the definition that models and clients get."""
        schema: ObjectSchema = {"type": "object"}
        schema.update(self.schema)  # type: ignore[typeddict-item] # it may have more keywords
        definition: ToolDefinition = {"name": self.name, "inputSchema": schema}
        if self.title:
            definition["title"] = self.title
        if self.description:
            definition["description"] = self.description
        if annotations := self.annotations():
            definition["annotations"] = annotations
        return definition

    def annotations(self) -> ToolAnnotations:
        """Return the hints that were declared."""
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
        """Check the arguments, run the function, and return the outcome, also if it raises.

        Cancelling stops an `async` function; one in a thread goes on by itself, and its result is dropped.
        `limit`, in seconds, and `mask_errors` apply if the tool does not declare its own.
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
            # A tool may also raise this itself, because something of its own was cancelled.
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
        value = await run_in_thread(partial(self.function, **values), self.name)
        # A plain function may wrap an asynchronous one.
        return await value if inspect.isawaitable(value) else value

    def _timed_out(self, seconds: float | None) -> ToolOutcome:
        logger.warning("tool %s took longer than %s seconds", self.name, seconds)
        return self._failure(f"{self.name} took longer than {seconds} seconds and was given up", "timeout")

    def _raised(self, error: BaseException, *, masked: bool) -> ToolOutcome:
        """Return one sentence for the model, and log the rest. A `ToolError` is deliberate: no traceback."""
        if isinstance(error, HostError):
            logger.info("tool %s raised %s", self.name, type(error).__name__)
        else:
            logger.error("tool %s failed", self.name, exc_info=error)
        return self._failure(describe_error(error, self.name, masked=masked), "failed")

    def _failure(self, sentence: str, code: str) -> ToolOutcome:
        return failure(sentence, title=self.label, code=code)


def _short(value: Json) -> str:
    text = " ".join((value if isinstance(value, str) else encode_json(value).decode()).split())
    return text if len(text) <= MAX_WORD else text[: MAX_WORD - 1] + "…"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Turn a function into a tool: `@tool`, or `@tool(read_only=True)`."""
    if function is not None:
        return Tool.of(function, **options)
    return lambda function: Tool.of(function, **options)
