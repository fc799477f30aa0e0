"""The errors of the AHP client, named like those of the AAP client. Knows no WebSocket library."""

from typing import Any

from agenthost.errors import HostError
from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import ErrorInfo, ProtectedResourceMetadata
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.json import Json

__all__ = [
    "AhpError",
    "AuthRequired",
    "Closed",
    "Conflict",
    "Disconnected",
    "Gone",
    "NotAhp",
    "NotFound",
    "OutcomeUnknown",
    "PermissionDenied",
    "Refused",
    "Rejected",
    "ServerError",
    "TakenOver",
    "TimedOut",
    "TurnFailed",
    "Unauthorized",
    "Unreachable",
    "VersionMismatch",
    "error_from_code",
]


class AhpError(HostError):
    """The base class of all errors of the AHP client.

    Attributes:
        code: the JSON-RPC error code or WebSocket close code, if the host sent one.
        data: the data of the JSON-RPC error.
    """

    def __init__(self, message: str, *, code: int | None = None, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Refused(AhpError):
    """The host refused the request; nothing has changed there."""


class Unauthorized(Refused):
    """The host needs a key, another key, or one with more rights. Retrying does not help."""


class VersionMismatch(Refused):
    """The host speaks none of the offered versions (HR-I05). Retrying does not help."""

    @property
    def supported(self) -> list[str]:
        """The versions that the host speaks, if it says so (HR-I06)."""
        found = self.data.get("supportedVersions") if isinstance(self.data, dict) else None
        return found if isinstance(found, list) else []


class NotFound(Refused):
    """There is no such session, agent, terminal, file or content."""


class Conflict(Refused):
    """It exists already, or is impossible while a turn is running."""


class PermissionDenied(Refused):
    """That kind of access to the file is not allowed."""

    @property
    def request(self) -> ResourceRequestParams | None:
        """What to request with `files.request` to get access, if the host says so."""
        found: Any = self.data.get("request") if isinstance(self.data, dict) else None
        return found if isinstance(found, dict) else None  # type: ignore[return-value] # as the host sent it


class AuthRequired(Refused):
    """A token is needed first (HR-P01): get one, pass it to `authenticate`, and try again."""

    @property
    def resources(self) -> list[ProtectedResourceMetadata]:
        """The resources that need a token (HR-P02)."""
        found: Any = self.data.get("resources") if isinstance(self.data, dict) else self.data
        return found if isinstance(found, list) else []


class ServerError(AhpError):
    """The host failed. It is unknown what it did before that."""


class NotAhp(AhpError):
    """The peer is not an AHP host, or violates the protocol."""


class Unreachable(AhpError):
    """The host could not be reached."""


class Disconnected(AhpError):
    """The connection was lost before the answer came. Whether the host handles the request is unknown."""


class TimedOut(AhpError):
    """The host did not answer in time. Whether it handles the request is unknown."""


class TakenOver(AhpError):
    """Another connection uses the same client id, and only the newest one stays (HR-I13)."""


class Closed(AhpError):
    """The application itself closed the client, the session or the terminal."""


class Gone(AhpError):
    """The session or terminal no longer exists."""


class Rejected(AhpError):
    """The host rejected an action (HR-A01); the message is its reason."""


class OutcomeUnknown(AhpError):
    """The connection was lost, and nobody can say whether the action was applied; look at the state."""


class TurnFailed(AhpError):
    """The turn ended with an error, or was removed from the session."""

    def __init__(self, message: str, error: ErrorInfo | None = None) -> None:
        super().__init__(message)
        self.error = error


_BY_CODE: dict[int, type[AhpError]] = {
    ErrorCode.INTERNAL_ERROR: ServerError,
    ErrorCode.SESSION_NOT_FOUND: NotFound,
    ErrorCode.PROVIDER_NOT_FOUND: NotFound,
    ErrorCode.SESSION_ALREADY_EXISTS: Conflict,
    ErrorCode.TURN_IN_PROGRESS: Conflict,
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: VersionMismatch,
    ErrorCode.CONTENT_NOT_FOUND: NotFound,
    ErrorCode.AUTH_REQUIRED: AuthRequired,
    ErrorCode.NOT_FOUND: NotFound,
    ErrorCode.PERMISSION_DENIED: PermissionDenied,
    ErrorCode.ALREADY_EXISTS: Conflict,
}


def error_from_code(code: int, message: str, data: Json = None) -> AhpError:
    """Return the error that a JSON-RPC error stands for."""
    return _BY_CODE.get(code, Refused)(message or f"the host refused (code {code})", code=code, data=data)
