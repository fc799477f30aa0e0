"""Tool calls of the program: what it says of them, bit by bit, as calls that people see.

The program names a call in any of three ways: it announces one, it reports on one, or it asks for permission;
whatever comes first makes it appear. Knows one call at a time; the order of things is the business of
`showing`.
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

from agenthost.host.reports import ReportedCall
from agenthost.host.toolresults import ToolResult, text_block
from agenthost.host.turn import Turn
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultFileEditContent, ToolResultResourceContent
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["ShownCall", "TerminalBlock", "read_call"]

MOST_CHANGES = 64 * 1024
"""How many characters of changes are shown in an input that we make up ourselves."""

TerminalBlock = Callable[[str, str], ToolResultContent | None]
"""Gives the block that shows a terminal of the program in a call, from their ids."""


def read_call(update: Any) -> ToolCallProgress | None:
    """Read what the program says of a call; nothing if it has no form."""
    try:
        return ToolCallProgress.model_validate({**update, "sessionUpdate": "tool_call_update"})
    except (TypeError, ValidationError):
        return None


class ShownCall:
    """One call of the program, as it is shown in a turn."""

    def __init__(self, turn: Turn, first: ToolCallProgress, terminal: TerminalBlock) -> None:
        self._terminal = terminal
        self._said: dict[str, Any] = {"title": first.title or first.kind or "Tool"}
        self._first_title = self.title
        self._written: dict[Path, tuple[str | None, str]] = {}
        self._is_new: dict[Path, bool] = {}
        self.call: ReportedCall = turn.report(first.kind or "other", title=self._said["title"])

    @property
    def title(self) -> str:
        """What people call it."""
        return str(self._said["title"])

    @property
    def name(self) -> str:
        """What it was called at first, and what it is about by now."""
        return self.title if self.title == self._first_title else f"{self._first_title}: {self.title}"

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be said of it."""
        return self.call.is_over

    def describe(self, update: ToolCallProgress) -> None:
        """Take what is new, and say what the call is about; what is left out stays as it was."""
        news = update.model_dump(exclude_none=True, exclude={"content", "session_update", "field_meta"})
        self._said |= news
        if update.content is not None:
            self._said["content"] = update.content
        self.call.describe(self._said["title"], self._input())

    def go_on(self) -> None:
        """Show how far it is, by its status."""
        match self._said.get("status"):
            case "in_progress":
                self.call.run()
                if blocks := self.blocks():
                    self.call.show(*blocks)
            case "completed":
                self.call.complete(ToolResult(self._result(), self._structured(), self._said["title"]))
            case "failed":
                result = self._result()
                words = [block["text"] for block in result if block["type"] == "text"]
                error = "\n".join(words) or f"{self._said['title']} failed"
                others = [block for block in result if block["type"] != "text"]
                self.call.complete(ToolResult(others, self._structured(), self._said["title"], error))

    def wrote(self, path: Path, before: str | None, after: str) -> None:
        """Take note of a file that was written on its behalf."""
        first = self._written.get(path, (before,))[0]
        self._written[path] = (first, after)

    def is_about(self, path: Path) -> bool:
        """Tell whether it says that it is about this file."""
        places = [place.get("path") for place in self._said.get("locations", [])]
        return str(path) in [*places, *(diff.path for diff in self._diffs())]

    def edits(self) -> list[ToolResultFileEditContent]:
        """Give the changes that it would make."""
        return [self._edit(diff) for diff in self._diffs()]

    def _edit(self, diff: FileEditToolCallContent) -> ToolResultFileEditContent:
        """Make the block of a change; some programs say of a file that is not there that it is empty."""
        path, before = Path(diff.path), diff.old_text
        if not before and self._is_new.setdefault(path, not path.exists()):
            before = None
        return self.call.edited(path, before, diff.new_text)

    def blocks(self) -> list[ToolResultContent]:
        """Give what it shows, and the files that were written which it does not speak of."""
        found = [block for one in self._said.get("content", []) for block in self._blocks_of(one)]
        told = {Path(diff.path) for diff in self._diffs()}
        for path, (before, after) in self._written.items():
            if path not in told:
                found.append(self.call.edited(path, before, after))
        return found

    def _diffs(self) -> list[FileEditToolCallContent]:
        return [one for one in self._said.get("content", []) if isinstance(one, FileEditToolCallContent)]

    def _blocks_of(self, one: Any) -> list[ToolResultContent]:
        match one:
            case FileEditToolCallContent():
                return [self._edit(one)]
            case TerminalToolCallContent():
                block = self._terminal(one.terminal_id, self.call.id)
                return [text_block(f"[terminal {one.terminal_id}]") if block is None else block]
            case ContentToolCallContent():
                return [block_of(one.content)]
            case _:
                return []

    def _result(self) -> list[ToolResultContent]:
        raw = self._said.get("raw_output")
        return self.blocks() or ([] if raw is None else [text_block(_words(raw))])

    def _structured(self) -> JsonObject | None:
        raw = self._said.get("raw_output")
        return raw if type(raw) is dict else None

    def _input(self) -> JsonObject:
        """Give its input; one that does not say is described by what is known of it."""
        raw = self._said.get("raw_input")
        if type(raw) is dict and raw:
            return raw
        made: JsonObject = {"title": self._said["title"]}
        if raw:
            made["input"] = raw
        if paths := [place["path"] for place in self._said.get("locations", [])]:
            made["paths"] = paths
        changes = [{"path": diff.path, "newText": diff.new_text} for diff in self._diffs()]
        if changes and sum(len(change["newText"]) for change in changes) <= MOST_CHANGES:
            made["changes"] = changes
        return made


def block_of(content: Any) -> ToolResultContent:
    """Give a block of content as the host shows it."""
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


def _words(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    if type(raw) is dict and isinstance(raw.get("output"), str):
        return str(raw["output"])
    return encode_json(raw).decode()
