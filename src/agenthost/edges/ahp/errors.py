"""Errors of the host as error codes of AHP, in one table."""

from typing import Any

from agenthost.errors import (
    ActionRefused,
    AgentNotFound,
    AgentUnavailable,
    AuthRequired,
    ChangesetNotFound,
    ChatExists,
    ClientActive,
    ClientUnknown,
    ContentNotFound,
    GrantMissing,
    HostError,
    InvalidValue,
    LimitReached,
    ModelFailed,
    NotJson,
    OwnedElsewhere,
    PeerFailed,
    PeerGone,
    PeerRefused,
    ResourceConflict,
    ResourceDenied,
    ResourceError,
    ResourceExists,
    ResourceNotFound,
    SandboxUnavailable,
    SessionExists,
    SessionNotFound,
    SessionNotReady,
    ShellsRefused,
    SlowConsumer,
    StorageError,
    SwitchedOff,
    TerminalExists,
    TerminalNotFound,
    TooLarge,
    ToolError,
    TooMany,
    TooManyChats,
    TurnInProgress,
    TurnNotFound,
    UnsupportedVersion,
    UriReserved,
)
from agenthost.wire.ahp.legacy.errors import ErrorCode
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import Failure, MessageId

__all__ = ["CODES", "to_failure"]

CONFLICT = ErrorCode.CONFLICT
"""Only a write with an etag leads to it."""

CODES: dict[type[HostError], int] = {
    NotJson: ErrorCode.PARSE_ERROR,
    InvalidValue: ErrorCode.INVALID_PARAMS,
    TooLarge: ErrorCode.INVALID_PARAMS,
    TurnNotFound: ErrorCode.INVALID_PARAMS,
    AgentNotFound: ErrorCode.PROVIDER_NOT_FOUND,
    ClientUnknown: ErrorCode.NOT_FOUND,
    SessionNotFound: ErrorCode.SESSION_NOT_FOUND,
    ChangesetNotFound: ErrorCode.NOT_FOUND,
    UriReserved: ErrorCode.INVALID_PARAMS,
    ChatExists: ErrorCode.ALREADY_EXISTS,
    TooManyChats: ErrorCode.INVALID_PARAMS,
    SessionExists: ErrorCode.SESSION_ALREADY_EXISTS,
    TurnInProgress: ErrorCode.TURN_IN_PROGRESS,
    SessionNotReady: ErrorCode.INVALID_REQUEST,
    ClientActive: ErrorCode.INVALID_REQUEST,
    ActionRefused: ErrorCode.INVALID_REQUEST,
    UnsupportedVersion: ErrorCode.UNSUPPORTED_PROTOCOL_VERSION,
    AuthRequired: ErrorCode.AUTH_REQUIRED,
    ContentNotFound: ErrorCode.NOT_FOUND,
    ResourceNotFound: ErrorCode.NOT_FOUND,
    TerminalNotFound: ErrorCode.NOT_FOUND,
    ResourceDenied: ErrorCode.PERMISSION_DENIED,
    GrantMissing: ErrorCode.PERMISSION_DENIED,
    SwitchedOff: ErrorCode.PERMISSION_DENIED,
    ResourceExists: ErrorCode.ALREADY_EXISTS,
    ResourceConflict: CONFLICT,
    ResourceError: ErrorCode.INVALID_PARAMS,
    TerminalExists: ErrorCode.ALREADY_EXISTS,
    TooMany: ErrorCode.INVALID_PARAMS,
    AgentUnavailable: ErrorCode.INTERNAL_ERROR,
    LimitReached: ErrorCode.INVALID_REQUEST,
    ShellsRefused: ErrorCode.PERMISSION_DENIED,
    ModelFailed: ErrorCode.INTERNAL_ERROR,
    SandboxUnavailable: ErrorCode.INTERNAL_ERROR,
    SlowConsumer: ErrorCode.INTERNAL_ERROR,
    ToolError: ErrorCode.INTERNAL_ERROR,
    StorageError: ErrorCode.INTERNAL_ERROR,
    OwnedElsewhere: ErrorCode.INTERNAL_ERROR,
    PeerGone: ErrorCode.INTERNAL_ERROR,
    PeerRefused: ErrorCode.INTERNAL_ERROR,
    PeerFailed: ErrorCode.INTERNAL_ERROR,
}
"""The code of each error."""

INTERNAL = "internal error; the log of the host says more"


def to_failure(error: Exception, message_id: MessageId | None) -> Failure:
    """Return the answer to a request that failed. Unexpected errors reveal nothing (HR-R06)."""
    # The nearest class in the table counts, so a new subclass needs no entry.
    code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), ErrorCode.INTERNAL_ERROR)
    # Its own message names folders of this machine.
    if isinstance(error, StorageError):
        return Failure(message_id, code, error.public)
    if code == ErrorCode.INTERNAL_ERROR:
        return Failure(message_id, code, INTERNAL)
    return Failure(message_id, code, str(error), _error_data(error))


def _error_data(error: Any) -> Json:
    if isinstance(error, UnsupportedVersion):
        # HR-I06
        return {"supportedVersions": error.supported}
    if isinstance(error, AuthRequired):
        # HR-P02
        return {"resources": error.resources}
    if isinstance(error, ResourceDenied) and error.request is not None:
        # HR-F02
        return {"request": error.request}
    return None
