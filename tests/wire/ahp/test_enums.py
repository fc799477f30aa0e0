"""The constants of AHP 1.0, written out: whoever changes one has to change it here as well."""

from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.wire.ahp import AUTOMATIONS_URI, PROTOCOL_VERSION, ROOT_URI, enums
from agenthost.wire.ahp.actions import CanvasAction, ResourceWatchAction
from agenthost.wire.ahp.actions.toolcall import ChatToolCallConfirmedAction
from agenthost.wire.ahp.automation import (
    AutomationDisableCondition,
    AutomationRunLifecycle,
    AutomationRunOrigin,
    AutomationTrigger,
)
from agenthost.wire.ahp.changeset import ChangesetOperationTarget
from agenthost.wire.ahp.chat import BackgroundWork, ChatMoveDestination, ChatOrigin, ChatSource
from agenthost.wire.ahp.commands.connection import ReconnectResult
from agenthost.wire.ahp.commands.resource import DirectoryEntry
from agenthost.wire.ahp.common import Icon
from agenthost.wire.ahp.config import ConfigPropertySchema, ConfigSchema, SessionConfigSchema
from agenthost.wire.ahp.customization import (
    ChildCustomization,
    Customization,
    CustomizationEnablement,
    CustomizationLoadState,
)
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.errors import ERROR_DATA, ErrorCode
from agenthost.wire.ahp.input import ChatInputAnswer, ChatInputAnswerValue, ChatInputQuestion
from agenthost.wire.ahp.mcp import McpServerState
from agenthost.wire.ahp.message import MessageAttachment
from agenthost.wire.ahp.session import SessionInputRequest, SessionOrigin
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalContentPart, TerminalLifecycleState
from agenthost.wire.ahp.tool import ObjectSchema, ToolResultContent
from agenthost.wire.ahp.toolcall import (
    ToolCallConfirmationState,
    ToolCallContributor,
    ToolCallRiskAssessment,
    ToolCallState,
)
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.annotations import constants, record_fields, tag_values, union_members
from agenthost.wire.shape import Shape


def tags(union: Any, key: str) -> list[Any]:
    return [constant for member in union_members(union) for constant in tag_values(member, key)]


def is_accepted(kind: Any, value: Any) -> bool:
    try:
        Shape[Any](kind).take(value)
    except InvalidValue:
        return False
    return True


def test_the_version_and_the_channels_that_always_have_one_name() -> None:
    assert (PROTOCOL_VERSION, ROOT_URI, AUTOMATIONS_URI) == ("1.0.0", "ahp-root://", "ahp-automations://")


OPEN: dict[str, list[str]] = {
    "PolicyState": ["enabled", "disabled", "unconfigured"],
    "SessionLifecycle": ["creating", "ready", "failed"],
    "MessageKind": ["user", "agent", "tool", "automation", "systemNotification"],
    "ToolCallStatus": [
        "streaming",
        "pending-confirmation",
        "running",
        "auth-required",
        "pending-result-confirmation",
        "completed",
        "cancelled",
    ],
    "ToolCallConfirmationReason": ["not-needed", "user-action", "setting"],
    "ToolCallRiskAssessmentKind": ["judge"],
    "ConfirmationOptionKind": ["approve", "deny"],
    "ChildCustomizationType": ["agent", "skill", "prompt", "rule", "hook", "mcpServer"],
    "McpAuthRequiredReason": ["required", "expired", "insufficientScope"],
    "AuthRequiredReason": ["required", "expired"],
    "ChangesetStatus": ["computing", "recomputing", "ready", "error"],
    "ChangesetOperationStatus": ["idle", "running", "error", "disabled"],
    "ChangesetOperationScope": ["changeset", "resource", "range"],
    "ChangesetSide": ["before", "after"],
    "ResourceType": ["file", "directory", "symlink"],
    "ResourceChangeType": ["added", "updated", "deleted"],
    "CompletionItemKind": ["userMessage"],
    "AutomationOperation": ["update", "remove", "run"],
    "AutomationMisfirePolicy": ["skip", "runOnce"],
}
CLOSED: dict[str, list[str]] = {
    "ChatInteractivity": ["full", "read-only", "hidden"],
    "TurnState": ["complete", "cancelled", "error"],
    "PendingMessageKind": ["steering", "queued"],
    "ChatInputResponseKind": ["accept", "decline", "cancel"],
    "ToolCallCancellationReason": ["denied", "skipped", "result-denied"],
    "ToolCallDenialReason": ["denied", "skipped"],
    "ContentEncoding": ["base64", "utf-8"],
    "ResourceWriteMode": ["truncate", "append", "insert"],
}


@pytest.mark.parametrize("name", OPEN)
def test_an_open_enumeration_has_these_values_and_accepts_others(name: str) -> None:
    kind = getattr(enums, name)
    assert list(constants(kind)) == OPEN[name]
    assert all(is_accepted(kind, value) for value in [*OPEN[name], "from-the-future"])
    assert not is_accepted(kind, 1)


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_enumeration_has_these_values_and_no_others(name: str) -> None:
    kind = getattr(enums, name)
    assert list(constants(kind)) == CLOSED[name]
    assert all(is_accepted(kind, value) for value in CLOSED[name])
    assert not is_accepted(kind, "from-the-future")


def test_every_enumeration_is_open_or_closed() -> None:
    names = {name for name in vars(enums) if name[0].isupper() and constants(getattr(enums, name))}
    assert names - {"CLOSED", "OPEN"} == {*OPEN, *CLOSED, "ClientActionType"}


OPEN_UNIONS: list[tuple[Any, str, list[str]]] = [
    (
        ResponsePart,
        "kind",
        "markdown contentRef toolCall reasoning systemNotification inputRequest error".split(),
    ),
    (ToolCallState, "status", OPEN["ToolCallStatus"]),
    (ToolCallConfirmationState, "status", ["pending-confirmation", "pending-result-confirmation"]),
    (ToolCallContributor, "kind", ["client", "mcp"]),
    (ToolCallRiskAssessment, "status", ["loading", "complete"]),
    (ToolResultContent, "type", "text embeddedResource resource fileEdit terminal subagent".split()),
    (MessageAttachment, "type", "simple embeddedResource resource annotations chat".split()),
    (ChatInputQuestion, "kind", "text number integer boolean single-select multi-select".split()),
    (ChatInputAnswerValue, "kind", "text number boolean selected selected-many".split()),
    (ChatOrigin, "kind", ["user", "fork", "sideChat", "tool"]),
    (ChatSource, "kind", ["fork", "sideChat"]),
    (ChatMoveDestination, "kind", ["session", "newSession"]),
    (BackgroundWork, "kind", ["shell", "subagent"]),
    (
        SessionInputRequest,
        "kind",
        "chatInput toolConfirmation toolClientExecution toolAuthentication".split(),
    ),
    (SessionOrigin, "kind", ["automation"]),
    (TerminalClaim, "kind", ["client", "session"]),
    (TerminalContentPart, "type", ["unclassified", "command"]),
    (TerminalLifecycleState, "status", ["running", "exited"]),
    (Customization, "type", ["plugin", "directory", "mcpServer"]),
    (ChildCustomization, "type", OPEN["ChildCustomizationType"]),
    (CustomizationEnablement, "kind", ["global", "workspace", "session"]),
    (McpServerState, "kind", ["starting", "ready", "authRequired", "error", "stopped"]),
    (ChangesetOperationTarget, "kind", ["resource", "range"]),
    (AutomationDisableCondition, "kind", ["afterRuns", "afterDate"]),
    (AutomationRunOrigin, "kind", ["manual", "trigger"]),
    (AutomationRunLifecycle, "status", "pending running completed failed cancelled".split()),
    (CanvasAction, "type", ["canvas/stateChanged"]),
    (ResourceWatchAction, "type", ["resourceWatch/changed"]),
]
CLOSED_UNIONS: list[tuple[Any, str, list[str]]] = [
    (ChatInputAnswer, "state", ["draft", "submitted", "skipped"]),
    (CustomizationLoadState, "kind", ["loading", "loaded", "degraded", "error"]),
    (AutomationTrigger, "kind", ["schedule", "event"]),
    (ReconnectResult, "type", ["replay", "snapshot"]),
]


@pytest.mark.parametrize(("union", "key", "values"), OPEN_UNIONS)
def test_an_open_union_has_these_members_and_accepts_others(union: Any, key: str, values: list[str]) -> None:
    assert tags(union, key) == values
    assert is_accepted(union, {key: "from-the-future", "x": None})


@pytest.mark.parametrize(("union", "key", "values"), CLOSED_UNIONS)
def test_a_closed_union_has_these_members_and_no_others(union: Any, key: str, values: list[str]) -> None:
    assert tags(union, key) == values
    assert not is_accepted(union, {key: "from-the-future", "x": None})


def test_a_decision_is_told_by_a_boolean() -> None:
    assert tags(ChatToolCallConfirmedAction, "approved") == [True, False]


@pytest.mark.parametrize(
    ("record", "key", "values"),
    [
        (Icon, "theme", ("light", "dark")),
        (DirectoryEntry, "type", ("file", "directory")),
        (ConfigPropertySchema, "type", ("string", "number", "boolean", "array", "object")),
        (ConfigSchema, "type", ("object",)),
        (SessionConfigSchema, "type", ("object",)),
        (ObjectSchema, "type", ("object",)),
    ],
)
def test_constants_that_have_no_name_are_these(record: Any, key: str, values: tuple[str, ...]) -> None:
    assert constants(record_fields(record)[key][0]) == values


def test_the_bits_of_a_status_are_these() -> None:
    bits = {name: value for name, value in vars(SessionStatus).items() if name.isupper()}
    assert bits == {
        "IDLE": 1,
        "ERROR": 2,
        "IN_PROGRESS": 8,
        "INPUT_NEEDED": 24,
        "IS_READ": 32,
        "IS_ARCHIVED": 64,
        "ACTIVITY": 31,
    }


def test_the_error_codes_are_these() -> None:
    assert {code.name: code.value for code in ErrorCode} == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
        "SESSION_NOT_FOUND": -32001,
        "PROVIDER_NOT_FOUND": -32002,
        "SESSION_ALREADY_EXISTS": -32003,
        "TURN_IN_PROGRESS": -32004,
        "UNSUPPORTED_PROTOCOL_VERSION": -32005,
        "CONTENT_NOT_FOUND": -32006,  # of 0.1.0
        "AUTH_REQUIRED": -32007,
        "NOT_FOUND": -32008,
        "PERMISSION_DENIED": -32009,
        "ALREADY_EXISTS": -32010,
        "CONFLICT": -32011,
    }


def test_three_error_codes_carry_data() -> None:
    assert {code: shape.kind.__name__ for code, shape in ERROR_DATA.items()} == {
        -32005: "UnsupportedProtocolVersionErrorData",
        -32007: "AuthRequiredErrorData",
        -32009: "PermissionDeniedErrorData",
    }
