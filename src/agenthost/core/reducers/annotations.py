"""The annotations reducer: remarks on files, with their entries (AN1 to AN5)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import find_place, pick, put, replaced, upserted
from agenthost.wire.ahp.actions import AnnotationsAction
from agenthost.wire.ahp.actions.annotation import (
    AnnotationsEntryRemovedAction,
    AnnotationsEntrySetAction,
    AnnotationsRemovedAction,
    AnnotationsSetAction,
    AnnotationsUpdatedAction,
)
from agenthost.wire.ahp.annotation import AnnotationsState


def reduce_annotations(live: Live[AnnotationsState], action: AnnotationsAction) -> Live[AnnotationsState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle(HANDLERS, live, action)


def _set(state: AnnotationsState, action: AnnotationsSetAction) -> AnnotationsState:
    """AN1: an annotation that is known stays in its place."""
    annotation: Any = action.get("annotation")
    if annotation is None:
        return state
    return put(state, annotations=upserted(state.get("annotations", []), annotation))


def _updated(state: AnnotationsState, action: AnnotationsUpdatedAction) -> AnnotationsState:
    """AN2: what is not given stays, and so do the entries."""
    changes = pick(action, "origin", "resource", "range", "resolved")
    return _changed(state, action, lambda annotation: {**annotation, **changes} if changes else annotation)


def _removed(state: AnnotationsState, action: AnnotationsRemovedAction) -> AnnotationsState:
    """AN3: an annotation that is not known changes nothing."""
    annotations = state.get("annotations", [])
    left = [annotation for annotation in annotations if annotation.get("id") != action.get("annotationId")]
    return state if len(left) == len(annotations) else put(state, annotations=left)


def _entry_set(state: AnnotationsState, action: AnnotationsEntrySetAction) -> AnnotationsState:
    """AN4: an entry that is known stays in its place."""
    entry: Any = action.get("entry")
    if entry is None:
        return state
    return _changed(
        state,
        action,
        lambda annotation: put(annotation, entries=upserted(annotation.get("entries", []), entry)),
    )


def _entry_removed(state: AnnotationsState, action: AnnotationsEntryRemovedAction) -> AnnotationsState:
    """AN5: the annotation stays, even without entries."""

    def remove(annotation: Any) -> Any:
        entries = annotation.get("entries", [])
        left = [entry for entry in entries if entry.get("id") != action.get("entryId")]
        return annotation if len(left) == len(entries) else put(annotation, entries=left)

    return _changed(state, action, remove)


def _changed(state: AnnotationsState, action: Any, change: Callable[[Any], Any]) -> AnnotationsState:
    annotations: list[Any] = state.get("annotations", [])
    place = find_place(annotations, action.get("annotationId"))
    if place is None:
        return state
    after = change(annotations[place])
    return (
        state if after is annotations[place] else put(state, annotations=replaced(annotations, place, after))
    )


HANDLERS: dict[str, Callable[[AnnotationsState, Any], AnnotationsState]] = {
    "annotations/set": _set,
    "annotations/updated": _updated,
    "annotations/removed": _removed,
    "annotations/entrySet": _entry_set,
    "annotations/entryRemoved": _entry_removed,
}
