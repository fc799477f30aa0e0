"""Seeding: a history that somebody brings becomes the turns of a new session.

A turn begins with each user message; what comes before the first belongs to none. Parts have the ids that a
running agent would give them. A history that ends in open calls ends in a turn that waits for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.recording import plain_text
from agenthost.core.transcript import Image, Message, ToolUse
from agenthost.wire.ahp.message import MessageAttachment
from agenthost.wire.ahp.message import UserMessage as SentMessage
from agenthost.wire.ahp.turn import ActiveTurn, Turn
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["Seed", "seeded", "sent_message"]


@dataclass(slots=True)
class Seed:
    """What a session begins with: turns that have ended, one that waits, the messages, each with its turn."""

    turns: list[Turn] = field(default_factory=list)
    active: ActiveTurn | None = None
    said: list[tuple[str | None, Message]] = field(default_factory=list)


OpenCall = Callable[[ToolUse], JsonObject]
"""Gives the state of a call that is still open: it waits for somebody."""


def seeded(messages: Sequence[Message], open_call: OpenCall) -> Seed:
    """Make the turns of a history. Its shape and order have been checked already."""
    seed = Seed()
    drafts: list[_Draft] = []
    for message in messages:
        if message["role"] == "user":
            drafts.append(_Draft(f"seed-{len(drafts) + 1}", sent_message(message["content"])))
        elif drafts:
            drafts[-1].take(message)
        seed.said.append((drafts[-1].id if drafts else None, message))
    for draft in drafts:
        if draft is drafts[-1] and draft.waits:
            seed.active = draft.active(open_call)
            _mark_covered(seed)
        else:
            seed.turns.append(draft.ended())
    return seed


def _mark_covered(seed: Seed) -> None:
    """Note that the parts of the turn that waits are in the transcript already."""
    count = len(seed.active["responseParts"]) if seed.active else 0
    last = max(place for place, (_, message) in enumerate(seed.said) if message["role"] == "assistant")
    turn, message = seed.said[last]
    marked: Any = {**message, "_private": {"host": {"parts": count}}}
    seed.said[last] = (turn, marked)


def sent_message(content: Any) -> SentMessage:
    """Give a user's message as the state shows it: its text, and its images as attachments."""
    if isinstance(content, str):
        return {"text": content}
    images = [block for block in content if block["type"] == "image"]
    message: SentMessage = {"text": plain_text(content)}
    if images:
        message["attachments"] = [_attachment(image, place) for place, image in enumerate(images, 1)]
    return message


def _attachment(image: Image, place: int) -> MessageAttachment:
    label = f"image {place}"
    head, _, data = image["url"].partition(";base64,")
    if head.startswith("data:"):
        kind = head.removeprefix("data:")
        return {
            "type": "embeddedResource",
            "label": label,
            "data": data,
            "contentType": kind,
            "displayKind": "image",
        }
    return {"type": "resource", "label": label, "uri": image["url"], "displayKind": "image"}


@dataclass(slots=True)
class _Draft:
    id: str
    message: SentMessage
    parts: list[Any] = field(default_factory=list)
    open: dict[str, ToolUse] = field(default_factory=dict)
    last: set[str] = field(default_factory=set)  # the calls of its last assistant message
    texts: int = 0

    @property
    def waits(self) -> bool:
        """Whether it ends in open calls; those of earlier messages were passed over, and stay so."""
        return not self.last.isdisjoint(self.open)

    def take(self, message: Message) -> None:
        if message["role"] == "tool":
            call = self.open.pop(message["toolCallId"], None)
            if call is not None:
                self._settle(call, plain_text(message["content"]))
        elif message["role"] == "assistant":
            self.last.clear()
            content: Any = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                self._add(block)

    def _add(self, block: Any) -> None:
        if block["type"] == "tool_use":
            self.open[block["toolCallId"]] = block
            self.last.add(block["toolCallId"])
            self.parts.append({"kind": "toolCall", "toolCall": block})
        elif block["type"] in ("text", "thinking"):
            self.texts += 1
            kind = "markdown" if block["type"] == "text" else "reasoning"
            self.parts.append({"kind": kind, "id": f"p{self.texts}", "content": block[block["type"]]})

    def _settle(self, call: ToolUse, text: str) -> None:
        state = {
            **_shown(call),
            "status": "completed",
            "confirmed": "not-needed",
            "success": True,
            "pastTenseMessage": f"Ran {call['name']}",
            "content": [{"type": "text", "text": text}],
        }
        self._replace(call, state)

    def _replace(self, call: ToolUse, state: JsonObject) -> None:
        for part in self.parts:
            if part.get("toolCall") is call:
                part["toolCall"] = state

    def _skip(self, call: ToolUse) -> None:
        self._replace(call, {**_shown(call), "status": "cancelled", "reason": "skipped"})

    def ended(self) -> Turn:
        for call in self.open.values():
            self._skip(call)
        return {
            "id": self.id,
            "userMessage": self.message,
            "responseParts": self.parts,
            "state": "complete",
        }

    def active(self, open_call: OpenCall) -> ActiveTurn:
        for call_id, call in self.open.items():
            if call_id in self.last:
                self._replace(call, {**_shown(call), **open_call(call)})
            else:
                self._skip(call)
        return {"id": self.id, "userMessage": self.message, "responseParts": self.parts}


def _shown(call: ToolUse) -> JsonObject:
    return {
        "toolCallId": call["toolCallId"],
        "toolName": call["name"],
        "displayName": call["name"],
        "invocationMessage": call["name"],
        "toolInput": encode_json(call["input"]).decode(),
    }
