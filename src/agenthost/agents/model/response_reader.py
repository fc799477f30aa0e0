"""Converts the stream of a model's answer to the items that a step yields.

Thoughts, text and the inputs of calls are passed on as they stream. Calls follow when the answer is complete:
those of an answer that was cut off are not made. What the service must get back is attached as private data.
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

from agenthost.agents.model.history import ToolNames
from agenthost.host.authoring.steps import Call, CallInput, Note, Stop, Text, Thought
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["ResponseReader", "StepItem"]

StepItem: TypeAlias = Text | Thought | CallInput | Call | Note | Stop

_STOPS = {"length": Stop("max_tokens"), "content_filter": Stop("refusal")}


class ResponseReader:
    """Reads the answer of a service to one request."""

    def __init__(self, service: str, names: ToolNames) -> None:
        self._service = service
        self._names = names
        self._calls: dict[int, ToolCallPart] = {}
        # Thoughts without text are not shown; they are kept with what comes after them.
        self._silent_thoughts: list[JsonObject] = []
        self._thoughts_before: dict[str, list[JsonObject]] = {}

    def read(self, event: ModelResponseStreamEvent) -> Iterator[StepItem]:
        """Yield the items of one event."""
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
                yield self._call_input(call, _to_json(call.args))
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text))) if event.index in self._calls:
                yield self._call_input(self._calls[event.index], text)
            case PartEndEvent(part=TextPart() as part) if private := self._private(part):
                yield Text("", private=private)
            case PartEndEvent(part=ThinkingPart(content="") as part):
                self._silent_thoughts += [_part_metadata(part)]
            case PartEndEvent(part=ThinkingPart() as part) if private := self._private(part):
                yield Thought("", private=private)
            case PartEndEvent(part=ToolCallPart() as part):
                self._thoughts_before[part.tool_call_id], self._silent_thoughts = self._silent_thoughts, []

    def _call_input(self, call: ToolCallPart, text: str) -> CallInput:
        return CallInput(call.tool_call_id, self._names.original(call.tool_name), text)

    def finish(self, response: ModelResponse) -> Iterator[StepItem]:
        """Yield what follows the end of the stream: the calls, or why it stopped early.

        Raises:
            ModelServerError: the answer is incomplete for an unknown reason.
        """
        if response.finish_reason == "error" or response.state == "incomplete":
            raise ModelServerError(response.model_name or "", "the answer broke off")
        yield Note({self._service: self._response_metadata(response)})
        refusal = (response.provider_details or {}).get("refusal")
        if isinstance(refusal, str):
            yield Text(refusal)
        stop = _STOPS.get(response.finish_reason or "")
        if stop is not None:
            yield stop
            return
        for call in response.tool_calls:
            name = self._names.original(call.tool_name)
            yield Call(name, call.args_as_dict(), call.tool_call_id, self._private(call))

    def _response_metadata(self, response: ModelResponse) -> JsonObject:
        metadata = {
            "id": response.provider_response_id,
            "model": response.model_name,
            "system": response.canonical_system,
            "url": response.provider_url,
        }
        return {key: value for key, value in metadata.items() if value is not None}

    def _private(self, part: TextPart | ThinkingPart | ToolCallPart) -> JsonObject | None:
        """Return what the service must get back with a part, and with the silent thoughts before it."""
        private = _part_metadata(part)
        if isinstance(part, ToolCallPart):
            thoughts = self._thoughts_before.get(part.tool_call_id, [])
        else:
            thoughts, self._silent_thoughts = self._silent_thoughts, []
        if thoughts:
            private["thoughts"] = thoughts
        return {part.provider_name or self._service: private} if private else None


def _part_metadata(part: TextPart | ThinkingPart | ToolCallPart) -> JsonObject:
    metadata: dict[str, Any] = {
        "id": part.id,
        "provider_details": part.provider_details,
        "signature": part.signature if isinstance(part, ThinkingPart) else None,
    }
    return {key: to_jsonable_python(value) for key, value in metadata.items() if value}


def _to_json(arguments: str | dict[str, Any] | None) -> str:
    if isinstance(arguments, dict):
        return encode_json(arguments).decode()
    return arguments or ""
