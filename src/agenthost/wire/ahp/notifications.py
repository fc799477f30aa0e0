"""Notifications of the host that are no actions: they have no number, and are never replayed."""

from typing import NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ProtectedResourceMetadata
from agenthost.wire.ahp.enums import AuthRequiredReason
from agenthost.wire.ahp.session import PartialSessionSummary, SessionSummary
from agenthost.wire.json import JsonObject


class SessionAddedParams(TypedDict):
    """`root/sessionAdded`: a session now exists."""

    channel: URI
    summary: SessionSummary


class SessionRemovedParams(TypedDict):
    """`root/sessionRemoved`: a session is gone."""

    channel: URI
    session: URI


class SessionSummaryChangedParams(TypedDict):
    """`root/sessionSummaryChanged`: a session's summary changed. No field can be removed by it."""

    channel: URI
    session: URI
    changes: PartialSessionSummary


class ProgressParams(TypedDict):
    """`root/progress`: how far a request with a token is; done when `progress` equals `total`."""

    channel: URI
    progressToken: str
    progress: float
    total: NotRequired[float]
    message: NotRequired[str]


class AuthRequiredParams(TypedDict):
    """`auth/required`: a token is needed, or needed again."""

    channel: URI
    resource: ProtectedResourceMetadata
    reason: NotRequired[AuthRequiredReason]


class OtlpExportLogsParams(TypedDict):
    """`otlp/exportLogs`: logs, as OTLP/JSON."""

    channel: URI
    payload: JsonObject


class OtlpExportTracesParams(TypedDict):
    """`otlp/exportTraces`: traces, as OTLP/JSON."""

    channel: URI
    payload: JsonObject


class OtlpExportMetricsParams(TypedDict):
    """`otlp/exportMetrics`: metrics, as OTLP/JSON."""

    channel: URI
    payload: JsonObject


ProtocolNotification: TypeAlias = (
    AuthRequiredParams
    | SessionAddedParams
    | SessionRemovedParams
    | SessionSummaryChangedParams
    | ProgressParams
    | OtlpExportLogsParams
    | OtlpExportTracesParams
    | OtlpExportMetricsParams
)
"""The params of any notification; the method says which."""
