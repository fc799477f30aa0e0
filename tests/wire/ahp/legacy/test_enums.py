"""The constants of AHP 0.1.0, written out: whoever changes one has to change it here as well."""

from typing import Any, get_args

import pytest

from agenthost.wire.ahp.legacy import PROTOCOL_VERSION, ROOT_URI, enums
from agenthost.wire.ahp.legacy.actions import (
    CLIENT_ACTIONS,
    RootAction,
    SessionAction,
    StateAction,
    TerminalAction,
)
from agenthost.wire.ahp.legacy.actions.toolcall import SessionToolCallConfirmedAction
from agenthost.wire.ahp.legacy.commands.connection import ReconnectResult
from agenthost.wire.ahp.legacy.commands.resource import DirectoryEntry
from agenthost.wire.ahp.legacy.common import Icon
from agenthost.wire.ahp.legacy.config import ConfigPropertySchema, ConfigSchema, SessionConfigSchema
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.legacy.errors import ERROR_DATA, ErrorCode
from agenthost.wire.ahp.legacy.input import SessionInputAnswer, SessionInputAnswerValue, SessionInputQuestion
from agenthost.wire.ahp.legacy.message import MessageAttachment
from agenthost.wire.ahp.legacy.notifications import ProtocolNotification
from agenthost.wire.ahp.legacy.terminal import TerminalClaim, TerminalContentPart
from agenthost.wire.ahp.legacy.tool import ObjectSchema, ToolResultContent
from agenthost.wire.ahp.legacy.toolcall import ToolCallState
from agenthost.wire.ahp.legacy.turn import ResponsePart
from agenthost.wire.annotations import record_fields, tag_values, union_members
from agenthost.wire.jsonrpc import RpcCode

ROOT = {
    "root/agentsChanged",
    "root/activeSessionsChanged",
    "root/terminalsChanged",
    "root/configChanged",
}
SESSION = {
    "session/ready",
    "session/creationFailed",
    "session/turnStarted",
    "session/delta",
    "session/responsePart",
    "session/toolCallStart",
    "session/toolCallDelta",
    "session/toolCallReady",
    "session/toolCallConfirmed",
    "session/toolCallComplete",
    "session/toolCallResultConfirmed",
    "session/toolCallContentChanged",
    "session/turnComplete",
    "session/turnCancelled",
    "session/error",
    "session/titleChanged",
    "session/usage",
    "session/reasoning",
    "session/modelChanged",
    "session/serverToolsChanged",
    "session/activeClientChanged",
    "session/activeClientToolsChanged",
    "session/pendingMessageSet",
    "session/pendingMessageRemoved",
    "session/queuedMessagesReordered",
    "session/inputRequested",
    "session/inputAnswerChanged",
    "session/inputCompleted",
    "session/customizationsChanged",
    "session/customizationToggled",
    "session/customizationUpdated",
    "session/truncated",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/activityChanged",
    "session/diffsChanged",
    "session/configChanged",
    "session/metaChanged",
}
TERMINAL = {
    "terminal/data",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cwdChanged",
    "terminal/exited",
    "terminal/cleared",
    "terminal/commandDetectionAvailable",
    "terminal/commandExecuted",
    "terminal/commandFinished",
}
CLIENT = {
    "root/configChanged",
    "session/turnStarted",
    "session/toolCallConfirmed",
    "session/toolCallComplete",
    "session/toolCallResultConfirmed",
    "session/toolCallContentChanged",
    "session/turnCancelled",
    "session/titleChanged",
    "session/modelChanged",
    "session/activeClientChanged",
    "session/activeClientToolsChanged",
    "session/pendingMessageSet",
    "session/pendingMessageRemoved",
    "session/queuedMessagesReordered",
    "session/inputAnswerChanged",
    "session/inputCompleted",
    "session/customizationToggled",
    "session/truncated",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/configChanged",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cleared",
}


def tags(union: Any, key: str) -> list[Any]:
    return [constant for member in union_members(union) for constant in tag_values(member, key)]


def test_the_version_and_the_root_are_as_the_protocol_says() -> None:
    assert (PROTOCOL_VERSION, ROOT_URI) == ("0.1.0", "agenthost:/root")


def test_there_are_4_38_and_11_actions_by_scope() -> None:
    assert [len(ROOT), len(SESSION), len(TERMINAL)] == [4, 38, 11]
    assert set(get_args(enums.RootActionType)) == ROOT
    assert set(get_args(enums.SessionActionType)) == SESSION
    assert set(get_args(enums.TerminalActionType)) == TERMINAL


def test_there_are_53_action_types_in_all() -> None:
    every = [name for scope in get_args(enums.ActionType) for name in get_args(scope)]
    assert len(every) == len(set(every)) == 53
    assert set(every) == ROOT | SESSION | TERMINAL


def test_a_client_may_dispatch_26_actions() -> None:
    assert len(get_args(enums.ClientActionType)) == 26
    assert set(get_args(enums.ClientActionType)) == CLIENT == CLIENT_ACTIONS
    assert [len(CLIENT & scope) for scope in (ROOT, SESSION, TERMINAL)] == [1, 20, 5]


@pytest.mark.parametrize(
    ("union", "types"),
    [
        (RootAction, ROOT),
        (SessionAction, SESSION),
        (TerminalAction, TERMINAL),
        (StateAction, ROOT | SESSION | TERMINAL),
    ],
    ids=["root", "session", "terminal", "all"],
)
def test_every_action_type_has_one_object_and_only_a_decision_has_two(union: Any, types: set[str]) -> None:
    found = sorted(tags(union, "type"))
    assert found == sorted([*types, *({"session/toolCallConfirmed"} & types)])


ENUMERATIONS: dict[str, list[str]] = {
    "PolicyState": ["enabled", "disabled", "unconfigured"],
    "PendingMessageKind": ["steering", "queued"],
    "SessionLifecycle": ["creating", "ready", "creationFailed"],
    "SessionInputResponseKind": ["accept", "decline", "cancel"],
    "SessionInputQuestionKind": ["text", "number", "integer", "boolean", "single-select", "multi-select"],
    "SessionInputAnswerValueKind": ["text", "number", "boolean", "selected", "selected-many"],
    "SessionInputAnswerState": ["draft", "submitted", "skipped"],
    "TurnState": ["complete", "cancelled", "error"],
    "MessageAttachmentKind": ["simple", "embeddedResource", "resource"],
    "ResponsePartKind": ["markdown", "contentRef", "toolCall", "reasoning", "systemNotification"],
    "ToolCallStatus": [
        "streaming",
        "pending-confirmation",
        "running",
        "pending-result-confirmation",
        "completed",
        "cancelled",
    ],
    "ToolCallConfirmationReason": ["not-needed", "user-action", "setting"],
    "ToolCallCancellationReason": ["denied", "skipped", "result-denied"],
    "ConfirmationOptionKind": ["approve", "deny"],
    "ToolResultContentType": ["text", "embeddedResource", "resource", "fileEdit", "terminal", "subagent"],
    "CustomizationStatus": ["loading", "loaded", "degraded", "error"],
    "TerminalClaimKind": ["client", "session"],
    "ReconnectResultType": ["replay", "snapshot"],
    "ContentEncoding": ["base64", "utf-8"],
    "CompletionItemKind": ["userMessage"],
    "NotificationType": [
        "notify/sessionAdded",
        "notify/sessionRemoved",
        "notify/sessionSummaryChanged",
        "notify/authRequired",
    ],
    "AuthRequiredReason": ["required", "expired"],
}


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_an_enumeration_has_exactly_these_values(name: str) -> None:
    assert list(get_args(getattr(enums, name))) == ENUMERATIONS[name]


@pytest.mark.parametrize(
    ("union", "key", "name"),
    [
        (ResponsePart, "kind", "ResponsePartKind"),
        (ToolCallState, "status", "ToolCallStatus"),
        (ToolResultContent, "type", "ToolResultContentType"),
        (MessageAttachment, "type", "MessageAttachmentKind"),
        (TerminalClaim, "kind", "TerminalClaimKind"),
        (SessionInputQuestion, "kind", "SessionInputQuestionKind"),
        (SessionInputAnswerValue, "kind", "SessionInputAnswerValueKind"),
        (SessionInputAnswer, "state", "SessionInputAnswerState"),
        (ReconnectResult, "type", "ReconnectResultType"),
        (ProtocolNotification, "type", "NotificationType"),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_the_tags_of_a_union_are_those_of_its_enumeration(union: Any, key: str, name: str) -> None:
    assert sorted(tags(union, key)) == sorted(ENUMERATIONS[name])


def test_the_unions_without_an_enumeration_have_these_tags() -> None:
    assert tags(TerminalContentPart, "type") == ["unclassified", "command"]
    assert tags(SessionToolCallConfirmedAction, "approved") == [True, False]


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
    assert get_args(record_fields(record)[key][0]) == values


def test_the_bits_of_a_sessions_status_are_these() -> None:
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
        "CONTENT_NOT_FOUND": -32006,
        "AUTH_REQUIRED": -32007,
        "NOT_FOUND": -32008,
        "PERMISSION_DENIED": -32009,
        "ALREADY_EXISTS": -32010,
        "CONFLICT": -32011,  # of 1.0
    }
    assert {code.name for code in RpcCode} < {code.name for code in ErrorCode}


def test_three_error_codes_carry_data() -> None:
    assert {code: shape.kind.__name__ for code, shape in ERROR_DATA.items()} == {
        -32005: "UnsupportedProtocolVersionErrorData",
        -32007: "AuthRequiredErrorData",
        -32009: "PermissionDeniedErrorData",
    }


@pytest.mark.parametrize(
    ("code", "data"),
    [
        (-32005, {"supportedVersions": ["0.1.0", "^0.2.0"]}),
        (-32007, {"resources": [{"resource": "https://api.example.org", "scopes_supported": ["agent"]}]}),
        (-32009, {"request": {"uri": "file:///etc/hosts", "read": True}}),
        (-32009, {}),
    ],
)
def test_the_data_of_an_error_fits_its_shape(code: int, data: Any) -> None:
    assert ERROR_DATA[code].take(data) is data
