"""The services of the host that a running turn uses."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agenthost.core.conversation import ConversationAction
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.machine import Machine
from agenthost.host.authoring.tool_context import OnAsk, OnProgress, ToolContext
from agenthost.host.limits import Limits
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.turns.tool_calls import WaitFor

__all__ = ["TurnServices"]


class ActIn(Protocol):
    """Applies an action to a session: `Dispatcher.act`."""

    def __call__(
        self,
        session: Session,
        action: ConversationAction,
        *,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
    ) -> None:
        """Apply it."""


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services of the host for one turn.

    Attributes:
        act: applies an action to a session.
        limits: the host's limits.
        slots: limits how many tools run at once.
        context: makes the context of a tool call.
        tools_known: waits, for a limited time, until the tools of an agent are known.
        machine: returns the files and terminals that an agent may use for a session.
        workspace: returns the folder that a session works in.
        options: returns the values of an agent's options in a session, with secrets in plain text.
        is_sandboxed: whether commands run in a sandbox.
        client_call_ready: called when a client has to run a call; that client may be gone.
    """

    act: ActIn
    limits: Limits
    slots: asyncio.Semaphore
    context: Callable[[Session, str, str, OnProgress, OnAsk, WaitFor[Any]], ToolContext]
    tools_known: Callable[[Agent], Awaitable[None]]
    machine: Callable[[Session], Machine]
    workspace: Callable[[Session], Path]
    options: Callable[[Agent, Session], Mapping[str, str]]
    is_sandboxed: bool = False
    client_call_ready: Callable[[Session], None] = lambda _: None
