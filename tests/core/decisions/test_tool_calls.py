"""When a tool call may not be decided about, shown at work or completed."""

from typing import Any

import pytest

from building import (
    approve,
    cancelled,
    complete,
    completed,
    confirm_result,
    deny,
    in_turn,
    markdown,
    option,
    pending,
    pending_result,
    running,
    session,
    show,
    streaming,
    text,
)
from deciding import ME, mine, reason

PARTS = {
    "streaming": streaming,
    "pending-confirmation": pending,
    "running": running,
    "pending-result-confirmation": pending_result,
    "completed": completed,
    "cancelled": cancelled,
}
# What each action says when a call of mine is in a state where it does not apply.
NEEDED = [
    (approve(), "pending-confirmation"),
    (deny(), "pending-confirmation"),
    (confirm_result(approved=True), "pending-result-confirmation"),
    (confirm_result(approved=False), "pending-result-confirmation"),
    (complete(), "running"),
    (show(text("half")), "running"),
]
ACTIONS = [action for action, _ in NEEDED]


@pytest.mark.parametrize("status", PARTS)
@pytest.mark.parametrize(("action", "needed"), NEEDED)
def test_each_action_needs_a_call_in_the_right_state(action: Any, needed: str, status: str) -> None:
    found = reason(in_turn(PARTS[status](toolClientId=ME)), action)
    if status == needed:
        assert found is None
    elif action["type"] == "session/toolCallComplete" and status == "pending-confirmation":
        assert found == "tool call 'c1' still waits for confirmation"
    else:
        assert found == f"tool call 'c1' is {status!r}, not {needed!r}"


@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_needs_its_turn_and_its_call(action: Any) -> None:
    part = {"kind": "markdown", "id": "c1", "content": ""}
    assert reason(session(), action) == "no turn is running"
    assert reason(in_turn(mine()), {**action, "turnId": "t9"}) == "the turn that is running is 't1', not 't9'"
    assert reason(in_turn(part, mine()), {**action, "toolCallId": "c9"}) == "turn 't1' has no tool call 'c9'"
    assert reason(in_turn(markdown("c1")), action) == "turn 't1' has no tool call 'c1'"


OPTIONS = [option("y"), option("n", "deny"), option("z", "someday")]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (approve(selectedOptionId="q"), "tool call 'c1' offers no option 'q'"),
        (approve(selectedOptionId=""), "tool call 'c1' offers no option ''"),
        (approve(selectedOptionId="n"), "option 'n' is to deny, but the answer is to approve"),
        (approve(selectedOptionId="z"), "option 'z' is to someday, but the answer is to approve"),
        (deny(selectedOptionId="q"), "tool call 'c1' offers no option 'q'"),
        (deny(selectedOptionId="y"), "option 'y' is to approve, but the answer is to deny"),
    ],
)
def test_an_option_has_to_be_on_offer_and_to_mean_what_the_answer_says(action: Any, expected: str) -> None:
    assert reason(in_turn(pending(options=OPTIONS)), action) == expected


def test_a_call_without_options_takes_none() -> None:
    assert reason(in_turn(pending()), approve(selectedOptionId="y")) == "tool call 'c1' offers no option 'y'"


def test_a_call_with_options_may_be_answered_without() -> None:
    assert reason(in_turn(pending(options=OPTIONS)), approve()) is None


@pytest.mark.parametrize("editable", [{}, {"editable": False}])
def test_input_may_be_edited_only_where_that_is_offered(editable: Any) -> None:
    expected = "the input of tool call 'c1' may not be edited"
    assert reason(in_turn(pending(**editable)), approve(editedToolInput="rm -rf /")) == expected


@pytest.mark.parametrize("action", [complete(), show(text("half"))], ids=["complete", "content"])
def test_only_the_client_whose_tool_it_is_reports_on_a_call(action: Any) -> None:
    assert reason(in_turn(running()), action) == "tool call 'c1' is run by the host"
    assert reason(in_turn(running(toolClientId="you")), action) == "tool call 'c1' is run by client 'you'"


def test_a_call_of_mine_cannot_go_round_the_approval() -> None:
    """The reducer would complete it: a call that waits counts as one that needed no confirmation."""
    state = in_turn(pending(toolClientId=ME))
    assert reason(state, complete()) == "tool call 'c1' still waits for confirmation"


def test_a_second_call_of_the_same_id_is_not_completed_along() -> None:
    assert reason(in_turn(mine(), pending()), complete()) == "tool call 'c1' is run by the host"
    assert reason(in_turn(mine(), running()), complete()) == "tool call 'c1' is run by the host"
    assert reason(in_turn(mine(), running()), show()) == "tool call 'c1' is run by the host"


def test_an_ended_call_of_the_same_id_does_not_stand_in_the_way() -> None:
    assert reason(in_turn(completed(), mine()), complete()) is None
    assert reason(in_turn(cancelled(), pending()), approve()) is None
    assert reason(in_turn(pending(), cancelled()), approve()) is None


@pytest.mark.parametrize("client", ["you", "anybody"])
def test_any_client_decides_about_a_call(client: str) -> None:
    assert reason(in_turn(pending(toolClientId=ME)), approve(), client) is None
    assert reason(in_turn(pending_result(toolClientId=ME)), confirm_result(approved=True), client) is None
