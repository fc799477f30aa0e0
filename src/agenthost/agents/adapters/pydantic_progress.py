"""The progress of a pydantic-ai agent in a turn, saved so that it survives a restart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic_ai import DeferredToolRequests
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)

from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["CallKind", "RunProgress", "Stage"]

KEY = "pydantic-ai"

CallKind: TypeAlias = Literal["own", "asked", "elsewhere"]
"""Who runs a call: the agent at once, the agent after an approval, or the host or a client."""


@dataclass(slots=True)
class Stage:
    """A response of the model, and the results of its calls so far."""

    response: ModelResponse
    returned: dict[str, ToolReturnPart] = field(default_factory=dict)

    def calls(self, kinds: "dict[str, CallKind]", kind: CallKind) -> list[ToolCallPart]:
        """Return the calls of one kind."""
        return [call for call in self.response.tool_calls if kinds.get(call.tool_call_id) == kind]


@dataclass(slots=True)
class RunProgress:
    """The progress of a turn.

    Attributes:
        turn_id: the turn.
        messages: the messages after the user's message.
        kinds: who runs which call, by its id.
        has_begun: whether the deferred calls of the last response are resolved and the agent runs on.
    """

    turn_id: str
    messages: list[ModelMessage] = field(default_factory=list)
    kinds: dict[str, CallKind] = field(default_factory=dict)
    has_begun: bool = False

    @classmethod
    def restore(cls, turn: Turn) -> "RunProgress":
        """Return the saved progress of a turn; an empty one for a new turn."""
        kept: JsonObject = turn.kept.get(KEY, {})
        if kept.get("turn") != turn.id:
            return cls(turn.id)
        messages = ModelMessagesTypeAdapter.validate_python(kept["messages"])
        return cls(turn.id, messages, kept["kinds"], kept["begun"])

    async def save(self, turn: Turn) -> None:
        """Save it with the session."""
        messages = ModelMessagesTypeAdapter.dump_python(self.messages, mode="json")
        kept = {"turn": self.turn_id, "messages": messages, "kinds": self.kinds, "begun": self.has_begun}
        await turn.keep({**turn.kept, KEY: kept})

    def stages(self) -> list[Stage]:
        """Return the responses of the model, each with the results that followed."""
        found: list[Stage] = []
        for message in self.messages:
            if isinstance(message, ModelResponse):
                found.append(Stage(message))
            elif found:
                found[-1].returned |= {part.tool_call_id: part for part in _tool_returns(message)}
        return found

    def deferred(self) -> DeferredToolRequests | None:
        """Return the deferred calls of the last response that have no result yet."""
        stages = self.stages()
        if not stages:
            return None
        last = stages[-1]
        asked, elsewhere = (
            [call for call in last.calls(self.kinds, kind) if call.tool_call_id not in last.returned]
            for kind in _DEFERRED
        )
        return DeferredToolRequests(calls=elsewhere, approvals=asked) if asked or elsewhere else None

    def close_interrupted(self, text: str) -> None:
        """Add a result to interrupted calls of the agent: models require one for each call."""
        stages = self.stages()
        if not stages:
            return
        last = stages[-1]
        left = [call for call in last.response.tool_calls if call.tool_call_id not in last.returned]
        parts = [
            ToolReturnPart(call.tool_name, text, call.tool_call_id, outcome="interrupted")
            for call in left
            if self.kinds.get(call.tool_call_id, "own") == "own"
        ]
        if parts:
            self.messages.append(ModelRequest(parts=parts))


_DEFERRED: Sequence[CallKind] = ("asked", "elsewhere")


def _tool_returns(message: ModelMessage) -> Iterator[ToolReturnPart]:
    return (part for part in message.parts if isinstance(part, ToolReturnPart))
