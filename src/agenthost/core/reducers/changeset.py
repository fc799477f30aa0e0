"""The changeset reducer: files that were changed, and what can be done with them (CS1 to CS8)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import find_place, pick, put, replaced, upserted
from agenthost.wire.ahp.actions import ChangesetAction
from agenthost.wire.ahp.actions.changeset import (
    ChangesetContentChangedAction,
    ChangesetFileRemovedAction,
    ChangesetFileSetAction,
    ChangesetFilesReviewChangedAction,
    ChangesetOperationStatusChangedAction,
    ChangesetStatusChangedAction,
)
from agenthost.wire.ahp.changeset import ChangesetState


def reduce_changeset(live: Live[ChangesetState], action: ChangesetAction) -> Live[ChangesetState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle(HANDLERS, live, action)


def _status_changed(state: ChangesetState, action: ChangesetStatusChangedAction) -> ChangesetState:
    """CS1: an error stands only with the status that says so."""
    return put(state, **_status(action))


def _status(action: Any) -> dict[str, Any]:
    status = action.get("status")
    return {"status": status, "error": action.get("error") if status == "error" else None}


def _file_set(state: ChangesetState, action: ChangesetFileSetAction) -> ChangesetState:
    """CS2: a file that is known stays in its place."""
    file: Any = action.get("file")
    return state if file is None else put(state, files=upserted(state.get("files", []), file))


def _file_removed(state: ChangesetState, action: ChangesetFileRemovedAction) -> ChangesetState:
    """CS3: a file that is not known changes nothing."""
    files = state.get("files", [])
    left = [file for file in files if file.get("id") != action.get("fileId")]
    return state if len(left) == len(files) else put(state, files=left)


def _files_review_changed(state: ChangesetState, action: ChangesetFilesReviewChangedAction) -> ChangesetState:
    """CS4: mark the files that are named and known."""
    files = state.get("files", [])
    named = action.get("files", [])
    if not any(file.get("id") in named for file in files):
        return state
    reviewed = action.get("reviewed")
    marked = [put(file, reviewed=reviewed) if file.get("id") in named else file for file in files]
    return put(state, files=marked)


def _content_changed(state: ChangesetState, action: ChangesetContentChangedAction) -> ChangesetState:
    """CS5: operations stay as they are unless they are given."""
    return put(state, files=action.get("files"), **pick(action, "operations"))


def _operation_status_changed(
    state: ChangesetState, action: ChangesetOperationStatusChangedAction
) -> ChangesetState:
    """CS7: an error stands only with the status that says so."""
    operations: list[Any] = state.get("operations", [])
    place = find_place(operations, action.get("operationId"))
    if place is None:
        return state
    return put(state, operations=replaced(operations, place, put(operations[place], **_status(action))))


HANDLERS: dict[str, Callable[[ChangesetState, Any], ChangesetState]] = {
    "changeset/statusChanged": _status_changed,
    "changeset/fileSet": _file_set,
    "changeset/fileRemoved": _file_removed,
    "changeset/filesReviewChanged": _files_review_changed,
    "changeset/contentChanged": _content_changed,
    "changeset/operationsChanged": lambda state, action: put(  # CS6
        state, operations=action.get("operations")
    ),
    "changeset/operationStatusChanged": _operation_status_changed,
    "changeset/cleared": lambda state, _action: put(state, files=[]) if state.get("files") else state,  # CS8
}
