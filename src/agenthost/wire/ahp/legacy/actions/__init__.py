"""Actions: every change of the state of a resource."""

from typing import Annotated, Any, TypeAlias, get_args

from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionInputRequestedAction,
    SessionPendingMessageRemovedAction,
    SessionPendingMessageSetAction,
    SessionQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.legacy.actions.root import (
    RootActiveSessionsChangedAction,
    RootAgentsChangedAction,
    RootConfigChangedAction,
    RootTerminalsChangedAction,
)
from agenthost.wire.ahp.legacy.actions.session import (
    SessionActiveClientChangedAction,
    SessionActiveClientToolsChangedAction,
    SessionActivityChangedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionCustomizationsChangedAction,
    SessionCustomizationToggledAction,
    SessionCustomizationUpdatedAction,
    SessionDiffsChangedAction,
    SessionIsArchivedChangedAction,
    SessionIsReadChangedAction,
    SessionMetaChangedAction,
    SessionModelChangedAction,
    SessionReadyAction,
    SessionServerToolsChangedAction,
    SessionTitleChangedAction,
)
from agenthost.wire.ahp.legacy.actions.terminal import (
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
from agenthost.wire.ahp.legacy.actions.toolcall import (
    SessionToolCallCompleteAction,
    SessionToolCallConfirmedAction,
    SessionToolCallContentChangedAction,
    SessionToolCallDeltaAction,
    SessionToolCallReadyAction,
    SessionToolCallResultConfirmedAction,
    SessionToolCallStartAction,
)
from agenthost.wire.ahp.legacy.actions.turn import (
    SessionDeltaAction,
    SessionErrorAction,
    SessionReasoningAction,
    SessionResponsePartAction,
    SessionTruncatedAction,
    SessionTurnCancelledAction,
    SessionTurnCompleteAction,
    SessionTurnStartedAction,
    SessionUsageAction,
)
from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.enums import ClientActionType
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
    | SessionTitleChangedAction
    | SessionModelChangedAction
    | SessionIsReadChangedAction
    | SessionIsArchivedChangedAction
    | SessionActivityChangedAction
    | SessionDiffsChangedAction
    | SessionServerToolsChangedAction
    | SessionActiveClientChangedAction
    | SessionActiveClientToolsChangedAction
    | SessionCustomizationsChangedAction
    | SessionCustomizationToggledAction
    | SessionCustomizationUpdatedAction
    | SessionConfigChangedAction
    | SessionMetaChangedAction
    | SessionTurnStartedAction
    | SessionResponsePartAction
    | SessionDeltaAction
    | SessionReasoningAction
    | SessionUsageAction
    | SessionTurnCompleteAction
    | SessionTurnCancelledAction
    | SessionErrorAction
    | SessionTruncatedAction
    | SessionToolCallStartAction
    | SessionToolCallDeltaAction
    | SessionToolCallReadyAction
    | SessionToolCallConfirmedAction
    | SessionToolCallCompleteAction
    | SessionToolCallResultConfirmedAction
    | SessionToolCallContentChangedAction
    | SessionInputRequestedAction
    | SessionInputAnswerChangedAction
    | SessionInputCompletedAction
    | SessionPendingMessageSetAction
    | SessionPendingMessageRemovedAction
    | SessionQueuedMessagesReorderedAction,
    Tag("type"),
]
"""An action on a session."""

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

StateAction: TypeAlias = Annotated[RootAction | SessionAction | TerminalAction, Tag("type")]
"""Any action."""

CLIENT_ACTIONS: frozenset[str] = frozenset(get_args(ClientActionType))
"""The types of the actions that a client may dispatch."""


def action_resource(action: Any) -> URI | None:
    """Return the URI of the resource that an action changes; `None` if it names none."""
    scope, _, _ = str(action.get("type")).partition("/")
    if scope == "root":
        return ROOT_URI
    uri = action.get(scope) if scope in ("session", "terminal") else None
    return uri if type(uri) is str else None
