"""Prompts for the program. Pure.

A message and its attachments become ACP content blocks. What the program does not accept is described in
text. What was said before the program joined the session is put in front, as text.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence

from acp.schema import PromptCapabilities

from agenthost.core.transcript import Content, Message
from agenthost.core.turn_transcript import attachment_text
from agenthost.wire.ahp.message import Message as SentMessage
from agenthost.wire.ahp.message import MessageAttachment, attachment_label
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["context_blocks", "message_blocks", "steering_blocks"]

MAX_RESULT_CHARACTERS = 2_000
"""How much of a tool result is quoted in the earlier conversation."""


def message_blocks(message: SentMessage, can: PromptCapabilities) -> list[JsonObject]:
    """Return a message as content blocks: its text, then its attachments."""
    text = [_text(message["text"])] if message["text"] else []
    attached = [_attached(attachment, can) for attachment in message.get("attachments", [])]
    return [*text, *attached] or [_text("")]


def _attached(attachment: MessageAttachment, can: PromptCapabilities) -> JsonObject:
    label = attachment_label(attachment)
    if attachment["type"] not in ("resource", "embeddedResource"):
        return _text(attachment_text(attachment))
    kind = attachment.get("contentType", "")
    if attachment["type"] == "embeddedResource":
        return _embedded(attachment["data"], kind, label, can)
    head, _, data = attachment["uri"].partition(";base64,")
    if head.startswith("data:"):
        return _embedded(data, head.removeprefix("data:"), label, can)
    link = {"type": "resource_link", "uri": attachment["uri"], "name": label}
    return {**link, "mimeType": kind} if kind else link


def _embedded(data: str, kind: str, label: str, can: PromptCapabilities) -> JsonObject:
    if kind.startswith("image/"):
        image = {"type": "image", "data": data, "mimeType": kind}
        return image if can.image else _text(f"[attached: the image {label}, which cannot be shown here]")
    if kind.startswith("audio/") and can.audio:
        return {"type": "audio", "data": data, "mimeType": kind}
    try:
        words: str | None = b64decode(data, validate=True).decode()
    except (NotBase64, ValueError):  # the latter: not text
        words = None
    if not can.embedded_context:
        about = f"{kind}, about {len(data) * 3 // 4} bytes"
        return _text(f"[attached: {label}, {about}]" if words is None else f"[attached: {label}]\n{words}")
    resource = {"uri": f"attachment:///{label}", "mimeType": kind}
    held = {"blob": data} if words is None else {"text": words}
    return {"type": "resource", "resource": {**resource, **held}}


def steering_blocks(message: Message) -> list[JsonObject]:
    """Return the text of a message that arrived in the middle of a turn."""
    return [_text(_to_text(message["content"]))]


def context_blocks(messages: Sequence[Message]) -> list[JsonObject]:
    """Return a block that quotes what was said before, or an empty list."""
    quotes = [text for message in messages if (text := _quote(message))]
    if not quotes:
        return []
    head = "This conversation began without you. For your information, this is what was said before:"
    return [_text("\n\n".join([head, "<conversation>", *quotes, "</conversation>", "Now the user says:"]))]


def _quote(message: Message) -> str:
    words = _to_text(message["content"])
    match message["role"]:
        case "tool":
            is_cut = len(words) > MAX_RESULT_CHARACTERS
            return f"[Result: {words[:MAX_RESULT_CHARACTERS]}{'…' if is_cut else ''}]"
        case _:
            return f"{message['role'].capitalize()}: {words}" if words else ""


def _to_text(content: Content) -> str:
    if isinstance(content, str):
        return content
    texts = []
    for block in content:
        match block["type"]:
            case "text":
                texts.append(block["text"])
            case "tool_use":
                texts.append(f"[Called {block['name']} with {encode_json(block['input']).decode()}]")
            case "image":
                texts.append("[an image]")
    return "\n".join(texts)


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
