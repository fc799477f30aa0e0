"""What a session offers of changesets, their URIs, and how one state becomes another."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.changesets import (
    MAX_FILES,
    ChangesetName,
    changeset_actions,
    changeset_state,
    offered_changesets,
    split_changeset_uri,
    to_offer,
)
from agenthost.core.reducers import Live
from agenthost.core.reducers.changeset import reduce_changeset
from agenthost.core.session_meta import DIFFS
from agenthost.wire.ahp.changeset import Changeset
from agenthost.wire.shape import STRICT, Shape

CHANGESET: Shape[Any] = Shape(Changeset, STRICT)


def test_a_session_offers_its_own_changes_first_and_then_those_of_each_turn() -> None:
    session, turn = map(CHANGESET.take, offered_changesets("demo:/one"))
    assert (session["changeKind"], session["uriTemplate"]) == ("session", "demo:/one/changeset/session")
    assert (turn["changeKind"], turn["uriTemplate"]) == ("turn", "demo:/one/changeset/turn/{turnId}")
    assert split_changeset_uri(session["uriTemplate"]) == ChangesetName("demo:/one")
    expanded = turn["uriTemplate"].replace("{turnId}", "t1")
    assert split_changeset_uri(expanded) == ChangesetName("demo:/one", "t1")


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("ahp-chat:/1/changeset/turn/t1", ChangesetName("ahp-chat:/1", "t1")),
        ("a:/1/changeset/turn/a%20b", ChangesetName("a:/1", "a%20b")),
        ("a:/changeset/session/changeset/session", ChangesetName("a:/changeset/session")),
        ("a:/1/changeset/turn/", None),
        ("a:/1/changeset/branch", None),
        ("a:/1/changeset/", None),
        ("/changeset/session", None),
        ("a:/1", None),
    ],
)
def test_a_uri_names_a_changeset_of_a_session_or_chat(uri: str, name: ChangesetName | None) -> None:
    assert split_changeset_uri(uri) == name


def test_changesets_are_offered_with_the_first_edit() -> None:
    edit: Any = {"type": "fileEdit"}
    state: Any = {}
    for content, is_offered in (([], False), ([{"type": "text"}], False), ([{"type": "text"}, edit], True)):
        action = {"type": "chat/toolCallComplete", "result": {"content": content}}
        assert to_offer(state, "chat/toolCallComplete", action) is is_offered
    assert not to_offer(state, "chat/toolCallComplete", {"result": {}})


def test_a_session_that_changed_files_before_there_were_changesets_offers_them_with_its_next_turn() -> None:
    old: Any = {"_meta": {DIFFS: [{}]}}
    assert to_offer(old, "chat/turnStarted", {})
    assert not to_offer({"_meta": {}}, "chat/turnStarted", {})  # type: ignore[typeddict-item]


def file(name: str, version: int = 0) -> Any:
    side = {"uri": name, "content": {"uri": f"content:/{version}"}}
    return {"id": name, "edit": {"after": side}}


def test_too_many_files_are_an_error_that_says_how_many_there_are() -> None:
    all_files = [file(str(number)) for number in range(MAX_FILES + 1)]
    assert changeset_state(all_files[:-1]) == {"status": "ready", "files": all_files[:-1]}
    state = changeset_state(all_files)
    assert (state["status"], state["files"]) == ("error", all_files[:-1])
    assert f"{MAX_FILES + 1} files were changed" in state["error"]["message"]
    (back,) = [one for one in changeset_actions(state, changeset_state([])) if "status" in one]
    assert back == {"type": "changeset/statusChanged", "status": "ready"}


def test_a_change_of_one_file_is_told_as_such() -> None:
    before, after = changeset_state([file("a"), file("b")]), changeset_state([file("a", 1), file("b")])
    assert changeset_actions(before, after) == [{"type": "changeset/fileSet", "file": file("a", 1)}]
    gone = changeset_state([file("b")])
    assert changeset_actions(before, gone) == [{"type": "changeset/fileRemoved", "fileId": "a"}]
    assert changeset_actions(before, before) == []


def test_another_order_is_told_as_a_whole() -> None:
    before, after = changeset_state([file("b")]), changeset_state([file("a"), file("b")])
    (told,) = changeset_actions(before, after)
    assert told == {"type": "changeset/contentChanged", "files": after["files"]}


files = st.lists(
    st.builds(file, st.sampled_from("abcdef"), st.integers(0, 1)), unique_by=lambda one: one["id"]
)
many = st.integers(0, 60).map(lambda count: [file(str(number)) for number in range(count)])
states = st.one_of(files, many).map(changeset_state)
failed = states.map(lambda state: {**state, "status": "error", "error": {"errorType": "x", "message": "y"}})


@given(st.one_of(states, failed), st.one_of(states, failed))
def test_the_actions_lead_from_any_state_to_any_other(before: Any, after: Any) -> None:
    live = Live(before)
    for action in changeset_actions(before, after):
        live = reduce_changeset(live, action)
    assert live.state == after
