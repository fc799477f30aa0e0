"""The state of a session as legacy clients see it: one state for the session and its default chat."""

from typing import Any, cast

from agenthost.core.legacy.clients import active_client, project_client
from agenthost.core.legacy.customizations import project_customizations
from agenthost.core.legacy.messages import project_pending
from agenthost.core.legacy.meta import public_meta
from agenthost.core.legacy.summaries import project_summary
from agenthost.core.legacy.turns import open_requests, project_active_turn, project_error, project_turn
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.session import SessionState as LegacySessionState
from agenthost.wire.ahp.session import SessionState

_SHARED = ("serverTools", "config")


def project_session_state(
    session: SessionState, chat: ChatState, uri: str, created_at_ms: float
) -> LegacySessionState:
    """Return the state of a session and its default chat as legacy clients see it."""
    projected: Any = {
        "summary": project_summary(session, chat, uri, created_at_ms),
        "lifecycle": project_lifecycle(session["lifecycle"]),
        "turns": [project_turn(turn) for turn in chat["turns"]],
    }
    whole: Any = session
    projected.update({key: whole[key] for key in _SHARED if key in whole})
    if "creationError" in session:
        projected["creationError"] = project_error(session["creationError"])
    client = active_client(session)
    if client is not None:
        projected["activeClient"] = project_client(client)
    if "customizations" in session:
        projected["customizations"] = project_customizations(session["customizations"])
    meta = public_meta(session.get("_meta"))
    if meta is not None:
        projected["_meta"] = meta
    _add_conversation(projected, chat)
    return cast("LegacySessionState", projected)


def project_lifecycle(lifecycle: str) -> str:
    """Return a lifecycle as legacy clients see it."""
    return "creationFailed" if lifecycle == "failed" else lifecycle


def _add_conversation(projected: Any, chat: ChatState) -> None:
    turn = chat.get("activeTurn")
    if turn is not None:
        projected["activeTurn"] = project_active_turn(turn)
        requests = open_requests(turn)
        if requests:
            projected["inputRequests"] = requests
    if "steeringMessage" in chat:
        projected["steeringMessage"] = project_pending(chat["steeringMessage"])
    if "queuedMessages" in chat:
        projected["queuedMessages"] = [project_pending(one) for one in chat["queuedMessages"]]
