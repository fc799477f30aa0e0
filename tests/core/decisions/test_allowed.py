"""What is allowed: an example of every action, and what it does."""

import pytest

from agenthost.core.decisions import RULES, TRANSLATED
from agenthost.wire.ahp.actions import CLIENT_ACTIONS
from chat_building import session_act
from deciding import ALLOWED, Example, Json, reason, reduced, session

NOT_SERVED = {
    "annotations/entryRemoved",
    "annotations/entrySet",
    "annotations/removed",
    "annotations/set",
    "annotations/updated",
    "automation/createRequested",
    "automation/removed",
    "automation/updateRequested",
    "automationRun/cancelRequested",
    "changeset/filesReviewChanged",
    "session/mcpServerBackgroundRequested",
    "session/mcpServerStartRequested",
    "session/mcpServerStopRequested",
}
"""What clients may dispatch where it is served."""

DIRECTORIES = [
    session_act("workingDirectorySet", directory="file:///a"),
    session_act("workingDirectoryRemoved", directory="file:///a"),
    session_act("workingDirectoryReplaced", directory="file:///a", replacement="file:///b"),
]


def label(example: Example) -> str:
    return str(example.action["type"])


def test_there_is_a_rule_for_each_action_that_a_client_may_dispatch_and_no_other() -> None:
    assert set(RULES) - TRANSLATED == CLIENT_ACTIONS - NOT_SERVED
    assert NOT_SERVED < CLIENT_ACTIONS
    assert TRANSLATED.isdisjoint(CLIENT_ACTIONS)
    assert len(RULES) == 35


def test_there_is_an_example_of_each_that_is_allowed_somewhere() -> None:
    never = {action["type"] for action in DIRECTORIES}
    assert {example.action["type"] for example in ALLOWED} == set(RULES) - TRANSLATED - never


@pytest.mark.parametrize("kind", sorted(NOT_SERVED))
def test_what_is_not_served_is_refused_like_what_only_the_host_may_do(kind: str) -> None:
    action = {"type": kind, "id": "a"}
    assert reason(session(), action) == f"{kind!r} is not an action that a client may dispatch"


@pytest.mark.parametrize("action", DIRECTORIES, ids=lambda action: action["type"])
def test_working_directories_are_settled_when_a_session_is_created(action: Json) -> None:
    expected = "the working directories of a session cannot be changed"
    assert reason(session(workingDirectories=["file:///a"]), action) == expected


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_each_example_is_allowed(example: Example) -> None:
    assert reason(example.state, example.action) is None


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_unknown_keys_are_no_reason_to_refuse(example: Example) -> None:
    assert reason(example.state, {**example.action, "x-new": {"a": [None]}}) is None


@pytest.mark.parametrize("example", ALLOWED, ids=label)
def test_each_example_changes_the_state(example: Example) -> None:
    after = reduced(example.state, example.action)
    assert (after != example.state) == (example.action["type"] != "terminal/input")
