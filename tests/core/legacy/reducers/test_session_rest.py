"""The session reducer: summary, flags, settings, tools, the active client and customizations."""

from typing import Any

import pytest

from building import act, config, in_turn, plugin, reference, session, tool
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]
TOUCHED = {"modifiedAt": 9999}

# Summary.


@rule("S20", "H8")
@pytest.mark.parametrize("title", ["New", ""])
def test_a_title_is_stored(title: str) -> None:
    state = reduce_session(session(status=36), act("titleChanged", title=title))
    assert state == session(status=36, summary={"title": title, **TOUCHED})


@rule("S21", "H8")
@pytest.mark.parametrize("old", [{}, {"model": {"id": "a", "config": {"effort": "high"}}}])
@pytest.mark.parametrize("new", [{"id": "b"}, {"id": "b", "config": {"speed": "low"}, "x-new": 1}])
def test_a_model_is_replaced_as_a_whole(old: Json, new: Json) -> None:
    state = reduce_session(session(summary=old), act("modelChanged", model=new))
    assert state == session(summary={"model": new, **TOUCHED})


@rule("S22", "S23", "H7")
@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        (act("isReadChanged", isRead=True), 1, 33),
        (act("isReadChanged", isRead=True), 33, 33),
        (act("isReadChanged", isRead=True), 4 + 64 + 128, 228),
        (act("isReadChanged", isRead=False), 33, 1),
        (act("isReadChanged", isRead=False), 2, 2),
        (act("isReadChanged", isRead=False), 255, 223),
        (act("isArchivedChanged", isArchived=True), 1, 65),
        (act("isArchivedChanged", isArchived=True), 65, 65),
        (act("isArchivedChanged", isArchived=True), 4 + 32 + 128, 228),
        (act("isArchivedChanged", isArchived=False), 65, 1),
        (act("isArchivedChanged", isArchived=False), 24, 24),
        (act("isArchivedChanged", isArchived=False), 255, 191),
    ],
)
def test_a_flag_changes_its_own_bit_and_nothing_else(action: Json, before: int, after: int) -> None:
    assert reduce_session(in_turn(status=before), action) == in_turn(status=after)


@rule("S24", "G7")
@pytest.mark.parametrize("words", ["Reading", ""])
@pytest.mark.parametrize("old", [{}, {"activity": "Writing"}])
def test_an_activity_is_stored(words: str, old: Json) -> None:
    state = reduce_session(session(summary=old), act("activityChanged", activity=words))
    assert state == session(summary={"activity": words})


@rule("S24", "G1")
@pytest.mark.parametrize("given", [{}, {"activity": None}], ids=["absent", "null"])
@pytest.mark.parametrize("old", [{}, {"activity": "Writing"}], ids=["none", "some"])
def test_no_activity_drops_the_old_one(given: Json, old: Json) -> None:
    assert reduce_session(session(summary=old), act("activityChanged", **given)) == session()


@rule("S25")
@pytest.mark.parametrize(
    "new", [[], [{"after": {"uri": "file:///a", "content": {"uri": "x:/a"}}, "diff": {}}]]
)
def test_diffs_are_replaced_as_a_whole(new: list[Json]) -> None:
    old = [{"before": {"uri": "file:///b", "content": {"uri": "x:/b"}}}]
    state = reduce_session(session(summary={"diffs": old}), act("diffsChanged", diffs=new))
    assert state == session(summary={"diffs": new})


# Settings and meta.


@rule("S26", "H8", "G7")
@pytest.mark.parametrize("given", [{}, {"replace": False}, {"replace": None}])
def test_settings_are_merged_into_the_old_values(given: Json) -> None:
    before = session(status=36, config=config(a=1, deep={"x": 1, "y": 2}))
    state = reduce_session(before, act("configChanged", config={"deep": {"y": 3}, "c": ""}, **given))
    assert state == session(status=36, config=config(a=1, deep={"y": 3}, c=""), summary=TOUCHED)


@rule("S26", "H8")
@pytest.mark.parametrize("new", [{"b": 2}, {}])
def test_settings_are_replaced_when_asked_for(new: Json) -> None:
    state = reduce_session(session(config=config(a=1)), act("configChanged", config=new, replace=True))
    assert state == session(config=config(**new), summary=TOUCHED)


@rule("S26")
def test_settings_that_change_nothing_still_count_as_a_change() -> None:
    state = reduce_session(session(config=config(a=1)), act("configChanged", config={}))
    assert state == session(config=config(a=1), summary=TOUCHED)


@rule("S26", "G6")
def test_what_we_do_not_know_of_a_config_is_kept() -> None:
    before = session(config={**config(a=1), "x-new": 7})
    state = reduce_session(before, act("configChanged", config={"a": 2}))
    assert state["config"] == {**config(a=2), "x-new": 7}


@rule("S26")
@pytest.mark.parametrize("replace", [True, False])
def test_settings_without_a_config_are_ignored(replace: bool) -> None:
    assert reduce_session(session(), act("configChanged", config={"a": 1}, replace=replace)) == session()


@rule("S26", "G1")
def test_a_config_of_null_counts_as_missing() -> None:
    state = reduce_session(session(config=None), act("configChanged", config={"a": 1}))
    assert (state.get("config"), state["summary"]["modifiedAt"]) == (None, 2000)


@rule("S27", "G7")
@pytest.mark.parametrize("new", [{"b": {"c": 2}}, {}])
@pytest.mark.parametrize("old", [{"_meta": {"a": 1, "b": {"d": 3}}}, {}])
def test_meta_is_replaced_as_a_whole(old: Json, new: Json) -> None:
    assert reduce_session(session(**old), act("metaChanged", _meta=new)) == session(_meta=new)


@rule("S27", "G1")
@pytest.mark.parametrize("given", [{}, {"_meta": None}], ids=["absent", "null"])
def test_no_meta_drops_the_old_one(given: Json) -> None:
    assert reduce_session(session(_meta={"a": 1}), act("metaChanged", **given)) == session()


# Tools and the active client.

CLIENT = {"clientId": "me", "displayName": "Me", "tools": [tool("a")], "customizations": [reference("p:/1")]}


@rule("S28")
@pytest.mark.parametrize("new", [[tool("b", title="B", **{"x-new": 1})], []], ids=["one", "empty"])
@pytest.mark.parametrize("old", [{"serverTools": [tool("a"), tool("b")]}, {}], ids=["some", "none"])
def test_server_tools_are_replaced_as_a_whole(old: Json, new: list[Json]) -> None:
    before = session(activeClient=CLIENT, **old)
    state = reduce_session(before, act("serverToolsChanged", tools=new))
    assert state == session(activeClient=CLIENT, serverTools=new)


@rule("S29")
@pytest.mark.parametrize("old", [{"activeClient": CLIENT}, {}], ids=["taken", "free"])
def test_the_active_client_is_replaced_as_a_whole(old: Json) -> None:
    new = {"clientId": "you", "tools": [], "x-new": 1}
    state = reduce_session(session(**old), act("activeClientChanged", activeClient=new))
    assert state == session(activeClient=new)


@rule("S29", "G1")
@pytest.mark.parametrize("given", [{"activeClient": None}, {}], ids=["null", "absent"])
@pytest.mark.parametrize("old", [{"activeClient": CLIENT}, {}], ids=["taken", "free"])
def test_no_active_client_drops_the_key(old: Json, given: Json) -> None:
    assert reduce_session(session(**old), act("activeClientChanged", **given)) == session()


@rule("S30", "G6")
@pytest.mark.parametrize("new", [[tool("b"), tool("c")], []])
def test_the_tools_of_the_active_client_are_replaced_and_its_other_fields_kept(new: list[Json]) -> None:
    before = session(serverTools=[tool("s")], activeClient={**CLIENT, "x-new": 1})
    state = reduce_session(before, act("activeClientToolsChanged", tools=new))
    assert state == session(serverTools=[tool("s")], activeClient={**CLIENT, "tools": new, "x-new": 1})


@rule("S30", "G1")
@pytest.mark.parametrize("over", [{}, {"activeClient": None}], ids=["absent", "null"])
def test_tools_without_an_active_client_are_ignored(over: Json) -> None:
    state = reduce_session(session(**over), act("activeClientToolsChanged", tools=[tool("a")]))
    assert state.get("activeClient") is None
    assert "serverTools" not in state


# Customizations.


def plugged(*entries: Json) -> Json:
    """Build a session with these customizations."""
    return session(customizations=list(entries))


@rule("S31")
@pytest.mark.parametrize("new", [[plugin("p:/2", clientId="me", **{"x-new": 1})], []], ids=["one", "empty"])
@pytest.mark.parametrize("before", [plugged(plugin("p:/1")), session()], ids=["some", "none"])
def test_customizations_are_replaced_as_a_whole(before: Json, new: list[Json]) -> None:
    assert reduce_session(before, act("customizationsChanged", customizations=new)) == plugged(*new)


@rule("S32", "G6")
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("old", [True, False])
def test_a_customization_is_switched_by_its_uri(enabled: bool, old: bool) -> None:
    rest = {"clientId": "me", "status": "error", "statusMessage": "No", "x-new": 1}
    before = plugged(plugin("p:/1"), plugin("p:/2", enabled=old, **rest), plugin("p:/3"))
    state = reduce_session(before, act("customizationToggled", uri="p:/2", enabled=enabled))
    assert state == plugged(plugin("p:/1"), plugin("p:/2", enabled=enabled, **rest), plugin("p:/3"))


@rule("S32")
def test_only_the_first_customization_with_the_uri_is_switched() -> None:
    before = plugged(plugin("p:/1"), plugin("p:/1"))
    state = reduce_session(before, act("customizationToggled", uri="p:/1", enabled=False))
    assert state == plugged(plugin("p:/1", enabled=False), plugin("p:/1"))


@rule("S32")
@pytest.mark.parametrize("before", [plugged(plugin("p:/1")), plugged(), session()])
def test_switching_an_unknown_customization_changes_nothing(before: Json) -> None:
    assert reduce_session(before, act("customizationToggled", uri="p:/9", enabled=False)) == before


def update(ref: Json, **fields: Any) -> Json:
    return act("customizationUpdated", customization=ref, **fields)


REPORT = {"enabled": False, "status": "degraded", "statusMessage": "Half of it"}


@rule("S33")
def test_a_known_customization_takes_all_that_is_given() -> None:
    new = {"uri": "p:/2", "displayName": "New", "nonce": "2", "x-new": 1}
    old = plugin("p:/2", customization=reference("p:/2", description="Old"), clientId="me", **{"x-old": 1})
    state = reduce_session(plugged(plugin("p:/1"), old, plugin("p:/3")), update(new, **REPORT))
    entry = {"customization": new, "clientId": "me", "x-old": 1, **REPORT}
    assert state == plugged(plugin("p:/1"), entry, plugin("p:/3"))


@rule("S33", "G1")
@pytest.mark.parametrize("given", [{}, dict.fromkeys(REPORT)], ids=["absent", "null"])
def test_a_known_customization_keeps_what_is_not_given(given: Json) -> None:
    old = plugin("p:/1", status="error", statusMessage="No")
    state = reduce_session(plugged(old), update(reference("p:/1", nonce="2"), **given))
    new = {"customization": reference("p:/1", nonce="2"), "enabled": True}
    assert state == plugged({**new, "status": "error", "statusMessage": "No"})


@rule("S33", "G7")
@pytest.mark.parametrize("given", [{"enabled": False}, {"status": "loaded"}, {"statusMessage": ""}])
def test_one_field_of_a_customization_can_change_alone(given: Json) -> None:
    old = {**plugin("p:/1"), "status": "error", "statusMessage": "No"}
    assert reduce_session(plugged(old), update(reference("p:/1"), **given)) == plugged({**old, **given})


@rule("S33")
def test_only_the_first_customization_with_the_uri_is_updated() -> None:
    before = plugged(plugin("p:/1"), plugin("p:/1"))
    state = reduce_session(before, update(reference("p:/1"), status="loaded"))
    assert state == plugged(plugin("p:/1", status="loaded"), plugin("p:/1"))


@rule("S33")
@pytest.mark.parametrize("before", [plugged(), session(), session(customizations=None)])
def test_the_first_customization_makes_the_list(before: Json) -> None:
    entry = {"customization": reference("p:/1"), "enabled": True, "status": "loading", "statusMessage": ""}
    action = update(reference("p:/1"), enabled=True, status="loading", statusMessage="")
    assert reduce_session(before, action) == plugged(entry)


@rule("S33", "G1")
@pytest.mark.parametrize("given", [{}, dict.fromkeys(REPORT)], ids=["absent", "null"])
def test_an_unknown_customization_is_appended_and_off_unless_said_otherwise(given: Json) -> None:
    state = reduce_session(plugged(plugin("p:/2")), update(reference("p:/1", nonce="1"), **given))
    new = {"customization": reference("p:/1", nonce="1"), "enabled": False}
    assert state == plugged(plugin("p:/2"), new)
