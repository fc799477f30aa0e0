"""User messages and their attachments."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import ContentRef, Meta, TextRange, TextSelection
from agenthost.wire.ahp.message import attachment_label
from agenthost.wire.annotations import Tag

__all__ = [
    "MessageAttachment",
    "MessageAttachmentBase",
    "MessageEmbeddedResourceAttachment",
    "MessageResourceAttachment",
    "PendingMessage",
    "SimpleMessageAttachment",
    "UserMessage",
    "attachment_label",
]


class MessageAttachmentBase(TypedDict):
    """The fields of every kind of attachment."""

    label: str
    range: NotRequired[TextRange]  # span in the message text (lines/characters, not bytes)
    displayKind: NotRequired[str]  # open set: image, document, symbol, directory, selection, …
    _meta: NotRequired[Meta]  # from `completions`: send back untouched


class SimpleMessageAttachment(MessageAttachmentBase):
    """An attachment that only its creator understands."""

    type: Literal["simple"]
    modelRepresentation: NotRequired[str]  # required when the client itself produced the attachment


class MessageEmbeddedResourceAttachment(MessageAttachmentBase):
    """An attachment whose bytes are included."""

    type: Literal["embeddedResource"]
    data: str  # base64
    contentType: str
    selection: NotRequired[TextSelection]


class MessageResourceAttachment(MessageAttachmentBase, ContentRef):
    """An attachment by reference."""

    type: Literal["resource"]
    selection: NotRequired[TextSelection]


MessageAttachment: TypeAlias = Annotated[
    SimpleMessageAttachment | MessageEmbeddedResourceAttachment | MessageResourceAttachment, Tag("type")
]
"""Something sent along with a message."""


class UserMessage(TypedDict):
    """A message of the user."""

    text: str
    attachments: NotRequired[list[MessageAttachment]]


class PendingMessage(TypedDict):
    """A pending message: queued for a later turn, or steering the running one."""

    id: str
    userMessage: UserMessage
