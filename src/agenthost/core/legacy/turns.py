"""Turns and the parts of an answer in both protocols.

Questions and errors are parts of a turn. In the legacy protocol the open questions are with the session, the
answered ones are gone, and an error is a field of the turn.
"""

from typing import Any, Final, cast, get_args

from agenthost.core.legacy.messages import lift_message, project_message
from agenthost.core.legacy.toolcalls import lift_call, project_call
from agenthost.wire.ahp.legacy.common import ErrorInfo as LegacyErrorInfo
from agenthost.wire.ahp.legacy.enums import ResponsePartKind
from agenthost.wire.ahp.legacy.input import SessionInputRequest
from agenthost.wire.ahp.legacy.turn import ActiveTurn as LegacyActiveTurn
from agenthost.wire.ahp.legacy.turn import ResponsePart as LegacyResponsePart
from agenthost.wire.ahp.legacy.turn import Turn as LegacyTurn
from agenthost.wire.ahp.turn import ActiveTurn, ResponsePart, Turn

KNOWN_PARTS: Final = frozenset(get_args(ResponsePartKind))


def project_part(part: ResponsePart) -> LegacyResponsePart | None:
    """Return a part as legacy clients see it; `None` if they cannot."""
    whole: Any = part
    kind = whole.get("kind")
    if kind == "toolCall":
        return cast("LegacyResponsePart", {**whole, "toolCall": project_call(whole["toolCall"])})
    return cast("LegacyResponsePart", whole) if kind in KNOWN_PARTS else None


def project_parts(parts: list[ResponsePart]) -> list[LegacyResponsePart]:
    """Return the parts that legacy clients see, in order."""
    projected = [project_part(part) for part in parts]
    return [part for part in projected if part is not None]


def project_turn(turn: Turn) -> LegacyTurn:
    """Return an ended turn as legacy clients see it."""
    projected: Any = project_active_turn(cast("ActiveTurn", turn))
    projected["state"] = turn["state"]
    if turn["state"] == "error":
        errors: list[Any] = [part for part in turn["responseParts"] if part.get("kind") == "error"]
        if errors:
            # A turn that was resumed has earlier ones too.
            projected["error"] = project_error(errors[-1]["error"])
    return cast("LegacyTurn", projected)


def project_active_turn(turn: ActiveTurn) -> LegacyActiveTurn:
    """Return the running turn as legacy clients see it."""
    projected: LegacyActiveTurn = {
        "id": turn["id"],
        "userMessage": project_message(turn["message"]),
        "responseParts": project_parts(turn["responseParts"]),
    }
    if "usage" in turn:
        projected["usage"] = cast("Any", turn["usage"])
    return projected


def open_requests(turn: ActiveTurn | None) -> list[SessionInputRequest]:
    """Return the questions of a turn that nobody has answered."""
    parts: list[Any] = turn["responseParts"] if turn else []
    return [part["request"] for part in parts if is_open_request(part)]


def is_open_request(part: Any) -> bool:
    """Return whether a part is a question that nobody has answered."""
    return part.get("kind") == "inputRequest" and part.get("response") is None


def project_error(error: Any) -> LegacyErrorInfo:
    """Return an error as legacy clients see it."""
    return cast("LegacyErrorInfo", {key: value for key, value in error.items() if key != "_meta"})


def lift_part(part: LegacyResponsePart) -> ResponsePart:
    """Return a legacy part."""
    whole: Any = part
    if whole.get("kind") == "toolCall":
        return cast("ResponsePart", {**whole, "toolCall": lift_call(whole["toolCall"])})
    return cast("ResponsePart", whole)


def lift_turn(turn: LegacyTurn) -> Turn:
    """Return a legacy turn. Nobody knows when it began, nor how long it took."""
    lifted = _lift(turn)
    lifted["state"] = turn["state"]
    if "error" in turn:
        lifted["responseParts"].append(lift_error(turn["error"]))
    return cast("Turn", lifted)


def lift_active_turn(
    turn: LegacyActiveTurn, requests: list[SessionInputRequest], started_at: str
) -> ActiveTurn:
    """Return a legacy running turn, and the session's open questions in it."""
    lifted = {**_lift(turn), "startedAt": started_at}
    lifted["responseParts"] += [{"kind": "inputRequest", "request": request} for request in requests]
    return cast("ActiveTurn", lifted)


def lift_error(error: LegacyErrorInfo) -> Any:
    """Return the part that stands for a legacy error. It cannot be resumed."""
    return {"kind": "error", "error": error}


def _lift(turn: Any) -> dict[str, Any]:
    lifted = {
        "id": turn["id"],
        "message": lift_message(turn["userMessage"]),
        "responseParts": [lift_part(part) for part in turn["responseParts"]],
    }
    if "usage" in turn:
        lifted["usage"] = turn["usage"]
    return lifted
