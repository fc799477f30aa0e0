"""Actions on a chat as a whole, and on the messages that wait in it."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.canvas import CanvasReference
from agenthost.wire.ahp.changeset import Changeset
from agenthost.wire.ahp.chat import BackgroundWork
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import PendingMessageKind
from agenthost.wire.ahp.message import Message


class ChatActivityChangedAction(TypedDict):
    """What the chat is doing, in a few words."""

    type: Literal["chat/activityChanged"]
    activity: NotRequired[str]


class ChatDraftChangedAction(TypedDict):
    """The draft of a message."""

    type: Literal["chat/draftChanged"]
    draft: NotRequired[Message]


class ChatIsReadChangedAction(TypedDict):
    """The chat was read, or is unread again."""

    type: Literal["chat/isReadChanged"]
    isRead: bool


class ChatIsArchivedChangedAction(TypedDict):
    """The chat was archived or unarchived."""

    type: Literal["chat/isArchivedChanged"]
    isArchived: bool


class ChatMovableChangedAction(TypedDict):
    """The chat can be moved to another session, or no longer."""

    type: Literal["chat/movableChanged"]
    movable: bool


class ChatWorkingDirectorySetAction(TypedDict):
    """The chat works in one more directory."""

    type: Literal["chat/workingDirectorySet"]
    directory: URI


class ChatWorkingDirectoryRemovedAction(TypedDict):
    """The chat no longer works in a directory."""

    type: Literal["chat/workingDirectoryRemoved"]
    directory: URI


class ChatChangesetsChangedAction(TypedDict):
    """The changesets that the chat offers are now these."""

    type: Literal["chat/changesetsChanged"]
    changesets: NotRequired[list[Changeset]]


class ChatCanvasesChangedAction(TypedDict):
    """The chat's canvases are now these."""

    type: Literal["chat/canvasesChanged"]
    canvases: NotRequired[list[CanvasReference]]


class ChatBackgroundWorkSetAction(TypedDict):
    """Background work has started or changed."""

    type: Literal["chat/backgroundWorkSet"]
    work: BackgroundWork


class ChatBackgroundWorkRemovedAction(TypedDict):
    """Background work has ended."""

    type: Literal["chat/backgroundWorkRemoved"]
    id: str


class ChatPendingMessageSetAction(TypedDict):
    """A message is pending, or has changed."""

    type: Literal["chat/pendingMessageSet"]
    kind: PendingMessageKind
    id: str
    message: Message


class ChatPendingMessageRemovedAction(TypedDict):
    """A message is no longer pending."""

    type: Literal["chat/pendingMessageRemoved"]
    kind: PendingMessageKind
    id: str


class ChatQueuedMessagesReorderedAction(TypedDict):
    """The queue has a new order."""

    type: Literal["chat/queuedMessagesReordered"]
    order: list[str]
