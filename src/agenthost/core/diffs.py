"""Diffs: what a session has changed so far, by file, collected from its tool calls."""

from collections.abc import Sequence
from typing import Any

from agenthost.core import session_meta
from agenthost.wire.ahp.actions.session import SessionMetaChangedAction
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import FileEdit


def diffs_changed(state: SessionState, edits: Sequence[Any]) -> SessionMetaChangedAction:
    """Return the action that adds these edits to the session's diffs."""
    files = {_file(edit): edit for edit in session_meta.diffs_of(state)}
    for edit in edits:
        # A block of a tool's result without its `type` is a `FileEdit`.
        plain: Any = {key: value for key, value in edit.items() if key != "type"}
        file = _file(plain)
        files[file] = _merged(files.get(file), plain)
        if not _file(files[file]):
            del files[file]  # created and deleted again: nothing has changed
    return session_meta.diffs_changed(state, list(files.values()))


def _file(edit: FileEdit) -> str:
    side = edit.get("after") or edit.get("before")
    return side["uri"] if side else ""  # an edit without either side names no file


def _merged(old: FileEdit | None, new: FileEdit) -> FileEdit:
    """Merge two edits of a file into one: from before the first to after the second."""
    if old is None:
        return new
    counts: Any = (old.get("diff", {}), new.get("diff", {}))
    merged: Any = {key: value for key, value in new.items() if key != "before"}
    if "before" in old:
        merged["before"] = old["before"]
    merged["diff"] = {key: sum(count.get(key, 0) for count in counts) for key in ("added", "removed")}
    return merged  # type: ignore[no-any-return] # built from two
