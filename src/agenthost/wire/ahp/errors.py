"""Error codes, and the data that some of them carry."""

from enum import IntEnum
from typing import Any, NotRequired, TypedDict

from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import ProtectedResourceMetadata
from agenthost.wire.jsonrpc import RpcCode
from agenthost.wire.shape import Shape


class ErrorCode(IntEnum):
    """The codes of error responses of all versions: JSON-RPC's own, then those of AHP."""

    PARSE_ERROR = RpcCode.PARSE_ERROR
    INVALID_REQUEST = RpcCode.INVALID_REQUEST
    METHOD_NOT_FOUND = RpcCode.METHOD_NOT_FOUND
    INVALID_PARAMS = RpcCode.INVALID_PARAMS
    INTERNAL_ERROR = RpcCode.INTERNAL_ERROR
    SESSION_NOT_FOUND = -32001
    PROVIDER_NOT_FOUND = -32002
    SESSION_ALREADY_EXISTS = -32003
    TURN_IN_PROGRESS = -32004
    UNSUPPORTED_PROTOCOL_VERSION = -32005
    CONTENT_NOT_FOUND = -32006  # only in 0.1.0; 1.0 has NOT_FOUND for it
    AUTH_REQUIRED = -32007
    NOT_FOUND = -32008
    PERMISSION_DENIED = -32009
    ALREADY_EXISTS = -32010
    CONFLICT = -32011  # not in 0.1.0


class AuthRequiredErrorData(TypedDict):
    """With `AuthRequired`: the resources whose tokens are missing."""

    resources: list[ProtectedResourceMetadata]


class PermissionDeniedErrorData(TypedDict):
    """With `PermissionDenied`: the request that would help."""

    request: NotRequired[ResourceRequestParams]


class UnsupportedProtocolVersionErrorData(TypedDict):
    """With `UnsupportedProtocolVersion`: the versions that the host supports."""

    supportedVersions: list[str]  # SemVer strings or SemVer ranges


ERROR_DATA: dict[int, Shape[Any]] = {
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: Shape(UnsupportedProtocolVersionErrorData),
    ErrorCode.AUTH_REQUIRED: Shape(AuthRequiredErrorData),
    ErrorCode.PERMISSION_DENIED: Shape(PermissionDeniedErrorData),
}
"""The shape of `data`, for the codes that have one. Readers must tolerate other data, and none."""
