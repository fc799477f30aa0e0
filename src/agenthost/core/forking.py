"""Forking: the first state of a session that begins with the turns of another."""

from agenthost.core.reducers.records import put
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState

LEFT_BEHIND = (
    "activeTurn",
    "activeClient",
    "inputRequests",
    "queuedMessages",
    "steeringMessage",
    "creationError",
)
"""What belongs to the moment, or to a client, and does not come along."""


def forked(state: SessionState, turn_id: str, uri: str, now: float) -> SessionState:
    """Give the state of a session at `uri` with the turns up to and including this one; their ids stay.

    Raises:
        TurnInProgress: that turn has not ended yet.
        TurnNotFound: there is no such turn.
    """
    turns = state["turns"]
    place = next((place for place, turn in enumerate(turns) if turn["id"] == turn_id), None)
    if place is None:
        is_running = "activeTurn" in state and state["activeTurn"]["id"] == turn_id
        raise TurnInProgress(turn_id) if is_running else TurnNotFound(turn_id)
    summary = put(
        state["summary"],
        resource=uri,
        status=SessionStatus.IDLE,
        createdAt=now,
        modifiedAt=now,
        **dict.fromkeys(key for key in ("activity", "diffs") if key in state["summary"]),
    )
    gone = dict.fromkeys(key for key in LEFT_BEHIND if key in state)
    return put(state, summary=summary, lifecycle="creating", turns=turns[: place + 1], **gone)
