"""Actions on a session: its life, its chats, its clients, and what it waits for."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.changeset import Changeset
from agenthost.wire.ahp.chat import ChatSummary, PartialChatSummary
from agenthost.wire.ahp.common import URI, ErrorInfo, Meta
from agenthost.wire.ahp.session import SessionActiveClient, SessionInputRequest
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject


class SessionReadyAction(TypedDict):
    """The session can be used."""

    type: Literal["session/ready"]


class SessionCreationFailedAction(TypedDict):
    """The session could not be created."""

    type: Literal["session/creationFailed"]
    error: ErrorInfo


class SessionChatAddedAction(TypedDict):
    """The session has a new chat."""

    type: Literal["session/chatAdded"]
    summary: ChatSummary


class SessionChatRemovedAction(TypedDict):
    """A chat is gone."""

    type: Literal["session/chatRemoved"]
    chat: URI


class SessionChatUpdatedAction(TypedDict):
    """Something in a chat's summary changed."""

    type: Literal["session/chatUpdated"]
    chat: URI
    changes: PartialChatSummary


class SessionChatsReorderedAction(TypedDict):
    """The chats have a new order."""

    type: Literal["session/chatsReordered"]
    chats: list[URI]


class SessionDefaultChatChangedAction(TypedDict):
    """Another chat is the default one, or none."""

    type: Literal["session/defaultChatChanged"]
    defaultChat: NotRequired[URI]


class SessionTitleChangedAction(TypedDict):
    """The session has a new title."""

    type: Literal["session/titleChanged"]
    title: str


class SessionIsReadChangedAction(TypedDict):
    """The session was read, or is unread again."""

    type: Literal["session/isReadChanged"]
    isRead: bool


class SessionIsArchivedChangedAction(TypedDict):
    """The session was archived or unarchived."""

    type: Literal["session/isArchivedChanged"]
    isArchived: bool


class SessionActivityChangedAction(TypedDict):
    """What the session is doing, in a few words."""

    type: Literal["session/activityChanged"]
    activity: NotRequired[str]


class SessionChangesetsChangedAction(TypedDict):
    """The changesets that the session offers are now these."""

    type: Literal["session/changesetsChanged"]
    changesets: NotRequired[list[Changeset]]


class SessionConfigChangedAction(TypedDict):
    """Settings of the session have new values."""

    type: Literal["session/configChanged"]
    config: JsonObject
    replace: NotRequired[bool]  # true = replace all values


class SessionMetaChangedAction(TypedDict):
    """The session's free-form data is now this."""

    type: Literal["session/metaChanged"]
    _meta: NotRequired[Meta]


class SessionServerToolsChangedAction(TypedDict):
    """The host's tools are now these."""

    type: Literal["session/serverToolsChanged"]
    tools: list[ToolDefinition]


class SessionActiveClientSetAction(TypedDict):
    """A client is active, or has changed its tools or customizations."""

    type: Literal["session/activeClientSet"]
    activeClient: SessionActiveClient


class SessionActiveClientRemovedAction(TypedDict):
    """A client is no longer active."""

    type: Literal["session/activeClientRemoved"]
    clientId: str


class SessionWorkingDirectorySetAction(TypedDict):
    """The session works in one more directory."""

    type: Literal["session/workingDirectorySet"]
    directory: URI


class SessionWorkingDirectoryRemovedAction(TypedDict):
    """The session no longer works in a directory."""

    type: Literal["session/workingDirectoryRemoved"]
    directory: URI


class SessionWorkingDirectoryReplacedAction(TypedDict):
    """The session works in one directory in place of another."""

    type: Literal["session/workingDirectoryReplaced"]
    directory: URI
    replacement: URI


class SessionInputNeededSetAction(TypedDict):
    """A chat waits for something, or what it waits for changed."""

    type: Literal["session/inputNeededSet"]
    request: SessionInputRequest


class SessionInputNeededRemovedAction(TypedDict):
    """A chat no longer waits for something."""

    type: Literal["session/inputNeededRemoved"]
    id: str
