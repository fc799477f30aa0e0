"""Prompts: what the program is given to read. Pure.

A message with its attachments becomes blocks, as far as the program takes them; what it does not take becomes
words. What was said before the program came to the session is told as a text before it.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence

from acp.schema import PromptCapabilities

from agenthost.core.recording import attached_words
from agenthost.core.transcript import Content, Message
from agenthost.wire.ahp.message import MessageAttachment, UserMessage, label_of
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["blocks_of", "context_of", "text_of"]

LONGEST_RESULT = 2_000
"""How much of the result of a call is told of what was said before."""


def blocks_of(message: UserMessage, can: PromptCapabilities) -> list[JsonObject]:
    """Give a message as blocks: its text, then its attachments."""
    text = [_text(message["text"])] if message["text"] else []
    attached = [_attached(attachment, can) for attachment in message.get("attachments", [])]
    return [*text, *attached] or [_text("")]


def _attached(attachment: MessageAttachment, can: PromptCapabilities) -> JsonObject:
    label = label_of(attachment)
    if attachment["type"] not in ("resource", "embeddedResource"):
        return _text(attached_words(attachment))
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


def text_of(message: Message) -> list[JsonObject]:
    """Give the words of a message that came in the middle of a turn."""
    return [_text(_words(message["content"]))]


def context_of(messages: Sequence[Message]) -> list[JsonObject]:
    """Tell what was said before; nothing if nothing was."""
    told = [text for message in messages if (text := _told(message))]
    if not told:
        return []
    head = "This conversation began without you. For your information, this is what was said before:"
    return [_text("\n\n".join([head, "<conversation>", *told, "</conversation>", "Now the user says:"]))]


def _told(message: Message) -> str:
    words = _words(message["content"])
    match message["role"]:
        case "tool":
            return f"[Result: {words[:LONGEST_RESULT]}{'…' if len(words) > LONGEST_RESULT else ''}]"
        case _:
            return f"{message['role'].capitalize()}: {words}" if words else ""


def _words(content: Content) -> str:
    if isinstance(content, str):
        return content
    said = []
    for block in content:
        match block["type"]:
            case "text":
                said.append(block["text"])
            case "tool_use":
                said.append(f"[Called {block['name']} with {encode_json(block['input']).decode()}]")
            case "image":
                said.append("[an image]")
    return "\n".join(said)


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
