"""Every type that the protocol's schemas name is found under that name, in the version it belongs to."""

from types import ModuleType

import pytest

from agenthost.wire.aap import v1, v2, v3
from agenthost.wire.annotations import union_members

OLD = """
    AgentConfig AgentInfo AgentOption AgentResponse AssistantMessage ContentBlock CreateSessionRequest
    HistoryMessage MetaResponse SSEEvent ServerToolRef SessionListResponse SessionResponse
    SessionTurnRequest StopReason SystemMessage ToolMessage ToolPermissionMessage ToolSpec UserMessage
    JsonSchema
"""
NEW = """
    TextAgentOption SecretAgentOption SelectAgentOption AgentOption HistoryType AgentConfig
    AgentCapabilities AgentInfo TextContentBlock ThinkingContentBlock ToolUseContentBlock
    ImageContentBlock ContentBlock SystemMessage UserMessage AssistantMessage ToolMessage HistoryMessage
    AgentMessage ApplicationMessage ToolPermissionMessage PostSessionsRequest PostSessionTurnRequest
    PostSessionTurnResponse PostSessionsResponse GetSessionResponse GetSessionHistoryResponse
    GetSessionsResponse GetMetaResponse StreamMode StopReason SessionInfo TurnStartEvent TextDeltaEvent
    ThinkingDeltaEvent TextEvent ThinkingEvent ToolCallEvent ToolResultEvent TurnStopEvent SSEEvent
    DeltaSSEEvent MessageSSEEvent ToolCallInput ToolCall ToolResult ToolSpec ServerToolRef JSONSchema
"""


@pytest.mark.parametrize(
    ("version", "names"), [(v1, OLD), (v2, f"{OLD} SessionInfo SessionHistoryResponse"), (v3, NEW)]
)
def test_every_type_has_its_name(version: ModuleType, names: str) -> None:
    assert set(names.split()) <= set(version.__all__)


@pytest.mark.parametrize("version", [v1, v2, v3])
def test_every_name_that_a_version_exports_exists_once(version: ModuleType) -> None:
    assert all(hasattr(version, name) for name in version.__all__)
    assert len(set(version.__all__)) == len(version.__all__)


def test_the_modes_share_all_events_but_text_and_thinking() -> None:
    delta, message = events(v3.DeltaSSEEvent), events(v3.MessageSSEEvent)
    assert delta - message == {"TextDeltaEvent", "ThinkingDeltaEvent"}
    assert message - delta == {"TextEvent", "ThinkingEvent"}
    assert delta | message == events(v3.SSEEvent)


def events(union: object) -> set[str]:
    return {member.__name__ for member in union_members(union)}
