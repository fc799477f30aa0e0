"""What a session has changed so far, by file."""

from typing import Any

from agenthost.core.diffs import diffs_changed
from agenthost.core.session_meta import DIFFS, MODEL


def version(file: str, content: str) -> Any:
    return {"uri": f"file:///{file}", "content": {"uri": f"demo:/one/content/{content}"}}


def edit(file: str, before: str | None, after: str | None, added: int = 1, removed: int = 0) -> Any:
    sides = {"before": before, "after": after}
    kept = {side: version(file, content) for side, content in sides.items() if content is not None}
    return {**kept, "diff": {"added": added, "removed": removed}}


def diffs(known: list[Any] | None, *edits: Any) -> Any:
    kept = {MODEL: {"id": "large"}, "git": {"branch": "main"}}
    state: Any = {"_meta": {**kept, **({} if known is None else {DIFFS: known})}}
    action = diffs_changed(state, [{"type": "fileEdit", **one} for one in edits])
    assert action["type"] == "session/metaChanged"
    assert {**action["_meta"], DIFFS: None} == {**kept, DIFFS: None}
    return action["_meta"][DIFFS]


def test_edits_are_listed_by_file_in_the_order_they_came() -> None:
    assert diffs(None, edit("a", "1", "2"), edit("b", None, "1")) == [
        edit("a", "1", "2"),
        edit("b", None, "1"),
    ]


def test_two_edits_of_a_file_are_one_from_before_the_first_to_after_the_last() -> None:
    known = [edit("a", "1", "2", 1, 2), edit("b", "1", "2")]
    assert diffs(known, edit("a", "2", "3", 3, 4)) == [edit("a", "1", "3", 4, 6), edit("b", "1", "2")]


def test_a_new_file_that_is_edited_is_still_new() -> None:
    assert diffs([edit("a", None, "1")], edit("a", "1", "2")) == [edit("a", None, "2", 2, 0)]


def test_a_file_that_is_removed_and_made_again_is_edited() -> None:
    assert diffs([edit("a", "1", None, 0, 1)], edit("a", None, "2")) == [edit("a", "1", "2", 1, 1)]


def test_a_file_that_came_and_went_is_no_change() -> None:
    assert diffs([edit("a", None, "1"), edit("b", "1", "2")], edit("a", "1", None, 0, 1)) == [
        edit("b", "1", "2")
    ]


def test_an_edit_without_counts_adds_nothing_to_them() -> None:
    bare: Any = {"after": version("a", "2")}
    assert diffs([{"before": version("a", "1"), "after": version("a", "1")}], bare) == [
        edit("a", "1", "2", 0, 0)
    ]


def test_a_session_without_metadata_has_changed_nothing_yet() -> None:
    state: Any = {}
    assert diffs_changed(state, [edit("a", None, "1")])["_meta"] == {DIFFS: [edit("a", None, "1")]}
