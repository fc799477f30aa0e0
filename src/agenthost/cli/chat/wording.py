"""What a chat says in words of its own, the same on every terminal. Pure."""

import time
from typing import Any

from agenthost.wire.ahp.enums import SessionStatus

__all__ = ["ended", "id_of", "one_of", "row_of", "status_of", "used"]


def id_of(uri: str) -> str:
    """Give the short name of a session: what follows the agent's."""
    return uri.partition(":/")[2].lstrip("/") or uri


def ended(turn: Any, who: str | None) -> str:
    """Say how a turn ended, if that needs saying; an error says it itself."""
    if turn["state"] != "cancelled":
        return ""
    return f"stopped by {who}" if who else "stopped"


def used(usage: Any) -> str:
    """Say what a turn cost."""
    if not usage:
        return ""
    words = []
    for key, name in (("inputTokens", "in"), ("outputTokens", "out"), ("cacheReadTokens", "from the cache")):
        if usage.get(key) is not None:
            words.append(f"{usage[key]:,.0f} {name}")
    counted = f"{', '.join(words)} tokens" if words else ""
    return " · ".join(filter(None, [counted, usage.get("model", "")]))


def one_of(names: list[str]) -> str:
    """Name what there is to choose from."""
    return ", ".join(names) or "none"


def status_of(summary: Any) -> list[str]:
    """Say what is special about a session."""
    status = int(summary["status"])
    words = []
    if status & SessionStatus.INPUT_NEEDED == SessionStatus.INPUT_NEEDED:
        words.append("waits for somebody")
    elif status & SessionStatus.IN_PROGRESS:
        words.append("runs")
    if status & SessionStatus.IS_ARCHIVED:
        words.append("archived")
    return words


def row_of(summary: Any) -> str:
    """Describe a session in a line."""
    rest = [summary["provider"], _ago(summary["modifiedAt"]), *status_of(summary)]
    return f"{summary['title'] or 'untitled'} ({', '.join(rest)})"


def _ago(milliseconds: float) -> str:
    seconds = max(0.0, time.time() - milliseconds / 1000)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"
