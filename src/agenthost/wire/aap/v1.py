"""Version 1 of AAP as a whole: its types, the shape of every body, and the conversion to version 3 and back.

A list of sessions has ids only, and a session is returned with its history.
"""

from typing import Any, NotRequired, TypedDict, cast

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
    SessionInfo,
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
from agenthost.wire.json import JsonObject
from agenthost.wire.shape import Shape

__all__ = [
    "EVENT",
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
    "next_cursor",
    "session_from_v3",
    "session_to_v3",
    "sessions_from_v3",
    "tool_from_v3",
    "tool_to_v3",
    "turn_from_v3",
    "turn_to_v3",
]

VERSION = 1


class MetaResponse(TypedDict):
    """The version spoken here, and the agents."""

    version: float
    agents: list[AgentInfo]


class SessionListResponse(TypedDict):
    """A page of session ids. The cursor has had two names: we write both, and accept either."""

    sessions: list[str]
    next: NotRequired[str]
    nextCursor: NotRequired[str]


class SessionResponse(TypedDict):
    """A session with its history. Secret options are masked. We always write `tools`, but do not need it."""

    sessionId: str
    agent: AgentConfig
    tools: NotRequired[list[ToolSpec]]
    history: NotRequired[History]


GET_META_RESPONSE = Shape[MetaResponse](MetaResponse)
GET_SESSIONS_RESPONSE = Shape[SessionListResponse](SessionListResponse)
GET_SESSION_RESPONSE = Shape[SessionResponse](SessionResponse)

REQUESTS: dict[str, Shape[Any]] = {
    "PUT /session": PUT_SESSION,
    "POST /session/:id": POST_SESSION,
}
"""The request body of each endpoint; the others take none."""

RESPONSES: dict[str, Shape[Any]] = {
    "GET /meta": GET_META_RESPONSE,
    "GET /sessions": GET_SESSIONS_RESPONSE,
    "GET /session/:id": GET_SESSION_RESPONSE,
    "PUT /session": PUT_SESSION_RESPONSE,
    "POST /session/:id": POST_SESSION_RESPONSE,
}
"""The JSON body of each endpoint's successful response."""


def meta_from_v3(meta: v3.GetMetaResponse) -> MetaResponse:
    """Turn the description of a server into version 1's form."""
    agents = [agent_from_v3(agent) for agent in meta["agents"]]
    return cast("MetaResponse", {**meta, "version": VERSION, "agents": agents})


def meta_to_v3(meta: MetaResponse) -> v3.GetMetaResponse:
    """Turn version 1's description of a server into version 3's form."""
    agents = [agent_to_v3(agent) for agent in meta["agents"]]
    return cast("v3.GetMetaResponse", {**meta, "version": v3.VERSION, "agents": agents})


def sessions_from_v3(page: v3.GetSessionsResponse) -> SessionListResponse:
    """Turn a page of sessions into one of their ids. This cannot be undone: the rest is left out."""
    # L1: version 1 lists ids only. L2: and has the cursor under both names.
    ids = [session["sessionId"] for session in page["sessions"]]
    cursors = {"next": page["next"], "nextCursor": page["next"]} if "next" in page else {}
    return cast("SessionListResponse", {**page, "sessions": ids, **cursors})


def next_cursor(page: SessionListResponse) -> str | None:
    """Return the cursor of the next page, under either name; `None` on the last page."""
    return page.get("next", page.get("nextCursor"))


def session_from_v3(session: SessionInfo, history: History | None = None) -> SessionResponse:
    """Turn a session and the history that goes with it into version 1's form, which always has `tools`."""
    # L3: `tools` is always there. L5: so is the history, if it was asked for.
    extra = {} if history is None else {"history": history}
    return cast("SessionResponse", {"tools": [], **rename_tools(session), **extra})


def session_to_v3(session: SessionResponse) -> tuple[SessionInfo, History]:
    """Split version 1's session into version 3's and the history, which may be empty."""
    rest: JsonObject = rename_tools(session)
    history: History = rest.pop("history", {})
    return cast("SessionInfo", rest), history
