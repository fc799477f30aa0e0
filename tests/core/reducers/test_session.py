"""The session reducer: what is said of a session as a whole, its clients and its directories."""

from typing import Any

import pytest

from building import config, tool
from chat_building import act, session, session_act
from folding import changes_nothing, fold_session
from rules import rule

Json = dict[str, Any]
ERROR = {"errorType": "Boom", "message": "It broke"}


@rule("1.0/S1")
def test_a_session_that_is_ready_keeps_its_status() -> None:
    state = fold_session(session(lifecycle="creating", status=24 + 32), session_act("ready"))
    assert state == session(status=24 + 32)


@rule("1.0/S2")
def test_a_session_that_could_not_be_created_says_why() -> None:
    state = fold_session(session(lifecycle="creating"), session_act("creationFailed", error=ERROR))
    assert state == session(lifecycle="failed", creationError=ERROR)


@rule("1.0/S7", "1.0/S10", "1.0/S11", "1.0/S13")
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("defaultChatChanged", "defaultChat", "ahp-chat:/one"),
        ("activityChanged", "activity", "Reading"),
        ("changesetsChanged", "changesets", []),
        ("metaChanged", "_meta", {"a": None}),
    ],
)
def test_a_field_is_set_and_dropped(name: str, key: str, value: Any) -> None:
    state = fold_session(session(), session_act(name, **{key: value}))
    assert state == session(**{key: value})
    assert fold_session(state, session_act(name)) == session()


@rule("1.0/S8", "1.0/S14", "1.0/S21")
@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("titleChanged", "title", "title"),
        ("serverToolsChanged", "tools", "serverTools"),
        ("customizationsChanged", "customizations", "customizations"),
    ],
)
def test_a_field_is_replaced(name: str, given: str, key: str) -> None:
    old = {"serverTools": [tool("a")], "customizations": [{"id": "a", "type": "plugin"}]}
    value: Any = "" if key == "title" else []
    assert fold_session(session(**old), session_act(name, **{given: value})) == session(**{**old, key: value})


@rule("1.0/S9")
@pytest.mark.parametrize(
    ("name", "key", "flag"), [("isReadChanged", "isRead", 32), ("isArchivedChanged", "isArchived", 64)]
)
def test_a_flag_is_one_bit(name: str, key: str, flag: int) -> None:
    state = fold_session(session(status=24 + 128), session_act(name, **{key: True}))
    assert state == session(status=24 + 128 + flag)
    assert fold_session(state, session_act(name, **{key: False})) == session(status=24 + 128)


@rule("1.0/S12", "1.0/G6")
def test_settings_are_merged_or_replaced() -> None:
    before = session(config=config(a=1, b=2))
    for given in ({}, {"replace": False}, {"replace": None}):
        state = fold_session(before, session_act("configChanged", config={"b": None}, **given))
        assert state == session(config=config(a=1, b=None))
    state = fold_session(before, session_act("configChanged", config={"b": 3}, replace=True))
    assert state == session(config=config(b=3))
    assert changes_nothing("session", session(), session_act("configChanged", config={"a": 1}))


def client(client_id: str, **over: Any) -> Json:
    return {"clientId": client_id, "tools": [], **over}


@rule("1.0/S15", "1.0/S16")
def test_active_clients_keep_their_place_until_they_go() -> None:
    set_a, set_b = (session_act("activeClientSet", activeClient=client(one)) for one in "ab")
    again = session_act("activeClientSet", activeClient=client("a", tools=[tool("t")]))
    state = fold_session(session(), set_a, set_b, again)
    assert state == session(activeClients=[client("a", tools=[tool("t")]), client("b")])
    gone = [session_act("activeClientRemoved", clientId=one) for one in "ab"]
    assert fold_session(state, *gone) == session()
    assert changes_nothing("session", session(), *gone, session_act("activeClientSet"))


def directories(name: str, **fields: Any) -> Json:
    return session_act(f"workingDirectory{name}", **fields)


@rule("1.0/S17")
def test_working_directories_are_added_once_and_removed() -> None:
    state = fold_session(session(), directories("Set", directory="a"), directories("Set", directory="b"))
    assert state == session(workingDirectories=["a", "b"])
    assert changes_nothing("session", state, directories("Set", directory="a"), directories("Set"))
    assert fold_session(state, directories("Removed", directory="a")) == session(workingDirectories=["b"])
    assert changes_nothing("session", state, directories("Removed", directory="zz"))
    assert changes_nothing("session", session(), directories("Removed", directory="a"))


@rule("1.0/S18")
@pytest.mark.parametrize(
    ("directory", "replacement", "after"),
    [("b", "x", "axc"), ("b", "c", "ac"), ("b", "a", "ac"), ("c", "a", "ab")],
)
def test_a_directory_is_replaced_and_no_other_is_there_twice(
    directory: str, replacement: str, after: str
) -> None:
    action = directories("Replaced", directory=directory, replacement=replacement)
    state = fold_session(session(workingDirectories=list("abc")), action)
    assert state == session(workingDirectories=list(after))


@rule("1.0/S18")
def test_a_directory_that_is_not_there_is_not_replaced() -> None:
    before = session(workingDirectories=["a"])
    action = directories("Replaced", directory="b", replacement="c")
    assert changes_nothing("session", before, action, directories("Replaced", directory="a"))
    assert changes_nothing("session", before, directories("Replaced", directory="a", replacement="a"))
    assert changes_nothing("session", session(), action)


# What holds for all.


@rule("1.0/G3")
@pytest.mark.parametrize("action", [session_act("turnStarted"), session_act("modelChanged"), act("usage")])
def test_an_action_of_another_kind_changes_nothing(action: Json) -> None:
    assert changes_nothing("session", session(), action)


@rule("1.0/G5")
def test_what_we_do_not_know_of_a_session_is_kept() -> None:
    state = fold_session(session(**{"x-new": 1}), session_act("titleChanged", title="New"))
    assert state == session(title="New", **{"x-new": 1})
