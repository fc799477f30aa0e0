"""What can go wrong between an application and an AAP server. Knows no HTTP library."""

from agenthost.errors import HostError, LimitReached

__all__ = [
    "AapError",
    "Conflict",
    "NotAap",
    "NotCreatedYet",
    "NotFound",
    "NothingToResume",
    "Refused",
    "ServerBroke",
    "StreamBroke",
    "TimedOut",
    "TooManyRequests",
    "TurnTooLong",
    "Unauthorized",
    "Unreachable",
    "refusal_of",
]


class AapError(HostError):
    """Anything that goes wrong between an application and an AAP server.

    Attributes:
        status: the HTTP status, if the server answered with one that is an error.
        code: the server's own word for it, for programs.
        path: the field of the request that is wrong, such as `$.agent.options.style`.
        retry_after: after how many seconds the server says it is worth trying again.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        path: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.path = path
        self.retry_after = retry_after


class Refused(AapError):
    """The server does not do what it was asked for: nothing has changed there."""


class Unauthorized(Refused):
    """The server wants a key, another one, or one that may do more."""


class NotFound(Refused):
    """There is no such session, or the agent offers no such history."""


class Conflict(Refused):
    """It cannot happen now, such as while another turn is running."""


class TooManyRequests(Refused):
    """The server has had enough for the moment; `retry_after` may say for how long."""


class ServerBroke(AapError):
    """The server failed at it, or cannot work now. What it did before that is not known."""


class Unreachable(AapError):
    """No connection to the server came about: nothing was sent."""


class TimedOut(AapError):
    """The server was silent for too long. What it does with the request is not known."""


class StreamBroke(AapError):
    """The answer ended before its end. The turn may go on at the server: the history tells."""


class NotAap(AapError):
    """What answers is no AAP server, or speaks a version that is not known here."""


class NotCreatedYet(AapError):
    """The session has no id yet: in versions 1 and 2 of AAP, the first turn makes it."""


class NothingToResume(AapError):
    """The history does not end in calls that wait for the application."""


class TurnTooLong(AapError, LimitReached):
    """The turn took more rounds or more time than the application lets it."""


_BY_STATUS: dict[int, type[AapError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def refusal_of(status: int) -> type[AapError]:
    """Give the error that a status means."""
    return _BY_STATUS.get(status, ServerBroke if status >= 500 else Refused)
