"""Messages of users in both protocols: today there are more kinds of attachment, and an origin."""

from typing import Any, Final, cast

from agenthost.wire.ahp.legacy.message import PendingMessage as LegacyPendingMessage
from agenthost.wire.ahp.legacy.message import UserMessage, attachment_label
from agenthost.wire.ahp.message import Message, PendingMessage

NEWER_ATTACHMENTS: Final = frozenset({"annotations", "chat"})

_NEW_KEYS = frozenset({"origin", "model", "agent"})
"""The fields of a message that the legacy protocol does not have."""


def project_message(message: Message) -> UserMessage:
    """Return a message as legacy clients see it."""
    projected: Any = {key: value for key, value in message.items() if key not in _NEW_KEYS}
    if message.get("attachments") is not None:
        projected["attachments"] = [_project_attachment(one) for one in message["attachments"]]
    return cast("UserMessage", projected)


def lift_message(message: UserMessage) -> Message:
    """Return a legacy message. Only users write them."""
    lifted: Any = {**message, "origin": {"kind": "user"}}
    return cast("Message", lifted)


def project_pending(pending: PendingMessage) -> LegacyPendingMessage:
    """Return a pending message as legacy clients see it."""
    return {"id": pending["id"], "userMessage": project_message(pending["message"])}


def lift_pending(pending: LegacyPendingMessage) -> PendingMessage:
    """Return a legacy pending message."""
    return {"id": pending["id"], "message": lift_message(pending["userMessage"])}


def _project_attachment(attachment: Any) -> Any:
    """Return an attachment; for a newer kind only its label, so that its place is not empty."""
    if attachment.get("type") not in NEWER_ATTACHMENTS:
        return attachment  # known there, or unknown everywhere: unknown kinds are passed on
    kept = {key: attachment[key] for key in ("range", "displayKind", "_meta") if key in attachment}
    return {"type": "simple", "label": attachment_label(attachment), **kept}
