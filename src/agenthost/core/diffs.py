"""Diffs: what a session has changed so far, file by file, gathered from its tool calls."""

from collections.abc import Sequence
from typing import Any

from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import FileEdit


def diffs_changed(state: SessionState, edits: Sequence[Any]) -> Any:
    """Make the action that adds these edits to the session's diffs."""
    files = {_file(edit): edit for edit in state["summary"].get("diffs", [])}
    for edit in edits:
        plain: Any = {key: value for key, value in edit.items() if key != "type"}
        file = _file(plain)
        files[file] = _joined(files.get(file), plain)
        if not _file(files[file]):
            del files[file]  # it came and went
    session = state["summary"]["resource"]
    return {"type": "session/diffsChanged", "session": session, "diffs": list(files.values())}


def _file(edit: FileEdit) -> str:
    side = edit.get("after") or edit.get("before")
    return side["uri"] if side else ""


def _joined(old: FileEdit | None, new: FileEdit) -> FileEdit:
    """Give one edit for two of the same file: from before the first to after the second."""
    if old is None:
        return new
    counts: Any = (old.get("diff", {}), new.get("diff", {}))
    joined: Any = {key: value for key, value in new.items() if key != "before"}
    if "before" in old:
        joined["before"] = old["before"]
    joined["diff"] = {key: sum(count.get(key, 0) for count in counts) for key in ("added", "removed")}
    return joined  # type: ignore[no-any-return] # made of two
