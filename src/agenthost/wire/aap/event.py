"""Events: what a turn streams, and how each is converted to a server-sent event and back.

In SSE the name of an event is separate from its data; here it is the key `event`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, TypedDict, TypeVar

from agenthost.wire import sse
from agenthost.wire.aap.message import ToolResult
from agenthost.wire.aap.session import StopReason
from agenthost.wire.aap.tool import ToolCall
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject, decode_json, encode_json
from agenthost.wire.shape import Shape

__all__ = [
    "EVENT",
    "DeltaSSEEvent",
    "MessageSSEEvent",
    "SSEEvent",
    "TextDeltaEvent",
    "TextEvent",
    "ThinkingDeltaEvent",
    "ThinkingEvent",
    "ToolCallEvent",
    "ToolResultEvent",
    "TurnStartEvent",
    "TurnStopEvent",
    "decode_event",
    "encode_event",
    "take_event",
]

E = TypeVar("E")


class TurnStartEvent(TypedDict):
    """The agent begins to answer."""

    event: Literal["turn_start"]


class TextDeltaEvent(TypedDict):
    """More of the text. Mode `delta`."""

    event: Literal["text_delta"]
    delta: str


class ThinkingDeltaEvent(TypedDict):
    """More of the thinking. Mode `delta`."""

    event: Literal["thinking_delta"]
    delta: str


class TextEvent(TypedDict):
    """The text of one message, whole. Mode `message`."""

    event: Literal["text"]
    text: str


class ThinkingEvent(TypedDict):
    """The thinking of one message, whole. Mode `message`."""

    event: Literal["thinking"]
    thinking: str


class ToolCallEvent(ToolCall):
    """The agent asks for a tool to be run."""

    event: Literal["tool_call"]


class ToolResultEvent(ToolResult):
    """The server has run one of its own tools."""

    event: Literal["tool_result"]


class TurnStopEvent(TypedDict):
    """The turn is over; always the last event."""

    event: Literal["turn_stop"]
    stopReason: StopReason


SSEEvent: TypeAlias = Annotated[
    TurnStartEvent
    | TextDeltaEvent
    | ThinkingDeltaEvent
    | TextEvent
    | ThinkingEvent
    | ToolCallEvent
    | ToolResultEvent
    | TurnStopEvent,
    Tag("event"),
]
"""An event of either streaming mode."""

DeltaSSEEvent: TypeAlias = Annotated[
    TurnStartEvent | TextDeltaEvent | ThinkingDeltaEvent | ToolCallEvent | ToolResultEvent | TurnStopEvent,
    Tag("event"),
]
"""An event of the mode `delta`."""

MessageSSEEvent: TypeAlias = Annotated[
    TurnStartEvent | TextEvent | ThinkingEvent | ToolCallEvent | ToolResultEvent | TurnStopEvent,
    Tag("event"),
]
"""An event of the mode `message`."""

EVENT = Shape[SSEEvent](SSEEvent)

_OBJECT = Shape[JsonObject](JsonObject)


def encode_event(event: Mapping[str, object]) -> bytes:
    """Encode an event of any version, or one that we do not know."""
    # T2: the name is its own line, and the data one line of JSON.
    fields = dict(event)
    name = str(fields.pop("event"))
    if not name.isidentifier():  # an event of ours has a plain name
        return sse.encode_event(name, encode_json(fields))
    return b"event: %b\ndata: %b\n\n" % (name.encode(), encode_json(fields))


def decode_event(event: sse.SseEvent) -> SSEEvent:
    """Decode an event of version 3. One with a name that we do not know is kept as it is.

    Raises:
        NotJson: its data are not JSON.
        InvalidValue: its data are not of the shape that its name asks for.
    """
    return take_event(event, EVENT)


def take_event(event: sse.SseEvent, shape: Shape[E]) -> E:
    """Decode an event with the shape of another version's events; otherwise like `decode_event`."""
    fields = _OBJECT.take(decode_json(event.data))
    # `message` is what SSE calls an event without a name: then the data may name it.
    if event.name != "message" or "event" not in fields:
        fields["event"] = event.name
    return shape.take(fields)
