"""Imported history: the messages that a client brings become the turns of a new session.

A turn starts with each user message; what comes before the first belongs to no turn. Parts get the ids that
a running agent would give them. A history that ends with open calls ends in a turn that waits for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.transcript import Image, Message, ToolUse
from agenthost.core.turn_transcript import message_text
from agenthost.wire.ahp.common import Timestamp
from agenthost.wire.ahp.message import Message as SentMessage
from agenthost.wire.ahp.message import MessageAttachment
from agenthost.wire.ahp.turn import ActiveTurn, Turn
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["ImportedHistory", "import_history", "sent_message"]


@dataclass(slots=True)
class ImportedHistory:
    """An imported history, as a session starts with it.

    Attributes:
        turns: the turns that have ended.
        active: the turn that waits for its open calls, if there is one.
        messages: the messages, each with the id of its turn.
    """

    turns: list[Turn] = field(default_factory=list)
    active: ActiveTurn | None = None
    messages: list[tuple[str | None, Message]] = field(default_factory=list)


OpenCall = Callable[[ToolUse], JsonObject]
"""Returns the state of a call that is still open: who it waits for."""


def import_history(messages: Sequence[Message], open_call: OpenCall, now_iso: Timestamp) -> ImportedHistory:
    """Turn a history into turns. Its shape and order have been checked already.

    The turn that waits starts now. When the others took place is not known, so they have no times.
    """
    imported = ImportedHistory()
    drafts: list[_Draft] = []
    for message in messages:
        if message["role"] == "user":
            drafts.append(_Draft(f"seed-{len(drafts) + 1}", sent_message(message["content"])))
        elif drafts:
            drafts[-1].add(message)
        imported.messages.append((drafts[-1].id if drafts else None, message))
    for draft in drafts:
        # C5: only the last turn can wait, and only for the calls of its last assistant message.
        if draft is drafts[-1] and draft.waits:
            imported.active = draft.active(open_call, now_iso)
            _mark_covered(imported)
        else:
            imported.turns.append(draft.ended())
    return imported


def _mark_covered(imported: ImportedHistory) -> None:
    """Mark the parts of the waiting turn as recorded: they are in the transcript already."""
    count = len(imported.active["responseParts"]) if imported.active else 0
    last = max(
        place for place, (_, message) in enumerate(imported.messages) if message["role"] == "assistant"
    )
    turn, message = imported.messages[last]
    marked: Any = {**message, "_private": {"host": {"parts": count}}}
    imported.messages[last] = (turn, marked)


def sent_message(content: Any) -> SentMessage:
    """Return a user's message as the state shows it: its text, and its images as attachments."""
    if isinstance(content, str):
        return {"text": content, "origin": {"kind": "user"}}
    images = [block for block in content if block["type"] == "image"]
    message: SentMessage = {"text": message_text(content), "origin": {"kind": "user"}}
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
    last: set[str] = field(default_factory=set)  # the ids of the calls of the last assistant message
    texts: int = 0

    @property
    def waits(self) -> bool:
        """Whether the turn ends with open calls. Open calls of earlier messages count as skipped."""
        return not self.last.isdisjoint(self.open)

    def add(self, message: Message) -> None:
        if message["role"] == "tool":
            call = self.open.pop(message["toolCallId"], None)
            if call is not None:
                self._complete(call, message_text(message["content"]))
        elif message["role"] == "assistant":
            self.last.clear()  # earlier calls were passed over
            content: Any = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                self._add_block(block)

    def _add_block(self, block: Any) -> None:
        if block["type"] == "tool_use":
            self.open[block["toolCallId"]] = block
            self.last.add(block["toolCallId"])
            # A placeholder: the state of the call is known once its answer was found, or was not.
            self.parts.append({"kind": "toolCall", "toolCall": block})
        elif block["type"] in ("text", "thinking"):
            self.texts += 1
            kind = "markdown" if block["type"] == "text" else "reasoning"
            self.parts.append({"kind": kind, "id": f"p{self.texts}", "content": block[block["type"]]})

    def _complete(self, call: ToolUse, text: str) -> None:
        state = {
            **_call_fields(call),
            "status": "completed",
            "confirmed": "not-needed",
            "success": True,
            "pastTenseMessage": f"Ran {call['name']}",
            "content": [{"type": "text", "text": text}],
        }
        self._replace(call, state)

    def _replace(self, call: ToolUse, state: JsonObject) -> None:
        for part in self.parts:
            if part.get("toolCall") is call:  # by identity: an id may occur twice
                part["toolCall"] = state

    def _skip(self, call: ToolUse) -> None:
        self._replace(call, {**_call_fields(call), "status": "cancelled", "reason": "skipped"})

    def ended(self) -> Turn:
        for call in self.open.values():
            self._skip(call)
        return {
            "id": self.id,
            "message": self.message,
            "responseParts": self.parts,
            "state": "complete",
        }

    def active(self, open_call: OpenCall, now_iso: Timestamp) -> ActiveTurn:
        for call_id, call in self.open.items():
            if call_id in self.last:
                self._replace(call, {**_call_fields(call), **open_call(call)})
            else:
                self._skip(call)
        return {
            "id": self.id,
            "startedAt": now_iso,
            "message": self.message,
            "responseParts": self.parts,
        }


def _call_fields(call: ToolUse) -> JsonObject:
    return {
        "toolCallId": call["toolCallId"],
        "toolName": call["name"],
        "displayName": call["name"],
        "invocationMessage": call["name"],
        "toolInput": encode_json(call["input"]).decode(),
    }
