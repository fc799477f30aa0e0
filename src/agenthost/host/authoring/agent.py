"""Agents as they are declared: who they are, what they offer, and the function that answers.

Knows no session and no running turn. Related: `turn` (what an agent is given), `steps` (what a step function
yields), `tool`.
"""

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from agenthost.core.compaction import compact
from agenthost.core.decisions.grants import Grant
from agenthost.core.queries import client_of
from agenthost.core.session_meta import STAND_IN
from agenthost.core.transcript import Message
from agenthost.host.authoring.models import Command, Model
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_source import ToolSource
from agenthost.host.authoring.toolset import ToolSet
from agenthost.host.authoring.turn import Turn
from agenthost.host.sandbox.bubblewrap import Sandbox
from agenthost.wire.ahp.common import ProtectedResourceMetadata
from agenthost.wire.ahp.customization import Customization
from agenthost.wire.ahp.root import AgentInfo, SessionModelInfo
from agenthost.wire.json import JsonObject

__all__ = ["Agent", "Answer", "Command", "Declaration", "Description", "Model", "Option"]

# A4: the name is also the scheme of the URIs of the agent's sessions.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,63}")

# Clients take URIs with these schemes for something else.
_TAKEN_SCHEME = re.compile(r"(ahp-.*|agenthost-terminal|file|https?|mcp)", re.IGNORECASE)

CONTEXT_TOKENS = 128_000
"""How many tokens a model is given at most, unless it or its agent says otherwise."""

HistoryKind: TypeAlias = Literal["compacted", "full"]
StreamKind: TypeAlias = Literal["delta", "message", "none"]
ImageKind: TypeAlias = Literal["http", "data"]

Answer: TypeAlias = Callable[[Turn], Awaitable[None] | AsyncIterator[Any]]
"""Answers a turn: a coroutine function that uses the turn's methods, or an async generator for one step."""


def _say_nothing() -> None:
    """Do nothing: there is no host yet."""


@dataclass(frozen=True, slots=True)
class Home:
    """What an agent may know about its host.

    Attributes:
        workspace: the folder that sessions work in by default.
        announce: tells clients that the agent's declaration has changed, such as its models or its title.
        sandbox: the sandbox that programs run in, if any.
    """

    workspace: Path = Path()
    announce: Callable[[], None] = _say_nothing
    sandbox: Sandbox | None = None


class Description(TypedDict, total=False):
    """What may be declared of an agent besides its name and models; see the attributes of `Agent`."""

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
    customizations: Sequence[Customization]
    context_tokens: int
    commands: Sequence[Command]
    mask_errors: bool


class Declaration(Description, total=False):
    """What may be declared of an agent besides its name."""

    models: Sequence[Model]


class Agent:
    """An agent. Make one from a function, with `Host.agent`, or from a class that overrides `answer`.

    Attributes:
        name: its name for clients: letters, digits, `-`, `.` and `+`.
        title: its name for people.
        version: the version of the agent itself.
        description: what it is for.
        tools: the tools that run on the host, and tool sources.
        options: what a session can set.
        models: the models that a session can choose from; the first is the default.
        history: the kinds of history that clients may read.
        stream: the stream modes that it supports.
        images: where images may come from; empty if it takes no images.
        client_tools: whether clients may bring their own tools.
        protected_resources: what it needs tokens for.
        customizations: plug-ins that it offers.
        context_tokens: how many tokens it is given at most, unless its model says otherwise.
        commands: its slash commands.
        mask_errors: whether to show only the class of an exception that a tool raises, not its text. A tool
            can override it.
        home: what it may know about its host; set before it is started.
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
    customizations: Sequence[Customization] = ()
    context_tokens: int = CONTEXT_TOKENS
    commands: Sequence[Command] = ()
    mask_errors: bool = False
    home: Home = Home()

    def __init__(self, name: str = "", answer: Answer | None = None, **declared: Unpack[Declaration]) -> None:
        unknown = sorted(declared.keys() - Declaration.__annotations__.keys())
        if unknown:
            known = ", ".join(Declaration.__annotations__)
            raise TypeError(f"unknown arguments for an agent: {', '.join(unknown)}; known are {known}")
        for key, value in declared.items():
            setattr(self, key, value)
        self.name = name or self.name
        if not _NAME.fullmatch(self.name):
            right = "a letter, then up to 63 letters, digits, '-', '.' or '+'"
            raise ValueError(f"{self.name!r} is not a valid agent name: use {right}")
        if _TAKEN_SCHEME.fullmatch(self.name):
            reason = "URIs of its sessions would begin with it, and it is the scheme of something else"
            raise ValueError(f"{self.name!r} is not a valid agent name: {reason}")
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
        function = getattr(self.answer, "__call__", self.answer)  # noqa: B004 - it may be a callable object
        if not any(is_kind(one) for one in (self.answer, function) for is_kind in kinds):
            raise TypeError(f"agent {self.name!r}: `answer` must be `async def` or an async generator")
        for what, names in (
            ("options", [option.name for option in self.options]),
            ("models", [model.id for model in self.models]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"agent {self.name!r} has two {what} called {twice[0]!r}")

    def answer(self, turn: Turn) -> Awaitable[None] | AsyncIterator[Any]:
        """Answer a turn; see `Answer`."""
        raise NotImplementedError(f"agent {self.name!r} has no `answer`")

    @cached_property
    def is_stepwise(self) -> bool:
        """Whether it answers step by step: the host runs the tools that it calls, then runs it again."""
        function = getattr(self.answer, "__call__", self.answer)  # noqa: B004
        return inspect.isasyncgenfunction(self.answer) or inspect.isasyncgenfunction(function)

    @cached_property
    def option_grants(self) -> dict[str, Grant]:
        """The grants needed to set options, by name, for the options that need one."""
        return {option.name: option.grant for option in self.options if option.grant is not None}

    @property
    def label(self) -> str:
        """Its name for people: the title, if it has one."""
        return self.title or self.name

    def model(self, model_id: str | None) -> Model | None:
        """Return the model with this id, or the default without an id; None if the agent has no models."""
        if model_id is None:
            return self.models[0] if self.models else None
        return next((model for model in self.models if model.id == model_id), None)

    def budget(self, model_id: str | None) -> int:
        """Return how many tokens a transcript may have for this model."""
        model = self.model(model_id)
        return (model and model.context_tokens) or self.context_tokens

    def compact(self, messages: Sequence[Message], budget: int) -> list[Message]:
        """Return the part of a transcript that the model gets: all, if it fits. Agents may override it."""
        return compact(messages, budget)

    @property
    def compacts_itself(self) -> bool:
        """Whether it overrides `compact`."""
        return type(self).compact is not Agent.compact

    async def suggest_title(self, messages: Sequence[Message]) -> str | None:
        """Suggest a title for a session, given its first turn. Called in the background."""
        return None

    def gather_tools(self) -> None:
        """Rebuild the tool set from the declared tools and those that the sources have now."""
        self.toolset = self._own_tools.joined(
            (source.name, one) for source in self.sources for one in source.tools()
        )

    def grant_of(self, call: JsonObject) -> Grant | None:
        """Return the grant that a key needs to approve a call from the state; None if any key may."""
        one = None if client_of(call) is not None else self.toolset.get(call["toolName"])
        return None if one is None else one.grant

    def info(self) -> AgentInfo:
        """Return its description for clients."""
        info: AgentInfo = {
            "provider": self.name,
            "displayName": self.label,
            "description": self.description,
            "models": [model.info(self.name) for model in self.models] or [self._stand_in()],
        }
        if self.protected_resources:
            info["protectedResources"] = list(self.protected_resources)
        if self.customizations:
            info["customizations"] = list(self.customizations)
        if self.takes_chats:
            info["capabilities"] = {"multipleChats": {"fork": True, "sideChat": True}}
        return info

    @property
    def takes_chats(self) -> bool:
        """Whether its sessions may have several chats: not if it prepares each session by itself."""
        return type(self).prepare is Agent.prepare

    def _stand_in(self) -> SessionModelInfo:
        """Return a model named like the agent: clients offer no agent without one (A1)."""
        return {"id": self.name, "provider": self.name, "name": self.label, "_meta": {STAND_IN: True}}

    async def accepts(self, resource: str, token: str) -> bool:
        """Return whether a token is valid for a resource. Override it if its issuer can be asked."""
        return bool(resource and token)

    def commands_of(self, session: str) -> Sequence[Command]:
        """Return its slash commands in the session with this URI."""
        return self.commands if session else ()

    async def wait_known(self) -> None:
        """Wait, for a limited time, until it is known what the agent offers. Most know it from the start."""

    async def start(self) -> None:
        """Get ready; called once, when the host opens."""

    async def stop(self) -> None:
        """Release everything; called once, when the host closes. Sessions stay."""

    async def prepare(self, session: str) -> None:
        """Get ready for a new session, by its URI. If this raises, the session's creation fails."""

    async def forget(self, session: str) -> None:
        """Drop everything about a session, by its URI: it was removed for good."""
