"""Summaries: a session as lists show it, aggregated from the session and its chats (C3 of docs/ahp.md)."""

from typing import Any

from agenthost.core.session_meta import DIFFS
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState, SessionSummary

__all__ = ["session_summary"]

ACTIVITY = 31
"""The bits of a status that say what a session or chat does; the others are flags."""

COPIED = ("provider", "title", "workingDirectories", "project", "_meta", "defaultChat")


def session_summary(uri: URI, state: SessionState, created_at: str) -> SessionSummary:
    """Return the summary of a session: its own fields, and what its chats do together."""
    fields: Any = state
    chats = state["chats"]
    default: Any = next((chat for chat in chats if chat["resource"] == state.get("defaultChat")), None)
    summary: Any = {key: fields[key] for key in COPIED if key in fields}
    summary["resource"] = uri
    summary["status"] = _status(state, default)
    summary["createdAt"] = created_at
    summary["modifiedAt"] = max([chat["modifiedAt"] for chat in chats], default=created_at)
    activity = state.get("activity") or (default or {}).get("activity")
    if activity:
        summary["activity"] = activity
    diffs = state.get("_meta", {}).get(DIFFS)
    if diffs:
        summary["changes"] = _counts(diffs)
    summary["chats"] = [_entry(chat) for chat in chats]
    return summary  # type: ignore[no-any-return] # built of a session's fields


def _status(state: SessionState, default: Any) -> int:
    """Return the activity of the default chat, unless another chat waits or has failed, with the flags."""
    doing = [chat["status"] & ACTIVITY for chat in state["chats"]]
    activity = (default or {}).get("status", SessionStatus.IDLE) & ACTIVITY
    if SessionStatus.INPUT_NEEDED in doing:
        activity = SessionStatus.INPUT_NEEDED
    elif SessionStatus.ERROR in doing:
        activity = SessionStatus.ERROR
    return int(state["status"] & ~ACTIVITY | activity)


def _counts(diffs: list[Any]) -> dict[str, int]:
    counts = [edit.get("diff", {}) for edit in diffs]
    return {
        "files": len(diffs),
        "additions": sum(count.get("added", 0) for count in counts),
        "deletions": sum(count.get("removed", 0) for count in counts),
    }


def _entry(chat: Any) -> Any:
    return {
        key: chat[key] for key in ("resource", "title", "origin", "interactivity", "status") if key in chat
    }
