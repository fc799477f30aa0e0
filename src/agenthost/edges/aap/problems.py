"""Problems: the status and body of a refused request. The one table of the host's errors for AAP."""

from dataclasses import dataclass
from typing import Any

from agenthost.errors import (
    ActionRefused,
    AgentNotFound,
    AgentUnavailable,
    AuthRequired,
    ClientActive,
    ContentNotFound,
    Damaged,
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
    SandboxUnavailable,
    SessionExists,
    SessionNotFound,
    SessionNotReady,
    ShellsRefused,
    SlowConsumer,
    StorageError,
    SwitchedOff,
    TooLarge,
    ToolError,
    TurnInProgress,
    TurnNotFound,
    UriReserved,
)
from agenthost.wire.json import JsonObject

__all__ = ["STATUS", "Problem", "problem_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """How an error is reported: its status, its code, and whether its message may be shown."""

    status: int
    code: str
    is_public: bool = True


STATUS: dict[type[HostError], Kind] = {
    NotJson: Kind(400, "invalid_json"),
    InvalidValue: Kind(422, "invalid_request"),
    TooLarge: Kind(413, "too_large"),
    AgentNotFound: Kind(422, "unknown_agent"),
    GrantMissing: Kind(403, "grant_missing"),
    SwitchedOff: Kind(403, "switched_off"),
    SessionNotFound: Kind(404, "session_not_found"),
    SessionExists: Kind(409, "session_exists"),
    UriReserved: Kind(422, "invalid_request"),
    TurnInProgress: Kind(409, "turn_in_progress"),
    SessionNotReady: Kind(409, "session_not_ready"),
    ClientActive: Kind(409, "client_active"),
    ActionRefused: Kind(409, "refused"),
    TurnNotFound: Kind(404, "turn_not_found"),
    ContentNotFound: Kind(404, "content_not_found"),
    AgentUnavailable: Kind(503, "agent_unavailable"),
    AuthRequired: Kind(403, "token_required"),
    LimitReached: Kind(429, "limit_reached"),
    ModelFailed: Kind(502, "model_failed"),
    SlowConsumer: Kind(503, "too_slow"),
    ShellsRefused: Kind(403, "shells_refused"),
    SandboxUnavailable: Kind(500, "internal_error", is_public=False),
    ToolError: Kind(500, "internal_error", is_public=False),
    # Its message names folders of this machine.
    StorageError: Kind(503, "store_unavailable", is_public=False),
    Damaged: Kind(500, "damaged"),
    OwnedElsewhere: Kind(503, "node_unavailable"),
    PeerGone: Kind(503, "node_unavailable"),
    PeerRefused: Kind(500, "internal_error", is_public=False),
    PeerFailed: Kind(500, "internal_error", is_public=False),
}
"""How each error is reported."""

_PRIVATE = {
    "internal_error": "something went wrong here; the server's log says what",
}


class Problem(Exception):
    """Refuses a request (X1): a status, a stable code, a message, and the path of the wrong field."""

    def __init__(self, status: int, code: str, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.path = path

    def body(self) -> JsonObject:
        """Return the body of the response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.path is not None:
            error["path"] = self.path
        return {"error": error}


def problem_of(error: HostError) -> Problem:
    """Turn an error of the host into a refusal."""
    # The nearest class in the table: `Damaged` is a `StorageError`, and has a status of its own.
    kind = next(STATUS[one] for one in type(error).__mro__ if one in STATUS)
    message = str(error) if kind.is_public else _private(error, kind)
    return Problem(kind.status, kind.code, message, getattr(error, "path", None))


def _private(error: HostError, kind: Kind) -> str:
    return error.public if isinstance(error, StorageError) else _PRIVATE[kind.code]
