"""Every object of AHP: what is valid is kept whole, what is not is refused with its place."""

import pkgutil
from importlib import import_module
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agenthost.wire.ahp
from agenthost.errors import InvalidValue
from agenthost.wire.annotations import fields_of, is_record, is_union, python_types
from agenthost.wire.json import Json, JsonObject, encode_json
from agenthost.wire.shape import STRICT, TOLERANT, Shape
from strategies import share, values_of

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


def records() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for info in pkgutil.walk_packages(agenthost.wire.ahp.__path__, "agenthost.wire.ahp."):
        for value in vars(import_module(info.name)).values():
            if is_record(value):
                assert found.setdefault(value.__name__, value) is value, f"two are called {value.__name__}"
    return found


RECORDS = records()
every_record = pytest.mark.parametrize("record", [RECORDS[name] for name in NAMES if name in RECORDS])
few = settings(
    max_examples=share(5), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

OTHERS: dict[type, Json] = {dict: {}, list: [], str: "", bool: True, int: 1, float: 0.5, NoneType: None}
"""A value of each JSON type."""


def least(kind: Any) -> Json:
    """Give the smallest value of an annotation."""
    origin = get_origin(kind)
    if origin is Annotated or is_union(kind):
        return least(get_args(kind)[0])
    if origin is Literal:
        return get_args(kind)[0]
    if is_record(kind):
        return {key: least(hint) for key, (hint, required) in fields_of(kind).items() if required}
    return None if kind is Any else (origin or kind)()


def refused_at(record: Any, value: JsonObject) -> str:
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](record).take(value)
    return refused.value.path


def test_the_protocol_has_186_named_objects_and_we_have_them_all() -> None:
    assert len(NAMES) == len(set(NAMES)) == 186
    assert set(RECORDS) - WRITTEN_INLINE == set(NAMES)
    assert set(RECORDS) >= WRITTEN_INLINE


@every_record
def test_the_smallest_value_fits_even_a_strict_reader(record: Any) -> None:
    value = least(record)
    assert Shape[Any](record, STRICT).take(value) is value
    assert Shape[Any](record).take(value) == least(record)


@every_record
@given(data=st.data())
@few
def test_any_object_is_kept_whole_with_the_keys_that_we_do_not_know(record: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(record, unknown_keys=True))
    encoded = encode_json(value)
    for reading in (TOLERANT, STRICT):
        again = Shape[Any](record, reading).decode(encoded)
        assert repr(again) == repr(value)
        assert encode_json(again) == encoded


@every_record
def test_no_required_key_may_be_missing(record: Any) -> None:
    for key, (_, required) in fields_of(record).items():
        if required:
            value = least(record)
            del value[key]
            assert refused_at(record, value) == f"$.{key}"


@every_record
def test_no_field_takes_a_value_of_another_json_type(record: Any) -> None:
    for key, (hint, required) in fields_of(record).items():
        # Null under an optional key means that it is absent.
        welcome = (*python_types(hint), *(() if required else (NoneType,)))
        for python, other in OTHERS.items():
            if hint is not Any and python not in welcome:
                assert refused_at(record, least(record) | {key: other}) == f"$.{key}"


@every_record
def test_null_under_an_optional_key_leaves_the_object(record: Any) -> None:
    optional = {key: None for key, (hint, required) in fields_of(record).items() if not required}
    value = Shape[Any](record).take(least(record) | optional)
    assert set(value) - set(least(record)) == NULLABLE.get(record.__name__, set())


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
