"""Recording: what becomes of a turn in the transcript. Pure; knows the state of a session, not its host.

The state says what people saw, the transcript what a model is given. Everything that is said enters the
transcript in the same commit as the action that says it: the user's message with the start of the turn, an
assistant's message when its step is whole (its calls are made, or the turn ends), a tool's message with the
end of its call.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agenthost.core.transcript import (
    AssistantMessage,
    Block,
    Content,
    Image,
    Message,
    Text,
    ToolMessage,
    UserMessage,
    calls_of,
    denial,
    host_mark,
    open_calls,
)
from agenthost.errors import NotJson
from agenthost.wire.ahp.common import StringOrMarkdown
from agenthost.wire.ahp.message import MessageAttachment, label_of
from agenthost.wire.ahp.message import UserMessage as SentMessage
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject, decode_json

__all__ = [
    "SKIPPED",
    "WHOLE",
    "WITHHELD",
    "answer_message",
    "attached_words",
    "covered_parts",
    "denied_message",
    "is_reported",
    "plain",
    "plain_text",
    "reported_messages",
    "result_content",
    "told",
    "tool_message",
    "user_message",
]

SKIPPED = "Tool call skipped: the turn ended before it could finish."
WITHHELD = "Tool call done, but its result was withheld by the user."

WHOLE = ""
"""Under this, in place of the id of a part, is what an agent wants to have kept of a whole message."""

Inputs: TypeAlias = Mapping[str, JsonObject]
"""The calls of a step: their inputs, by their ids."""


def user_message(sent: SentMessage) -> UserMessage:
    """Give what the model reads of a message: its text, and its attachments as far as words and images go."""
    attached = [_attached(attachment) for attachment in sent.get("attachments", [])]
    if not attached:
        return {"role": "user", "content": sent["text"]}
    text: list[Block] = [{"type": "text", "text": sent["text"]}] if sent["text"] else []
    return {"role": "user", "content": [*text, *attached]}


def _attached(attachment: MessageAttachment) -> Block:
    label = label_of(attachment)
    if attachment["type"] not in ("resource", "embeddedResource"):
        return _text(attached_words(attachment))
    kind = attachment.get("contentType", "")
    if attachment["type"] == "resource":
        is_image = kind.startswith("image/") or attachment.get("displayKind") == "image"
        if is_image and attachment["uri"].startswith(("https://", "data:")):
            return _image(attachment["uri"])
        return _text(f"[attached: {label}, {attachment['uri']}]")
    if kind.startswith("image/"):
        return _image(f"data:{kind};base64,{attachment['data']}")
    return _text(_words(attachment["data"], kind, label))


def attached_words(attachment: Any) -> str:
    """Return the words for an attachment that has no content of its own, or is of an unknown kind."""
    words = attachment.get("modelRepresentation")
    if type(words) is str and words:
        return words
    label, uri = label_of(attachment), attachment.get("uri")
    return f"[attached: {label}, {uri}]" if type(uri) is str and uri != label else f"[attached: {label}]"


def _words(data: str, kind: str, label: str) -> str:
    try:
        return f"[attached: {label}]\n{b64decode(data, validate=True).decode()}"
    except (NotBase64, ValueError):  # the latter: not text either
        return f"[attached: {label}, {kind}, about {len(data) * 3 // 4} bytes]"


def answer_message(
    parts: Sequence[ResponsePart], start: int, inputs: Inputs, private: Mapping[str, JsonObject]
) -> AssistantMessage | None:
    """Give what the assistant said, thought and asked for in the parts from `start` on; nothing if nothing.

    Calls that are not among `inputs` were never whole, and are left out. `private` is what an agent wants to
    have kept of a part or call, by its id, or of all of it. How many parts are in the transcript is noted on
    the message.
    """
    blocks = [block for part in parts[start:] if (block := _block(part, inputs, private)) is not None]
    if not blocks:
        return None
    only = blocks[0]
    is_plain = len(blocks) == 1 and only["type"] == "text" and "_private" not in only
    content: Content = only["text"] if is_plain else blocks  # type: ignore[typeddict-item] # a text, as checked
    noted = {**private.get(WHOLE, {}), "host": {"parts": len(parts)}}
    return {"role": "assistant", "content": content, "_private": noted}


def _block(part: ResponsePart, inputs: Inputs, private: Mapping[str, JsonObject]) -> Block | None:
    block: Any = None
    part_id = ""
    if part["kind"] == "toolCall":
        call = part["toolCall"]
        part_id = call["toolCallId"]
        if part_id in inputs:
            block = {
                "type": "tool_use",
                "toolCallId": part_id,
                "name": call["toolName"],
                "input": inputs[part_id],
            }
    elif part["kind"] == "markdown" and part["content"]:
        part_id, block = part["id"], _text(part["content"])
    elif part["kind"] == "reasoning" and (part["content"] or part["id"] in private):
        part_id, block = part["id"], {"type": "thinking", "thinking": part["content"]}
    if block is not None and part_id in private:
        block["_private"] = private[part_id]
    return block  # type: ignore[no-any-return]


def is_reported(call: Any) -> bool:
    """Tell whether a call is run by its agent, not by the host."""
    return bool(call.get("_meta", {}).get("agenthost", {}).get("reported"))


def reported_messages(
    parts: Sequence[ResponsePart],
    messages: Sequence[Message],
    private: Mapping[str, JsonObject],
    *,
    asking: str | None = None,
    is_over: bool = False,
) -> list[Message]:
    """Give what is to be told now of the calls that an agent ran by itself.

    `messages` are those of the turn so far. Such a call is told when it has ended: a message that asks for
    it, and its result. So a model can read it, however many ran at once. One that asks for permission is told
    when it does, and all others wait until it has ended: `asking` is its id. When the turn `is_over`, those
    that have not ended are told as skipped.
    """
    told = {call["toolCallId"] for message in messages for call in calls_of(message)}
    found: list[Message] = []
    if asking is None and open_calls(messages) and not is_over:
        return found
    start = covered_parts(messages)
    for place, part in enumerate(parts):
        call: Any = part["toolCall"] if part["kind"] == "toolCall" else None
        if call is None or call["toolCallId"] in told or not is_reported(call):
            continue
        is_asking = call["toolCallId"] == asking
        if not is_asking and call["status"] not in ("completed", "cancelled"):
            if not is_over or call["status"] == "streaming":
                continue
        elif not is_asking and asking is not None:
            continue
        found.append(_asking_message(parts, place, start, private))
        start = max(start, place + 1)
        found += [] if is_asking else [_ended_message(call)]
    return found


def _asking_message(
    parts: Sequence[ResponsePart], place: int, start: int, private: Mapping[str, JsonObject]
) -> AssistantMessage:
    """Give what was said up to a call, as far as it was not told, and the call itself."""
    part: Any = parts[place]
    call = part["toolCall"]
    inputs = {call["toolCallId"]: _input_of(call)}
    message: Any = answer_message(parts[: place + 1], min(start, place), inputs, private)
    return {**message, "_private": {"host": {"parts": max(start, place + 1)}}}  # type: ignore[typeddict-item]


def _input_of(call: JsonObject) -> JsonObject:
    try:
        value = decode_json(call.get("toolInput", "{}"))
    except NotJson:
        return {}
    return value if type(value) is dict else {}


def _ended_message(call: JsonObject) -> ToolMessage:
    if call["status"] == "completed":
        return tool_message(call["toolCallId"], result_content(call))  # type: ignore[arg-type] # it has one
    if call["status"] == "cancelled" and call["reason"] != "result-denied":
        return denied_message(call)
    is_withheld = call["status"] == "cancelled"
    return tool_message(call["toolCallId"], WITHHELD if is_withheld else SKIPPED)


def covered_parts(messages: Sequence[Message]) -> int:
    """Give how many parts of a turn its messages in the transcript hold."""
    for message in reversed(messages):
        count = host_mark(message).get("parts")
        if message["role"] == "assistant" and type(count) is int:
            return count
    return 0


def tool_message(call_id: str, content: Content) -> ToolMessage:
    """Make the message with which a call is answered."""
    return {"role": "tool", "toolCallId": call_id, "content": content}


def denied_message(action: JsonObject) -> ToolMessage:
    """Tell the model that a call was denied, why, and what the user would rather have."""
    reason = plain(action.get("reasonMessage"))
    if action.get("reason") == "skipped" and not reason:
        reason = "skipped by the user"
    text = denial(reason)
    suggestion = action.get("userSuggestion") or {}
    if suggestion.get("text"):
        text += f"\nThe user suggests: {suggestion['text']}"
    return tool_message(action["toolCallId"], text)


def result_content(result: ToolCallResult, edited_input: str | None = None) -> Content:
    """Give what the model reads of a result; with images as images. An input that was edited is told too."""
    content = result.get("content", [])
    error = result.get("error")
    texts = told(content, error["message"] if error else None if result["success"] else "The tool failed.")
    if edited_input is not None:
        texts = [f"The user changed the input to {edited_input}", *texts]
    images = [image for block in content if (image := _shown_image(block)) is not None]
    if not images:
        return "\n".join(texts)
    words: list[Block] = [_text(text) for text in texts if text]
    return [*words, *images]


def told(content: Sequence[ToolResultContent], error: str | None = None) -> list[str]:
    """Say in words what a result holds: the error first; what is only for people to look at, not at all."""
    said = [text for block in content if (text := _told(block)) is not None]
    return [error, *said] if error is not None else said


def _told(block: ToolResultContent) -> str | None:
    match block["type"]:
        case "text":
            return block["text"]
        case "embeddedResource":
            return f"[{block['contentType']}, about {len(block['data']) * 3 // 4} bytes]"
        case "resource":
            return f"[{block['uri']}]"
        case _:
            return None


def _shown_image(block: ToolResultContent) -> Image | None:
    if block["type"] == "embeddedResource" and block["contentType"].startswith("image/"):
        return _image(f"data:{block['contentType']};base64,{block['data']}")
    return None


def plain(text: StringOrMarkdown | None) -> str:
    """Give text for people as plain text."""
    if text is None:
        return ""
    return text if isinstance(text, str) else text["markdown"]


def plain_text(content: Content) -> str:
    """Give the words of a message, without its images, thoughts and calls."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _text(text: str) -> Text:
    return {"type": "text", "text": text}


def _image(url: str) -> Image:
    return {"type": "image", "url": url}
