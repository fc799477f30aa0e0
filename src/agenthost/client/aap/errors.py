"""The errors of the AAP client. Knows no HTTP library."""

from agenthost.errors import HostError, LimitReached

__all__ = [
    "AapError",
    "Conflict",
    "NotAap",
    "NotCreatedYet",
    "NotFound",
    "NothingToResume",
    "Refused",
    "ServerError",
    "StreamError",
    "TimedOut",
    "TooManyRequests",
    "TurnTooLong",
    "Unauthorized",
    "Unreachable",
    "error_class",
]


class AapError(HostError):
    """The base class of all errors of the AAP client.

    Attributes:
        status: the HTTP status, if the server answered with an error.
        code: the server's error code.
        path: the invalid field of the request, such as `$.agent.options.style`.
        retry_after: after how many seconds the server suggests trying again.
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
    """The server refused the request; nothing has changed there."""


class Unauthorized(Refused):
    """The server needs a key, another key, or one with more rights."""


class NotFound(Refused):
    """There is no such session, or the agent does not offer that history."""


class Conflict(Refused):
    """It is impossible at the moment, for example because another turn is running."""


class TooManyRequests(Refused):
    """The server limits the rate of requests; `retry_after` may say for how long."""


class ServerError(AapError):
    """The server failed. It is unknown what it did before that."""


class Unreachable(AapError):
    """The server could not be reached; nothing was sent."""


class TimedOut(AapError):
    """The server did not answer in time. Whether it handles the request is unknown."""


class StreamError(AapError):
    """The answer was cut off or is unreadable. The turn may go on at the server; the history tells (Z1)."""


class NotAap(AapError):
    """The peer is not an AAP server, or speaks an unknown version."""


class NotCreatedYet(AapError):
    """The session has no id yet: in versions 1 and 2 of AAP its first turn creates it (C2)."""


class NothingToResume(AapError):
    """The history does not end in calls that wait for the application."""


class TurnTooLong(AapError, LimitReached):
    """The turn took more rounds or more time than the application allows."""


_BY_STATUS: dict[int, type[AapError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def error_class(status: int) -> type[AapError]:
    """Return the error that an HTTP status stands for."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else Refused)
