"""File edits as diffs: what was fetched of both versions, compared. Pure, but for the fetching."""

import asyncio
from difflib import unified_diff
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from agenthost.cli.chat.painting import Painter, clean
from agenthost.client.ahp import AhpClient, AhpError
from agenthost.core.comparison import are_quickly_compared

__all__ = ["edit_lines", "fetch_versions"]

FETCH_SECONDS = 5.0
LONGEST_FILE = 200_000
"""A file with more characters than this is not compared."""

MOST_LINES = 40


async def fetch_versions(client: AhpClient, edit: Any) -> tuple[str, str] | None:
    """Fetch a file as it was and as it is; None if that cannot be had."""
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            before, after = [await _text(client, edit.get(key)) for key in ("before", "after")]
    except (AhpError, TimeoutError, UnicodeDecodeError):
        return None
    return (before, after) if max(len(before), len(after)) <= LONGEST_FILE else None


async def _text(client: AhpClient, version: Any) -> str:
    return await client.files.read_text(version["content"]["uri"]) if version else ""


def edit_lines(
    painter: Painter, edit: Any, versions: tuple[str, str] | None, most: int = MOST_LINES
) -> list[str]:
    """Paint a change of a file: its name, how much of it changed, and the lines."""
    title = painter.text(f"{_named(edit)} {_counted(edit)}".rstrip(), "bold", indent=2)
    if versions is None:
        return title
    before, after = (clean(text).splitlines() for text in versions)
    if not are_quickly_compared(before, after):
        return title
    lines = list(unified_diff(before, after, lineterm="", n=2))[2:]
    shown = [row for line in lines[:most] for row in painter.text(line or " ", _style(line), indent=4)]
    if len(lines) > most:
        shown += painter.text(f"… {len(lines) - most} more lines", "dim", indent=4)
    return [*title, *shown]


def _named(edit: Any) -> str:
    """Say what happened to which file: made, removed, moved, or changed."""
    before, after = (edit.get(key) for key in ("before", "after"))
    if after is None:
        return f"removed {_path(before)}"
    if before is None:
        return f"new {_path(after)}"
    if before["uri"] != after["uri"]:
        return f"{_path(before)} → {_path(after)}"
    return _path(after)


def _path(version: Any) -> str:
    if version is None:
        return "a file"
    return PurePosixPath(unquote(urlsplit(version["uri"]).path)).name or str(version["uri"])


def _counted(edit: Any) -> str:
    diff = edit.get("diff", {})
    counts = [
        f"+{diff['added']:g}" if "added" in diff else "",
        f"-{diff['removed']:g}" if "removed" in diff else "",
    ]
    return " ".join(filter(None, counts))


def _style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
