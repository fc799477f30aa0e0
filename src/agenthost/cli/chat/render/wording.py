"""Short descriptions of sessions and turns, the same on every terminal. Pure."""

import time
from typing import Any

from agenthost.core.times import unix_ms
from agenthost.wire.ahp.enums import SessionStatus

__all__ = [
    "describe_end",
    "describe_session",
    "describe_usage",
    "join_names",
    "more_lines",
    "session_id",
    "status_words",
]


def session_id(uri: str) -> str:
    """Return the id of a session: its URI without the agent's name."""
    return uri.partition(":/")[2].lstrip("/") or uri


def describe_end(turn: Any, client: str | None) -> str:
    """Return who stopped a turn, in words; "" if it was not stopped."""
    if turn["state"] != "cancelled":
        return ""
    return f"stopped by {client}" if client else "stopped"


def describe_usage(usage: Any) -> str:
    """Return how many tokens a turn used, and of which model."""
    if not usage:
        return ""
    words = []
    for key, name in (("inputTokens", "in"), ("outputTokens", "out"), ("cacheReadTokens", "cached")):
        if usage.get(key) is not None:
            words.append(f"{usage[key]:,.0f} {name}")
    tokens = f"{', '.join(words)} tokens" if words else ""
    return " · ".join(filter(None, [tokens, usage.get("model", "")]))


def join_names(names: list[str]) -> str:
    """Return the names as a list in one line, or "none"."""
    return ", ".join(names) or "none"


def more_lines(count: int) -> str:
    """Return the line that stands for lines that are not shown."""
    return f"… {count} more lines"


def status_words(summary: Any) -> list[str]:
    """Return what is worth saying about the status of a session."""
    status = int(summary["status"])
    words = []
    if status & SessionStatus.INPUT_NEEDED == SessionStatus.INPUT_NEEDED:
        words.append("waiting for input")
    elif status & SessionStatus.IN_PROGRESS:
        words.append("running")
    if status & SessionStatus.IS_ARCHIVED:
        words.append("archived")
    return words


def describe_session(summary: Any) -> str:
    """Return one line on a session."""
    details = [summary["provider"], _ago(summary["modifiedAt"]), *status_words(summary)]
    return f"{summary['title'] or 'untitled'} ({', '.join(details)})"


def _ago(moment: str) -> str:
    seconds = max(0.0, time.time() - (unix_ms(moment) or 0) / 1000)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"
