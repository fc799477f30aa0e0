"""Summaries: a session as lists show it, aggregated from the session and its chats (C3 of docs/ahp.md)."""

from collections.abc import Mapping
from typing import Any

from agenthost.core.chats import is_task
from agenthost.core.session_meta import DIFFS
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState, SessionSummary

__all__ = ["is_task_summary", "session_summary"]

ACTIVITY = 31
"""The bits of a status that say what a session or chat does; the others are flags."""

LISTED = ("resource", "title", "origin", "interactivity", "status")
"""The fields of a chat that its session's summary has."""

COPIED = ("provider", "title", "workingDirectories", "project", "_meta", "defaultChat")


def session_summary(uri: URI, state: SessionState, created_at: str) -> SessionSummary:
    """Return the summary of a session: its own fields, and what its chats do together."""
    fields: Any = state
    chats: list[Any] = [*state["chats"]]
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
    summary["status"] = state["status"] & ~ACTIVITY | _activity(default, doing, chats)
    summary["createdAt"] = created_at
    summary["modifiedAt"] = max(modified, default=created_at)
    activity = state.get("activity") or default.get("activity")
    if activity:
        summary["activity"] = activity
    diffs = state.get("_meta", {}).get(DIFFS)
    if diffs:
        summary["changes"] = _counts(diffs)
    listed: list[Any] = chats if len(chats) == 1 else _listed(chats, default_uri)
    summary["chats"] = [{key: chat[key] for key in LISTED if key in chat} for chat in listed]
    return summary  # type: ignore[no-any-return] # built of a session's fields


def is_task_summary(summary: Mapping[str, Any]) -> bool:
    """Return whether a summary is that of a subagent's session: its default chat is a task."""
    default_uri = summary.get("defaultChat")
    return any(is_task(chat) for chat in summary.get("chats", ()) if chat["resource"] == default_uri)


def _listed(chats: list[Any], default_uri: URI | None) -> list[Any]:
    """Return the chats that lists show. Tasks that have ended are left out: a session may have any number."""
    return [
        chat
        for chat in chats
        if chat["status"] & SessionStatus.IN_PROGRESS or chat["resource"] == default_uri or not is_task(chat)
    ]


def _activity(default: Any, doing: list[int], chats: list[Any]) -> int:
    """Return the activity of the default chat, unless another chat waits or has failed."""
    if SessionStatus.INPUT_NEEDED in doing:
        return SessionStatus.INPUT_NEEDED
    # The failure of a task is the result of the call that gave it, and not for people to look at.
    if SessionStatus.ERROR in doing and any(
        act == SessionStatus.ERROR and not is_task(chat) for act, chat in zip(doing, chats, strict=True)
    ):
        return SessionStatus.ERROR
    return int(default.get("status", SessionStatus.IDLE) & ACTIVITY)


def _counts(diffs: list[Any]) -> dict[str, int]:
    counts = [edit.get("diff", {}) for edit in diffs]
    return {
        "files": len(diffs),
        "additions": sum(count.get("added", 0) for count in counts),
        "deletions": sum(count.get("removed", 0) for count in counts),
    }
