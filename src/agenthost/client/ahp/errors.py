"""What can go wrong between an application and an AHP host. Knows no WebSocket library.

The words are those of the AAP client, so that whoever knows one tree knows the other.
"""

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
    "Denied",
    "Disconnected",
    "Gone",
    "NotAhp",
    "NotFound",
    "Refused",
    "Rejected",
    "ServerBroke",
    "TakenOver",
    "TimedOut",
    "TurnFailed",
    "Unanswered",
    "Unauthorized",
    "Unreachable",
    "VersionMismatch",
    "refusal_of",
]


class AhpError(HostError):
    """Anything that goes wrong between an application and an AHP host.

    Attributes:
        code: the code of the host's answer, if it answered with an error.
        data: what it said beside its sentence.
    """

    def __init__(self, message: str, *, code: int | None = None, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Refused(AhpError):
    """The host does not do what it was asked for: nothing has changed there."""


class Unauthorized(Refused):
    """The host wants a key, another one, or one that may do more. Trying again is of no use."""


class VersionMismatch(Refused):
    """The host speaks no version that was offered. Trying again is of no use."""

    @property
    def supported(self) -> list[str]:
        """What it says that it speaks."""
        found = self.data.get("supportedVersions") if isinstance(self.data, dict) else None
        return found if isinstance(found, list) else []


class NotFound(Refused):
    """There is no such session, agent, terminal, file or content."""


class Conflict(Refused):
    """It is there already, or it cannot happen while a turn is running."""


class Denied(Refused):
    """That file may not be touched, or not in this way."""

    @property
    def request(self) -> ResourceRequestParams | None:
        """What to ask for with `files.request` to be let in, if the host says so."""
        found: Any = self.data.get("request") if isinstance(self.data, dict) else None
        return found if isinstance(found, dict) else None  # type: ignore[return-value] # as the host says


class AuthRequired(Refused):
    """A token is needed first: get one, give it to `authenticate`, and try again."""

    @property
    def resources(self) -> list[ProtectedResourceMetadata]:
        """What tokens are needed for."""
        found: Any = self.data.get("resources") if isinstance(self.data, dict) else self.data
        return found if isinstance(found, list) else []


class ServerBroke(AhpError):
    """The host failed at it. What it did before that is not known."""


class NotAhp(AhpError):
    """What answers is no AHP host, or breaks the rules of the protocol."""


class Unreachable(AhpError):
    """No connection to the host came about."""


class Disconnected(AhpError):
    """The connection ended before the answer came. What the host does with the request is not known."""


class TimedOut(AhpError):
    """The host was silent for too long. What it does with the request is not known."""


class TakenOver(AhpError):
    """Somebody else connected with the same client id, which is for one connection at a time."""


class Closed(AhpError):
    """The client, or the session or terminal, was closed by the application itself."""


class Gone(AhpError):
    """The session or terminal is not there any more."""


class Rejected(AhpError):
    """The host did not let an action happen; the message is its reason."""


class Unanswered(AhpError):
    """The connection broke, and the host cannot tell any more whether the action happened: the state does."""


class TurnFailed(AhpError):
    """The turn ended with an error, or was taken out of the session."""

    def __init__(self, message: str, error: ErrorInfo | None = None) -> None:
        super().__init__(message)
        self.error = error


_BY_CODE: dict[int, type[AhpError]] = {
    ErrorCode.INTERNAL_ERROR: ServerBroke,
    ErrorCode.SESSION_NOT_FOUND: NotFound,
    ErrorCode.PROVIDER_NOT_FOUND: NotFound,
    ErrorCode.SESSION_ALREADY_EXISTS: Conflict,
    ErrorCode.TURN_IN_PROGRESS: Conflict,
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: VersionMismatch,
    ErrorCode.CONTENT_NOT_FOUND: NotFound,
    ErrorCode.AUTH_REQUIRED: AuthRequired,
    ErrorCode.NOT_FOUND: NotFound,
    ErrorCode.PERMISSION_DENIED: Denied,
    ErrorCode.ALREADY_EXISTS: Conflict,
}


def refusal_of(code: int, message: str, data: Json = None) -> AhpError:
    """Give the error that an answer means."""
    return _BY_CODE.get(code, Refused)(message or f"the host refused (code {code})", code=code, data=data)
