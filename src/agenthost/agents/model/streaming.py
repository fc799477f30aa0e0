"""Streaming: what a model's answer brings, as a step yields it. Knows the library and the steps, asks nobody.

Thoughts, text and the inputs of calls are passed on as they come. Calls follow when the answer is whole: one
that was cut off asks for nothing. What the service wants to have back goes along as private notes.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from pydantic_ai.exceptions import ModelServerError
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_core import to_jsonable_python

from agenthost.agents.model.history import Names
from agenthost.host.steps import Call, CallInput, Note, Stop, Text, Thought
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["Item", "Reading"]

Item: TypeAlias = Text | Thought | CallInput | Call | Note | Stop

_STOPS = {"length": Stop("max_tokens"), "content_filter": Stop("refusal")}


class Reading:
    """The answer to one request, as it comes. `service` is whose it is."""

    def __init__(self, service: str, names: Names) -> None:
        self._service = service
        self._names = names
        self._calls: dict[int, ToolCallPart] = {}
        # Thoughts without words are not shown; they are kept with what comes after them.
        self._silent: list[JsonObject] = []
        self._before: dict[str, list[JsonObject]] = {}

    def take(self, event: ModelResponseStreamEvent) -> Iterator[Item]:
        """Give what a piece of the answer brings."""
        match event:
            case (
                PartStartEvent(part=TextPart(content=text))
                | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
            ):
                yield Text(text)
            case (
                PartStartEvent(part=ThinkingPart(content=text))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text)))
            ):
                yield Thought(text)
            case PartStartEvent(part=ToolCallPart() as call):
                self._calls[event.index] = call
                yield self._input(call, _json_of(call.args))
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text))) if event.index in self._calls:
                yield self._input(self._calls[event.index], text)
            case PartEndEvent(part=TextPart() as part) if kept := self._kept(part):
                yield Text("", private=kept)
            case PartEndEvent(part=ThinkingPart(content="") as part):
                self._silent += [_facts_of(part)]
            case PartEndEvent(part=ThinkingPart() as part) if kept := self._kept(part):
                yield Thought("", private=kept)
            case PartEndEvent(part=ToolCallPart() as part):
                self._before[part.tool_call_id], self._silent = self._silent, []

    def _input(self, call: ToolCallPart, text: str) -> CallInput:
        return CallInput(call.tool_call_id, self._names.back(call.tool_name), text)

    def conclude(self, response: ModelResponse) -> Iterator[Item]:
        """Give what follows when nothing more comes: the calls, or why it stopped early.

        Raises:
            ModelServerError: it is not whole, and nobody knows why.
        """
        if response.finish_reason == "error" or response.state == "incomplete":
            raise ModelServerError(response.model_name or "", "the answer broke off")
        yield Note({self._service: self._facts(response)})
        refusal = (response.provider_details or {}).get("refusal")
        if isinstance(refusal, str):
            yield Text(refusal)
        stop = _STOPS.get(response.finish_reason or "")
        if stop is not None:
            yield stop
            return
        for call in response.tool_calls:
            name = self._names.back(call.tool_name)
            yield Call(name, call.args_as_dict(), call.tool_call_id, self._kept(call))

    def _facts(self, response: ModelResponse) -> JsonObject:
        facts = {
            "id": response.provider_response_id,
            "model": response.model_name,
            "system": response.canonical_system,
            "url": response.provider_url,
        }
        return {key: value for key, value in facts.items() if value is not None}

    def _kept(self, part: TextPart | ThinkingPart | ToolCallPart) -> JsonObject | None:
        """Give what the service wants to have back with a part, and with the thoughts before it."""
        kept = _facts_of(part)
        if isinstance(part, ToolCallPart):
            thoughts = self._before.get(part.tool_call_id, [])
        else:
            thoughts, self._silent = self._silent, []
        if thoughts:
            kept["thoughts"] = thoughts
        return {part.provider_name or self._service: kept} if kept else None


def _facts_of(part: TextPart | ThinkingPart | ToolCallPart) -> JsonObject:
    facts: dict[str, Any] = {
        "id": part.id,
        "provider_details": part.provider_details,
        "signature": part.signature if isinstance(part, ThinkingPart) else None,
    }
    return {key: to_jsonable_python(value) for key, value in facts.items() if value}


def _json_of(arguments: str | dict[str, Any] | None) -> str:
    if isinstance(arguments, dict):
        return encode_json(arguments).decode()
    return arguments or ""
