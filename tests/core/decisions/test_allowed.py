"""What is allowed: an example of every action, and what it does."""

import pytest

from agenthost.core.decisions import RULES
from agenthost.wire.ahp.actions import CLIENT_ACTIONS
from deciding import ALLOWED, Example, reason
from reducing import reduced


def label(example: Example) -> str:
    return str(example.action["type"])


def test_there_is_a_rule_for_each_action_that_a_client_may_dispatch_and_no_other() -> None:
    assert set(RULES) == CLIENT_ACTIONS
    assert len(RULES) == 26


def test_there_is_an_example_of_each() -> None:
    assert {example.action["type"] for example in ALLOWED} == CLIENT_ACTIONS


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_it_is_not_refused(example: Example) -> None:
    assert reason(example.state, example.action) is None


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_keys_that_nobody_knows_are_no_reason(example: Example) -> None:
    assert reason(example.state, {**example.action, "x-new": {"a": [None]}}) is None


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_it_changes_the_state(example: Example) -> None:
    after = reduced(example.kind, example.state, example.action)
    assert (after != example.state) == (example.action["type"] != "terminal/input")
