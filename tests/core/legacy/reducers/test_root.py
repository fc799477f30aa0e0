"""The root reducer: agents, counts, terminals and host-wide settings."""

from typing import Any

import pytest

from building import act, config, root, root_act, term_act
from reducing import reduce_root
from rules import rule

AGENT = {"provider": "demo", "displayName": "Demo", "description": "Shows things", "models": []}
OTHER = {"provider": "else", "displayName": "Else", "description": "Other things", "models": []}
SHELL = {"resource": "terminal:/a", "title": "A", "claim": {"kind": "client", "clientId": "me"}}
CROWDED = {
    "agents": [AGENT],
    "activeSessions": 3,
    "terminals": [SHELL],
    "config": config(mode="fast"),
    "x-new": {"kept": True},
}


@rule("R1")
def test_agents_are_replaced_as_a_whole() -> None:
    state = reduce_root(CROWDED, root_act("agentsChanged", agents=[OTHER]))
    assert state == {**CROWDED, "agents": [OTHER]}


@rule("R1")
def test_all_agents_may_be_removed() -> None:
    assert reduce_root(CROWDED, root_act("agentsChanged", agents=[]))["agents"] == []


@rule("R1")
def test_the_order_of_agents_is_the_order_of_the_action() -> None:
    assert reduce_root(root(), root_act("agentsChanged", agents=[OTHER, AGENT])) == {"agents": [OTHER, AGENT]}


@rule("R2")
def test_the_number_of_sessions_is_stored() -> None:
    state = reduce_root(CROWDED, root_act("activeSessionsChanged", activeSessions=4))
    assert state == {**CROWDED, "activeSessions": 4}


@rule("R2", "G7")
def test_zero_sessions_is_a_number_like_any_other() -> None:
    state = reduce_root(root(), root_act("activeSessionsChanged", activeSessions=0))
    assert state == {"agents": [], "activeSessions": 0}


@rule("R3")
def test_terminals_are_replaced_as_a_whole() -> None:
    other = {**SHELL, "resource": "terminal:/b", "exitCode": 0}
    state = reduce_root(CROWDED, root_act("terminalsChanged", terminals=[other]))
    assert state == {**CROWDED, "terminals": [other]}


@rule("R3", "G1")
def test_an_empty_list_of_terminals_is_kept_as_an_empty_list() -> None:
    state = reduce_root(CROWDED, root_act("terminalsChanged", terminals=[]))
    assert state == {**CROWDED, "terminals": []}


@rule("R4")
def test_settings_are_merged_into_the_old_values() -> None:
    state = reduce_root(root(config=config(a=1, b=2)), root_act("configChanged", config={"b": 3, "c": 4}))
    assert state == root(config=config(a=1, b=3, c=4))


@rule("R4")
def test_settings_are_merged_at_the_top_level_only() -> None:
    before = root(config=config(deep={"a": 1, "b": 2}))
    state = reduce_root(before, root_act("configChanged", config={"deep": {"b": 3}}))
    assert state == root(config=config(deep={"b": 3}))


@rule("R4")
def test_settings_are_replaced_when_asked_for() -> None:
    state = reduce_root(root(config=config(a=1)), root_act("configChanged", config={"b": 2}, replace=True))
    assert state == root(config=config(b=2))


@rule("R4")
def test_settings_may_be_replaced_by_none_at_all() -> None:
    state = reduce_root(root(config=config(a=1)), root_act("configChanged", config={}, replace=True))
    assert state == root(config=config())


@rule("R4", "G7", "G1")
@pytest.mark.parametrize("replace", [False, None])
def test_settings_are_merged_unless_replace_is_true(replace: Any) -> None:
    action = root_act("configChanged", config={"b": 2}, replace=replace)
    assert reduce_root(root(config=config(a=1)), action) == root(config=config(a=1, b=2))


@rule("R4", "G7")
@pytest.mark.parametrize("value", ["", False, [], {}, 0])
def test_an_empty_setting_is_a_setting(value: Any) -> None:
    state = reduce_root(root(config=config(a=1)), root_act("configChanged", config={"a": value}))
    assert state == root(config=config(a=value))


@rule("R4")
@pytest.mark.parametrize("replace", [True, False])
def test_settings_without_a_config_are_ignored(replace: bool) -> None:
    state = reduce_root(root(), root_act("configChanged", config={"a": 1}, replace=replace))
    assert state == root()


@rule("R4", "G1")
def test_a_config_of_null_counts_as_missing() -> None:
    state = reduce_root(root(config=None), root_act("configChanged", config={"a": 1}))
    assert state.get("config") is None


@rule("R4", "G6")
def test_what_we_do_not_know_of_a_config_is_kept() -> None:
    before = root(config={**config(a=1), "x-new": 7})
    state = reduce_root(before, root_act("configChanged", config={"a": 2}, replace=True))
    assert state == root(config={**config(a=2), "x-new": 7})


@rule("G1")
def test_null_keys_of_the_state_do_not_come_back() -> None:
    before = root(activeSessions=None, terminals=None, config=None)
    assert reduce_root(before, root_act("agentsChanged", agents=[AGENT])) == {"agents": [AGENT]}


@rule("G4")
@pytest.mark.parametrize(
    "action",
    [
        root_act("somethingNew", agents=[]),
        {"type": "agentsChanged", "agents": []},
        act("configChanged", config={"mode": "slow"}),
        term_act("titleChanged", title="New"),
    ],
    ids=lambda action: str(action["type"]),
)
def test_an_action_of_another_kind_changes_nothing(action: dict[str, Any]) -> None:
    assert reduce_root(CROWDED, action) == CROWDED
