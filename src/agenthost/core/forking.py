"""Forking: the first state of a session that begins with the turns of another, and depends on it no more.

Large content is not in the turns: they refer to it by URIs that begin with their session's. In the new
session they begin with the new one's, where copies of the contents are.
"""

from agenthost.core.reducers.records import put
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json

CONTENT = "/content/"
"""What stands between the URI of a session and the id of a content that belongs to it."""

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
    kept = _moved(turns[: place + 1], state["summary"]["resource"] + CONTENT, uri + CONTENT)
    return put(state, summary=summary, lifecycle="creating", turns=kept, **gone)


def split_content_uri(uri: URI) -> tuple[URI, str] | None:
    """Give the session and the id that the URI of a content is made of; `None` if it is none.

    A session's URI is its client's choice and may have anything in it: what counts is the last `/content/`.
    """
    session, mark, content_id = uri.rpartition(CONTENT)
    return (session, content_id) if mark and content_id and "/" not in content_id else None


def _moved(value: Json, old: str, new: str) -> Json:
    """Give the value with every reference to a content moved; what has none is the same object as before."""
    if isinstance(value, list):
        items = [_moved(item, old, new) for item in value]
        return items if any(after is not item for after, item in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    changed = {key: after for key, item in value.items() if (after := _moved(item, old, new)) is not item}
    uri = value.get("uri")
    if isinstance(uri, str) and uri.startswith(old) and "/" not in uri[len(old) :]:
        changed["uri"] = new + uri[len(old) :]
    return {**value, **changed} if changed else value
