"""Sessions: the bodies of version 3's requests and responses."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.aap.agent import AgentConfig, AgentInfo, AgentOverrides
from agenthost.wire.aap.message import AgentMessage, ApplicationMessage, HistoryMessage
from agenthost.wire.aap.tool import ToolSpec

__all__ = [
    "GetMetaResponse",
    "GetSessionHistoryResponse",
    "GetSessionResponse",
    "GetSessionsResponse",
    "History",
    "PostSessionTurnRequest",
    "PostSessionTurnResponse",
    "PostSessionsRequest",
    "PostSessionsResponse",
    "SessionInfo",
    "StopReason",
    "StreamMode",
]

StreamMode: TypeAlias = Literal["delta", "message", "none"]
"""How a turn is answered: events in pieces, events per message, or one body at the end."""

StopReason: TypeAlias = Literal["end_turn", "tool_use", "max_tokens", "refusal", "error"]
"""Why a turn ended."""


class SessionInfo(TypedDict):
    """A session as others see it. Secret options are masked."""

    sessionId: str
    agent: AgentConfig
    tools: NotRequired[list[ToolSpec]]


class History(TypedDict):
    """The messages of a session, in the kinds that were asked for."""

    compacted: NotRequired[list[HistoryMessage]]
    full: NotRequired[list[HistoryMessage]]


class PostSessionsRequest(TypedDict):
    """Opens a session, without running anything. `messages` is a history to start with."""

    agent: AgentConfig
    messages: NotRequired[list[HistoryMessage]]
    tools: NotRequired[list[ToolSpec]]


class PostSessionsResponse(TypedDict):
    """The session that was opened."""

    sessionId: str


class PostSessionTurnRequest(TypedDict):
    """Starts or resumes a turn; what it changes of the session stays changed."""

    agent: NotRequired[AgentOverrides]
    stream: NotRequired[StreamMode]
    messages: list[ApplicationMessage]
    tools: NotRequired[list[ToolSpec]]


class PostSessionTurnResponse(TypedDict):
    """A whole turn in one body, for the response mode `none`."""

    stopReason: StopReason
    messages: list[AgentMessage]


GetSessionResponse: TypeAlias = SessionInfo
"""One session."""


class GetSessionsResponse(TypedDict):
    """A page of sessions; `next` asks for the page after it, and is absent on the last."""

    sessions: list[SessionInfo]
    next: NotRequired[str]


class GetSessionHistoryResponse(TypedDict):
    """The history of a session."""

    history: History


class GetMetaResponse(TypedDict):
    """The version spoken here, and the agents."""

    version: Literal[3]
    agents: list[AgentInfo]
