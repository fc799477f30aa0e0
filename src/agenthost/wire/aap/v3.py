"""Version 3 of AAP as a whole: every type by its name, and the shape of every body."""

from typing import Any

from agenthost.wire.aap.agent import (
    AgentCapabilities,
    AgentConfig,
    AgentInfo,
    AgentOption,
    AgentOverrides,
    ApplicationCapabilities,
    HistoryCapabilities,
    HistoryType,
    ImageCapabilities,
    SecretAgentOption,
    SelectAgentOption,
    StreamCapabilities,
    TextAgentOption,
)
from agenthost.wire.aap.event import (
    EVENT,
    DeltaSSEEvent,
    MessageSSEEvent,
    SSEEvent,
    TextDeltaEvent,
    TextEvent,
    ThinkingDeltaEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    TurnStartEvent,
    TurnStopEvent,
    decode_event,
    encode_event,
)
from agenthost.wire.aap.message import (
    AgentMessage,
    ApplicationMessage,
    AssistantMessage,
    Content,
    ContentBlock,
    HistoryMessage,
    ImageContentBlock,
    SystemMessage,
    TextContentBlock,
    ThinkingContentBlock,
    ToolMessage,
    ToolPermissionMessage,
    ToolResult,
    ToolUseContentBlock,
    UserMessage,
)
from agenthost.wire.aap.session import (
    GetMetaResponse,
    GetSessionHistoryResponse,
    GetSessionResponse,
    GetSessionsResponse,
    History,
    PostSessionsRequest,
    PostSessionsResponse,
    PostSessionTurnRequest,
    PostSessionTurnResponse,
    SessionInfo,
    StopReason,
    StreamMode,
)
from agenthost.wire.aap.tool import JSONSchema, ServerToolRef, ToolCall, ToolCallInput, ToolSpec
from agenthost.wire.shape import STRICT, Shape

__all__ = [
    "EVENT",
    "GET_HISTORY_RESPONSE",
    "GET_META_RESPONSE",
    "GET_SESSIONS_RESPONSE",
    "GET_SESSION_RESPONSE",
    "POST_SESSIONS",
    "POST_SESSIONS_RESPONSE",
    "POST_TURN",
    "POST_TURN_RESPONSE",
    "REQUESTS",
    "RESPONSES",
    "VERSION",
    "AgentCapabilities",
    "AgentConfig",
    "AgentInfo",
    "AgentMessage",
    "AgentOption",
    "AgentOverrides",
    "ApplicationCapabilities",
    "ApplicationMessage",
    "AssistantMessage",
    "Content",
    "ContentBlock",
    "DeltaSSEEvent",
    "GetMetaResponse",
    "GetSessionHistoryResponse",
    "GetSessionResponse",
    "GetSessionsResponse",
    "History",
    "HistoryCapabilities",
    "HistoryMessage",
    "HistoryType",
    "ImageCapabilities",
    "ImageContentBlock",
    "JSONSchema",
    "MessageSSEEvent",
    "PostSessionTurnRequest",
    "PostSessionTurnResponse",
    "PostSessionsRequest",
    "PostSessionsResponse",
    "SSEEvent",
    "SecretAgentOption",
    "SelectAgentOption",
    "ServerToolRef",
    "SessionInfo",
    "StopReason",
    "StreamCapabilities",
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
    "decode_event",
    "encode_event",
]

VERSION = 3

POST_SESSIONS = Shape[PostSessionsRequest](PostSessionsRequest, STRICT)
POST_TURN = Shape[PostSessionTurnRequest](PostSessionTurnRequest, STRICT)

GET_META_RESPONSE = Shape[GetMetaResponse](GetMetaResponse)
GET_SESSIONS_RESPONSE = Shape[GetSessionsResponse](GetSessionsResponse)
GET_SESSION_RESPONSE = Shape[GetSessionResponse](GetSessionResponse)
GET_HISTORY_RESPONSE = Shape[GetSessionHistoryResponse](GetSessionHistoryResponse)
POST_SESSIONS_RESPONSE = Shape[PostSessionsResponse](PostSessionsResponse)
POST_TURN_RESPONSE = Shape[PostSessionTurnResponse](PostSessionTurnResponse)

REQUESTS: dict[str, Shape[Any]] = {
    "POST /sessions": POST_SESSIONS,
    "POST /sessions/:id/turns": POST_TURN,
}
"""The request body of each endpoint; the others take none."""

RESPONSES: dict[str, Shape[Any]] = {
    "GET /meta": GET_META_RESPONSE,
    "GET /sessions": GET_SESSIONS_RESPONSE,
    "GET /sessions/:id": GET_SESSION_RESPONSE,
    "GET /sessions/:id/history": GET_HISTORY_RESPONSE,
    "POST /sessions": POST_SESSIONS_RESPONSE,
    "POST /sessions/:id/turns": POST_TURN_RESPONSE,
}
"""The JSON body of each endpoint's successful response."""
