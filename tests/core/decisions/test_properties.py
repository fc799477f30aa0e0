"""What holds for every decision: it never raises, and what it allows changes the state."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.core.conversation import Conversation
from agenthost.core.decisions import cleaned
from agenthost.wire.ahp.actions import CLIENT_ACTIONS, ChatAction, RootAction, SessionAction, TerminalAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.terminal import TerminalState
from deciding import ALLOWED, ME, Example, Json, reason, reduced, session
from logs import POOL, with_pooled_ids
from strategies import json_objects, json_values, values_of

ACTIONS = {
    "root": RootAction,
    "session": SessionAction,
    "chat": ChatAction,
    "terminal": TerminalAction,
}
TIME = "2026-01-02T03:04:05.000Z"

RESTATING = {
    "chat/truncated",  # after the last turn, with none running
    "chat/toolCallContentChanged",
    "chat/inputAnswerChanged",
    "chat/pendingMessageSet",
    "chat/queuedMessagesReordered",
    "chat/draftChanged",
    "chat/workingDirectorySet",
    "chat/isReadChanged",
    "chat/isArchivedChanged",
    "session/titleChanged",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/activeClientSet",
    "session/customizationToggled",
    "session/configChanged",
    "root/configChanged",
    "terminal/input",  # never changes the state
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cleared",
}
"""What may say once more what is true already. All others have to change the state."""


def states(kind: str, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw what actions of this kind are decided on; `partial` leaves required keys out at times."""

    def drawn(of: Any) -> SearchStrategy[Any]:
        return values_of(of, unknown_keys=True, partial=partial).map(with_pooled_ids)

    if kind in ("session", "chat"):
        return st.builds(Conversation, drawn(SessionState), drawn(ChatState))
    return drawn(RootState if kind == "root" else TerminalState)


def actions(kind: str, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw well-typed actions, now and then of a type that nobody knows."""
    unknown = st.just({"type": f"{kind}/notYetInvented", "turnId": "a"})
    known = values_of(ACTIONS[kind], unknown_keys=True, partial=partial).filter(lambda one: "type" in one)
    return (known | unknown).map(with_pooled_ids).map(plausible)


def plausible(action: Any) -> Any:
    """Return the action with a time and an author that a client may give; few random ones are."""
    if action["type"] == "chat/turnStarted" and "startedAt" in action and len(action["startedAt"]) % 2:
        action = {**action, "startedAt": TIME}
    message = action.get("message")
    if type(message) is dict and "origin" in message and len(str(message.get("text"))) % 2:
        action = {**action, "message": {**message, "origin": {"kind": "user"}}}
    return action


def assert_takes_effect(state: Any, action: Any, client: str = ME) -> None:
    if reason(state, action, client) is not None:
        return
    taken: Any = cleaned(action)
    after = reduced(state, taken)
    assert taken["type"] in RESTATING or after != state


@pytest.mark.parametrize("example", ALLOWED, ids=lambda example: example.action["type"])
def test_what_is_allowed_anywhere_takes_effect_there(example: Example) -> None:
    for other in ALLOWED:
        if other.kind == example.kind:
            assert_takes_effect(other.state, example.action)


@pytest.mark.parametrize("example", ALLOWED, ids=lambda example: example.action["type"])
def test_what_is_allowed_and_always_takes_effect_is_not_allowed_twice(example: Example) -> None:
    after = reduced(example.state, example.action)
    if example.action["type"] not in RESTATING:
        assert reason(after, example.action) is not None


@pytest.mark.parametrize("kind", sorted(ACTIONS))
@given(data=st.data())
def test_an_allowed_action_takes_effect(kind: str, data: st.DataObject) -> None:
    state = data.draw(states(kind))
    action = data.draw(actions(kind))
    assert_takes_effect(state, action, data.draw(st.sampled_from(POOL)))


@given(data=st.data(), example=st.sampled_from(ALLOWED))
def test_an_action_with_anything_in_it_is_refused_or_takes_effect(
    data: st.DataObject, example: Example
) -> None:
    keys = st.sampled_from([*sorted(example.action.keys() - {"type"}), "turnId"])
    junk = data.draw(st.dictionaries(keys, json_values, max_size=2))
    assert_takes_effect(example.state, {**example.action, **junk})


@pytest.mark.parametrize("kind", sorted(ACTIONS))
@given(data=st.data())
def test_no_action_and_no_state_makes_a_decision_raise(kind: str, data: st.DataObject) -> None:
    state = data.draw(states(kind, partial=True))
    action = data.draw(actions(kind, partial=True))
    reason(state, action, data.draw(st.sampled_from(POOL)), is_translated=data.draw(st.booleans()))


@given(action=json_objects, kind=st.sampled_from([*sorted(CLIENT_ACTIONS), "x"]) | json_values)
def test_no_object_makes_a_decision_raise(action: Json, kind: Any) -> None:
    assert reason(session(), action) is not None
    reason(session(), {**action, "type": kind})
