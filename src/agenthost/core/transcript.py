"""The transcript: what a model is given, as messages of our own. Knows no session, no protocol, no provider.

Messages and blocks have the form that public histories have, so showing one is taking `_private` out, and
taking one in is checking it: content that came as plain text stays plain text, keys that we do not know stay.

`_private`, on a message or a block, is for what must be kept and never shown. It is an object by owner: a
model adapter keeps, say, the signature of a thought under its provider's name and looks at no other; `host`
is our own (see `STEERING`, and the note of `compaction`), and so is `summary`. The same key deeper down, as
in the input of a call, is data like any other. Neighbours: `compaction`, which makes a transcript smaller.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from agenthost.errors import InvalidValue
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject, encode_json
from agenthost.wire.mismatch import quote
from agenthost.wire.shape import STRICT, Shape

__all__ = [
    "MESSAGE",
    "STEERING",
    "TRANSCRIPT",
    "AssistantMessage",
    "Block",
    "Content",
    "Image",
    "Message",
    "SystemMessage",
    "Text",
    "Thinking",
    "ToolMessage",
    "ToolUse",
    "UserMessage",
    "calls_of",
    "check_public",
    "check_seed",
    "close_open_calls",
    "denial",
    "encode",
    "host_mark",
    "keep_turns",
    "open_calls",
    "public",
    "turn_starts",
]


class Text(TypedDict):
    """Words."""

    type: Literal["text"]
    text: str
    _private: NotRequired[JsonObject]


class Thinking(TypedDict):
    """What the model thought before it spoke."""

    type: Literal["thinking"]
    thinking: str
    _private: NotRequired[JsonObject]


class ToolUse(TypedDict):
    """A call, at its place in the assistant's message."""

    type: Literal["tool_use"]
    toolCallId: str
    name: str
    input: JsonObject
    _private: NotRequired[JsonObject]


class Image(TypedDict):
    """A picture, at an `https://` URL or inside a base64 `data:` URL."""

    type: Literal["image"]
    url: str
    _private: NotRequired[JsonObject]


Block: TypeAlias = Annotated[Text | Thinking | ToolUse | Image, Tag("type")]
"""A piece of a message."""

Content: TypeAlias = str | list[Block]
"""What a message says: plain text, or pieces of several kinds. Neither is ever turned into the other."""


class SystemMessage(TypedDict):
    """Instructions to the model."""

    role: Literal["system"]
    content: str
    _private: NotRequired[JsonObject]


class UserMessage(TypedDict):
    """What the user says."""

    role: Literal["user"]
    content: Content
    _private: NotRequired[JsonObject]


class AssistantMessage(TypedDict):
    """What the model says, thinks and asks for."""

    role: Literal["assistant"]
    content: Content
    _private: NotRequired[JsonObject]


class ToolMessage(TypedDict):
    """What came of a call."""

    role: Literal["tool"]
    toolCallId: str
    content: Content
    _private: NotRequired[JsonObject]


Message: TypeAlias = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Tag("role")]
"""A message of a transcript."""

# Strict: what was taken in has to come back whole, so nothing unknown is let by and no null is dropped.
MESSAGE: Shape[Message] = Shape(Message, STRICT)
TRANSCRIPT: Shape[list[Message]] = Shape(list[Message], STRICT)

PRIVATE = "_private"

STEERING: JsonObject = {"host": {"steering": True}}
"""The `_private` of a user message that came in the middle of a turn, and so does not start one."""


def encode(message: Message | Sequence[Message]) -> bytes:
    """Encode for keeping, private data and all; `MESSAGE` or `TRANSCRIPT` decode the same back."""
    return encode_json(message)


def host_mark(message: Message) -> JsonObject:
    """Give what the host itself noted on a message."""
    mark: Any = message.get("_private", {}).get("host", {})
    return mark if type(mark) is dict else {}


def public(messages: Sequence[Message]) -> list[Message]:
    """Give the messages as they may be shown: without `_private`, else exact. What has none is not copied."""
    return [_public_message(message) for message in messages]


def _public_message(message: Message) -> Message:
    content = message["content"]
    if type(content) is list and any(PRIVATE in block for block in content):
        message = cast("Message", {**message, "content": [_public_part(block) for block in content]})
    return cast("Message", _public_part(message))


def _public_part(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != PRIVATE} if PRIVATE in part else part


def calls_of(message: Message) -> list[ToolUse]:
    """Give the calls that a message asks for, in order. Only the assistant can ask."""
    return [call for _, call in _tool_uses(message)] if message["role"] == "assistant" else []


def open_calls(messages: Sequence[Message]) -> list[ToolUse]:
    """Give the calls of the last turn that have no tool message yet, in order."""
    pending: dict[str, ToolUse] = {}
    for message in messages:
        if message["role"] == "user" and not host_mark(message):
            pending.clear()
        pending |= {call["toolCallId"]: call for call in calls_of(message)}
        if message["role"] == "tool":
            pending.pop(message["toolCallId"], None)
    return list(pending.values())


def close_open_calls(messages: Sequence[Message], text: str) -> list[ToolMessage]:
    """Give the tool messages to append so that no call stays open: each says `text`."""
    return [
        {"role": "tool", "toolCallId": call["toolCallId"], "content": text} for call in open_calls(messages)
    ]


def denial(reason: str | None = None) -> str:
    """Say to the model that a call was denied, in the words that the protocol fixes."""
    return f"Tool call denied: {reason}" if reason else "Tool call denied"


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Give the positions at which turns start: those of the user messages that the host has not marked.

    What comes before the first, such as system messages or a greeting, belongs to no turn.
    """
    return [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and not host_mark(message)
    ]


def keep_turns(messages: Sequence[Message], count: int) -> list[Message]:
    """Give the transcript as it was before turn `count`, counted from 0: what a fork or truncation keeps."""
    starts = turn_starts(messages)
    return list(messages[: starts[count]] if count < len(starts) else messages)


def check_seed(messages: Sequence[Message], at: str = "$") -> None:
    """Check a history that somebody else gives us to start from.

    Every tool message answers a call that came before and was not answered; only assistants call; an id is
    not used again while its call is open. Calls may stay open: a history may end so. The shape has been
    checked already.

    Raises:
        InvalidValue: its path, which starts with `at`, names the culprit.
    """
    check_public(messages, at)
    pending: set[str] = set()
    for index, message in enumerate(messages):
        for position, call in _tool_uses(message):
            _check_call(message, call, pending, f"{at}[{index}].content[{position}]")
            pending.add(call["toolCallId"])
        if message["role"] == "tool":
            if message["toolCallId"] not in pending:
                found = quote(message["toolCallId"])
                raise InvalidValue(f"{at}[{index}].toolCallId", "the id of an open tool call", found)
            pending.remove(message["toolCallId"])


def _check_call(message: Message, call: ToolUse, pending: set[str], at: str) -> None:
    if message["role"] != "assistant":
        raise InvalidValue(f"{at}.type", f"no tool call in a message of role {message['role']!r}", "one")
    if call["toolCallId"] in pending:
        raise InvalidValue(f"{at}.toolCallId", "an id that no open call has", quote(call["toolCallId"]))


def _tool_uses(message: Message) -> Iterator[tuple[int, ToolUse]]:
    content = message["content"]
    if type(content) is list:
        for position, block in enumerate(content):
            if block["type"] == "tool_use":
                yield position, block


def check_public(messages: Sequence[Message], at: str = "$", first: int = 0) -> None:
    """Refuse private data in what comes from outside: nobody may forge it, nor lose it when it is shown.

    `first` is the place of the first of them in what holds them.

    Raises:
        InvalidValue: `_private` is there; its path starts with `at`.
    """
    for index, message in enumerate(messages, first):
        _refuse_private(message, f"{at}[{index}]")
        content = message["content"]
        if type(content) is list:
            for position, block in enumerate(content):
                _refuse_private(block, f"{at}[{index}].content[{position}]")


def _refuse_private(part: Any, at: str) -> None:
    if PRIVATE in part:
        raise InvalidValue(f"{at}.{PRIVATE}", "nothing, as the key is reserved", "a value")
