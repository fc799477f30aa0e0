"""The reducers of changesets, annotations, watches, automations and canvases."""

from typing import Any

import pytest

from folding import changes_nothing, fold
from rules import rule

Json = dict[str, Any]
ERROR = {"errorType": "Boom", "message": "It broke"}
ACTED = "2026-01-01T00:00:00.000Z"


# Changesets.


def file(file_id: str, **over: Any) -> Json:
    return {"id": file_id, "edit": {"diff": {"added": 1}}, **over}


def operation(operation_id: str, **over: Any) -> Json:
    return {"id": operation_id, "label": "Undo", "scopes": ["changeset"], "status": "idle", **over}


def changeset(*files: Json, **over: Any) -> Json:
    return {"status": "ready", "files": list(files), **over}


def change(name: str, **fields: Any) -> Json:
    return {"type": f"changeset/{name}", **fields}


@rule("1.0/CS1")
def test_an_error_stands_with_the_status_error_alone() -> None:
    state = fold("changeset", changeset(), change("statusChanged", status="error", error=ERROR))
    assert state == changeset(status="error", error=ERROR)
    state = fold("changeset", state, change("statusChanged", status="recomputing", error=ERROR))
    assert state == changeset(status="recomputing")


@rule("1.0/CS2", "1.0/CS3", "1.0/CS8")
def test_files_keep_their_place_until_they_go() -> None:
    files = [change("fileSet", file=one) for one in (file("a"), file("b"), file("a", reviewed=True))]
    state = fold("changeset", changeset(), *files)
    assert state == changeset(file("a", reviewed=True), file("b"))
    assert fold("changeset", state, change("fileRemoved", fileId="a")) == changeset(file("b"))
    assert changes_nothing("changeset", state, change("fileRemoved", fileId="zz"), change("fileSet"))
    assert fold("changeset", state, change("cleared")) == changeset()
    assert changes_nothing("changeset", changeset(), change("cleared"))


@rule("1.0/CS4")
def test_the_named_files_are_reviewed() -> None:
    before = changeset(file("a"), file("b", reviewed=True), file("c"))
    state = fold("changeset", before, change("filesReviewChanged", files=["a", "zz"], reviewed=True))
    assert state == changeset(file("a", reviewed=True), file("b", reviewed=True), file("c"))
    state = fold("changeset", state, change("filesReviewChanged", files=["a", "b"], reviewed=False))
    assert state == changeset(file("a", reviewed=False), file("b", reviewed=False), file("c"))
    assert changes_nothing("changeset", before, change("filesReviewChanged", files=["zz"], reviewed=True))


@rule("1.0/CS5", "1.0/CS6")
def test_operations_come_with_the_files_or_by_themselves() -> None:
    before = changeset(file("a"), operations=[operation("o")])
    state = fold("changeset", before, change("contentChanged", files=[file("b")]))
    assert state == changeset(file("b"), operations=[operation("o")])
    assert fold("changeset", state, change("contentChanged", files=[], operations=[])) == changeset(
        operations=[]
    )
    state = fold("changeset", state, change("operationsChanged", operations=[operation("p")]))
    assert state == changeset(file("b"), operations=[operation("p")])
    assert fold("changeset", state, change("operationsChanged")) == changeset(file("b"))


@rule("1.0/CS7")
def test_an_operation_runs_fails_and_recovers() -> None:
    def after(state: Json, status: str, **fields: Any) -> Json:
        return fold(
            "changeset", state, change("operationStatusChanged", operationId="b", status=status, **fields)
        )

    failed = after(changeset(operations=[operation("a"), operation("b")]), "error", error=ERROR)
    assert failed["operations"] == [operation("a"), operation("b", status="error", error=ERROR)]
    assert after(failed, "running")["operations"] == [operation("a"), operation("b", status="running")]
    unknown = change("operationStatusChanged", operationId="zz", status="running")
    assert changes_nothing("changeset", failed, unknown)
    assert changes_nothing("changeset", changeset(), unknown)


# Annotations.

ORIGIN = {"session": "demo:/one"}


def note(note_id: str, *entries: Json, **over: Any) -> Json:
    base = {"id": note_id, "resource": "f:/a", "resolved": False, "origin": ORIGIN}
    return {**base, "entries": list(entries), **over}


def notes(*annotations: Json) -> Json:
    return {"annotations": list(annotations)}


def annotate(name: str, **fields: Any) -> Json:
    return {"type": f"annotations/{name}", **fields}


def entry(entry_id: str, text: str = "Why?") -> Json:
    return {"id": entry_id, "text": text}


@rule("1.0/AN1", "1.0/AN3")
def test_annotations_keep_their_place_until_they_go() -> None:
    made = [annotate("set", annotation=one) for one in (note("a"), note("b"), note("a", entry("e")))]
    state = fold("annotations", notes(), *made)
    assert state == notes(note("a", entry("e")), note("b"))
    assert fold("annotations", state, annotate("removed", annotationId="a")) == notes(note("b"))
    assert changes_nothing("annotations", state, annotate("removed", annotationId="zz"), annotate("set"))


@rule("1.0/AN2")
def test_an_annotation_is_updated_where_something_is_given() -> None:
    before = notes(note("a", entry("e")), note("b", entry("e")))
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    given = {
        "origin": {"session": "demo:/two", "turnId": "t"},
        "resource": "f:/b",
        "range": span,
        "resolved": True,
    }
    state = fold("annotations", before, annotate("updated", annotationId="b", **given, entries=[]))
    assert state == notes(note("a", entry("e")), note("b", entry("e"), **given))
    state = fold("annotations", state, annotate("updated", annotationId="b", resolved=False))
    assert state == notes(note("a", entry("e")), note("b", entry("e"), **{**given, "resolved": False}))
    update = annotate("updated", annotationId="zz", resolved=True)
    assert changes_nothing("annotations", before, update, annotate("updated", annotationId="a"))


@rule("1.0/AN4", "1.0/AN5")
def test_entries_keep_their_place_until_they_go() -> None:
    def put(one: Json, where: str = "a") -> Json:
        return annotate("entrySet", annotationId=where, entry=one)

    state = fold("annotations", notes(note("a")), put(entry("e")), put(entry("f")), put(entry("e", "Oh")))
    assert state == notes(note("a", entry("e", "Oh"), entry("f")))
    gone = [annotate("entryRemoved", annotationId="a", entryId=one) for one in "ef"]
    assert fold("annotations", state, *gone) == notes(note("a"))
    assert changes_nothing("annotations", notes(note("a")), *gone, annotate("entrySet", annotationId="a"))
    assert changes_nothing("annotations", notes(), *gone, put(entry("e")))


# Watches.


@rule("1.0/RW1")
def test_what_a_watch_reports_does_not_change_it() -> None:
    changed = {"type": "resourceWatch/changed", "changes": {"items": [{"type": "added", "uri": "f:/a"}]}}
    assert changes_nothing("resourceWatch", {"root": "f:/", "recursive": True}, changed, {"type": "x"})


# Automations and their runs.


def automation(resource: str, **over: Any) -> Json:
    times = {"createdAt": ACTED, "modifiedAt": ACTED}
    return {"resource": resource, "runs": [], "operations": [], **times, **over}


@rule("1.0/AU1", "1.0/AU2", "1.0/AU3")
def test_automations_keep_their_place_until_they_go() -> None:
    made = [automation("a"), automation("b"), automation("a", runCount=1)]
    actions = [{"type": "automation/set", "automation": one} for one in made]
    state = fold("automation", {"entries": []}, *actions)
    assert state == {"entries": [automation("a", runCount=1), automation("b")]}
    assert fold("automation", state, {"type": "automation/removed", "resource": "a"}) == {
        "entries": [automation("b")]
    }
    unknown = [{"type": "automation/removed", "resource": "zz"}, {"type": "automation/set"}]
    requests: list[Json] = [
        {"type": "automation/createRequested", "resource": "c"},
        {"type": "automation/updateRequested", "resource": "a", "changes": {"title": "New"}},
    ]
    assert changes_nothing("automation", state, *unknown, *requests)


def run(*sessions: str, **over: Any) -> Json:
    lifecycle = {"status": "pending", "createdAt": ACTED}
    base = {"resource": "r", "automation": "a", "origin": {"kind": "manual"}, "lifecycle": lifecycle}
    return {**base, "sessions": list(sessions), **over}


def run_act(name: str, **fields: Any) -> Json:
    return {"type": f"automationRun/{name}", **fields}


@rule("1.0/AR1", "1.0/AR5")
def test_a_run_goes_on_when_the_host_says_so() -> None:
    lifecycle = {"status": "running", "createdAt": ACTED, "startedAt": ACTED}
    state = fold("automationRun", run(), run_act("lifecycleChanged", lifecycle=lifecycle))
    assert state == run(lifecycle=lifecycle)
    assert changes_nothing("automationRun", state, run_act("cancelRequested"))


@rule("1.0/AR2", "1.0/AR3", "1.0/AR4")
def test_the_sessions_of_a_run_come_once_and_go() -> None:
    added = [run_act("sessionSet", session=one) for one in "aba"]
    state = fold("automationRun", run(), *added, run_act("primarySessionChanged", primarySession="a"))
    assert state == run("a", "b", primarySession="a")
    assert fold("automationRun", state, run_act("sessionRemoved", session="b")) == run(
        "a", primarySession="a"
    )
    assert fold("automationRun", state, run_act("sessionRemoved", session="a")) == run("b")
    assert fold("automationRun", state, run_act("primarySessionChanged")) == run("a", "b")
    unknown = run_act("sessionRemoved", session="zz"), run_act("sessionSet")
    assert changes_nothing("automationRun", state, added[0], *unknown)


# Canvases.


@rule("1.0/CV1")
def test_a_canvas_is_replaced_as_a_whole() -> None:
    before = {"instanceId": "i", "extensionId": "e", "canvasId": "c", "url": "https://x/", "x-old": 1}
    after = {"instanceId": "j", "extensionId": "e", "canvasId": "c"}
    assert fold("canvas", before, {"type": "canvas/stateChanged", "canvas": after}) == after
    assert changes_nothing("canvas", before, {"type": "canvas/stateChanged"}, {"type": "canvas/new"})


@rule("1.0/G3")
@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("changeset", changeset()),
        ("annotations", notes()),
        ("automation", {"entries": []}),
        ("automationRun", run()),
    ],
)
def test_an_action_of_another_kind_changes_nothing(kind: Any, state: Json) -> None:
    assert changes_nothing(kind, state, {"type": f"{kind}/somethingNew"}, {"type": "session/ready"})
