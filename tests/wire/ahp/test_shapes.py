"""Every object of AHP 1.0: what is valid is kept whole, what is not is refused with its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agenthost.wire.ahp
from agenthost.wire.json import JsonObject
from agenthost.wire.shape import Shape
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
    TextRange ErrorInfo UsageInfo ContentRef Icon ProtectedResourceMetadata TextPosition TextSelection
    ConfigSchema SessionConfigSchema ConfigPropertySchema SessionConfigPropertySchema SessionConfigState
    RootConfigState
    AgentInfo AgentSelection ModelSelection SessionModelInfo MultipleChatsCapability
    MultipleWorkingDirectoriesCapability AgentCapabilities RootState
    TerminalInfo TerminalState TerminalClientClaim TerminalSessionClaim TerminalRunningLifecycleState
    TerminalExitedLifecycleState TerminalUnclassifiedPart TerminalCommandPart
    SessionActiveClient SessionSummary ProjectInfo AutomationSessionOrigin SessionInputRequestBase
    SessionChatInputRequest SessionToolConfirmationRequest SessionToolClientExecutionRequest
    SessionToolAuthenticationRequest SessionMetadata SessionState SessionChatSummary
    ChatSummary SideChatSelection ForkChatSource SideChatSource BackgroundShellWork
    BackgroundSubagentWork ChatState
    ChatInputRequest ChatInputQuestionBase ChatInputOption ChatInputTextQuestion ChatInputNumberQuestion
    ChatInputBooleanQuestion ChatInputSingleSelectQuestion ChatInputMultiSelectQuestion
    ChatInputTextAnswerValue ChatInputNumberAnswerValue ChatInputBooleanAnswerValue
    ChatInputSelectedAnswerValue ChatInputSelectedManyAnswerValue ChatInputAnswered ChatInputSkipped
    ErrorResponsePart Turn ActiveTurn MarkdownResponsePart ReasoningResponsePart ResourceResponsePart
    ToolCallResponsePart SystemNotificationResponsePart InputRequestResponsePart
    Message PendingMessage MessageAttachmentBase SimpleMessageAttachment
    MessageEmbeddedResourceAttachment MessageResourceAttachment MessageAnnotationsAttachment
    MessageChatAttachment MessageOrigin
    ConfirmationOption ToolCallResult ToolCallAuthRequiredState ToolCallRunningState
    ToolCallRiskAssessmentBase ToolCallRiskAssessmentLoadingState ToolCallRiskAssessmentCompleteState
    ToolCallClientContributor ToolCallMcpContributor ToolCallBase ToolCallParameterFields
    ToolCallPostConfirmationFields ToolCallStreamingState ToolCallPendingConfirmationState
    ToolCallPendingResultConfirmationState ToolCallCompletedState ToolCallCancelledState
    ToolDefinition FileEditCollection FileEdit ToolAnnotations FileEditSide FileEditDiffStats
    TerminalCommandResult ToolResultTextContent ToolResultEmbeddedResourceContent
    ToolResultResourceContent ToolResultFileEditContent ToolResultTerminalContent
    ToolResultSubagentContent
    McpAuthRequirement McpServerCustomizationApps McpOAuthClient McpServerStartingState
    McpServerReadyState McpServerAuthRequiredState McpServerErrorState McpServerStoppedState
    AhpMcpUiHostCapabilities
    ClientPluginCustomization PluginCustomization CustomizationLoadingState CustomizationLoadedState
    CustomizationDegradedState CustomizationErrorState CustomizationBase ChildCustomizationBase
    AgentCustomization SkillCustomization PromptCustomization RuleCustomization HookCustomization
    McpServerCustomization ContainerCustomizationBase DirectoryCustomization
    ChangesetFile ChangesetOperation Changeset ChangesSummary ChangesetCapabilities ChangesetState
    ChangesetOperationFollowUp
    Annotation AnnotationEntry AnnotationOrigin AnnotationsSummary AnnotationsState
    AutomationDefinition AutomationDefinitionPatch AutomationEntry AutomationSchedule
    AutomationScheduleTrigger AutomationTriggerEventDefinition AutomationEventTrigger
    AutomationTriggerDefinition AutomationAfterRunsCondition AutomationAfterDateCondition
    AutomationSessionTemplate AutomationManualRunOrigin AutomationTriggeredRunOrigin
    AutomationPendingRunLifecycle AutomationRunningRunLifecycle AutomationCompletedRunLifecycle
    AutomationFailedRunLifecycle AutomationCancelledRunLifecycle AutomationRunSummary AutomationRunState
    AutomationState AutomationCapabilities
    CanvasState CanvasReference
    ResourceWatchState ResourceChange
    Snapshot
    AnnotationsEntryRemovedAction AnnotationsEntrySetAction AnnotationsRemovedAction
    AnnotationsSetAction AnnotationsUpdatedAction AutomationCreateRequestedAction
    AutomationRemovedAction AutomationRunCancelRequestedAction AutomationRunLifecycleChangedAction
    AutomationRunPrimarySessionChangedAction AutomationRunSessionRemovedAction
    AutomationRunSessionSetAction AutomationSetAction AutomationUpdateRequestedAction
    CanvasStateChangedAction ChangesetClearedAction ChangesetContentChangedAction
    ChangesetFileRemovedAction ChangesetFileSetAction ChangesetFilesReviewChangedAction
    ChangesetOperationsChangedAction ChangesetOperationStatusChangedAction ChangesetStatusChangedAction
    ChatActivityChangedAction ChatBackgroundWorkRemovedAction ChatBackgroundWorkSetAction
    ChatCanvasesChangedAction ChatChangesetsChangedAction ChatDraftChangedAction
    ChatIsArchivedChangedAction ChatIsReadChangedAction ChatMovableChangedAction
    ChatPendingMessageRemovedAction ChatPendingMessageSetAction ChatQueuedMessagesReorderedAction
    ChatWorkingDirectoryRemovedAction ChatWorkingDirectorySetAction SessionCustomizationRemovedAction
    SessionCustomizationsChangedAction SessionCustomizationToggledAction
    SessionCustomizationUpdatedAction SessionMcpServerBackgroundRequestedAction
    SessionMcpServerStartRequestedAction SessionMcpServerStateChangedAction
    SessionMcpServerStopRequestedAction ChatInputAnswerChangedAction ChatInputCompletedAction
    ChatInputRequestedAction ResourceWatchChangedAction RootActiveSessionsChangedAction
    RootAgentsChangedAction RootConfigChangedAction RootTerminalsChangedAction
    SessionActiveClientRemovedAction SessionActiveClientSetAction SessionActivityChangedAction
    SessionChangesetsChangedAction SessionChatAddedAction SessionChatRemovedAction
    SessionChatsReorderedAction SessionChatUpdatedAction SessionConfigChangedAction
    SessionCreationFailedAction SessionDefaultChatChangedAction SessionInputNeededRemovedAction
    SessionInputNeededSetAction SessionIsArchivedChangedAction SessionIsReadChangedAction
    SessionMetaChangedAction SessionReadyAction SessionServerToolsChangedAction
    SessionTitleChangedAction SessionWorkingDirectoryRemovedAction SessionWorkingDirectoryReplacedAction
    SessionWorkingDirectorySetAction TerminalClaimedAction TerminalClearedAction
    TerminalCommandDetectionAvailableAction TerminalCommandExecutedAction TerminalCommandFinishedAction
    TerminalCwdChangedAction TerminalDataAction TerminalExitedAction TerminalInputAction
    TerminalResizedAction TerminalTitleChangedAction ChatToolCallAuthRequiredAction
    ChatToolCallAuthResolvedAction ChatToolCallCompleteAction ChatToolCallContentChangedAction
    ChatToolCallDeltaAction ChatToolCallReadyAction ChatToolCallResultConfirmedAction
    ChatToolCallStartAction ToolCallActionBase ChatToolCallApprovedAction ChatToolCallDeniedAction
    ChatDeltaAction ChatErrorAction ChatReasoningAction ChatResponsePartAction ChatTruncatedAction
    ChatTurnCancelledAction ChatTurnCompleteAction ChatTurnResumeAction ChatTurnsLoadedAction
    ChatTurnStartedAction ChatUsageAction ActionOrigin ActionEnvelope
    BaseParams PaginatedParams PaginatedResult ListAutomationTriggerDefinitionsParams
    ListAutomationTriggerDefinitionsResult RunAutomationParams RunAutomationResult
    FetchAutomationRunsParams FetchAutomationRunsResult InvokeChangesetOperationParams
    InvokeChangesetOperationResult CreateChatParams DisposeChatParams MoveChatParams MoveChatResult
    FetchTurnsParams FetchTurnsResult CompletionsParams CompletionItem CompletionsResult
    ResolveSessionConfigParams ResolveSessionConfigResult SessionConfigCompletionsParams
    SessionConfigValueItem SessionConfigCompletionsResult Implementation ClientCapabilities
    TelemetryCapabilities InitializeParams InitializeResult PingParams ReconnectParams
    ReconnectReplayResult ReconnectSnapshotResult SubscriptionDeliveryOptions SubscribeView
    SubscribeParams SubscribeResult UnsubscribeParams DispatchActionParams AuthenticateParams
    AuthenticateResult ResourceReadParams ResourceReadResult ResourceWriteParams ResourceWriteResult
    ResourceListParams DirectoryEntry ResourceListResult ResourceCopyParams ResourceCopyResult
    ResourceMoveParams ResourceMoveResult ResourceDeleteParams ResourceDeleteResult
    ResourceResolveParams ResourceResolveResult ResourceMkdirParams ResourceMkdirResult
    ResourceRequestParams ResourceRequestResult CreateResourceWatchParams CreateResourceWatchResult
    CreateSessionParams DisposeSessionParams ListSessionsParams ListSessionsResult CreateTerminalParams
    DisposeTerminalParams
    AuthRequiredParams OtlpExportLogsParams OtlpExportMetricsParams OtlpExportTracesParams
    ProgressParams SessionAddedParams SessionRemovedParams SessionSummaryChangedParams
    AuthRequiredErrorData PermissionDeniedErrorData UnsupportedProtocolVersionErrorData
""".split()  # as a list it would take eight screens

WRITTEN_INLINE = {
    "ChangesetRangeTarget",
    "ChangesetResourceTarget",
    "GlobPatterns",
    "GlobalEnablement",
    "ListChangedCapability",
    "MarkdownText",
    "NewSessionMoveDestination",
    "ObjectSchema",
    "ResourceChanges",
    "SamplingCapability",
    "ScheduleCapability",
    "SessionEnablement",
    "SessionMoveDestination",
    "ToolCallError",
    "ToolChatOrigin",
    "UserChatOrigin",
    "WorkspaceEnablement",
}
"""Objects that the protocol gives no name."""

OURS = {"PartialChatSummary", "PartialSessionSummary", "RootParams", "ToolCallNames"}
"""Parts of others, which the protocol repeats."""

RECORDS = records_of(agenthost.wire.ahp, without="agenthost.wire.ahp.legacy")
every_record = pytest.mark.parametrize("record", [RECORDS[name] for name in NAMES if name in RECORDS])


def test_the_protocol_has_366_named_objects_and_we_have_them_all() -> None:
    assert len(NAMES) == len(set(NAMES)) == 366
    assert set(RECORDS) - WRITTEN_INLINE - OURS == set(NAMES)
    assert set(RECORDS) >= WRITTEN_INLINE | OURS


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

CLAIM = {"kind": "client", "clientId": "c"}
SESSION = {"provider": "toy", "title": "", "status": 1, "lifecycle": "ready", "activeClients": []}
CHAT = {"resource": "ahp-chat:/1", "title": "", "status": 1, "modifiedAt": "2026-11-18T00:00:00.000Z"}
RUN = {"resource": "ahp-automation-run:/1", "sessions": [], "origin": {"kind": "manual"}}
CANVAS = {"instanceId": "i", "extensionId": "e"}


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"agents": []}, None),
        ({"agents": {}}, "$.state.agents"),
        ({**SESSION, "chats": []}, None),
        (
            {
                **SESSION,
                "chats": [],
                "annotations": {"resource": "x:/", "annotationCount": 0, "entryCount": 0},
            },
            None,
        ),
        ({**SESSION, "chats": [{}]}, "$.state.chats[0].resource"),
        ({**CHAT, "turns": []}, None),
        ({**CHAT, "turns": [], "status": "1"}, "$.state.status"),
        ({"title": "t", "content": [], "claim": CLAIM, "lifecycle": {"status": "running"}}, None),
        ({"title": "t", "content": [], "claim": CLAIM}, "$.state.lifecycle"),
        ({"status": "ready", "files": []}, None),
        ({"files": []}, "$.state.status"),
        ({"root": "file:///", "recursive": False}, None),
        ({"recursive": False}, "$.state.root"),
        ({"annotations": []}, None),
        ({"annotations": [{}]}, "$.state.annotations[0].id"),
        ({**CANVAS, "canvasId": "c", "status": "busy"}, None),
        ({"canvasId": "c"}, "$.state.instanceId"),
        ({"entries": []}, None),
        ({"entries": None}, "$.state.entries"),
        ({**RUN, "automation": "x:/1", "lifecycle": {"status": "pending", "createdAt": "…"}}, None),
        ({**RUN, "automation": "x:/1"}, "$.state.lifecycle"),
        ({}, "$.state"),
        (SESSION, "$.state"),
    ],
)
def test_the_kind_of_a_snapshot_is_known_by_its_keys(state: JsonObject, path: str | None) -> None:
    value = {"resource": "x:/1", "state": state, "fromSeq": 1}
    record = RECORDS["Snapshot"]
    if path is None:
        assert Shape[Any](record).take(value) is value
    else:
        assert refused_at(record, value) == path
