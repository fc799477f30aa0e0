"""Messages and their attachments."""

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ContentRef, Meta, TextRange, TextSelection
from agenthost.wire.ahp.enums import MessageKind
from agenthost.wire.ahp.root import AgentSelection, ModelSelection
from agenthost.wire.annotations import Tag


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


class MessageAnnotationsAttachment(MessageAttachmentBase):
    """Annotations: all of a channel, or some."""

    type: Literal["annotations"]
    resource: URI
    annotationIds: NotRequired[list[str]]


class MessageChatAttachment(MessageAttachmentBase):
    """The transcript of another chat."""

    type: Literal["chat"]
    resource: URI
    endTurn: NotRequired[str]  # the last turn of it; absent: the last that is complete


MessageAttachment: TypeAlias = Annotated[
    SimpleMessageAttachment
    | MessageEmbeddedResourceAttachment
    | MessageResourceAttachment
    | MessageAnnotationsAttachment
    | MessageChatAttachment,
    Tag("type"),
]
"""Something sent along with a message."""


def attachment_label(attachment: Any) -> str:
    """Return a name for an attachment, even for one of an unknown kind."""
    names = (attachment.get(key) for key in ("label", "displayName", "name", "title", "uri", "type"))
    return next((name for name in names if type(name) is str and name), "something")


class MessageOrigin(TypedDict):
    """Who wrote a message."""

    kind: MessageKind  # a client may only send `user`


class Message(TypedDict):
    """What a turn begins with: a message of the user, or of another agent, tool or automation."""

    text: str
    origin: MessageOrigin
    attachments: NotRequired[list[MessageAttachment]]
    model: NotRequired[ModelSelection]  # absent: the host's default
    agent: NotRequired[AgentSelection]
    _meta: NotRequired[Meta]


class PendingMessage(TypedDict):
    """A pending message: queued for a later turn, or steering the running one."""

    id: str
    message: Message
