"""What a step function yields, besides plain strings.

A step function works like a model: given the messages, it streams text, thoughts and tool calls, and ends.
The host runs the calls, then runs the function again, until it makes no more calls.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.json import JsonObject

__all__ = ["Call", "CallInput", "Note", "Stop", "StopReason", "Text", "Thought", "Usage"]

StopReason: TypeAlias = Literal["max_tokens", "refusal"]
"""Why an answer ended early."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the answer, like a plain string.

    `private` is kept with it and shown to nobody. It belongs to all text since the last event of another
    kind, and ends that part: text after it begins a new one.
    """

    text: str
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning. `private`, such as a signature, is kept with it, as with `Text`."""

    text: str
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class CallInput:
    """A piece of a call's input, as JSON text; the first one with an id shows the call."""

    id: str
    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. Without an id it gets one; with an id it may follow `CallInput` pieces of its input."""

    name: str
    input: JsonObject = field(default_factory=dict)
    id: str | None = None
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Private data kept with the message of this step: objects by owner. Several notes are merged."""

    private: JsonObject


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn has cost so far, in tokens."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cache_read_tokens: int | None = None

    def info(self) -> UsageInfo:
        """Return it as clients get it."""
        fields = {
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "model": self.model,
            "cacheReadTokens": self.cache_read_tokens,
        }
        return {key: value for key, value in fields.items() if value is not None}  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends the answer, for this reason; the calls of the same step are not made."""

    reason: StopReason
