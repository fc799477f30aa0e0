"""The actions of AHP 1.0, and who may dispatch them, written out."""

from typing import Any, get_args

import pytest

from agenthost.wire.ahp import actions
from agenthost.wire.ahp.enums import ClientActionType
from agenthost.wire.annotations import tag_values, union_members

ROOT = "agentsChanged activeSessionsChanged terminalsChanged configChanged"
SESSION = """
    ready creationFailed chatAdded chatRemoved chatUpdated chatsReordered defaultChatChanged titleChanged
    isReadChanged isArchivedChanged activityChanged changesetsChanged configChanged metaChanged
    serverToolsChanged activeClientSet activeClientRemoved workingDirectorySet workingDirectoryRemoved
    workingDirectoryReplaced inputNeededSet inputNeededRemoved customizationsChanged customizationToggled
    customizationUpdated customizationRemoved mcpServerStateChanged mcpServerStartRequested
    mcpServerStopRequested mcpServerBackgroundRequested
"""
CHAT = """
    turnStarted responsePart delta reasoning usage turnComplete turnCancelled error turnResume truncated
    turnsLoaded toolCallStart toolCallDelta toolCallReady toolCallConfirmed toolCallComplete
    toolCallResultConfirmed toolCallContentChanged toolCallAuthRequired toolCallAuthResolved inputRequested
    inputAnswerChanged inputCompleted pendingMessageSet pendingMessageRemoved queuedMessagesReordered
    activityChanged draftChanged isReadChanged isArchivedChanged movableChanged workingDirectorySet
    workingDirectoryRemoved changesetsChanged canvasesChanged backgroundWorkSet backgroundWorkRemoved
"""
TERMINAL = """
    data input resized claimed titleChanged cwdChanged exited cleared commandDetectionAvailable
    commandExecuted commandFinished
"""
CHANGESET = """
    statusChanged fileSet fileRemoved filesReviewChanged contentChanged operationsChanged
    operationStatusChanged cleared
"""
ANNOTATIONS = "set updated removed entrySet entryRemoved"
AUTOMATION = "set removed createRequested updateRequested"
AUTOMATION_RUN = "lifecycleChanged sessionSet sessionRemoved primarySessionChanged cancelRequested"

ACTIONS: dict[str, tuple[Any, str]] = {
    "root": (actions.RootAction, ROOT),
    "session": (actions.SessionAction, SESSION),
    "chat": (actions.ChatAction, CHAT),
    "terminal": (actions.TerminalAction, TERMINAL),
    "changeset": (actions.ChangesetAction, CHANGESET),
    "annotations": (actions.AnnotationsAction, ANNOTATIONS),
    "automation": (actions.AutomationAction, AUTOMATION),
    "automationRun": (actions.AutomationRunAction, AUTOMATION_RUN),
    "canvas": (actions.CanvasAction, "stateChanged"),
    "resourceWatch": (actions.ResourceWatchAction, "changed"),
}

CLIENT = {
    "root": "configChanged",
    "session": """
        titleChanged isReadChanged isArchivedChanged configChanged activeClientSet activeClientRemoved
        workingDirectorySet workingDirectoryRemoved workingDirectoryReplaced customizationToggled
        mcpServerStartRequested mcpServerStopRequested mcpServerBackgroundRequested
    """,
    "chat": """
        turnStarted turnCancelled turnResume toolCallConfirmed toolCallComplete toolCallResultConfirmed
        toolCallContentChanged inputAnswerChanged inputCompleted pendingMessageSet pendingMessageRemoved
        queuedMessagesReordered draftChanged truncated isReadChanged isArchivedChanged workingDirectorySet
        workingDirectoryRemoved
    """,
    "terminal": "input resized claimed titleChanged cleared",
    "changeset": "filesReviewChanged",
    "annotations": ANNOTATIONS,
    "automation": "createRequested updateRequested removed",
    "automationRun": "cancelRequested",
}


def types_of(scope: str, names: str) -> set[str]:
    return {f"{scope}/{name}" for name in names.split()}


def types_in(union: Any) -> list[str]:
    return [constant for member in union_members(union) for constant in tag_values(member, "type")]


@pytest.mark.parametrize("scope", ACTIONS)
def test_every_action_type_has_one_object_and_only_a_decision_has_two(scope: str) -> None:
    union, names = ACTIONS[scope]
    types = types_of(scope, names)
    assert sorted(types_in(union)) == sorted([*types, *({"chat/toolCallConfirmed"} & types)])


def test_there_are_106_action_types_in_all() -> None:
    types = set().union(*(types_of(scope, names) for scope, (_, names) in ACTIONS.items()))
    assert len(types) == 106
    assert set(types_in(actions.StateAction)) == types


def test_a_client_may_dispatch_47_actions() -> None:
    types = set().union(*(types_of(scope, names) for scope, names in CLIENT.items()))
    assert len(get_args(ClientActionType)) == len(types) == 47
    assert set(get_args(ClientActionType)) == types == actions.CLIENT_ACTIONS
    assert types <= set(types_in(actions.StateAction))
