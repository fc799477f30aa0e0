"""The state of a legacy session as a session with one chat: for stores from before, and for legacy hosts."""

from typing import Any, cast

from agenthost.core.legacy.clients import lift_client
from agenthost.core.legacy.customizations import lift_customizations
from agenthost.core.legacy.messages import lift_pending
from agenthost.core.legacy.summaries import lift_meta, lift_time
from agenthost.core.legacy.turns import lift_active_turn, lift_turn
from agenthost.wire.ahp.chat import ChatState, ChatSummary
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.legacy.session import SessionState as LegacySessionState
from agenthost.wire.ahp.session import SessionState

__all__ = ["lift_state", "upgrade_session"]

_SHARED = ("creationError", "serverTools", "config")


def upgrade_session(legacy: LegacySessionState, chat_uri: str) -> tuple[SessionState, ChatState]:
    """Return a legacy session as a session and its only chat.

    Neither has the time of its creation. `inputNeeded` is not filled: the host does that.
    """
    chat = _lift_chat(legacy, chat_uri)
    summary = legacy["summary"]
    # The flags are the session's, and the activity is its chat's.
    status = summary["status"] & ~SessionStatus.ACTIVITY | SessionStatus.IDLE
    session: Any = {"provider": summary["provider"], "title": summary["title"], "status": status}
    listed: Any = summary
    session.update({key: listed[key] for key in ("activity", "project") if key in listed})
    if "workingDirectory" in summary:
        session["workingDirectories"] = [summary["workingDirectory"]]
    session["lifecycle"] = lift_lifecycle(legacy["lifecycle"])
    whole: Any = legacy
    session.update({key: whole[key] for key in _SHARED if key in whole})
    session["activeClients"] = [lift_client(legacy["activeClient"])] if "activeClient" in legacy else []
    session["chats"] = [_summarized(chat)]
    session["defaultChat"] = chat_uri
    if "customizations" in legacy:
        session["customizations"] = lift_customizations(legacy["customizations"])
    meta = lift_meta(summary, legacy.get("_meta"))
    if meta is not None:
        session["_meta"] = meta
    return cast("SessionState", session), chat


lift_state = upgrade_session
"""A legacy host's session is read as a stored one is."""


def lift_lifecycle(lifecycle: str) -> str:
    """Return a legacy lifecycle."""
    return "failed" if lifecycle == "creationFailed" else lifecycle


def _lift_chat(legacy: LegacySessionState, chat_uri: str) -> ChatState:
    modified_at = lift_time(legacy["summary"]["modifiedAt"])
    chat: Any = {
        "resource": chat_uri,
        "title": "",  # the title that people see is the session's
        "status": _lift_activity(legacy),
        "modifiedAt": modified_at,
        "turns": [lift_turn(turn) for turn in legacy["turns"]],
    }
    if "activeTurn" in legacy:
        requests = legacy.get("inputRequests", [])
        chat["activeTurn"] = lift_active_turn(legacy["activeTurn"], requests, modified_at)
    if "steeringMessage" in legacy:
        chat["steeringMessage"] = lift_pending(legacy["steeringMessage"])
    if "queuedMessages" in legacy:
        chat["queuedMessages"] = [lift_pending(one) for one in legacy["queuedMessages"]]
    return cast("ChatState", chat)


def _lift_activity(legacy: LegacySessionState) -> int:
    """Return the activity of a legacy session. Its flags are not its chat's."""
    if legacy.get("inputRequests") and "activeTurn" not in legacy:
        return SessionStatus.IDLE  # a question without a turn has no place here
    return legacy["summary"]["status"] & SessionStatus.ACTIVITY


def _summarized(chat: ChatState) -> ChatSummary:
    whole: Any = chat
    return cast("ChatSummary", {key: whole[key] for key in ("resource", "title", "status", "modifiedAt")})
