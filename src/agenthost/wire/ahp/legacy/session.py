"""Sessions: their state, and their summary in the list."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI, ErrorInfo, Meta
from agenthost.wire.ahp.legacy.config import SessionConfigState
from agenthost.wire.ahp.legacy.customization import CustomizationRef, SessionCustomization
from agenthost.wire.ahp.legacy.enums import SessionLifecycle
from agenthost.wire.ahp.legacy.input import SessionInputRequest
from agenthost.wire.ahp.legacy.message import PendingMessage
from agenthost.wire.ahp.legacy.root import ModelSelection
from agenthost.wire.ahp.legacy.tool import FileEdit, ToolDefinition
from agenthost.wire.ahp.legacy.turn import ActiveTurn, Turn


class ProjectInfo(TypedDict):
    """The project that a session works on."""

    uri: URI
    displayName: str


class SessionActiveClient(TypedDict):
    """The client whose tools and customizations the session uses."""

    clientId: str
    displayName: NotRequired[str]
    tools: list[ToolDefinition]
    customizations: NotRequired[list[CustomizationRef]]


class SessionSummary(TypedDict):
    """A session as the list shows it."""

    resource: URI
    provider: str
    title: str
    status: int  # see enums.md §3
    activity: NotRequired[str]
    createdAt: float  # Unix ms
    modifiedAt: float  # Unix ms
    project: NotRequired[ProjectInfo]
    model: NotRequired[ModelSelection]
    workingDirectory: NotRequired[URI]
    diffs: NotRequired[list[FileEdit]]


class SessionState(TypedDict):
    """The full state of a session, as its subscribers see it."""

    summary: SessionSummary
    lifecycle: SessionLifecycle
    creationError: NotRequired[ErrorInfo]
    serverTools: NotRequired[list[ToolDefinition]]
    activeClient: NotRequired[SessionActiveClient]
    turns: list[Turn]
    activeTurn: NotRequired[ActiveTurn]
    steeringMessage: NotRequired[PendingMessage]  # single slot
    queuedMessages: NotRequired[list[PendingMessage]]  # FIFO; absent when empty
    inputRequests: NotRequired[list[SessionInputRequest]]  # absent when empty
    config: NotRequired[SessionConfigState]
    customizations: NotRequired[list[SessionCustomization]]
    _meta: NotRequired[Meta]  # well-known key: `git`
