"""File edits as diffs."""

import asyncio
from difflib import unified_diff
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from agenthost.cli.chat.render.wording import more_lines
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.text import clean
from agenthost.client.ahp import AhpClient, AhpError
from agenthost.core.text_similarity import is_quick_to_diff

__all__ = ["edit_lines", "fetch_versions"]

FETCH_SECONDS = 5.0
MAX_CHARACTERS = 200_000
"""A larger file is not compared."""

MAX_LINES = 40


async def fetch_versions(client: AhpClient, edit: Any) -> tuple[str, str] | None:
    """Fetch a file before and after an edit; None if it cannot be fetched or is too large."""
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            before, after = [await _fetch(client, edit.get(key)) for key in ("before", "after")]
    except (AhpError, TimeoutError, UnicodeDecodeError):
        return None
    return (before, after) if max(len(before), len(after)) <= MAX_CHARACTERS else None


async def _fetch(client: AhpClient, version: Any) -> str:
    return await client.files.read_text(version["content"]["uri"]) if version else ""


def edit_lines(
    painter: Painter, edit: Any, versions: tuple[str, str] | None, max_lines: int = MAX_LINES
) -> list[str]:
    """Paint an edit: the name of the file, how many lines changed, and the diff if there are versions."""
    title = painter.text(f"{_title(edit)} {_counts(edit)}".rstrip(), "bold", indent=2)
    if versions is None:
        return title
    before, after = (clean(text).splitlines() for text in versions)
    if not is_quick_to_diff(before, after):
        return title
    lines = list(unified_diff(before, after, lineterm="", n=2))[2:]
    shown = [row for line in lines[:max_lines] for row in painter.text(line or " ", _style(line), indent=4)]
    if len(lines) > max_lines:
        shown += painter.text(more_lines(len(lines) - max_lines), "dim", indent=4)
    return [*title, *shown]


def _title(edit: Any) -> str:
    """Name the file, and say whether it is new, removed or renamed."""
    before, after = (edit.get(key) for key in ("before", "after"))
    if after is None:
        return f"removed {_file_name(before)}"
    if before is None:
        return f"new {_file_name(after)}"
    if before["uri"] != after["uri"]:
        return f"{_file_name(before)} → {_file_name(after)}"
    return _file_name(after)


def _file_name(version: Any) -> str:
    if version is None:
        return "a file"
    return PurePosixPath(unquote(urlsplit(version["uri"]).path)).name or str(version["uri"])


def _counts(edit: Any) -> str:
    diff = edit.get("diff", {})
    counts = [
        f"+{diff['added']:g}" if "added" in diff else "",
        f"-{diff['removed']:g}" if "removed" in diff else "",
    ]
    return " ".join(filter(None, counts))


def _style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
