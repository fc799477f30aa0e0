"""What the user says, with attachments."""

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import ContentRef, Meta, TextRange, TextSelection
from agenthost.wire.annotations import Tag


class MessageAttachmentBase(TypedDict):
    """What every kind of attachment has."""

    label: str
    range: NotRequired[TextRange]  # span in the message text (lines/characters, not bytes)
    displayKind: NotRequired[str]  # open set: image, document, symbol, directory, selection, …
    _meta: NotRequired[Meta]  # from `completions`: send back untouched


class SimpleMessageAttachment(MessageAttachmentBase):
    """An attachment that only its maker understands."""

    type: Literal["simple"]
    modelRepresentation: NotRequired[str]  # required when the client itself produced the attachment


class MessageEmbeddedResourceAttachment(MessageAttachmentBase):
    """An attachment whose bytes ride along."""

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


def label_of(attachment: Any) -> str:
    """Return what people call an attachment, also one of a kind that we do not know."""
    names = (attachment.get(key) for key in ("label", "displayName", "name", "title", "uri", "type"))
    return next((name for name in names if type(name) is str and name), "something")


class UserMessage(TypedDict):
    """What the user says."""

    text: str
    attachments: NotRequired[list[MessageAttachment]]


class PendingMessage(TypedDict):
    """A message that waits: for its turn in the queue, or to steer the running turn."""

    id: str
    userMessage: UserMessage
