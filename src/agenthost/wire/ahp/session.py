"""Sessions: their state, their summary in the list, and what they wait for."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.annotation import AnnotationsSummary
from agenthost.wire.ahp.changeset import Changeset, ChangesSummary
from agenthost.wire.ahp.chat import ChatOrigin, ChatSummary
from agenthost.wire.ahp.common import URI, ErrorInfo, Meta, Timestamp
from agenthost.wire.ahp.config import SessionConfigState
from agenthost.wire.ahp.customization import ClientPluginCustomization, Customization
from agenthost.wire.ahp.enums import ChatInteractivity, SessionLifecycle
from agenthost.wire.ahp.input import ChatInputRequest
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.ahp.toolcall import (
    ToolCallAuthRequiredState,
    ToolCallConfirmationState,
    ToolCallRunningState,
)
from agenthost.wire.annotations import Tag


class ProjectInfo(TypedDict):
    """The project that a session works on."""

    uri: URI
    displayName: str


class SessionActiveClient(TypedDict):
    """A client whose tools and customizations the session uses."""

    clientId: str
    displayName: NotRequired[str]
    tools: list[ToolDefinition]
    customizations: NotRequired[list[ClientPluginCustomization]]


class AutomationSessionOrigin(TypedDict):
    """A run of an automation created the session."""

    kind: Literal["automation"]
    automation: URI
    run: URI


SessionOrigin: TypeAlias = Annotated[AutomationSessionOrigin, Tag("kind")]
"""Where a session comes from, if not from a client."""


class SessionInputRequestBase(TypedDict):
    """The fields of every request of a session."""

    id: str
    chat: URI


class SessionChatInputRequest(SessionInputRequestBase):
    """A chat has questions for the user."""

    kind: Literal["chatInput"]
    request: ChatInputRequest


class SessionToolConfirmationRequest(SessionInputRequestBase):
    """A tool call waits for approval, of itself or of its result."""

    kind: Literal["toolConfirmation"]
    turnId: str
    toolCall: ToolCallConfirmationState


class SessionToolClientExecutionRequest(SessionInputRequestBase):
    """A tool call waits for a client to run it."""

    kind: Literal["toolClientExecution"]
    turnId: str
    clientId: str
    toolCall: ToolCallRunningState


class SessionToolAuthenticationRequest(SessionInputRequestBase):
    """A tool call waits for a token."""

    kind: Literal["toolAuthentication"]
    turnId: str
    toolCall: ToolCallAuthRequiredState


SessionInputRequest: TypeAlias = Annotated[
    SessionChatInputRequest
    | SessionToolConfirmationRequest
    | SessionToolClientExecutionRequest
    | SessionToolAuthenticationRequest,
    Tag("kind"),
]
"""Something that a chat of the session waits for."""


class SessionMetadata(TypedDict):
    """The fields that the state and the summary of a session share."""

    provider: str
    title: str
    status: int  # see `SessionStatus`
    activity: NotRequired[str]
    project: NotRequired[ProjectInfo]
    workingDirectories: NotRequired[list[URI]]
    annotations: NotRequired[AnnotationsSummary]
    origin: NotRequired[SessionOrigin]


class SessionState(SessionMetadata):
    """The full state of a session, as its subscribers see it."""

    lifecycle: SessionLifecycle
    creationError: NotRequired[ErrorInfo]
    serverTools: NotRequired[list[ToolDefinition]]
    activeClients: list[SessionActiveClient]
    chats: list[ChatSummary]
    defaultChat: NotRequired[URI]
    config: NotRequired[SessionConfigState]
    customizations: NotRequired[list[Customization]]
    changesets: NotRequired[list[Changeset]]
    inputNeeded: NotRequired[list[SessionInputRequest]]  # absent when empty
    _meta: NotRequired[Meta]  # well-known key: `git`


class SessionChatSummary(TypedDict):
    """A chat as the list of sessions shows it."""

    resource: URI
    title: str
    origin: NotRequired[ChatOrigin]
    interactivity: NotRequired[ChatInteractivity]
    status: NotRequired[int]
    changes: NotRequired[ChangesSummary]


class SessionSummary(SessionMetadata):
    """A session as the list shows it."""

    resource: URI
    createdAt: Timestamp
    modifiedAt: Timestamp
    changes: NotRequired[ChangesSummary]
    chats: NotRequired[list[SessionChatSummary]]
    defaultChat: NotRequired[URI]
    _meta: NotRequired[Meta]


class PartialSessionSummary(TypedDict):
    """The fields of a `SessionSummary` that changed. `resource`, `provider` and `createdAt` never do."""

    resource: NotRequired[URI]
    provider: NotRequired[str]
    title: NotRequired[str]
    status: NotRequired[int]
    activity: NotRequired[str]
    project: NotRequired[ProjectInfo]
    workingDirectories: NotRequired[list[URI]]
    annotations: NotRequired[AnnotationsSummary]
    origin: NotRequired[SessionOrigin]
    createdAt: NotRequired[Timestamp]
    modifiedAt: NotRequired[Timestamp]
    changes: NotRequired[ChangesSummary]
    chats: NotRequired[list[SessionChatSummary]]
    defaultChat: NotRequired[URI]
    _meta: NotRequired[Meta]
