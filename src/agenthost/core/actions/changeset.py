"""Actions of a changeset."""

from collections.abc import Sequence

from agenthost.wire.ahp.actions.changeset import (
    ChangesetContentChangedAction,
    ChangesetFileRemovedAction,
    ChangesetFileSetAction,
    ChangesetStatusChangedAction,
)
from agenthost.wire.ahp.changeset import ChangesetFile
from agenthost.wire.ahp.common import ErrorInfo
from agenthost.wire.ahp.enums import ChangesetStatus

__all__ = [
    "changeset_content_changed",
    "changeset_file_removed",
    "changeset_file_set",
    "changeset_status_changed",
]


def changeset_status_changed(
    status: ChangesetStatus, error: ErrorInfo | None = None
) -> ChangesetStatusChangedAction:
    """The changeset is complete, or why it is not."""
    action: ChangesetStatusChangedAction = {"type": "changeset/statusChanged", "status": status}
    if error is not None:
        action["error"] = error
    return action


def changeset_file_set(file: ChangesetFile) -> ChangesetFileSetAction:
    """A file was changed, or changed again."""
    return {"type": "changeset/fileSet", "file": file}


def changeset_file_removed(file_id: str) -> ChangesetFileRemovedAction:
    """A file is as it was before."""
    return {"type": "changeset/fileRemoved", "fileId": file_id}


def changeset_content_changed(files: Sequence[ChangesetFile]) -> ChangesetContentChangedAction:
    """The files are now these."""
    return {"type": "changeset/contentChanged", "files": list(files)}
