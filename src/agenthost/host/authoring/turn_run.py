"""What a `Turn` needs from the host that runs it. Implemented by the package `turns`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from agenthost.core.transcript import Message
from agenthost.host.authoring.machine import Machine
from agenthost.host.authoring.models import Model
from agenthost.host.authoring.questions import Answers, Question
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.state.session import Session
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.message import Message as SentMessage
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.json import JsonObject

__all__ = ["Result", "TextKind", "TurnAgent", "TurnRun"]

TextKind: TypeAlias = Literal["markdown", "reasoning"]
"""The kinds of text that an agent streams: the answer, and its thoughts."""


class Result(str):
    """The result of a call, as the model reads it.

    Attributes:
        ok: whether the tool ran and succeeded.
        structured: the result as a JSON object, if there is one.
        content: the result as blocks, for people.
    """

    __slots__ = ("content", "ok", "structured")

    ok: bool
    structured: JsonObject | None
    content: list[Any]


class TurnAgent(Protocol):
    """The part of `Agent` that a turn uses."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def label(self) -> str:
        """Its name for people."""

    def model(self, model_id: str | None) -> Model | None:
        """Return the model with this id, or the default."""

    def budget(self, model_id: str | None) -> int:
        """Return how many tokens a transcript may have for this model."""

    @property
    def compacts_itself(self) -> bool:
        """Whether it overrides `compact`."""

    def compact(self, messages: Sequence[Message], budget: int) -> list[Message]:
        """Return the part of a transcript that the model gets."""


class TurnRun(Protocol):
    """A running turn, which can act in its session."""

    @property
    def id(self) -> str:
        """The id of the turn."""

    @property
    def uri(self) -> str:
        """The URI of the session."""

    @property
    def session(self) -> Session:
        """The session."""

    @property
    def agent(self) -> TurnAgent:
        """The agent that answers."""

    @property
    def message(self) -> SentMessage:
        """What the user sent."""

    @property
    def turn(self) -> ActiveTurn:
        """The turn as the state has it."""

    @property
    def messages(self) -> list[Message]:
        """The messages of this turn so far."""

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended."""

    @property
    def is_replaying(self) -> bool:
        """Whether the agent still repeats what was shown before a restart."""

    @property
    def machine(self) -> Machine:
        """The files and terminals that the agent may use for the session."""

    def workspace(self) -> Path:
        """Return the folder that the session works in. Reads the disk."""

    def option_values(self) -> Mapping[str, str]:
        """Return the values of the agent's options, with secrets in plain text."""

    def offered_tools(self) -> list[ToolDefinition]:
        """Return the tools that may be called now."""

    def check(self) -> None:
        """Raise `CancelledError` if the turn has ended, to stop an agent that goes on."""

    def say(self, kind: TextKind, text: str) -> bool:
        """Stream text. Return whether it is time to `yield_to_others`."""

    async def yield_to_others(self) -> None:
        """Let other tasks run, and wait while the disk is behind."""

    def notify(self, text: str) -> None:
        """Show a notice that is not part of the answer."""

    def show(self, data: bytes, content_type: str) -> None:
        """Show large content, by reference."""

    async def call(self, requests: Sequence[tuple[str, JsonObject]]) -> list[Result]:
        """Call tools, and wait for all of them."""

    def report(self, name: str, title: str, arguments: JsonObject) -> ReportedCall:
        """Show a call that the agent runs by itself."""

    def fail_reported(self, sentence: str) -> None:
        """Fail all reported calls that have not ended."""

    async def ask(self, questions: Sequence[Question], message: str | None, url: str | None) -> Answers:
        """Ask the user, and wait for the answers."""

    def use(self, usage: UsageInfo) -> None:
        """Report what the turn has cost so far."""

    def set_title(self, title: str) -> None:
        """Set the title of the session."""

    def set_activity(self, activity: str | None) -> None:
        """Show in a few words what the agent is doing; None clears it."""

    def set_config(self, values: JsonObject) -> None:
        """Change settings of the session."""

    def set_model(self, model_id: str) -> None:
        """Choose a model for the session."""

    def watch(self, look: Callable[[], None]) -> None:
        """Call `look` after each action in the session, until the turn ends."""

    async def keep(self, value: JsonObject) -> None:
        """Store the agent's private data for the session, durably."""

    def next_steering(self) -> Message | None:
        """Return the next steering message of the user, if any."""
