"""The transcript: the messages that a model gets. Independent of sessions, protocols and providers.

Messages and blocks have the form of public histories. To publish one, remove `_private`; to import one,
check it. Content that came as plain text stays plain text, and unknown keys are kept.

`_private`, on a message or a block, is for data that must be kept and never shown. It is an object with one
key for each owner: a model adapter stores, say, the signature of a thought under its provider's name and
reads no other key. `host` (see `STEERING`, and the note of `compaction`) and `summary` are our own. The same
key deeper inside, as in the input of a call, is ordinary data. See also `compaction`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from agenthost.errors import InvalidValue
from agenthost.wire.annotations import Tag
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject, encode_json
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
    "check_imported_history",
    "check_public",
    "close_open_calls",
    "denial",
    "encode",
    "host_mark",
    "open_calls",
    "public",
    "requested_calls",
    "turn_starts",
]


class Text(TypedDict):
    """Plain text."""

    type: Literal["text"]
    text: str
    _private: NotRequired[JsonObject]


class Thinking(TypedDict):
    """What the model thought before it spoke."""

    type: Literal["thinking"]
    thinking: str
    _private: NotRequired[JsonObject]


class ToolUse(TypedDict):
    """A tool call, at its position in the assistant's message."""

    type: Literal["tool_use"]
    toolCallId: str
    name: str
    input: JsonObject
    _private: NotRequired[JsonObject]


class Image(TypedDict):
    """An image, at an `https://` URL or inside a base64 `data:` URL."""

    type: Literal["image"]
    url: str
    _private: NotRequired[JsonObject]


Block: TypeAlias = Annotated[Text | Thinking | ToolUse | Image, Tag("type")]
"""A block of a message."""

Content: TypeAlias = str | list[Block]
"""The content of a message: plain text, or blocks of several kinds. Neither is converted to the other."""


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
    """The result of a call."""

    role: Literal["tool"]
    toolCallId: str
    content: Content
    _private: NotRequired[JsonObject]


Message: TypeAlias = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Tag("role")]
"""A message of a transcript."""

# Strict: what was imported must be returned unchanged, so unknown variants are refused and nulls are kept.
MESSAGE: Shape[Message] = Shape(Message, STRICT)
TRANSCRIPT: Shape[list[Message]] = Shape(list[Message], STRICT)

PRIVATE = "_private"

STEERING: JsonObject = {"host": {"steering": True}}
"""The `_private` of a user message that was sent during a turn, and so does not start one."""


def encode(message: Message | Sequence[Message]) -> bytes:
    """Encode for storage, private data included; `MESSAGE` or `TRANSCRIPT` decodes it."""
    return encode_json(message)


def host_mark(message: Message) -> JsonObject:
    """Return the host's own marks on a message."""
    mark: Any = message.get("_private", {}).get("host", {})
    return mark if type(mark) is dict else {}


def public(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without `_private`, otherwise unchanged. A message without it is not copied."""
    return [_public_message(message) for message in messages]


def _public_message(message: Message) -> Message:
    content = message["content"]
    if type(content) is list and any(PRIVATE in block for block in content):
        message = cast("Message", {**message, "content": [_public_part(block) for block in content]})
    return cast("Message", _public_part(message))


def _public_part(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != PRIVATE} if PRIVATE in part else part


def requested_calls(message: Message) -> list[ToolUse]:
    """Return the calls that a message asks for, in order. Only the assistant can call."""
    return [call for _, call in _tool_uses(message)] if message["role"] == "assistant" else []


def open_calls(messages: Sequence[Message]) -> list[ToolUse]:
    """Return the calls of the last turn that have no tool message yet, in order."""
    pending: dict[str, ToolUse] = {}
    for message in messages:
        # A new turn passes over the calls that are still open; a steering message does not.
        if message["role"] == "user" and not host_mark(message):
            pending.clear()
        pending |= {call["toolCallId"]: call for call in requested_calls(message)}
        if message["role"] == "tool":
            pending.pop(message["toolCallId"], None)
    return list(pending.values())


def close_open_calls(messages: Sequence[Message], text: str) -> list[ToolMessage]:
    """P8: return the tool messages to append so that no call stays open: each says `text`."""
    return [
        {"role": "tool", "toolCallId": call["toolCallId"], "content": text} for call in open_calls(messages)
    ]


def denial(reason: str | None = None) -> str:
    """P4: return the text for a model whose call was denied. The protocol prescribes these words."""
    return f"Tool call denied: {reason}" if reason else "Tool call denied"


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the positions at which turns start: those of the user messages that the host has not marked.

    Messages before the first, such as system messages or a greeting, belong to no turn.
    """
    return [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and not host_mark(message)
    ]


def check_imported_history(messages: Sequence[Message], at: str = "$") -> None:
    """Check a history that a client brings to start a session from.

    Every tool message must answer an earlier call that is still open, only assistants may call, and the id of
    an open call may not be used again. Calls may stay open at the end. The shape has been checked already.

    Raises:
        InvalidValue: with the path of the value, which starts with `at`.
    """
    # C4: refuse a history that no conversation can have had. C5: but calls may be open at its end.
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
        raise InvalidValue(f"{at}.toolCallId", "an id that no open call uses", quote(call["toolCallId"]))


def _tool_uses(message: Message) -> Iterator[tuple[int, ToolUse]]:
    content = message["content"]
    if type(content) is list:
        for position, block in enumerate(content):
            if block["type"] == "tool_use":
                yield position, block


def check_public(messages: Sequence[Message], at: str = "$", first: int = 0) -> None:
    """Refuse private data in messages from outside: clients must not forge it, nor lose data under this key.

    `first` is the position of the first message in the list that the path refers to.

    Raises:
        InvalidValue: a message or block has `_private`; the path starts with `at`.
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
