"""The summary of a session in both protocols: as lists show it, and inside the legacy state."""

from collections.abc import Mapping
from typing import Any, cast

from agenthost.core.legacy.meta import DIFFS, MODEL, project_model
from agenthost.core.legacy.turns import is_open_request
from agenthost.core.queries import WAITING_CALL_STATUSES
from agenthost.core.times import iso_time, unix_ms
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.legacy.session import SessionSummary as LegacySummary
from agenthost.wire.ahp.session import SessionState, SessionSummary

EPOCH = "1970-01-01T00:00:00.000Z"
"""For a time that no calendar reaches."""

_SHARED = ("provider", "title", "project")


def project_summary(session: SessionState, chat: ChatState, uri: str, created_at_ms: float) -> LegacySummary:
    """Return the summary of a session and its default chat as legacy clients see it."""
    summary: Any = {"resource": uri, **_pick(session, *_SHARED), **_project_meta(session.get("_meta"))}
    summary["status"] = project_status(session, chat)
    activity = project_activity(session, chat)
    if activity is not None:
        summary["activity"] = activity
    summary["createdAt"] = created_at_ms
    modified_at = unix_ms(chat["modifiedAt"])
    summary["modifiedAt"] = created_at_ms if modified_at is None else modified_at
    summary.update(_project_directories(session))
    return cast("LegacySummary", summary)


def project_status(session: SessionState, chat: ChatState) -> int:
    """Return the status that legacy clients see: the chat's activity and the session's flags."""
    activity = chat["status"] & SessionStatus.ACTIVITY
    if activity == SessionStatus.INPUT_NEEDED and not _is_waiting(chat):
        # A tool waits for a sign-in. To a legacy client it looks as if it runs.
        activity = SessionStatus.IN_PROGRESS
    return (session["status"] & ~SessionStatus.ACTIVITY) | activity


def project_activity(session: SessionState, chat: ChatState) -> str | None:
    """Return what the session is doing, or else its default chat."""
    activity = session.get("activity")
    return chat.get("activity") if activity is None else activity


def project_listed(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary of the list as legacy clients see it, or some changed fields of one."""
    listed = {key: summary[key] for key in ("resource", *_SHARED, "status", "activity") if key in summary}
    for key in ("createdAt", "modifiedAt"):
        moment = unix_ms(summary[key]) if key in summary else None
        if moment is not None:
            listed[key] = moment
    return {**listed, **_project_meta(summary.get("_meta")), **_project_directories(summary)}


def lift_summary(summary: LegacySummary) -> SessionSummary:
    """Return a legacy summary of the list."""
    return cast("SessionSummary", lift_listed(summary))


def lift_listed(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a legacy summary of the list, or some changed fields of one."""
    listed = {key: summary[key] for key in ("resource", *_SHARED, "status", "activity") if key in summary}
    for key in ("createdAt", "modifiedAt"):
        if key in summary:
            listed[key] = lift_time(summary[key])
    meta = lift_meta(summary, None)
    if meta is not None:
        listed["_meta"] = meta
    if "workingDirectory" in summary:
        listed["workingDirectories"] = [summary["workingDirectory"]]
    return listed


def lift_meta(summary: Mapping[str, Any], meta: Any) -> Any:
    """Return the `_meta` of a session, with what its legacy summary has fields for."""
    named = {MODEL: summary.get("model"), DIFFS: summary.get("diffs")}
    found = {key: value for key, value in named.items() if value is not None}
    return {**(meta or {}), **found} if found else meta


def lift_time(ms: float) -> str:
    """Return a legacy time."""
    return iso_time(ms) or EPOCH


def _is_waiting(chat: ChatState) -> bool:
    """Return whether something waits that legacy clients can see."""
    turn = chat.get("activeTurn")
    parts: list[Any] = turn["responseParts"] if turn else []
    for part in parts:
        if is_open_request(part):
            return True
        if part.get("kind") == "toolCall" and part["toolCall"].get("status") in WAITING_CALL_STATUSES:
            return True
    return False


def _project_meta(meta: Any) -> dict[str, Any]:
    projected: dict[str, Any] = {}
    if meta:
        if MODEL in meta:
            projected["model"] = project_model(meta[MODEL])
        if DIFFS in meta:
            projected["diffs"] = meta[DIFFS]
    return projected


def _project_directories(record: Mapping[str, Any]) -> dict[str, Any]:
    directories = record.get("workingDirectories")
    # The first one is where the session works; legacy sessions have no others.
    return {"workingDirectory": directories[0]} if directories else {}


def _pick(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}
