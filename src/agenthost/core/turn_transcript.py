"""How a turn becomes messages of the transcript. Pure.

The state has what people see, the transcript what a model gets. Everything that is said enters the transcript
in the same commit as the action that says it: the user's message when the turn starts, an assistant's message
when its step is complete (its calls are ready, or the turn ends), a tool's message when its call ends.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agenthost.core.queries import has_ended
from agenthost.core.transcript import (
    AssistantMessage,
    Block,
    Content,
    Image,
    Message,
    Text,
    ToolMessage,
    UserMessage,
    denial,
    host_mark,
    open_calls,
    requested_calls,
)
from agenthost.errors import NotJson
from agenthost.wire.ahp.common import StringOrMarkdown
from agenthost.wire.ahp.message import Message as SentMessage
from agenthost.wire.ahp.message import MessageAttachment, attachment_label
from agenthost.wire.ahp.tool import ToolResultContent
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject, decode_json

__all__ = [
    "SKIPPED",
    "WHOLE_MESSAGE",
    "WITHHELD",
    "answer_message",
    "attachment_text",
    "covered_parts",
    "denied_message",
    "display_text",
    "is_reported",
    "message_text",
    "reported_messages",
    "result_content",
    "result_texts",
    "tool_message",
    "user_message",
]

SKIPPED = "Tool call skipped: the turn ended before it could finish."
WITHHELD = "Tool call done, but its result was withheld by the user."

WHOLE_MESSAGE = ""
"""Private data for the message as a whole is under this key, instead of the id of a part."""

Inputs: TypeAlias = Mapping[str, JsonObject]
"""The inputs of a step's calls, by call id."""


def user_message(sent: SentMessage) -> UserMessage:
    """Return a user's message as the model gets it: its text, and its attachments as text or images."""
    attached = [_attached(attachment) for attachment in sent.get("attachments", [])]
    if not attached:
        return {"role": "user", "content": sent["text"]}
    text: list[Block] = [{"type": "text", "text": sent["text"]}] if sent["text"] else []
    return {"role": "user", "content": [*text, *attached]}


def _attached(attachment: MessageAttachment) -> Block:
    label = attachment_label(attachment)
    if attachment["type"] not in ("resource", "embeddedResource"):
        return _text(attachment_text(attachment))
    kind = attachment.get("contentType", "")
    if attachment["type"] == "resource":
        is_image = kind.startswith("image/") or attachment.get("displayKind") == "image"
        # A model can get an image only from these; files of this machine are named.
        if is_image and attachment["uri"].startswith(("https://", "data:")):
            return _image(attachment["uri"])
        return _text(f"[attached: {label}, {attachment['uri']}]")
    if kind.startswith("image/"):
        return _image(f"data:{kind};base64,{attachment['data']}")
    return _text(_embedded_text(attachment["data"], kind, label))


def attachment_text(attachment: Any) -> str:
    """Return the text for an attachment without content, or of an unknown kind."""
    words = attachment.get("modelRepresentation")
    if type(words) is str and words:
        return words
    label, uri = attachment_label(attachment), attachment.get("uri", attachment.get("resource"))
    return f"[attached: {label}, {uri}]" if type(uri) is str and uri != label else f"[attached: {label}]"


def _embedded_text(data: str, kind: str, label: str) -> str:
    try:
        return f"[attached: {label}]\n{b64decode(data, validate=True).decode()}"
    except (NotBase64, ValueError):  # the latter: not text either
        return f"[attached: {label}, {kind}, about {len(data) * 3 // 4} bytes]"


def answer_message(
    parts: Sequence[ResponsePart], start: int, inputs: Inputs, private: Mapping[str, JsonObject]
) -> AssistantMessage | None:
    """Return the assistant's message for the parts from `start` on; `None` if they say nothing.

    Calls that are not in `inputs` were never complete, and are left out. `private` is what an agent wants to
    keep with a part or call, by its id, or with the message (`WHOLE_MESSAGE`). The message is marked with the
    number of parts that are in the transcript.
    """
    blocks = [block for part in parts[start:] if (block := _block(part, inputs, private)) is not None]
    if not blocks:
        return None
    only = blocks[0]
    # A single text stays a string, as most models send and expect it.
    is_plain = len(blocks) == 1 and only["type"] == "text" and "_private" not in only
    content: Content = only["text"] if is_plain else blocks  # type: ignore[typeddict-item] # a text, as checked
    marks = {**private.get(WHOLE_MESSAGE, {}), "host": {"parts": len(parts)}}
    return {"role": "assistant", "content": content, "_private": marks}


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
    # A thought without text may be a signature that its provider wants back.
    elif part["kind"] == "reasoning" and (part["content"] or part["id"] in private):
        part_id, block = part["id"], {"type": "thinking", "thinking": part["content"]}
    if block is not None and part_id in private:
        block["_private"] = private[part_id]
    return block  # type: ignore[no-any-return]


def is_reported(call: Any) -> bool:
    """Return whether a call is run by its agent, which only reports it, and not by the host."""
    return bool(call.get("_meta", {}).get("agenthost", {}).get("reported"))


def reported_messages(
    parts: Sequence[ResponsePart],
    messages: Sequence[Message],
    private: Mapping[str, JsonObject],
    *,
    asking: str | None = None,
    is_over: bool = False,
) -> list[Message]:
    """Return the messages to add now for the calls that an agent runs itself.

    `messages` are those of the turn so far. Such a call is recorded when it has ended, as a message that asks
    for it and its result, so that a model can read it however many ran at once. A call that asks for
    permission is recorded when it asks (`asking` is its id), and all others wait until it has ended. When the
    turn `is_over`, calls that have not ended are recorded as skipped.
    """
    # P14: a call is reported when it has ended, or when it asks.
    recorded = {call["toolCallId"] for message in messages for call in requested_calls(message)}
    found: list[Message] = []
    # A model accepts no other message between a call and its result.
    if asking is None and not is_over and open_calls(messages):
        return found
    start = covered_parts(messages)
    for place, part in enumerate(parts):
        call: Any = part["toolCall"] if part["kind"] == "toolCall" else None
        if call is None or call["toolCallId"] in recorded or not is_reported(call):
            continue
        is_asking = call["toolCallId"] == asking
        if not is_asking and not has_ended(call):
            # The input of a streaming call is incomplete: no model could read the call.
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
    """Return a message with what was said up to a call and is not recorded yet, and the call itself."""
    part: Any = parts[place]
    call = part["toolCall"]
    inputs = {call["toolCallId"]: _decoded_input(call)}
    message: Any = answer_message(parts[: place + 1], min(start, place), inputs, private)
    return {**message, "_private": {"host": {"parts": max(start, place + 1)}}}  # type: ignore[typeddict-item]


def _decoded_input(call: JsonObject) -> JsonObject:
    text = call.get("toolInput")
    try:
        value = decode_json(text) if type(text) is str else {}  # else it is absent, or stored elsewhere
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
    """Return how many parts of a turn are in the transcript already, by its messages."""
    for message in reversed(messages):
        count = host_mark(message).get("parts")
        if message["role"] == "assistant" and type(count) is int:
            return count
    return 0


def tool_message(call_id: str, content: Content) -> ToolMessage:
    """Return the message that answers a call."""
    return {"role": "tool", "toolCallId": call_id, "content": content}


def denied_message(action: JsonObject) -> ToolMessage:
    """Return the message that tells the model that a call was denied, why, and what the user suggests."""
    reason = display_text(action.get("reasonMessage"))
    if action.get("reason") == "skipped" and not reason:
        reason = "skipped by the user"
    text = denial(reason)
    suggestion = action.get("userSuggestion") or {}
    if suggestion.get("text"):
        text += f"\nThe user suggests: {suggestion['text']}"
    return tool_message(action["toolCallId"], text)


def result_content(result: ToolCallResult, edited_input: str | None = None) -> Content:
    """Return a result as the model gets it, images included. An edited input is mentioned."""
    content = result.get("content", [])
    error = result.get("error")
    texts = result_texts(
        content, error["message"] if error else None if result["success"] else "The tool failed."
    )
    if edited_input is not None:
        texts = [f"The user changed the input to {edited_input}", *texts]
    images = [image for block in content if (image := _embedded_image(block)) is not None]
    if not images:
        return "\n".join(texts)
    words: list[Block] = [_text(text) for text in texts if text]
    return [*words, *images]


def result_texts(content: Sequence[ToolResultContent], error: str | None = None) -> list[str]:
    """Return a result as texts, the error first. Blocks that are only for people are left out."""
    texts = [text for block in content if (text := _block_text(block)) is not None]
    return [error, *texts] if error is not None else texts


def _block_text(block: ToolResultContent) -> str | None:
    match block["type"]:
        case "text":
            return block["text"]
        case "embeddedResource":
            return f"[{block['contentType']}, about {len(block['data']) * 3 // 4} bytes]"
        case "resource":
            return f"[{block['uri']}]"
        case _:
            return None


def _embedded_image(block: ToolResultContent) -> Image | None:
    if block["type"] == "embeddedResource" and block["contentType"].startswith("image/"):
        return _image(f"data:{block['contentType']};base64,{block['data']}")
    return None


def display_text(text: StringOrMarkdown | None) -> str:
    """Return text for people as a string; Markdown keeps its marks."""
    if text is None:
        return ""
    return text if isinstance(text, str) else text["markdown"]


def message_text(content: Content) -> str:
    """Return the text of a message, without its images, thoughts and calls."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _text(text: str) -> Text:
    return {"type": "text", "text": text}


def _image(url: str) -> Image:
    return {"type": "image", "url": url}
