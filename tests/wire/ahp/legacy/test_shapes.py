"""Every object of AHP 0.1.0: what is valid is kept whole, what is not is refused with its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agenthost.wire.ahp.legacy
from agenthost.wire.json import JsonObject
from agenthost.wire.shape import STRICT, Shape
from records import (
    check_any_value_is_kept,
    check_json_types,
    check_required_keys,
    check_smallest_value,
    few,
    optional_nulls_left,
    records_of,
    refused_at,
)

pytestmark = pytest.mark.thorough

NAMES = """
    Icon ProtectedResourceMetadata ContentRef UsageInfo ErrorInfo Snapshot TextPosition TextRange
    TextSelection
    RootState AgentInfo SessionModelInfo ModelSelection RootConfigState ConfigSchema
    ConfigPropertySchema TerminalInfo
    SessionState SessionSummary ProjectInfo SessionActiveClient PendingMessage SessionConfigState
    SessionConfigSchema SessionConfigPropertySchema
    SessionInputRequest SessionInputQuestionBase SessionInputOption SessionInputTextQuestion
    SessionInputNumberQuestion SessionInputBooleanQuestion SessionInputSingleSelectQuestion
    SessionInputMultiSelectQuestion SessionInputAnswered SessionInputSkipped SessionInputTextAnswerValue
    SessionInputNumberAnswerValue SessionInputBooleanAnswerValue SessionInputSelectedAnswerValue
    SessionInputSelectedManyAnswerValue
    Turn ActiveTurn UserMessage MessageAttachmentBase SimpleMessageAttachment
    MessageEmbeddedResourceAttachment MessageResourceAttachment MarkdownResponsePart
    ReasoningResponsePart ResourceReponsePart ToolCallResponsePart SystemNotificationResponsePart
    ConfirmationOption ToolCallBase ToolCallParameterFields ToolCallResult ToolCallStreamingState
    ToolCallPendingConfirmationState ToolCallRunningState ToolCallPendingResultConfirmationState
    ToolCallCompletedState ToolCallCancelledState ToolDefinition ToolAnnotations ToolResultTextContent
    ToolResultEmbeddedResourceContent ToolResultResourceContent ToolResultFileEditContent
    ToolResultTerminalContent ToolResultSubagentContent FileEdit
    CustomizationRef SessionCustomization
    TerminalState TerminalClientClaim TerminalSessionClaim TerminalUnclassifiedPart TerminalCommandPart
    InitializeParams InitializeResult PingParams ReconnectParams ReconnectReplayResult
    ReconnectSnapshotResult SubscribeParams SubscribeResult UnsubscribeParams DispatchActionParams
    CreateSessionParams SessionForkSource DisposeSessionParams CreateTerminalParams
    DisposeTerminalParams ListSessionsParams ListSessionsResult FetchTurnsParams FetchTurnsResult
    ResourceReadParams ResourceReadResult ResourceWriteParams ResourceWriteResult ResourceListParams
    DirectoryEntry ResourceListResult ResourceCopyParams ResourceCopyResult ResourceDeleteParams
    ResourceDeleteResult ResourceMoveParams ResourceMoveResult ResourceRequestParams
    ResourceRequestResult AuthenticateParams AuthenticateResult ResolveSessionConfigParams
    ResolveSessionConfigResult SessionConfigCompletionsParams SessionConfigValueItem
    SessionConfigCompletionsResult CompletionsParams CompletionItem CompletionsResult
    ActionEnvelope ActionOrigin ToolCallActionBase
    RootAgentsChangedAction RootActiveSessionsChangedAction RootTerminalsChangedAction
    RootConfigChangedAction
    SessionReadyAction SessionCreationFailedAction SessionTurnStartedAction SessionDeltaAction
    SessionResponsePartAction SessionToolCallStartAction SessionToolCallDeltaAction
    SessionToolCallReadyAction SessionToolCallApprovedAction SessionToolCallDeniedAction
    SessionToolCallCompleteAction SessionToolCallResultConfirmedAction
    SessionToolCallContentChangedAction SessionTurnCompleteAction SessionTurnCancelledAction
    SessionErrorAction SessionTitleChangedAction SessionUsageAction SessionReasoningAction
    SessionModelChangedAction SessionIsReadChangedAction SessionIsArchivedChangedAction
    SessionActivityChangedAction SessionDiffsChangedAction SessionServerToolsChangedAction
    SessionActiveClientChangedAction SessionActiveClientToolsChangedAction
    SessionCustomizationsChangedAction SessionCustomizationToggledAction
    SessionCustomizationUpdatedAction SessionConfigChangedAction SessionMetaChangedAction
    SessionTruncatedAction SessionPendingMessageSetAction SessionPendingMessageRemovedAction
    SessionQueuedMessagesReorderedAction SessionInputRequestedAction SessionInputAnswerChangedAction
    SessionInputCompletedAction
    TerminalDataAction TerminalInputAction TerminalResizedAction TerminalClaimedAction
    TerminalTitleChangedAction TerminalCwdChangedAction TerminalExitedAction TerminalClearedAction
    TerminalCommandDetectionAvailableAction TerminalCommandExecutedAction TerminalCommandFinishedAction
    SessionAddedNotification SessionRemovedNotification SessionSummaryChangedNotification
    AuthRequiredNotification
    AuthRequiredErrorData PermissionDeniedErrorData UnsupportedProtocolVersionErrorData
""".split()  # as a list it would take four screens

WRITTEN_INLINE = {
    "MarkdownText",
    "ObjectSchema",
    "FileVersion",
    "DiffCounts",
    "ToolCallError",
    "FileEdits",
    "SessionSummaryChanges",
    "NotificationParams",
}
"""Objects that the protocol gives no name."""


RECORDS = records_of(agenthost.wire.ahp.legacy)
every_record = pytest.mark.parametrize("record", [RECORDS[name] for name in NAMES if name in RECORDS])


def test_the_protocol_has_186_named_objects_and_we_have_them_all() -> None:
    assert len(NAMES) == len(set(NAMES)) == 186
    assert set(RECORDS) - WRITTEN_INLINE == set(NAMES)
    assert set(RECORDS) >= WRITTEN_INLINE


@every_record
def test_the_smallest_value_fits_even_a_strict_reader(record: Any) -> None:
    check_smallest_value(record)


@every_record
@given(data=st.data())
@few
def test_any_object_is_kept_whole_with_the_keys_that_we_do_not_know(record: Any, data: st.DataObject) -> None:
    check_any_value_is_kept(record, data)


@every_record
def test_no_required_key_may_be_missing(record: Any) -> None:
    check_required_keys(record)


@every_record
def test_no_field_takes_a_value_of_another_json_type(record: Any) -> None:
    check_json_types(record)


@every_record
def test_a_null_under_an_optional_key_is_removed_from_the_object(record: Any) -> None:
    assert optional_nulls_left(record) == NULLABLE.get(record.__name__, set())


NULLABLE = {"ConfigPropertySchema": {"default"}, "SessionConfigPropertySchema": {"default"}}
"""The optional keys of free JSON, where null is a value."""


def test_the_summary_of_a_session_may_lose_its_optional_fields_by_null() -> None:
    changes = {"activity": None, "project": None, "model": None, "workingDirectory": None, "diffs": None}
    value = {"type": "notify/sessionSummaryChanged", "session": "mock:/s1", "changes": changes}
    record = RECORDS["SessionSummaryChangedNotification"]
    assert Shape[Any](record).take({**value, "changes": {**changes, "title": None}}) == value
    assert Shape[Any](record, STRICT).take(value)["changes"] == changes


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"agents": []}, None),
        ({"agents": [], "title": 1}, None),
        ({"title": "t", "content": [], "claim": {"kind": "client", "clientId": "c"}}, None),
        ({}, "$.state.agents"),
        ({"content": []}, "$.state.title"),
        ({"content": 1, "title": "t"}, "$.state.content"),
        ({"summary": {}, "content": [], "agents": []}, "$.state.summary.resource"),
    ],
)
def test_the_kind_of_a_snapshot_is_known_by_its_keys(state: JsonObject, path: str | None) -> None:
    value = {"resource": "x:/1", "state": state, "fromSeq": 1}
    record = RECORDS["Snapshot"]
    if path is None:
        assert Shape[Any](record).take(value) is value
    else:
        assert refused_at(record, value) == path
