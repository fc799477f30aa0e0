"""Steps: what a step function yields, beside plain strings, and what is made of it.

A step function is what a model is: given the messages, it streams text, thoughts and calls, and ends. The
host resolves the calls and runs it again, until it asks for none.
"""

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agenthost.core.recording import WHOLE
from agenthost.errors import LimitReached
from agenthost.host.calls import Request
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.json import JsonObject, copy_json

if TYPE_CHECKING:
    from agenthost.host.running import RunningTurn
    from agenthost.host.turn import Turn

__all__ = ["Call", "CallInput", "Note", "Stop", "StopReason", "Text", "Thought", "Usage", "run_steps"]

StopReason: TypeAlias = Literal["max_tokens", "refusal"]
"""Why an answer ended early."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the answer, like a plain string.

    `private` is kept with them and shown to nobody. It belongs to all of the text since the last other thing,
    and ends it: what is said after it is a part of its own.
    """

    text: str
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking; `private`, such as a signature, is kept with it as with `Text`."""

    text: str
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class CallInput:
    """A piece of a call's input, as JSON text; the first of an id lets the call appear."""

    id: str
    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call. Without an id one is made; with one, it may follow pieces of its input."""

    name: str
    input: JsonObject = field(default_factory=dict)
    id: str | None = None
    private: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What is kept with all that this step says, and shown to nobody: an object by owner. Several are one."""

    private: JsonObject


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn cost so far, in tokens."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cache_read_tokens: int | None = None

    def info(self) -> UsageInfo:
        """Give it as it travels."""
        fields = {
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "model": self.model,
            "cacheReadTokens": self.cache_read_tokens,
        }
        return {key: value for key, value in fields.items() if value is not None}  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Stop:
    """The answer ends here, for this reason; calls of the same step are not made."""

    reason: StopReason


async def run_steps(turn: "Turn", running: "RunningTurn", limit: int) -> None:
    """Run a step function until it asks for no more calls.

    Raises:
        LimitReached: it asked too often.
    """
    await running.settle_open()
    for _ in range(running.steps_done, limit):
        running.begin_step()
        requests = await _Step(running).run(turn)
        if running.stop_reason is not None:
            return
        running.output.end_replay()
        if requests:
            await running.calls.look_ahead(requests)
            running.calls.make_ready(requests)
            await running.calls.settle([request.id for request in requests])
        elif not running.has_steering:
            return
        running.output.break_off()
    raise LimitReached(f"the turn took more than {limit} steps")


class _Step:
    """One run of a step function."""

    def __init__(self, running: "RunningTurn") -> None:
        self._running = running
        self._requests: dict[str, Request] = {}
        self._begun: dict[
            tuple[str, str], str
        ] = {}  # names and ids as the step gives them; ids as they are here

    async def run(self, turn: "Turn") -> list[Request]:
        answer: Any = turn.agent.answer(turn)
        async with aclosing(answer) as events:
            async for event in events:
                is_text = isinstance(event, str)
                if self._running.say("markdown", event) if is_text else self._take(event):
                    await self._running.breathe()
        return list(self._requests.values())

    def _take(self, event: Any) -> bool:
        """Do what an event says; tells whether it is time to let others run."""
        match event:
            case Text():
                return self._running.say("markdown", event.text, event.private)
            case Thought():
                return self._running.say("reasoning", event.text, event.private)
            case CallInput():
                self._running.output.call_input(self._begin(event.name, event.id), event.text)
            case Call():
                self._ask_for(event)
            case Usage():
                self._running.use(event.info())
            case Note():
                noted = self._running.calls.private.get(WHOLE, {})
                self._running.calls.private[WHOLE] = {**noted, **event.private}
            case Stop():
                self._running.stop_reason = event.reason
            case _:
                kinds = "str, Text, Thought, CallInput, Call, Note, Usage or Stop"
                raise TypeError(f"a step function yields {kinds}, not {type(event).__name__}")
        return self._running.is_due()

    def _begin(self, name: str, step_id: str | None) -> str:
        if step_id is None:
            return self._running.calls.begin(name)
        key = (name, step_id)
        if key not in self._begun:
            # The id of another call of this turn would be ambiguous; such a call gets one of ours.
            is_used = step_id in self._running.past_calls or step_id in self._begun.values()
            self._begun[key] = self._running.calls.begin(name, None if is_used else step_id)
        return self._begun[key]

    def _ask_for(self, call: Call) -> None:
        call_id = self._begin(call.name, call.id)
        if call_id in self._requests:
            call_id = self._running.calls.begin(call.name)  # two calls under one id are still two
        # Decoded again, so that it is JSON and nobody else's.
        arguments = copy_json(call.input)
        if type(arguments) is not dict:
            raise TypeError(f"the input of a call is a dict, not {type(call.input).__name__}")
        self._requests[call_id] = Request(call_id, call.name, arguments)
        if call.private is not None:
            self._running.calls.private[call_id] = call.private
