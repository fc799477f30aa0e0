"""What holds for every state and every log of actions."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.core.legacy.reducers import REDUCERS, Live, ResourceKind
from building import in_turn, terminal
from logs import actions, states
from reducing import NOW, reduced
from strategies import json_values

KINDS: tuple[ResourceKind, ...] = ("root", "session", "terminal")


def replay(kind: ResourceKind, start: Any, log: list[Any]) -> Any:
    live = Live(start)
    for action in log:
        live = REDUCERS[kind](live, action, NOW)
    return live.state


@pytest.mark.parametrize("partial", [False, True], ids=["whole", "partial"])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_no_log_makes_a_reducer_raise_or_change_its_input(
    kind: ResourceKind, partial: bool, data: st.DataObject
) -> None:
    start = data.draw(states(kind, partial=partial))
    log = data.draw(st.lists(actions(kind, partial=partial), max_size=8))
    reduced(kind, start, *log)  # asserts that its inputs stay as they are


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_rejoining_anywhere_gives_the_same_state(kind: ResourceKind, data: st.DataObject) -> None:
    start = data.draw(states(kind))
    log = data.draw(st.lists(actions(kind), max_size=8))
    cut = data.draw(st.integers(0, len(log)))
    assert replay(kind, replay(kind, start, log[:cut]), log[cut:]) == replay(kind, start, log)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_versions_that_diverge_do_not_affect_each_other(kind: ResourceKind, data: st.DataObject) -> None:
    start = data.draw(states(kind))
    shared, one, other = (data.draw(st.lists(actions(kind), max_size=4)) for _ in range(3))
    parting = Live(deepcopy(start))
    for action in shared:
        parting = REDUCERS[kind](parting, action, NOW)
    ends = []
    for branch in (one, other):
        live = parting
        for action in branch:
            live = REDUCERS[kind](live, action, NOW)
        ends.append(live)
    assert [end.state for end in ends] == [replay(kind, start, shared + branch) for branch in (one, other)]
    assert parting.state == replay(kind, start, shared)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_an_action_of_another_scope_changes_nothing(kind: ResourceKind, data: st.DataObject) -> None:
    start = data.draw(states(kind))
    others = [other for other in KINDS if other != kind]
    foreign = data.draw(st.lists(st.sampled_from(others).flatmap(actions), max_size=4))
    assert replay(kind, start, foreign) == start


def anything_under(*keys: str) -> SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys), json_values, max_size=4)


odd_calls = anything_under("toolCallId", "invocationMessage", "toolInput").map(
    lambda call: {**call, "status": "dreaming"}
)
odd_parts = st.lists(
    st.builds(
        lambda rest, kind, call: {**rest, "kind": kind, "type": kind, "toolCall": call},
        anything_under("id", "content", "value", "commandId", "x"),
        st.sampled_from(["hologram", "toolCall", ""]),
        odd_calls,
    ),
    max_size=4,
)
"""Parts of kinds, and calls in states, that nobody knows: anything may be in them."""


@given(parts=odd_parts, log=st.lists(actions("session"), max_size=6))
def test_unknown_parts_never_make_the_session_reducer_raise(parts: list[Any], log: list[Any]) -> None:
    result = reduced("session", in_turn(*parts, turn={"id": "a"}), *log)
    if "activeTurn" in result and not any(action["type"] == "session/turnStarted" for action in log):
        assert result["activeTurn"]["responseParts"][: len(parts)] == parts


@given(parts=odd_parts, log=st.lists(actions("terminal"), max_size=6))
def test_unknown_parts_are_kept_by_the_terminal_reducer(parts: list[Any], log: list[Any]) -> None:
    result = reduced("terminal", terminal(*parts), *log)
    if not any(action["type"] == "terminal/cleared" for action in log):
        assert result["content"][: len(parts)] == parts
