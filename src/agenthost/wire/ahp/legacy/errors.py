"""Error codes, and the data that some of them carry."""

from typing import Any, NotRequired, TypedDict

from agenthost.wire.ahp.errors import ErrorCode, UnsupportedProtocolVersionErrorData
from agenthost.wire.ahp.legacy.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.legacy.common import ProtectedResourceMetadata
from agenthost.wire.shape import Shape

__all__ = [
    "ERROR_DATA",
    "AuthRequiredErrorData",
    "ErrorCode",
    "PermissionDeniedErrorData",
    "UnsupportedProtocolVersionErrorData",
]


class AuthRequiredErrorData(TypedDict):
    """With `AuthRequired`: the resources whose tokens are missing."""

    resources: list[ProtectedResourceMetadata]


class PermissionDeniedErrorData(TypedDict):
    """With `PermissionDenied`: the request that would help."""

    request: NotRequired[ResourceRequestParams]


ERROR_DATA: dict[int, Shape[Any]] = {
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: Shape(UnsupportedProtocolVersionErrorData),
    ErrorCode.AUTH_REQUIRED: Shape(AuthRequiredErrorData),
    ErrorCode.PERMISSION_DENIED: Shape(PermissionDeniedErrorData),
}
"""The shape of `data`, for the codes that have one. Readers must tolerate other data, and none."""
