"""Agents as they are declared: who they are, what they offer, and the function that answers.

Knows no session and no running turn. Neighbours: `turn` (what an agent is given), `steps` (what a step
function yields), `tools`.
"""

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from agenthost.core.compaction import compact
from agenthost.core.decisions.grants import Grant
from agenthost.core.transcript import Message
from agenthost.host.options import Option
from agenthost.host.sandbox import Sandbox
from agenthost.host.tools import Tool
from agenthost.host.toolset import ToolSet
from agenthost.host.toolsources import ToolSource
from agenthost.wire.ahp.common import ProtectedResourceMetadata
from agenthost.wire.ahp.config import ConfigSchema
from agenthost.wire.ahp.customization import CustomizationRef
from agenthost.wire.ahp.root import AgentInfo, SessionModelInfo
from agenthost.wire.json import JsonObject

if TYPE_CHECKING:
    from agenthost.host.turn import Turn

__all__ = ["Agent", "Answer", "Command", "Declaration", "Description", "Model", "Option"]

# It is also the scheme of the URIs of its sessions.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,63}")

CONTEXT_TOKENS = 128_000
"""What a model is given at most, if neither it nor its agent says otherwise."""

HistoryKind: TypeAlias = Literal["compacted", "full"]
StreamKind: TypeAlias = Literal["delta", "message", "none"]
ImageKind: TypeAlias = Literal["http", "data"]

Answer: TypeAlias = Callable[["Turn"], "Awaitable[None] | AsyncIterator[Any]"]
"""What answers a turn: `async def` that talks through the turn, or an async generator of one step."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that an agent offers.

    Attributes:
        id: how it is chosen.
        name: how people call it.
        context_tokens: how many tokens it takes.
        vision: whether it sees images.
        config: the form of its settings.
    """

    id: str
    name: str | None = None
    context_tokens: int | None = None
    vision: bool | None = None
    config: ConfigSchema | None = None

    def info(self, provider: str) -> SessionModelInfo:
        """Describe it to clients."""
        info: SessionModelInfo = {"id": self.id, "provider": provider, "name": self.name or self.id}
        if self.context_tokens is not None:
            info["maxContextWindow"] = self.context_tokens
        if self.vision is not None:
            info["supportsVision"] = self.vision
        if self.config is not None:
            info["configSchema"] = self.config
        return info


@dataclass(frozen=True, slots=True)
class Command:
    """Something that an agent does when a message begins with it.

    Attributes:
        name: how it is called, without the slash.
        description: what it does.
    """

    name: str
    description: str = ""


def _say_nothing() -> None:
    """Tell nobody: there is no host yet."""


@dataclass(frozen=True, slots=True)
class Home:
    """What an agent may know of its host.

    Attributes:
        workspace: the folder that sessions work in, unless they say otherwise.
        announce: tells clients that what the agent declares has changed: its models, its title.
        sandbox: what programs run in, if anything.
    """

    workspace: Path = Path()
    announce: Callable[[], None] = _say_nothing
    sandbox: Sandbox | None = None


class Description(TypedDict, total=False):
    """What may be said of an agent beside its name and its models; the attributes of `Agent` explain."""

    title: str
    version: str
    description: str
    tools: Iterable[Tool | ToolSource | Callable[..., Any]]
    options: Sequence[Option]
    history: Sequence[HistoryKind]
    stream: Sequence[StreamKind]
    images: Sequence[ImageKind]
    client_tools: bool
    protected_resources: Sequence[ProtectedResourceMetadata]
    customizations: Sequence[CustomizationRef]
    context_tokens: int
    commands: Sequence[Command]
    mask_errors: bool


class Declaration(Description, total=False):
    """What may be said of an agent beside its name."""

    models: Sequence[Model]


class Agent:
    """An agent. Make one of a function, with `Host.agent`, or of a class that overrides `answer`.

    Attributes:
        name: how applications call it: letters, digits, `-`, `.` and `+`.
        title: how people call it.
        version: of the agent itself.
        description: what it is for.
        tools: the tools that run on the host, and sources of more.
        options: what a session can set.
        models: what a session can choose from; the first is the default.
        history: which kinds of history applications may read.
        stream: in which ways it can answer.
        images: where images may come from; none means that it takes none.
        client_tools: whether clients may bring tools of their own.
        protected_resources: what it needs tokens for.
        customizations: plug-ins that it offers.
        context_tokens: how much it is given to read at most, unless its model says otherwise.
        commands: the words with a slash that it knows, for those who type.
        mask_errors: whether only the class of what its tools raise is shown, not the text; a tool may differ.
        home: what it may know of its host; there before it is started.
    """

    name: str = ""
    title: str | None = None
    version: str = "0.1.0"
    description: str = ""
    tools: Iterable[Tool | ToolSource | Callable[..., Any]] = ()
    options: Sequence[Option] = ()
    models: Sequence[Model] = ()
    history: Sequence[HistoryKind] = ("compacted", "full")
    stream: Sequence[StreamKind] = ("delta", "message", "none")
    images: Sequence[ImageKind] = ()
    client_tools: bool = True
    protected_resources: Sequence[ProtectedResourceMetadata] = ()
    customizations: Sequence[CustomizationRef] = ()
    context_tokens: int = CONTEXT_TOKENS
    commands: Sequence[Command] = ()
    mask_errors: bool = False
    home: Home = Home()

    def __init__(self, name: str = "", answer: Answer | None = None, **declared: Unpack[Declaration]) -> None:
        unknown = sorted(declared.keys() - Declaration.__annotations__.keys())
        if unknown:
            known = ", ".join(Declaration.__annotations__)
            raise TypeError(f"an agent has no {', '.join(unknown)}; it has {known}")
        for key, value in declared.items():
            setattr(self, key, value)
        self.name = name or self.name
        if not _NAME.fullmatch(self.name):
            right = "a letter, then up to 63 letters, digits, '-', '.' or '+'"
            raise ValueError(f"{self.name!r} is no name for an agent: {right}")
        if answer is not None:
            self.description = self.description or inspect.cleandoc(answer.__doc__ or "").partition("\n\n")[0]
            self.answer = answer  # type: ignore[method-assign,assignment] # a function in place of the method
        tools = list(self.tools)
        self.sources = [one for one in tools if isinstance(one, ToolSource)]
        self._own_tools = ToolSet(one for one in tools if not isinstance(one, ToolSource))
        self.toolset = self._own_tools
        self._check()

    def _check(self) -> None:
        kinds = inspect.iscoroutinefunction, inspect.isasyncgenfunction
        function = getattr(self.answer, "__call__", self.answer)  # noqa: B004 - an object may be called too
        if not any(is_kind(one) for one in (self.answer, function) for is_kind in kinds):
            raise TypeError(f"agent {self.name!r}: what answers has to be `async def`, or an async generator")
        for what, names in (
            ("options", [option.name for option in self.options]),
            ("models", [model.id for model in self.models]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"agent {self.name!r} has two {what} called {twice[0]!r}")

    def answer(self, turn: "Turn") -> "Awaitable[None] | AsyncIterator[Any]":
        """Answer a turn; see `Answer`."""
        raise NotImplementedError(f"agent {self.name!r} has no `answer`")

    @cached_property
    def is_stepwise(self) -> bool:
        """Whether it answers step by step: the host runs what it asks for, and calls it again."""
        function = getattr(self.answer, "__call__", self.answer)  # noqa: B004
        return inspect.isasyncgenfunction(self.answer) or inspect.isasyncgenfunction(function)

    @property
    def label(self) -> str:
        """What to call it in front of people."""
        return self.title or self.name

    def model(self, model_id: str | None) -> Model | None:
        """Give the model of this id; without one, the default; nothing for an agent without models."""
        if model_id is None:
            return self.models[0] if self.models else None
        return next((model for model in self.models if model.id == model_id), None)

    def budget(self, model_id: str | None) -> int:
        """Give how many tokens a transcript may have for this model."""
        model = self.model(model_id)
        return (model and model.context_tokens) or self.context_tokens

    def compact(self, messages: Sequence[Message], budget: int) -> list[Message]:
        """Give what the model is to see of a transcript: all, if it fits. Agents may do it their way."""
        return compact(messages, budget)

    async def suggest_title(self, messages: Sequence[Message]) -> str | None:
        """Suggest a title for a session, given its first turn; asked for in the background."""
        return None

    def gather_tools(self) -> None:
        """Take a new tool set: the tools declared, and those that the sources have at this moment."""
        self.toolset = self._own_tools.joined(
            (source.name, one) for source in self.sources for one in source.tools()
        )

    def grant_of(self, call: JsonObject) -> Grant | None:
        """Return what a key must have to approve this tool call, as the state shows it; nothing means any."""
        one = None if "toolClientId" in call else self.toolset.get(call["toolName"])
        return None if one is None else one.grant

    def info(self) -> AgentInfo:
        """Describe it to clients."""
        info: AgentInfo = {
            "provider": self.name,
            "displayName": self.label,
            "description": self.description,
            "models": [model.info(self.name) for model in self.models],
        }
        if self.protected_resources:
            info["protectedResources"] = list(self.protected_resources)
        if self.customizations:
            info["customizations"] = list(self.customizations)
        return info

    async def accepts(self, resource: str, token: str) -> bool:
        """Tell whether a token is good for a protected resource; agents that can ask its issuer should."""
        return bool(resource and token)

    def commands_of(self, session: str) -> Sequence[Command]:
        """Give the words with a slash that it knows in a session, by its URI."""
        return self.commands if session else ()

    async def wait_known(self) -> None:
        """Wait until it is known what the agent offers; most know it from the start. Within bounds."""

    async def start(self) -> None:
        """Get ready; called once, when the host opens."""

    async def stop(self) -> None:
        """Let go of everything; called once, when the host closes. Sessions stay."""

    async def prepare(self, session: str) -> None:
        """Get ready for a new session, by its URI. What this raises fails its creation."""

    async def forget(self, session: str) -> None:
        """Drop what belongs to a session, by its URI: it was removed for good."""
