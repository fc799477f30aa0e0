"""What holds for every decision: it never raises, and what it lets pass changes the state."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.decisions import cleaned
from agenthost.core.reducers import ResourceKind
from agenthost.wire.ahp.actions import CLIENT_ACTIONS
from building import session
from deciding import ALLOWED, ME, Example, Json, reason
from logs import POOL, actions, states
from reducing import reduced
from strategies import json_objects, json_values

KINDS: tuple[ResourceKind, ...] = ("root", "session", "terminal")

RESTATING = {
    "session/truncated",  # after the last turn, with none running
    "session/toolCallContentChanged",
    "session/inputAnswerChanged",
    "session/pendingMessageSet",
    "session/queuedMessagesReordered",
    "session/titleChanged",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/modelChanged",
    "session/activeClientChanged",
    "session/activeClientToolsChanged",
    "session/customizationToggled",
    "session/configChanged",
    "root/configChanged",
    "terminal/input",  # never changes the state
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cleared",
}
"""What may say once more what is true already. All others have to change the state, beside its time."""


def untimed(state: Json) -> Json:
    summary = {key: value for key, value in state.get("summary", {}).items() if key != "modifiedAt"}
    return {**state, "summary": summary}


def assert_takes_effect(kind: ResourceKind, state: Json, action: Any, client: str = ME) -> None:
    if reason(state, action, client) is not None:
        return
    taken: Any = cleaned(action)
    after = reduced(kind, state, taken)
    assert taken["type"] in RESTATING or untimed(after) != untimed(state)


@pytest.mark.parametrize("example", ALLOWED, ids=lambda example: example.action["type"])
def test_what_is_allowed_anywhere_takes_effect_there(example: Example) -> None:
    for other in ALLOWED:
        if other.kind == example.kind:
            assert_takes_effect(example.kind, other.state, example.action)


@pytest.mark.parametrize("example", ALLOWED, ids=lambda example: example.action["type"])
def test_what_is_allowed_and_always_takes_effect_is_not_allowed_twice(example: Example) -> None:
    after = reduced(example.kind, example.state, example.action)
    if example.action["type"] not in RESTATING:
        assert reason(after, example.action) is not None


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_let_pass_takes_effect(kind: ResourceKind, data: st.DataObject) -> None:
    state = data.draw(states(kind))
    action = data.draw(actions(kind))
    assert_takes_effect(kind, state, action, data.draw(st.sampled_from(POOL)))


@given(data=st.data(), example=st.sampled_from(ALLOWED))
def test_an_action_with_anything_in_it_is_refused_or_takes_effect(
    data: st.DataObject, example: Example
) -> None:
    keys = st.sampled_from(sorted(example.action.keys() - {"type"}))
    junk = data.draw(st.dictionaries(keys, json_values, max_size=2))
    assert_takes_effect(example.kind, example.state, {**example.action, **junk})


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_no_action_and_no_state_makes_a_decision_raise(kind: ResourceKind, data: st.DataObject) -> None:
    state = data.draw(states(kind, partial=True))
    action = data.draw(actions(kind, partial=True))
    reason(state, action, data.draw(st.sampled_from(POOL)))


@given(action=json_objects, kind=st.sampled_from([*sorted(CLIENT_ACTIONS), "x"]) | json_values)
def test_no_object_makes_a_decision_raise(action: Json, kind: Any) -> None:
    assert reason(session(), action) is not None
    reason(session(), {**action, "type": kind})
