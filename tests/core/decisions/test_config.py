"""When settings of a session or of the host may not have these values."""

from typing import Any

import pytest

from agenthost.core.decisions.grants import Rights
from building import root, root_act
from chat_building import session_act
from deciding import Json, configured, reason, session, setting

FREE: Json = {"sessionMutable": True}
SETTINGS = {
    "mode": setting(enum=["slow", "fast"], **FREE),
    "folder": setting(),
    "shown": setting(readOnly=True, **FREE),
}
VALUES = {"mode": "slow", "folder": "/a", "shown": "x"}


def in_session(values: Json, *, settings: Json = SETTINGS, old: Json = VALUES, **fields: Any) -> str | None:
    schema = fields.pop("schema", {})
    state = session(config=configured(settings, old, **schema))
    return reason(state, session_act("configChanged", config=values, **fields))


def in_root(values: Json, *, settings: Json = SETTINGS, old: Json = VALUES, **fields: Any) -> str | None:
    schema = fields.pop("schema", {})
    state = root(config=configured(settings, old, **schema))
    return reason(state, root_act("configChanged", config=values, **fields))


@pytest.mark.parametrize("replace", [False, True])
def test_without_settings_none_can_be_changed(replace: bool) -> None:
    assert (
        reason(session(), session_act("configChanged", config={}, replace=replace))
        == "the session has no settings"
    )
    assert reason(root(), root_act("configChanged", config={}, replace=replace)) == "the host has no settings"


def test_a_setting_has_to_exist() -> None:
    assert in_session({"x": 1}) == "there is no setting 'x'"
    assert in_root({"x": 1}) == "there is no setting 'x'"


def test_a_session_changes_only_mutable_settings() -> None:
    assert in_session({"mode": "fast"}) is None
    assert in_session({"mode": "fast", "folder": "/b"}) == "the setting 'folder' may not be changed"
    assert in_session({"folder": "/a"}) == "the setting 'folder' may not be changed"
    assert in_session({"shown": "y"}) == "the setting 'shown' may not be changed"


def test_the_host_changes_all_settings_that_are_not_read_only() -> None:
    assert in_root({"mode": "fast", "folder": "/b"}) is None
    assert in_root({"shown": "y"}) == "the setting 'shown' may not be changed"


# Replacing all values.


def test_replacing_keeps_what_may_not_be_changed() -> None:
    assert in_session({**VALUES, "mode": "fast"}, replace=True) is None
    assert in_session({"folder": "/a", "shown": "x"}, replace=True) is None
    assert in_root({"folder": "/b", "shown": "x"}, replace=True) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"mode": "fast", "shown": "x"}, "the setting 'folder' may not be removed"),
        ({}, "the setting 'folder' may not be removed"),
        ({**VALUES, "folder": "/b"}, "the setting 'folder' may not be changed"),
        ({**VALUES, "folder": None}, "the setting 'folder' may not be changed"),
        ({**VALUES, "shown": "y"}, "the setting 'shown' may not be changed"),
        ({**VALUES, "x": 1}, "the setting 'x' may not be changed"),
    ],
)
def test_replacing_may_not_change_or_remove_a_fixed_value(values: Json, expected: str) -> None:
    assert in_session(values, replace=True) == expected


def test_replacing_in_the_host_keeps_read_only_settings() -> None:
    assert in_root({"mode": "fast"}, replace=True) == "the setting 'shown' may not be removed"
    assert in_root({"shown": "y"}, replace=True) == "the setting 'shown' may not be changed"


def test_a_value_that_no_schema_names_is_kept_too() -> None:
    old = {**VALUES, "secret": {"a": [1, True]}}
    assert in_session(VALUES, old=old, replace=True) == "the setting 'secret' may not be removed"
    assert in_session(old, old=old, replace=True) is None


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1], [1.0], True),
        ([1], [True], False),
        ([1], [1, 2], False),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
        ({}, [], False),
        (None, None, True),
        ("1", 1, False),
    ],
)
def test_a_fixed_value_is_compared_as_json(old: Any, new: Any, same: bool) -> None:
    settings = {"x": setting("object")}
    found = in_session({"x": new}, settings=settings, old={"x": old}, replace=True)
    assert found == (None if same else "the setting 'x' may not be changed")


def test_replacing_may_not_remove_a_required_setting() -> None:
    schema = {"required": ["mode"]}
    lost = {"folder": "/a", "shown": "x"}
    assert in_session(lost, replace=True, schema=schema) == "the setting 'mode' is required"
    assert in_root(lost, replace=True, schema=schema) == "the setting 'mode' is required"
    assert in_session(lost, replace=True, schema=schema, old=lost) is None


# Values.

PAIR = setting("object", properties={"a": setting("number"), "b": setting(enum=["x"])}, required=["a"])


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (setting(), 1, "$.config.s: expected a string, found the number 1"),
        (setting(), None, "$.config.s: expected a string, found null"),
        (setting("number"), "1", "$.config.s: expected a number, found a string"),
        (setting("number"), True, "$.config.s: expected a number, found true"),
        (setting("boolean"), 0, "$.config.s: expected true or false, found the number 0"),
        (setting("array"), {}, "$.config.s: expected a list, found an object"),
        (setting("object"), [], "$.config.s: expected an object, found a list"),
        (setting(enum=["a", "b"]), "c", "$.config.s: expected 'a' or 'b', found 'c'"),
        (setting(enum=[]), "c", "$.config.s: expected nothing, found 'c'"),
        (setting("array", items=setting()), ["a", 1], "$.config.s[1]: expected a string, found the number 1"),
        (setting("array", items=setting(enum=["a"])), ["b"], "$.config.s[0]: expected 'a', found 'b'"),
        (PAIR, {"b": "x"}, "$.config.s.a: expected a number, found nothing"),
        (PAIR, {"a": "1"}, "$.config.s.a: expected a number, found a string"),
        (PAIR, {"a": 1, "b": "y"}, "$.config.s.b: expected 'x', found 'y'"),
    ],
)
def test_a_value_has_to_fit_its_schema(kind: Json, value: Any, expected: str) -> None:
    for replace in (False, True):
        assert in_root({"s": value}, settings={"s": kind}, old={}, replace=replace) == expected
        free = {"s": {**kind, **FREE}}
        assert in_session({"s": value}, settings=free, old={}, replace=replace) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (setting(), ""),
        (setting("number"), 1.5),
        (setting("number"), -3),
        (setting("boolean"), False),
        (setting("array"), [1, None]),
        (setting("object"), {"a": None}),
        (setting(enum=["a"]), "a"),
        (setting(enum=["a"], enumDynamic=True), "b"),
        (setting("colour"), [1]),
        (PAIR, {"a": 1, "b": "x", "c": None}),
    ],
)
def test_a_value_that_fits_may_be_set(kind: Json, value: Any) -> None:
    assert in_root({"s": value}, settings={"s": kind}, old={}) is None
    assert in_session({"s": value}, settings={"s": {**kind, **FREE}}, old={}) is None


def test_a_setting_that_needs_a_grant_is_changed_only_by_clients_that_have_it() -> None:
    state = session(config=configured(SETTINGS, VALUES))
    context: Json = {"rights": Rights(frozenset({"sessions"})), "option_grants": {"mode": "admin"}}
    refused = reason(state, session_act("configChanged", config={"mode": "fast"}), **context)
    assert "setting 'mode'" in str(refused)
    assert "'admin'" in str(refused)
    assert reason(state, session_act("configChanged", config={"mode": "slow"}), **context) is None  # as it is
    context["rights"] = Rights()
    assert reason(state, session_act("configChanged", config={"mode": "fast"}), **context) is None
