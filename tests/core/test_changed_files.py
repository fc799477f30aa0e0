"""The files that edits have changed together: from before the first to after the last."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.changed_files import Comparison, all_edits, changed_files, has_turn, turn_edits
from agenthost.core.line_counts import count_lines

CONTENT = "demo:/one/content/"

PATHS = ("a", "b", "c")
TEXTS = ("", "one\n", "one\ntwo\n", "two\none\n", "one\ntwo")


def side(path: str, text: str, number: int = 0) -> Any:
    """Return a file with this text; the URI of a content has its text, and a number that makes it unique."""
    return {"uri": f"file:///{path}", "content": {"uri": f"{CONTENT}{number}/{text}"}}


def text_of(one: Any) -> Any:
    return None if one is None else one["content"]["uri"].removeprefix(CONTENT).partition("/")[2]


def compare(before: Any, after: Any) -> Comparison:
    old, new = text_of(before), text_of(after)
    return Comparison((old or "") == (new or ""), count_lines(old, new))


def blind(_before: Any, _after: Any) -> Comparison:
    """Compare contents that cannot be read."""
    return Comparison(is_same=False, counts=None)


def edit(before: Any, after: Any, **more: Any) -> Any:
    sides = {"before": before, "after": after}
    return {**{name: one for name, one in sides.items() if one is not None}, **more}


def counted(before: Any, after: Any) -> Any:
    return edit(before, after, diff=count_lines(text_of(before), text_of(after)))


def changed(*edits: Any) -> list[tuple[str, Any, Any, Any]]:
    """Return the files as id, paths with texts before and after, and counts."""

    def told(one: Any) -> Any:
        return None if one is None else (one["uri"].removeprefix("file:///"), text_of(one))

    return [
        (
            file["id"].removeprefix("file:///"),
            told(file["edit"].get("before")),
            told(file["edit"].get("after")),
            file["edit"].get("diff"),
        )
        for file in changed_files(edits, compare)
    ]


def test_two_edits_of_a_file_are_one_with_the_lines_that_differ() -> None:
    first, second = (
        counted(side("a", "one\n"), side("a", "one\ntwo\n", 1)),
        counted(side("a", "one\ntwo\n"), side("a", "", 2)),
    )
    assert changed(first) == [("a", ("a", "one\n"), ("a", "one\ntwo\n"), {"added": 1, "removed": 0})]
    assert changed(first, second) == [("a", ("a", "one\n"), ("a", ""), {"added": 0, "removed": 1})]


def test_a_file_that_is_changed_back_is_not_listed() -> None:
    there = counted(side("a", "one\n"), side("a", "two\n"))
    back = counted(side("a", "two\n"), side("a", "one\n", 7))
    assert changed(there, back) == []
    assert [name for name, *_ in changed(there, back, there)] == ["a"]


def test_files_are_created_and_deleted() -> None:
    made = counted(None, side("a", "one\n"))
    gone = counted(side("a", "one\n"), None)
    assert changed(made) == [("a", None, ("a", "one\n"), {"added": 1, "removed": 0})]
    assert changed(gone) == [("a", ("a", "one\n"), None, {"added": 0, "removed": 1})]
    assert changed(made, gone) == []
    assert changed(gone, counted(None, side("a", "one\n", 5))) == []
    assert changed(gone, counted(None, side("a", "two\n"))) == [
        ("a", ("a", "one\n"), ("a", "two\n"), {"added": 1, "removed": 1})
    ]


def test_an_empty_file_that_is_new_is_listed() -> None:
    assert changed(counted(None, side("a", ""))) == [("a", None, ("a", ""), {"added": 0, "removed": 0})]


def test_a_renamed_file_is_listed_where_it_is_with_where_it_was() -> None:
    moved = counted(side("a", "one\n"), side("b", "one\n"))
    grown = counted(side("b", "one\n"), side("b", "one\ntwo\n"))
    assert changed(moved, grown) == [("b", ("a", "one\n"), ("b", "one\ntwo\n"), {"added": 1, "removed": 0})]
    assert changed(moved, counted(side("b", "one\n"), side("a", "one\n", 3))) == []


def test_a_file_that_replaces_another_is_a_change_of_that_one() -> None:
    other = counted(side("b", "x\n"), side("b", "y\n"))
    moved = counted(side("a", "one\n"), side("b", "one\n"))
    assert changed(other, moved) == [
        ("b", ("b", "x\n"), ("b", "one\n"), {"added": 1, "removed": 1}),
        ("a", ("a", "one\n"), None, {"added": 0, "removed": 1}),
    ]


def test_what_others_did_to_a_file_in_between_is_part_of_the_change() -> None:
    edits = counted(side("a", "1\n"), side("a", "2\n")), counted(side("a", "3\n"), side("a", "4\n"))
    assert changed(*edits) == [("a", ("a", "1\n"), ("a", "4\n"), {"added": 1, "removed": 1})]


def test_without_contents_only_single_edits_have_counts() -> None:
    first = edit(side("a", "x"), side("a", "y"), diff={"added": 3})
    second = edit(side("a", "y"), side("a", "z"), diff={"added": 4})
    assert changed_files([first], blind)[0]["edit"]["diff"] == {"added": 3}
    (both,) = changed_files([first, second], blind)
    assert "diff" not in both["edit"]
    (again,) = changed_files([first, edit(side("a", "y"), side("a", "x")), first], blind)
    assert "diff" not in again["edit"]


def test_an_edit_without_either_side_is_no_change() -> None:
    assert changed({"diff": {"added": 1}}) == []


def call(status: str, *blocks: Any) -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": "c", "status": status, "content": list(blocks)}}


def test_edits_are_those_of_calls_that_were_made() -> None:
    one, two, three = ({"type": "fileEdit", **counted(None, side(path, "x"))} for path in "abc")
    text = {"type": "text", "text": "done"}
    chat: Any = {
        "turns": [
            {"id": "t1", "responseParts": [{"kind": "markdown"}, call("completed", text, one)]},
            {"id": "t2", "responseParts": [call("cancelled", two), call("running", two)]},
        ],
    }
    assert list(all_edits(chat)) == [one]
    chat["activeTurn"] = {"id": "t3", "responseParts": [call("pending-result-confirmation", three)]}
    assert list(all_edits(chat)) == [one, three]
    assert [list(turn_edits(chat, name)) for name in ("t1", "t2", "t3", "t4")] == [[one], [], [three], []]
    assert [has_turn(chat, name) for name in ("t1", "t3", "t4")] == [True, True, False]


@st.composite
def histories(draw: Any) -> tuple[dict[str, str], dict[str, str], list[Any]]:
    """Draw files, what becomes of them, and the edits that do it."""
    before = draw(st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS)))
    files, edits = dict(before), []
    for number in range(draw(st.integers(0, 12))):
        path, text = draw(st.sampled_from(PATHS)), draw(st.sampled_from(TEXTS))
        old = files.get(path)
        target = draw(st.sampled_from((path, path, None, *PATHS)))
        if old is None:
            target = path
        elif target is None:
            text = ""
        elif target != path and target in files:
            # A tool that replaces a file says so.
            edits.append(counted(side(target, files.pop(target), number), None))
        first = None if old is None else side(path, files.pop(path), number)
        if target is not None:
            files[target] = text
        edits.append(counted(first, None if target is None else side(target, text, number)))
    return before, files, edits


@given(histories())
def test_the_changes_lead_from_the_first_files_to_the_last_and_say_nothing_else(
    history: tuple[dict[str, str], dict[str, str], list[Any]],
) -> None:
    before, after, edits = history
    found = changed(*edits)
    assert len({name for name, *_ in found}) == len(found)
    files = dict(before)
    for _, old, _, _ in found:
        if old is not None:
            assert files.pop(old[0]) == old[1]
    for name, old, new, counts in found:
        assert name == (new or old)[0]
        assert old != new
        assert counts == count_lines(old and old[1], new and new[1])
        if new is not None:
            assert new[0] not in files
            files[new[0]] = new[1]
    assert files == after


@given(histories())
def test_without_renames_a_file_is_listed_exactly_if_it_differs(history: Any) -> None:
    before, after, edits = history
    if any(
        "before" in one and "after" in one and one["before"]["uri"] != one["after"]["uri"] for one in edits
    ):
        return
    listed = {name: (old and old[1], new and new[1]) for name, old, new, _ in changed(*edits)}
    different = {name for name in PATHS if before.get(name) != after.get(name)}
    assert listed == {name: (before.get(name), after.get(name)) for name in different}
