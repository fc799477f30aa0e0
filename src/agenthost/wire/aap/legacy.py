"""What versions 1 and 2 share and version 3 lacks, and the conversion to version 3 and back.

A tool's schema is under `inputSchema`, and one request both opens a session and runs its first turn. Values
are never changed in place, and unknown keys are kept.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from agenthost.errors import InvalidValue
from agenthost.wire import sse
from agenthost.wire.aap import v3
from agenthost.wire.aap.event import take_event
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject
from agenthost.wire.shape import STRICT, Shape

__all__ = [
    "EVENT",
    "POST_SESSION",
    "POST_SESSION_RESPONSE",
    "PUT_SESSION",
    "PUT_SESSION_RESPONSE",
    "AgentInfo",
    "AgentResponse",
    "CreateSessionRequest",
    "JsonSchema",
    "SSEEvent",
    "SessionStartEvent",
    "SessionTurnRequest",
    "ToolSpec",
    "agent_from_v3",
    "agent_to_v3",
    "answer_from_v3",
    "answer_to_v3",
    "create_from_v3",
    "create_to_v3",
    "decode_event",
    "rename_tools",
    "tool_from_v3",
    "tool_to_v3",
    "turn_from_v3",
    "turn_to_v3",
]

JsonSchema: TypeAlias = v3.JSONSchema
"""A JSON Schema, as these versions spell it."""


class ToolSpec(TypedDict):
    """A tool that can be called: the application's own in a request, the agent's in its description."""

    name: str
    title: NotRequired[str]
    description: str
    inputSchema: JsonSchema


class AgentInfo(TypedDict):
    """An agent as the server describes it, with the tools and options that it shows to applications."""

    name: str
    title: NotRequired[str]
    version: str
    description: NotRequired[str]
    tools: NotRequired[list[ToolSpec]]
    options: NotRequired[list[v3.AgentOption]]
    capabilities: NotRequired[v3.AgentCapabilities]


class CreateSessionRequest(TypedDict):
    """Opens a session and runs its first turn: the last message, which must be the user's."""

    agent: v3.AgentConfig
    stream: NotRequired[v3.StreamMode]
    messages: list[v3.HistoryMessage]
    tools: NotRequired[list[ToolSpec]]


class SessionTurnRequest(TypedDict):
    """Starts or resumes a turn; what it changes of the session stays changed."""

    agent: NotRequired[v3.AgentOverrides]
    stream: NotRequired[v3.StreamMode]
    messages: list[v3.ApplicationMessage]
    tools: NotRequired[list[ToolSpec]]


class AgentResponse(TypedDict):
    """A whole turn in one body, for the mode `none`. The turn that opens a session has its id too."""

    sessionId: NotRequired[str]
    stopReason: v3.StopReason
    messages: list[v3.HistoryMessage]


class SessionStartEvent(TypedDict):
    """A session was opened; the first event of the stream that opens it."""

    event: Literal["session_start"]
    sessionId: str


SSEEvent: TypeAlias = Annotated[
    SessionStartEvent
    | v3.TurnStartEvent
    | v3.TextDeltaEvent
    | v3.ThinkingDeltaEvent
    | v3.TextEvent
    | v3.ThinkingEvent
    | v3.ToolCallEvent
    | v3.ToolResultEvent
    | v3.TurnStopEvent,
    Tag("event"),
]
"""An event of either streaming mode."""

PUT_SESSION = Shape[CreateSessionRequest](CreateSessionRequest, STRICT)
POST_SESSION = Shape[SessionTurnRequest](SessionTurnRequest, STRICT)
PUT_SESSION_RESPONSE = Shape[AgentResponse](AgentResponse)
POST_SESSION_RESPONSE = PUT_SESSION_RESPONSE
EVENT = Shape[SSEEvent](SSEEvent)

# M2: the schema has another name in version 3. The keys are swapped, so that a tool with both loses neither.
_OTHER_NAME = {"parameters": "inputSchema", "inputSchema": "parameters"}


def decode_event(event: sse.SseEvent) -> SSEEvent:
    """Decode an event of versions 1 and 2. One with a name that we do not know is kept as it is.

    Raises:
        NotJson: its data are not JSON.
        InvalidValue: its data are not of the shape that its name asks for.
    """
    return take_event(event, EVENT)


def tool_from_v3(tool: v3.ToolSpec) -> ToolSpec:
    """Turn a tool into its older form."""
    return cast("ToolSpec", _rename(tool))


def tool_to_v3(tool: ToolSpec) -> v3.ToolSpec:
    """Turn an older tool into version 3's form."""
    return cast("v3.ToolSpec", _rename(tool))


def agent_from_v3(agent: v3.AgentInfo) -> AgentInfo:
    """Turn the description of an agent into its older form."""
    return cast("AgentInfo", rename_tools(agent))


def agent_to_v3(agent: AgentInfo) -> v3.AgentInfo:
    """Turn the older description of an agent into version 3's form."""
    return cast("v3.AgentInfo", rename_tools(agent))


def turn_from_v3(request: v3.PostSessionTurnRequest) -> SessionTurnRequest:
    """Turn the request for a turn into its older form."""
    return cast("SessionTurnRequest", rename_tools(request))


def turn_to_v3(request: SessionTurnRequest) -> v3.PostSessionTurnRequest:
    """Turn the older request for a turn into version 3's form."""
    return cast("v3.PostSessionTurnRequest", rename_tools(request))


def create_to_v3(request: CreateSessionRequest) -> tuple[v3.PostSessionsRequest, v3.PostSessionTurnRequest]:
    """Split the older request into the one that opens the session and the one for its first turn.

    Raises:
        InvalidValue: the last message is not the user's.
    """
    # C2: the last message is the first turn, the others are the history to start with.
    _require_user_last(request["messages"])
    *history, first = request["messages"]
    session = rename_tools(request)
    turn: JsonObject = {"messages": [first]}
    if "stream" in session:
        turn["stream"] = session.pop("stream")
    session["messages"] = history
    return cast("v3.PostSessionsRequest", session), cast("v3.PostSessionTurnRequest", turn)


def create_from_v3(session: v3.PostSessionsRequest, turn: v3.PostSessionTurnRequest) -> CreateSessionRequest:
    """Join the request that opens a session and the one for its first turn into the older one.

    Changes of the turn override the session, as on the server.

    Raises:
        InvalidValue: the turn does not end with the user's message, as the older versions require.
    """
    messages = [*session.get("messages", []), *turn["messages"]]
    _require_user_last(messages)
    joined = rename_tools({**session, **turn})
    agent = _merged(session["agent"], turn.get("agent", {}))
    return cast("CreateSessionRequest", {**joined, "agent": agent, "messages": messages})


def answer_from_v3(answer: v3.PostSessionTurnResponse, session_id: str | None = None) -> AgentResponse:
    """Turn the answer to a turn into its older form; `session_id` only if that turn opened the session."""
    # C3: the turn that opens a session has the session's id.
    opened = {} if session_id is None else {"sessionId": session_id}
    return cast("AgentResponse", {**opened, **answer})


def answer_to_v3(answer: AgentResponse) -> v3.PostSessionTurnResponse:
    """Turn the older answer to a turn into version 3's form, where opening a session is answered apart."""
    return cast(
        "v3.PostSessionTurnResponse", {key: item for key, item in answer.items() if key != "sessionId"}
    )


def rename_tools(holder: Mapping[str, Any]) -> JsonObject:
    """Copy an object, with its tools in the other form."""
    if "tools" not in holder:
        return dict(holder)
    return {**holder, "tools": [_rename(tool) for tool in holder["tools"]]}


def _rename(tool: Mapping[str, Any]) -> JsonObject:
    return {_OTHER_NAME.get(key, key): value for key, value in tool.items()}


def _merged(agent: Mapping[str, Any], over: Mapping[str, Any]) -> JsonObject:
    """Apply a turn's changes to the agent of a session: tools are replaced, options merged by key."""
    # O1: options are merged by key. O5: tools are replaced. O7: the agent never changes.
    joined = {**agent, **over, "name": agent["name"]}  # a stray name must not choose another agent
    if "options" in agent and "options" in over:
        joined["options"] = {**agent["options"], **over["options"]}
    return joined


def _require_user_last(messages: Sequence[Mapping[str, Any]]) -> None:
    if not messages:
        raise InvalidValue("$.messages", "a list that ends with a user message", "an empty list")
    role = messages[-1].get("role")
    if role != "user":
        raise InvalidValue(f"$.messages[{len(messages) - 1}].role", "'user'", repr(role))
