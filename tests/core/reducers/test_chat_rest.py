"""The chat reducer: what is said of a chat as a whole."""

from typing import Any

import pytest

from building import markdown
from chat_building import act, chat, in_turn, said, session_act, work
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]
CHANGESET = {"label": "All", "uriTemplate": "ahp-changeset:/a", "changeKind": "session"}
CANVAS = {"resource": "ahp-canvas:/a", "title": "Plan"}


@rule("1.0/C7", "1.0/C19", "1.0/G1")
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("activityChanged", "activity", "Reading"),
        ("draftChanged", "draft", said("I th")),
        ("changesetsChanged", "changesets", [CHANGESET]),
        ("canvasesChanged", "canvases", []),
        ("movableChanged", "movable", False),
    ],
)
def test_a_field_is_set_and_dropped(name: str, key: str, value: Any) -> None:
    state = fold_chat(chat(), act(name, **{key: value}))
    assert state == chat(**{key: value})
    assert fold_chat(state, act(name)) == fold_chat(state, act(name, **{key: None})) == chat()


@rule("1.0/C7", "1.0/C19", "1.0/G6")
def test_an_empty_text_and_an_empty_list_are_there() -> None:
    actions = act("activityChanged", activity=""), act("changesetsChanged", changesets=[])
    assert fold_chat(chat(activity="Reading", changesets=[CHANGESET]), *actions) == chat(
        activity="", changesets=[]
    )


@rule("1.0/C17")
def test_working_directories_are_added_once_and_removed() -> None:
    add, remove = (act(f"workingDirectory{name}", directory="f:/a") for name in ("Set", "Removed"))
    state = fold_chat(chat(), add)
    assert state == chat(workingDirectories=["f:/a"])
    assert changes_nothing("chat", state, add, act("workingDirectorySet"))
    assert fold_chat(state, remove) == chat(workingDirectories=[])
    assert changes_nothing("chat", chat(), remove)


@rule("1.0/C18")
@pytest.mark.parametrize(
    ("name", "key", "flag"), [("isReadChanged", "isRead", 32), ("isArchivedChanged", "isArchived", 64)]
)
def test_a_flag_is_one_bit(name: str, key: str, flag: int) -> None:
    state = fold_chat(in_turn(status=24 + 128), act(name, **{key: True}))
    assert state == in_turn(status=24 + 128 + flag)
    assert fold_chat(state, act(name, **{key: False})) == in_turn(status=24 + 128)
    assert fold_chat(state, act(name)) == in_turn(status=24 + 128)


@rule("1.0/C20")
def test_background_work_keeps_its_place_until_it_is_removed() -> None:
    set_a, set_b = (act("backgroundWorkSet", work=work(one)) for one in "ab")
    state = fold_chat(chat(), set_a, set_b, act("backgroundWorkSet", work=work("a", label="New")))
    assert state == chat(backgroundWork=[work("a", label="New"), work("b")])
    gone = [act("backgroundWorkRemoved", id=one) for one in "ab"]
    assert fold_chat(state, *gone) == chat(backgroundWork=[])
    assert changes_nothing("chat", chat(), *gone, act("backgroundWorkSet"))
    assert changes_nothing("chat", state, act("backgroundWorkRemoved", id="zz"))


# What holds for all.

CROWDED = in_turn(markdown("a"), status=4, **{"x-new": [1]})


@rule("1.0/G3")
@pytest.mark.parametrize(
    "action",
    [act("somethingNew", turnId="t1"), {"type": "delta"}, session_act("titleChanged", title="New")],
    ids=lambda action: str(action["type"]),
)
def test_an_action_of_another_kind_changes_nothing(action: Json) -> None:
    assert changes_nothing("chat", CROWDED, action)


@rule("1.0/G4")
def test_a_uri_in_the_action_is_not_looked_at() -> None:
    action = act("activityChanged", activity="Reading", channel="ahp-chat:/two", chat="ahp-chat:/two")
    assert fold_chat(chat(), action) == chat(activity="Reading")


@rule("1.0/G5")
def test_what_we_do_not_know_of_a_chat_is_kept() -> None:
    state = fold_chat(CROWDED, act("draftChanged", draft=said()), act("truncated"))
    assert state["x-new"] == [1]


@rule("1.0/G1")
def test_null_keys_of_the_state_do_not_come_back() -> None:
    nulls = dict.fromkeys(["activity", "draft", "steeringMessage", "queuedMessages", "activeTurn"])
    assert fold_chat(chat(**nulls), act("movableChanged", movable=True)) == chat(movable=True)
