"""A tool call of the program, shown as a reported call of the turn.

The program may first mention a call by announcing it, by updating it, or by asking for permission. The
first of these makes it appear. This module knows a single call; `output` keeps the order.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    ToolCallProgress,
)
from pydantic import ValidationError

from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.tool_results import ToolResult, text_block
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.tool import (
    ToolResultContent,
    ToolResultFileEditContent,
    ToolResultResourceContent,
)
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["TerminalBlock", "ToolCallView", "parse_call", "to_content_block"]

MAX_CHANGES_CHARACTERS = 64 * 1024
"""Changes up to this size are shown in the input of a call that reports none."""

TerminalBlock = Callable[[str, str], ToolResultContent | None]
"""Takes the id of a terminal and of a call, and returns the block that shows the terminal in the call."""


def parse_call(update: Any) -> ToolCallProgress | None:
    """Parse an update of a call; `None` if it is malformed."""
    try:
        return ToolCallProgress.model_validate({**update, "sessionUpdate": "tool_call_update"})
    except (TypeError, ValidationError):
        return None


class ToolCallView:
    """A tool call of the program, as it is shown in a turn."""

    def __init__(self, turn: Turn, first: ToolCallProgress, terminal: TerminalBlock) -> None:
        self._terminal = terminal
        self._state: dict[str, Any] = {"title": first.title or first.kind or "Tool"}
        self._first_title = self.title
        self._written: dict[Path, tuple[str | None, str]] = {}
        self._is_new: dict[Path, bool] = {}
        self.call: ReportedCall = turn.report(first.kind or "other", title=self._state["title"])

    @property
    def title(self) -> str:
        """The current title."""
        return str(self._state["title"])

    @property
    def name(self) -> str:
        """The first title, followed by the current one if that differs."""
        return self.title if self.title == self._first_title else f"{self._first_title}: {self.title}"

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return self.call.is_over

    def describe(self, update: ToolCallProgress) -> None:
        """Merge an update, and show title and input. ACP: fields that an update omits keep their value."""
        self._state |= update.model_dump(
            exclude_none=True, exclude={"content", "session_update", "field_meta"}
        )
        if update.content is not None:
            self._state["content"] = update.content
        self.call.describe(self._state["title"], self._input())

    def apply_status(self) -> None:
        """Show the progress or the result of the call, depending on its status."""
        match self._state.get("status"):
            case "in_progress":
                self.call.run()
                if blocks := self.blocks():
                    self.call.show(*blocks)
            case "completed":
                self.call.complete(ToolResult(self._result(), self._structured(), self._state["title"]))
            case "failed":
                result = self._result()
                texts = [block["text"] for block in result if block["type"] == "text"]
                error = "\n".join(texts) or f"{self._state['title']} failed"
                others = [block for block in result if block["type"] != "text"]
                self.call.complete(ToolResult(others, self._structured(), self._state["title"], error))

    def record_write(self, path: Path, before: str | None, after: str) -> None:
        """Record a file that the host wrote for this call."""
        first = self._written.get(path, (before,))[0]
        self._written[path] = (first, after)

    def is_about(self, path: Path) -> bool:
        """Tell whether the call names this file."""
        places = [place.get("path") for place in self._state.get("locations", [])]
        return str(path) in [*places, *(diff.path for diff in self._diffs())]

    def edits(self) -> list[ToolResultFileEditContent]:
        """Return the file changes that the call would make."""
        return [self._edit(diff) for diff in self._diffs()]

    def _edit(self, diff: FileEditToolCallContent) -> ToolResultFileEditContent:
        """Make the block of a change. Some programs report a missing file as an empty one."""
        path, before = Path(diff.path), diff.old_text
        if not before and self._is_new.setdefault(path, not path.exists()):
            before = None
        return self.call.edited(path, before, diff.new_text)

    def blocks(self) -> list[ToolResultContent]:
        """Return the content of the call, and the written files that it does not mention."""
        found = [block for one in self._state.get("content", []) for block in self._content_blocks(one)]
        mentioned = {Path(diff.path) for diff in self._diffs()}
        for path, (before, after) in self._written.items():
            if path not in mentioned:
                found.append(self.call.edited(path, before, after))
        return found

    def _diffs(self) -> list[FileEditToolCallContent]:
        return [one for one in self._state.get("content", []) if isinstance(one, FileEditToolCallContent)]

    def _content_blocks(self, one: Any) -> list[ToolResultContent]:
        match one:
            case FileEditToolCallContent():
                return [self._edit(one)]
            case TerminalToolCallContent():
                block = self._terminal(one.terminal_id, self.call.id)
                return [text_block(f"[terminal {one.terminal_id}]") if block is None else block]
            case ContentToolCallContent():
                return [to_content_block(one.content)]
            case _:
                return []

    def _result(self) -> list[ToolResultContent]:
        raw = self._state.get("raw_output")
        return self.blocks() or ([] if raw is None else [text_block(_to_text(raw))])

    def _structured(self) -> JsonObject | None:
        raw = self._state.get("raw_output")
        return raw if type(raw) is dict else None

    def _input(self) -> JsonObject:
        """Return the input of the call. If the program sends none, one is made of what is known."""
        raw = self._state.get("raw_input")
        if type(raw) is dict and raw:
            return raw
        known: JsonObject = {"title": self._state["title"]}
        if raw:
            known["input"] = raw
        if paths := [place["path"] for place in self._state.get("locations", [])]:
            known["paths"] = paths
        changes = [{"path": diff.path, "newText": diff.new_text} for diff in self._diffs()]
        if changes and sum(len(change["newText"]) for change in changes) <= MAX_CHANGES_CHARACTERS:
            known["changes"] = changes
        return known


def to_content_block(content: Any) -> ToolResultContent:
    """Convert an ACP content block to one of AHP."""
    match content.type:
        case "text":
            return text_block(content.text)
        case "image" | "audio":
            return {"type": "embeddedResource", "data": content.data, "contentType": content.mime_type}
        case "resource_link":
            link: ToolResultResourceContent = {"type": "resource", "uri": content.uri}
            if content.mime_type:
                link["contentType"] = content.mime_type
            return link
        case _:
            held = content.resource
            if hasattr(held, "text"):
                return text_block(held.text)
            kind = held.mime_type or "application/octet-stream"
            return {"type": "embeddedResource", "data": held.blob, "contentType": kind}


def _to_text(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    if type(raw) is dict and isinstance(raw.get("output"), str):
        return str(raw["output"])
    return encode_json(raw).decode()
