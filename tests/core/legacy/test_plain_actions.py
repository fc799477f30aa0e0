"""Actions that need no form, as the chat before them shows: they are most of what happens."""

from typing import Any

import pytest
from hypothesis import given

from agenthost.core.legacy.forms import DEFAULT, is_plain, legacy_form
from building import SESSION, TURN, markdown, tool_call
from chat_building import chat, complete, in_turn, ready, show, started
from session_histories import History, histories

IDLE: Any = chat()


def test_a_turn_that_starts_in_an_idle_chat_is_plain() -> None:
    busy: Any = in_turn()
    assert is_plain(started(), IDLE)
    assert not is_plain(started(), busy)
    assert not is_plain({"type": "chat/turnResume", "turnId": TURN}, IDLE)


@pytest.mark.parametrize(
    ("action", "status", "expected"),
    [
        (ready(), "streaming", True),
        (ready(), "running", False),
        (ready(), "pending-confirmation", False),
        (complete(), "running", True),
        (complete(), "pending-confirmation", True),
        (complete(), "auth-required", False),
        (show(), "running", False),
    ],
)
def test_an_action_on_a_call_is_plain_in_these_states_of_the_call(
    action: Any, status: str, *, expected: bool
) -> None:
    other = tool_call("completed", call="c0")
    before: Any = in_turn(markdown("p", "Well"), other, tool_call(status, invocationMessage="x"))
    assert is_plain(action, before) is expected
    assert not is_plain({**action, "turnId": "t9"}, before)
    assert not is_plain({**action, "toolCallId": "c9"}, before)
    assert not is_plain(action, IDLE)


@given(history=histories())
def test_what_is_plain_has_no_form(history: History) -> None:
    for step in history.steps:
        if step.action["type"].startswith("chat/") and is_plain(step.action, step.chat_before):
            states = (step.session_before, step.session, step.chat_before, step.chat)
            assert legacy_form(step.action, *states, SESSION) is DEFAULT, step.action
