"""Commands on sessions."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.config import SessionConfigSchema
from agenthost.wire.ahp.legacy.enums import CompletionItemKind
from agenthost.wire.ahp.legacy.message import MessageAttachment
from agenthost.wire.ahp.legacy.root import ModelSelection
from agenthost.wire.ahp.legacy.session import SessionActiveClient, SessionSummary
from agenthost.wire.ahp.legacy.turn import Turn
from agenthost.wire.json import JsonObject


class SessionForkSource(TypedDict):
    """The session and turn that a new session starts from."""

    session: URI
    turnId: str


class CreateSessionParams(TypedDict):
    """`createSession`: its URI, agent and settings."""

    session: URI  # client-chosen URI
    provider: NotRequired[str]
    model: NotRequired[ModelSelection]
    workingDirectory: NotRequired[URI]
    fork: NotRequired[SessionForkSource]
    config: NotRequired[JsonObject]  # values collected through `resolveSessionConfig`
    activeClient: NotRequired[SessionActiveClient]  # its `clientId` must equal the caller's


class DisposeSessionParams(TypedDict):
    """`disposeSession`: which one."""

    session: URI


class ListSessionsParams(TypedDict):
    """`listSessions`: a filter. AHP leaves it undefined; docs/ahp.md says what we support."""

    filter: NotRequired[JsonObject]  # contents undefined in this version


class ListSessionsResult(TypedDict):
    """`listSessions`: their summaries."""

    items: list[SessionSummary]


class FetchTurnsParams(TypedDict):
    """`fetchTurns`: which page of a session's turns."""

    session: URI
    before: NotRequired[str]  # exclusive; absent = from the newest turn
    limit: NotRequired[int]  # server may cap


class FetchTurnsResult(TypedDict):
    """`fetchTurns`: that page."""

    turns: list[Turn]  # oldest first
    hasMore: bool  # older turns exist before this page


class ResolveSessionConfigParams(TypedDict):
    """`resolveSessionConfig`: the values chosen so far."""

    provider: NotRequired[str]
    workingDirectory: NotRequired[URI]
    config: NotRequired[JsonObject]


class ResolveSessionConfigResult(TypedDict):
    """`resolveSessionConfig`: the schema and the values."""

    schema: SessionConfigSchema
    values: JsonObject


class SessionConfigCompletionsParams(TypedDict):
    """`sessionConfigCompletions`: the setting whose values are wanted."""

    provider: NotRequired[str]
    workingDirectory: NotRequired[URI]
    config: NotRequired[JsonObject]
    property: str
    query: NotRequired[str]


class SessionConfigValueItem(TypedDict):
    """A value that a setting may have."""

    value: str
    label: str
    description: NotRequired[str]


class SessionConfigCompletionsResult(TypedDict):
    """`sessionConfigCompletions`: its values."""

    items: list[SessionConfigValueItem]


class CompletionsParams(TypedDict):
    """`completions`: the text typed so far."""

    kind: CompletionItemKind
    session: URI
    text: str
    offset: int  # UTF-16 code units, 0 ≤ offset ≤ length of text in UTF-16 units


class CompletionItem(TypedDict):
    """Something to insert into the text."""

    insertText: str
    rangeStart: NotRequired[int]  # UTF-16, half-open range; absent = insert at cursor
    rangeEnd: NotRequired[int]  # UTF-16, exclusive
    attachment: MessageAttachment


class CompletionsResult(TypedDict):
    """`completions`: the suggestions."""

    items: list[CompletionItem]
