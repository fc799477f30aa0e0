"""The root reducer: agents, counts, terminals and host-wide settings."""

from typing import Any

import pytest

from building import config, root, root_act
from chat_building import session_act
from folding import changes_nothing, fold
from rules import rule

AGENT = {"provider": "demo", "displayName": "Demo", "description": "Shows things", "models": []}
SHELL = {"resource": "t:/a", "title": "A", "claim": {"kind": "client", "clientId": "me"}}
CROWDED = {"agents": [AGENT], "activeSessions": 3, "terminals": [SHELL], "config": config(a=1), "x-new": 1}


@rule("1.0/R1", "1.0/R2", "1.0/R3", "1.0/G5")
@pytest.mark.parametrize(
    ("key", "value"), [("agents", []), ("activeSessions", 0), ("terminals", [SHELL, SHELL])]
)
def test_a_field_is_replaced_as_a_whole(key: str, value: Any) -> None:
    state = fold("root", CROWDED, root_act(f"{key}Changed", **{key: value}))
    assert state == {**CROWDED, key: value}


@rule("1.0/R4", "1.0/G6")
def test_settings_are_merged_or_replaced() -> None:
    before = root(config={**config(a={"b": 1}, c=1), "x-new": 1})
    state = fold("root", before, root_act("configChanged", config={"a": {"d": 1}}, replace=False))
    assert state["config"] == {**config(a={"d": 1}, c=1), "x-new": 1}
    state = fold("root", before, root_act("configChanged", config={}, replace=True))
    assert state["config"] == {**config(), "x-new": 1}


@rule("1.0/R4", "1.0/G1", "1.0/G2")
def test_settings_without_a_config_are_ignored() -> None:
    for before in (root(), root(config=None)):
        assert changes_nothing("root", before, root_act("configChanged", config={"a": 1}, replace=True))


@rule("1.0/G3")
def test_an_action_of_another_kind_changes_nothing() -> None:
    assert changes_nothing("root", CROWDED, root_act("somethingNew"), session_act("configChanged", config={}))
