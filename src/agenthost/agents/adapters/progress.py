"""Progress: how far a pydantic-ai agent has come in a turn, kept so that a restart does not lose it."""

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

from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Kind", "Progress", "Stage"]

KEY = "pydantic-ai"

Kind: TypeAlias = Literal["own", "asked", "elsewhere"]
"""Who runs a call: the agent at once, the agent once it is allowed, or the host or a client."""


@dataclass(slots=True)
class Stage:
    """An answer of the model, what was to be done for it, and what came of that so far."""

    response: ModelResponse
    returned: dict[str, ToolReturnPart] = field(default_factory=dict)

    def calls(self, kinds: "dict[str, Kind]", kind: Kind) -> list[ToolCallPart]:
        """Give its calls of one kind."""
        return [call for call in self.response.tool_calls if kinds.get(call.tool_call_id) == kind]


@dataclass(slots=True)
class Progress:
    """What happened in a turn.

    Attributes:
        messages: what was said since the user's message.
        kinds: who runs which call, by its id.
        has_begun: whether what the last answer asks for was decided, and is under way.
    """

    turn_id: str
    messages: list[ModelMessage] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    has_begun: bool = False

    @classmethod
    def of(cls, turn: Turn) -> "Progress":
        """Give how far a turn had come before a restart; a new one has not come far."""
        kept: JsonObject = turn.kept.get(KEY, {})
        if kept.get("turn") != turn.id:
            return cls(turn.id)
        messages = ModelMessagesTypeAdapter.validate_python(kept["messages"])
        return cls(turn.id, messages, kept["kinds"], kept["begun"])

    async def keep(self, turn: Turn) -> None:
        """Write it down."""
        messages = ModelMessagesTypeAdapter.dump_python(self.messages, mode="json")
        kept = {"turn": self.turn_id, "messages": messages, "kinds": self.kinds, "begun": self.has_begun}
        await turn.keep({**turn.kept, KEY: kept})

    def stages(self) -> list[Stage]:
        """Give the answers of the model, each with the results that followed."""
        found: list[Stage] = []
        for message in self.messages:
            if isinstance(message, ModelResponse):
                found.append(Stage(message))
            elif found:
                found[-1].returned |= {part.tool_call_id: part for part in _returns(message)}
        return found

    def waiting(self) -> DeferredToolRequests | None:
        """Give what the last answer asks others for and has no result yet."""
        stages = self.stages()
        if not stages:
            return None
        last = stages[-1]
        asked, elsewhere = (
            [call for call in last.calls(self.kinds, kind) if call.tool_call_id not in last.returned]
            for kind in _DEFERRED
        )
        return DeferredToolRequests(calls=elsewhere, approvals=asked) if asked or elsewhere else None

    def close_own(self, words: str) -> None:
        """Give calls that were interrupted a result, so that a model can read what there is."""
        stages = self.stages()
        if not stages:
            return
        last = stages[-1]
        left = [call for call in last.response.tool_calls if call.tool_call_id not in last.returned]
        parts = [
            ToolReturnPart(call.tool_name, words, call.tool_call_id, outcome="interrupted")
            for call in left
            if self.kinds.get(call.tool_call_id, "own") == "own"
        ]
        if parts:
            self.messages.append(ModelRequest(parts=parts))


_DEFERRED: Sequence[Kind] = ("asked", "elsewhere")


def _returns(message: ModelMessage) -> Iterator[ToolReturnPart]:
    return (part for part in message.parts if isinstance(part, ToolReturnPart))
