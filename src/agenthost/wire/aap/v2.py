"""Version 2 of AAP as a whole: its types, the shape of every body, and the conversion to version 3 and back.

It has version 1's paths and tools; sessions are listed as objects, and their history is read separately.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from agenthost.wire.aap import v3
from agenthost.wire.aap.legacy import (
    EVENT,
    POST_SESSION,
    POST_SESSION_RESPONSE,
    PUT_SESSION,
    PUT_SESSION_RESPONSE,
    AgentInfo,
    AgentResponse,
    CreateSessionRequest,
    JsonSchema,
    SessionStartEvent,
    SessionTurnRequest,
    SSEEvent,
    ToolSpec,
    agent_from_v3,
    agent_to_v3,
    answer_from_v3,
    answer_to_v3,
    create_from_v3,
    create_to_v3,
    decode_event,
    rename_tools,
    tool_from_v3,
    tool_to_v3,
    turn_from_v3,
    turn_to_v3,
)
from agenthost.wire.aap.v3 import (
    AgentCapabilities,
    AgentConfig,
    AgentOption,
    AgentOverrides,
    ApplicationMessage,
    AssistantMessage,
    Content,
    ContentBlock,
    History,
    HistoryMessage,
    HistoryType,
    ImageContentBlock,
    SecretAgentOption,
    SelectAgentOption,
    ServerToolRef,
    StopReason,
    StreamMode,
    SystemMessage,
    TextAgentOption,
    TextContentBlock,
    TextDeltaEvent,
    TextEvent,
    ThinkingContentBlock,
    ThinkingDeltaEvent,
    ThinkingEvent,
    ToolCall,
    ToolCallEvent,
    ToolCallInput,
    ToolMessage,
    ToolPermissionMessage,
    ToolResult,
    ToolResultEvent,
    ToolUseContentBlock,
    TurnStartEvent,
    TurnStopEvent,
    UserMessage,
    encode_event,
)
from agenthost.wire.shape import Shape

__all__ = [
    "EVENT",
    "GET_HISTORY_RESPONSE",
    "GET_META_RESPONSE",
    "GET_SESSIONS_RESPONSE",
    "GET_SESSION_RESPONSE",
    "POST_SESSION",
    "POST_SESSION_RESPONSE",
    "PUT_SESSION",
    "PUT_SESSION_RESPONSE",
    "REQUESTS",
    "RESPONSES",
    "VERSION",
    "AgentCapabilities",
    "AgentConfig",
    "AgentInfo",
    "AgentOption",
    "AgentOverrides",
    "AgentResponse",
    "ApplicationMessage",
    "AssistantMessage",
    "Content",
    "ContentBlock",
    "CreateSessionRequest",
    "History",
    "HistoryMessage",
    "HistoryType",
    "ImageContentBlock",
    "JsonSchema",
    "MetaResponse",
    "SSEEvent",
    "SecretAgentOption",
    "SelectAgentOption",
    "ServerToolRef",
    "SessionHistoryResponse",
    "SessionInfo",
    "SessionListResponse",
    "SessionResponse",
    "SessionStartEvent",
    "SessionTurnRequest",
    "StopReason",
    "StreamMode",
    "SystemMessage",
    "TextAgentOption",
    "TextContentBlock",
    "TextDeltaEvent",
    "TextEvent",
    "ThinkingContentBlock",
    "ThinkingDeltaEvent",
    "ThinkingEvent",
    "ToolCall",
    "ToolCallEvent",
    "ToolCallInput",
    "ToolMessage",
    "ToolPermissionMessage",
    "ToolResult",
    "ToolResultEvent",
    "ToolSpec",
    "ToolUseContentBlock",
    "TurnStartEvent",
    "TurnStopEvent",
    "UserMessage",
    "agent_from_v3",
    "agent_to_v3",
    "answer_from_v3",
    "answer_to_v3",
    "create_from_v3",
    "create_to_v3",
    "decode_event",
    "encode_event",
    "meta_from_v3",
    "meta_to_v3",
    "session_from_v3",
    "session_to_v3",
    "sessions_from_v3",
    "sessions_to_v3",
    "tool_from_v3",
    "tool_to_v3",
    "turn_from_v3",
    "turn_to_v3",
]

VERSION = 2


class MetaResponse(TypedDict):
    """The version spoken here, and the agents."""

    version: Literal[2]
    agents: list[AgentInfo]


class SessionInfo(TypedDict):
    """A session as others see it. Secret options are masked."""

    sessionId: str
    agent: AgentConfig
    tools: NotRequired[list[ToolSpec]]


SessionResponse: TypeAlias = SessionInfo
"""One session, without its history."""


class SessionListResponse(TypedDict):
    """A page of sessions; `next` asks for the page after it, and is absent on the last."""

    sessions: list[SessionInfo]
    next: NotRequired[str]


SessionHistoryResponse: TypeAlias = v3.GetSessionHistoryResponse
"""The history of a session, separate since this version, in the form that version 3 kept."""

GET_META_RESPONSE = Shape[MetaResponse](MetaResponse)
GET_SESSIONS_RESPONSE = Shape[SessionListResponse](SessionListResponse)
GET_SESSION_RESPONSE = Shape[SessionResponse](SessionResponse)
GET_HISTORY_RESPONSE = Shape[SessionHistoryResponse](SessionHistoryResponse)

REQUESTS: dict[str, Shape[Any]] = {
    "PUT /session": PUT_SESSION,
    "POST /session/:id": POST_SESSION,
}
"""The request body of each endpoint; the others take none."""

RESPONSES: dict[str, Shape[Any]] = {
    "GET /meta": GET_META_RESPONSE,
    "GET /sessions": GET_SESSIONS_RESPONSE,
    "GET /session/:id": GET_SESSION_RESPONSE,
    "GET /session/:id/history": GET_HISTORY_RESPONSE,
    "PUT /session": PUT_SESSION_RESPONSE,
    "POST /session/:id": POST_SESSION_RESPONSE,
}
"""The JSON body of each endpoint's successful response."""


def meta_from_v3(meta: v3.GetMetaResponse) -> MetaResponse:
    """Turn the description of a server into version 2's form."""
    agents = [agent_from_v3(agent) for agent in meta["agents"]]
    return cast("MetaResponse", {**meta, "version": VERSION, "agents": agents})


def meta_to_v3(meta: MetaResponse) -> v3.GetMetaResponse:
    """Turn version 2's description of a server into version 3's form."""
    agents = [agent_to_v3(agent) for agent in meta["agents"]]
    return cast("v3.GetMetaResponse", {**meta, "version": v3.VERSION, "agents": agents})


def sessions_from_v3(page: v3.GetSessionsResponse) -> SessionListResponse:
    """Turn a page of sessions into version 2's form."""
    sessions = [session_from_v3(session) for session in page["sessions"]]
    return cast("SessionListResponse", {**page, "sessions": sessions})


def sessions_to_v3(page: SessionListResponse) -> v3.GetSessionsResponse:
    """Turn version 2's page of sessions into version 3's form."""
    sessions = [session_to_v3(session) for session in page["sessions"]]
    return cast("v3.GetSessionsResponse", {**page, "sessions": sessions})


def session_from_v3(session: v3.SessionInfo) -> SessionInfo:
    """Turn a session into version 2's form."""
    return cast("SessionInfo", rename_tools(session))


def session_to_v3(session: SessionInfo) -> v3.SessionInfo:
    """Turn version 2's session into version 3's form."""
    return cast("v3.SessionInfo", rename_tools(session))
