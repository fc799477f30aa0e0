"""Summaries: a session as lists show it, aggregated from the session and its chats (C3 of docs/ahp.md)."""

from typing import Any

from agenthost.core.session_meta import DIFFS
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState, SessionSummary

__all__ = ["session_summary"]

ACTIVITY = 31
"""The bits of a status that say what a session or chat does; the others are flags."""

LISTED = ("resource", "title", "origin", "interactivity", "status")
"""The fields of a chat that its session's summary has."""

COPIED = ("provider", "title", "workingDirectories", "project", "_meta", "defaultChat")


def session_summary(uri: URI, state: SessionState, created_at: str) -> SessionSummary:
    """Return the summary of a session: its own fields, and what its chats do together."""
    fields: Any = state
    chats = state["chats"]
    default_uri = state.get("defaultChat")
    default: Any = {}
    doing, modified = [], []
    # One plain loop: every turn comes here twice.
    for chat in chats:
        if chat["resource"] == default_uri:
            default = chat
        doing.append(chat["status"] & ACTIVITY)
        modified.append(chat["modifiedAt"])
    summary: Any = {key: fields[key] for key in COPIED if key in fields}
    summary["resource"] = uri
    summary["status"] = state["status"] & ~ACTIVITY | _activity(default, doing)
    summary["createdAt"] = created_at
    summary["modifiedAt"] = max(modified, default=created_at)
    activity = state.get("activity") or default.get("activity")
    if activity:
        summary["activity"] = activity
    diffs = state.get("_meta", {}).get(DIFFS)
    if diffs:
        summary["changes"] = _counts(diffs)
    listed: list[Any] = chats
    summary["chats"] = [{key: chat[key] for key in LISTED if key in chat} for chat in listed]
    return summary  # type: ignore[no-any-return] # built of a session's fields


def _activity(default: Any, doing: list[int]) -> int:
    """Return the activity of the default chat, unless another chat waits or has failed."""
    if SessionStatus.INPUT_NEEDED in doing:
        return SessionStatus.INPUT_NEEDED
    if SessionStatus.ERROR in doing:
        return SessionStatus.ERROR
    return int(default.get("status", SessionStatus.IDLE) & ACTIVITY)


def _counts(diffs: list[Any]) -> dict[str, int]:
    counts = [edit.get("diff", {}) for edit in diffs]
    return {
        "files": len(diffs),
        "additions": sum(count.get("added", 0) for count in counts),
        "deletions": sum(count.get("removed", 0) for count in counts),
    }
