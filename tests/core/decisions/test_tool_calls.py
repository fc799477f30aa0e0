"""When a tool call may not be confirmed, updated or completed."""

from typing import Any

import pytest

from agenthost.core.decisions.grants import Grant, Rights
from building import (
    cancelled,
    completed,
    markdown,
    option,
    pending,
    pending_result,
    running,
    streaming,
    text,
)
from chat_building import approve, auth_required, complete, confirm_result, deny, said, show
from deciding import brought, in_turn, mine, reason, session

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
GRANTS: dict[str, Grant | None] = {"bash": "run", "look": None}
ACTIONS = [action for action, _ in NEEDED]


@pytest.mark.parametrize("status", PARTS)
@pytest.mark.parametrize(("action", "needed"), NEEDED)
def test_each_action_needs_a_call_in_the_right_state(action: Any, needed: str, status: str) -> None:
    found = reason(in_turn(PARTS[status](**brought())), action)
    if status == needed:
        assert found is None
    elif action["type"] == "chat/toolCallComplete" and status == "pending-confirmation":
        assert found == "tool call 'c1' is still waiting for confirmation"
    else:
        assert found == f"tool call 'c1' is {status!r}, not {needed!r}"


@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_needs_its_turn_and_its_call(action: Any) -> None:
    part = {"kind": "markdown", "id": "c1", "content": ""}
    assert reason(session(), action) == "no turn is running"
    assert reason(in_turn(mine()), {**action, "turnId": "t9"}) == "the running turn is 't1', not 't9'"
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
    state = in_turn(pending(toolInput="ls", **editable))
    assert reason(state, approve(editedToolInput="rm -rf /")) == expected


@pytest.mark.parametrize("tool_input", [{}, {"toolInput": {"uri": "demo:/one/content/1"}}])
def test_an_input_that_is_not_in_the_call_may_not_be_edited(tool_input: Any) -> None:
    """The reducer would ignore the edit, and the call would run with the input that the user changed."""
    state = in_turn(pending(editable=True, **tool_input))
    expected = "the input of tool call 'c1' may not be edited"
    assert reason(state, approve(editedToolInput="{}")) == expected
    assert reason(state, approve()) is None


def test_what_a_user_suggests_instead_is_of_a_user() -> None:
    state = in_turn(pending())
    assert reason(state, deny(userSuggestion=said("Ask me"))) is None
    forged = deny(userSuggestion=said("Ask me", origin={"kind": "agent"}))
    assert reason(state, forged) == "$.userSuggestion.origin.kind: expected 'user', found 'agent'"


@pytest.mark.parametrize("action", [complete(), show(text("half"))], ids=["complete", "content"])
def test_only_the_client_whose_tool_it_is_reports_on_a_call(action: Any) -> None:
    assert reason(in_turn(running()), action) == "tool call 'c1' is run by the host"
    server = {"kind": "mcp", "customizationId": "me"}
    assert reason(in_turn(running(contributor=server)), action) == "tool call 'c1' is run by the host"
    assert reason(in_turn(running(**brought("you"))), action) == "tool call 'c1' is run by client 'you'"


def test_a_client_cannot_bypass_the_approval_of_its_own_call() -> None:
    """The reducer would complete it: a call that waits counts as one that needed no confirmation."""
    state = in_turn(pending(**brought()))
    assert reason(state, complete()) == "tool call 'c1' is still waiting for confirmation"


def test_a_second_call_with_the_same_id_is_not_completed_too() -> None:
    assert reason(in_turn(mine(), pending()), complete()) == "tool call 'c1' is run by the host"
    assert reason(in_turn(mine(), running()), complete()) == "tool call 'c1' is run by the host"
    assert reason(in_turn(mine(), running()), show()) == "tool call 'c1' is run by the host"
    state = in_turn(mine(), auth_required())
    assert reason(state, complete({"success": False})) == "tool call 'c1' is run by the host"


def test_an_ended_call_with_the_same_id_is_ignored() -> None:
    assert reason(in_turn(completed(), mine()), complete()) is None
    assert reason(in_turn(cancelled(), pending()), approve()) is None
    assert reason(in_turn(pending(), cancelled()), approve()) is None


@pytest.mark.parametrize("client", ["you", "anybody"])
def test_any_client_decides_about_a_call(client: str) -> None:
    assert reason(in_turn(pending(**brought())), approve(), client) is None
    assert reason(in_turn(pending_result(**brought())), confirm_result(approved=True), client) is None


def test_approving_a_call_may_need_a_grant_and_denying_it_needs_none() -> None:
    context: Any = {
        "rights": Rights(frozenset({"sessions"})),
        "call_grant": lambda call: GRANTS[call["toolName"]],
    }
    state = in_turn(pending(toolName="bash"))
    refused = str(reason(state, approve(), **context))
    assert "approving 'bash'" in refused
    assert "'run'" in refused
    assert reason(state, deny(), **context) is None
    assert reason(in_turn(pending(toolName="look")), approve(), **context) is None
