"""Error codes, and the data that some of them carry."""

from enum import IntEnum
from typing import Any, NotRequired, TypedDict

from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import ProtectedResourceMetadata
from agenthost.wire.jsonrpc import RpcCode
from agenthost.wire.shape import Shape


class ErrorCode(IntEnum):
    """What an error response says: JSON-RPC's own codes, then the protocol's."""

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
    CONTENT_NOT_FOUND = -32006
    AUTH_REQUIRED = -32007
    NOT_FOUND = -32008
    PERMISSION_DENIED = -32009
    ALREADY_EXISTS = -32010


class AuthRequiredErrorData(TypedDict):
    """With `AuthRequired`: what tokens are missing."""

    resources: list[ProtectedResourceMetadata]


class PermissionDeniedErrorData(TypedDict):
    """With `PermissionDenied`: the request that would help."""

    request: NotRequired[ResourceRequestParams]


class UnsupportedProtocolVersionErrorData(TypedDict):
    """With `UnsupportedProtocolVersion`: what the host speaks."""

    supportedVersions: list[str]  # SemVer strings or SemVer ranges


ERROR_DATA: dict[int, Shape[Any]] = {
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: Shape(UnsupportedProtocolVersionErrorData),
    ErrorCode.AUTH_REQUIRED: Shape(AuthRequiredErrorData),
    ErrorCode.PERMISSION_DENIED: Shape(PermissionDeniedErrorData),
}
"""The shape of `data`, for the codes that have one. Readers must bear other data, and none."""
