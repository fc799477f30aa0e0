"""Sessions: the whole state, and the summary in the list."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI, ErrorInfo, Meta
from agenthost.wire.ahp.config import SessionConfigState
from agenthost.wire.ahp.customization import CustomizationRef, SessionCustomization
from agenthost.wire.ahp.enums import SessionLifecycle
from agenthost.wire.ahp.input import SessionInputRequest
from agenthost.wire.ahp.message import PendingMessage
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.tool import FileEdit, ToolDefinition
from agenthost.wire.ahp.turn import ActiveTurn, Turn


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
    """A session whole: what its subscribers see."""

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
