"""Actions: every change of the state of a channel. They carry no URI: the channel routes them."""

from typing import Annotated, TypeAlias, get_args

from agenthost.wire.ahp.actions.annotation import (
    AnnotationsEntryRemovedAction,
    AnnotationsEntrySetAction,
    AnnotationsRemovedAction,
    AnnotationsSetAction,
    AnnotationsUpdatedAction,
)
from agenthost.wire.ahp.actions.automation import (
    AutomationCreateRequestedAction,
    AutomationRemovedAction,
    AutomationRunCancelRequestedAction,
    AutomationRunLifecycleChangedAction,
    AutomationRunPrimarySessionChangedAction,
    AutomationRunSessionRemovedAction,
    AutomationRunSessionSetAction,
    AutomationSetAction,
    AutomationUpdateRequestedAction,
)
from agenthost.wire.ahp.actions.canvas import CanvasStateChangedAction
from agenthost.wire.ahp.actions.changeset import (
    ChangesetClearedAction,
    ChangesetContentChangedAction,
    ChangesetFileRemovedAction,
    ChangesetFileSetAction,
    ChangesetFilesReviewChangedAction,
    ChangesetOperationsChangedAction,
    ChangesetOperationStatusChangedAction,
    ChangesetStatusChangedAction,
)
from agenthost.wire.ahp.actions.chat import (
    ChatActivityChangedAction,
    ChatBackgroundWorkRemovedAction,
    ChatBackgroundWorkSetAction,
    ChatCanvasesChangedAction,
    ChatChangesetsChangedAction,
    ChatDraftChangedAction,
    ChatIsArchivedChangedAction,
    ChatIsReadChangedAction,
    ChatMovableChangedAction,
    ChatPendingMessageRemovedAction,
    ChatPendingMessageSetAction,
    ChatQueuedMessagesReorderedAction,
    ChatWorkingDirectoryRemovedAction,
    ChatWorkingDirectorySetAction,
)
from agenthost.wire.ahp.actions.customization import (
    SessionCustomizationRemovedAction,
    SessionCustomizationsChangedAction,
    SessionCustomizationToggledAction,
    SessionCustomizationUpdatedAction,
    SessionMcpServerBackgroundRequestedAction,
    SessionMcpServerStartRequestedAction,
    SessionMcpServerStateChangedAction,
    SessionMcpServerStopRequestedAction,
)
from agenthost.wire.ahp.actions.input import (
    ChatInputAnswerChangedAction,
    ChatInputCompletedAction,
    ChatInputRequestedAction,
)
from agenthost.wire.ahp.actions.resource_watch import ResourceWatchChangedAction
from agenthost.wire.ahp.actions.root import (
    RootActiveSessionsChangedAction,
    RootAgentsChangedAction,
    RootConfigChangedAction,
    RootTerminalsChangedAction,
)
from agenthost.wire.ahp.actions.session import (
    SessionActiveClientRemovedAction,
    SessionActiveClientSetAction,
    SessionActivityChangedAction,
    SessionChangesetsChangedAction,
    SessionChatAddedAction,
    SessionChatRemovedAction,
    SessionChatsReorderedAction,
    SessionChatUpdatedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionDefaultChatChangedAction,
    SessionInputNeededRemovedAction,
    SessionInputNeededSetAction,
    SessionIsArchivedChangedAction,
    SessionIsReadChangedAction,
    SessionMetaChangedAction,
    SessionReadyAction,
    SessionServerToolsChangedAction,
    SessionTitleChangedAction,
    SessionWorkingDirectoryRemovedAction,
    SessionWorkingDirectoryReplacedAction,
    SessionWorkingDirectorySetAction,
)
from agenthost.wire.ahp.actions.terminal import (
    TerminalClaimedAction,
    TerminalClearedAction,
    TerminalCommandDetectionAvailableAction,
    TerminalCommandExecutedAction,
    TerminalCommandFinishedAction,
    TerminalCwdChangedAction,
    TerminalDataAction,
    TerminalExitedAction,
    TerminalInputAction,
    TerminalResizedAction,
    TerminalTitleChangedAction,
)
from agenthost.wire.ahp.actions.toolcall import (
    ChatToolCallAuthRequiredAction,
    ChatToolCallAuthResolvedAction,
    ChatToolCallCompleteAction,
    ChatToolCallConfirmedAction,
    ChatToolCallContentChangedAction,
    ChatToolCallDeltaAction,
    ChatToolCallReadyAction,
    ChatToolCallResultConfirmedAction,
    ChatToolCallStartAction,
)
from agenthost.wire.ahp.actions.turn import (
    ChatDeltaAction,
    ChatErrorAction,
    ChatReasoningAction,
    ChatResponsePartAction,
    ChatTruncatedAction,
    ChatTurnCancelledAction,
    ChatTurnCompleteAction,
    ChatTurnResumeAction,
    ChatTurnsLoadedAction,
    ChatTurnStartedAction,
    ChatUsageAction,
)
from agenthost.wire.ahp.enums import ClientActionType
from agenthost.wire.annotations import Tag

RootAction: TypeAlias = Annotated[
    RootAgentsChangedAction
    | RootActiveSessionsChangedAction
    | RootTerminalsChangedAction
    | RootConfigChangedAction,
    Tag("type"),
]
"""An action on the root."""

SessionAction: TypeAlias = Annotated[
    SessionReadyAction
    | SessionCreationFailedAction
    | SessionChatAddedAction
    | SessionChatRemovedAction
    | SessionChatUpdatedAction
    | SessionChatsReorderedAction
    | SessionDefaultChatChangedAction
    | SessionTitleChangedAction
    | SessionIsReadChangedAction
    | SessionIsArchivedChangedAction
    | SessionActivityChangedAction
    | SessionChangesetsChangedAction
    | SessionConfigChangedAction
    | SessionMetaChangedAction
    | SessionServerToolsChangedAction
    | SessionActiveClientSetAction
    | SessionActiveClientRemovedAction
    | SessionWorkingDirectorySetAction
    | SessionWorkingDirectoryRemovedAction
    | SessionWorkingDirectoryReplacedAction
    | SessionInputNeededSetAction
    | SessionInputNeededRemovedAction
    | SessionCustomizationsChangedAction
    | SessionCustomizationToggledAction
    | SessionCustomizationUpdatedAction
    | SessionCustomizationRemovedAction
    | SessionMcpServerStateChangedAction
    | SessionMcpServerStartRequestedAction
    | SessionMcpServerStopRequestedAction
    | SessionMcpServerBackgroundRequestedAction,
    Tag("type"),
]
"""An action on a session."""

ChatAction: TypeAlias = Annotated[
    ChatActivityChangedAction
    | ChatDraftChangedAction
    | ChatIsReadChangedAction
    | ChatIsArchivedChangedAction
    | ChatMovableChangedAction
    | ChatWorkingDirectorySetAction
    | ChatWorkingDirectoryRemovedAction
    | ChatChangesetsChangedAction
    | ChatCanvasesChangedAction
    | ChatBackgroundWorkSetAction
    | ChatBackgroundWorkRemovedAction
    | ChatPendingMessageSetAction
    | ChatPendingMessageRemovedAction
    | ChatQueuedMessagesReorderedAction
    | ChatTurnStartedAction
    | ChatResponsePartAction
    | ChatDeltaAction
    | ChatReasoningAction
    | ChatUsageAction
    | ChatTurnCompleteAction
    | ChatTurnCancelledAction
    | ChatErrorAction
    | ChatTurnResumeAction
    | ChatTruncatedAction
    | ChatTurnsLoadedAction
    | ChatToolCallStartAction
    | ChatToolCallDeltaAction
    | ChatToolCallReadyAction
    | ChatToolCallConfirmedAction
    | ChatToolCallCompleteAction
    | ChatToolCallResultConfirmedAction
    | ChatToolCallContentChangedAction
    | ChatToolCallAuthRequiredAction
    | ChatToolCallAuthResolvedAction
    | ChatInputRequestedAction
    | ChatInputAnswerChangedAction
    | ChatInputCompletedAction,
    Tag("type"),
]
"""An action on a chat."""

TerminalAction: TypeAlias = Annotated[
    TerminalDataAction
    | TerminalInputAction
    | TerminalResizedAction
    | TerminalClaimedAction
    | TerminalTitleChangedAction
    | TerminalCwdChangedAction
    | TerminalExitedAction
    | TerminalClearedAction
    | TerminalCommandDetectionAvailableAction
    | TerminalCommandExecutedAction
    | TerminalCommandFinishedAction,
    Tag("type"),
]
"""An action on a terminal."""

ChangesetAction: TypeAlias = Annotated[
    ChangesetStatusChangedAction
    | ChangesetFileSetAction
    | ChangesetFileRemovedAction
    | ChangesetFilesReviewChangedAction
    | ChangesetContentChangedAction
    | ChangesetOperationsChangedAction
    | ChangesetOperationStatusChangedAction
    | ChangesetClearedAction,
    Tag("type"),
]
"""An action on a changeset."""

AnnotationsAction: TypeAlias = Annotated[
    AnnotationsSetAction
    | AnnotationsUpdatedAction
    | AnnotationsRemovedAction
    | AnnotationsEntrySetAction
    | AnnotationsEntryRemovedAction,
    Tag("type"),
]
"""An action on a session's annotations."""

AutomationAction: TypeAlias = Annotated[
    AutomationSetAction
    | AutomationRemovedAction
    | AutomationCreateRequestedAction
    | AutomationUpdateRequestedAction,
    Tag("type"),
]
"""An action on the automations."""

AutomationRunAction: TypeAlias = Annotated[
    AutomationRunLifecycleChangedAction
    | AutomationRunSessionSetAction
    | AutomationRunSessionRemovedAction
    | AutomationRunPrimarySessionChangedAction
    | AutomationRunCancelRequestedAction,
    Tag("type"),
]
"""An action on a run of an automation."""

CanvasAction: TypeAlias = Annotated[
    CanvasStateChangedAction,
    Tag("type"),
]
"""An action on a canvas."""

ResourceWatchAction: TypeAlias = Annotated[
    ResourceWatchChangedAction,
    Tag("type"),
]
"""What a watch reports."""

StateAction: TypeAlias = Annotated[
    RootAction
    | SessionAction
    | ChatAction
    | TerminalAction
    | ChangesetAction
    | AnnotationsAction
    | AutomationAction
    | AutomationRunAction
    | CanvasAction
    | ResourceWatchAction,
    Tag("type"),
]
"""Any action."""

CLIENT_ACTIONS: frozenset[str] = frozenset(get_args(ClientActionType))
"""The types of the actions that a client may dispatch."""
