"""The session reducer as a matrix: exactly which parts of a crowded session each of the 38 actions changes.

The status of that session is deliberately out of date (4, which no reducer ever sets, and three flags), so
that recomputing it always shows.
"""

from copy import deepcopy
from typing import Any

import pytest

from building import (
    act,
    approve,
    broken,
    call_act,
    complete,
    config,
    confirm_result,
    done,
    draft,
    in_turn,
    markdown,
    message,
    pending,
    pending_result,
    plugin,
    ready,
    reasoning,
    reference,
    request,
    root,
    root_act,
    running,
    show,
    start,
    started,
    streaming,
    term_act,
    terminal,
    tool,
    turn_act,
    unclassified,
)
from reducing import reduce_root, reduce_session, reduce_terminal
from rules import rule

Json = dict[str, Any]
ERROR = {"errorType": "Boom", "message": "It broke"}
STALE = 4 + 32 + 64 + 128


def crowded() -> Json:
    """Build a session in which every action finds something to change."""
    return in_turn(
        markdown("m1", "a"),
        reasoning("r1", "b"),
        streaming(),
        pending(call="c2"),
        running(call="c3"),
        pending_result(call="c4"),
        status=STALE,
        lifecycle="creating",
        summary={
            "activity": "Reading",
            "model": {"id": "a"},
            "diffs": [],
            "project": {"uri": "p", "displayName": "P"},
        },
        turns=[done("a"), done("b")],
        inputRequests=[request("r1", answers={"q": draft("a")}), request("r2")],
        steeringMessage=message("s1"),
        queuedMessages=[message("q1"), message("q2")],
        config=config(mode="fast"),
        customizations=[plugin("p:/1")],
        activeClient={"clientId": "me", "tools": []},
        serverTools=[tool("s")],
        _meta={"a": 1},
    )


TURN = {"activeTurn"}
END = {"activeTurn", "turns", "inputRequests"}

# Per action: the status after it, whether it stamps the time, and all else that is different after it.
MATRIX: list[tuple[Json, int, bool, set[str]]] = [
    (act("ready"), 1, False, {"lifecycle"}),
    (act("creationFailed", error=ERROR), 228, False, {"lifecycle", "creationError"}),
    (started(), 216, True, TURN),
    (started(queuedMessageId="q1"), 216, True, TURN | {"queuedMessages"}),
    (started(queuedMessageId="s1"), 216, True, TURN | {"steeringMessage"}),
    (turn_act("delta", partId="m1", content="!"), 228, False, TURN),
    (turn_act("reasoning", partId="r1", content="!"), 228, False, TURN),
    (turn_act("responsePart", part=markdown("m2")), 228, False, TURN),
    (turn_act("usage", usage={"inputTokens": 1}), 228, False, TURN),
    (start(), 228, False, TURN),
    (call_act("toolCallDelta", content="x"), 228, False, TURN),
    (show(toolCallId="c3"), 228, False, TURN),
    (ready(), 248, False, TURN),
    (approve(toolCallId="c2"), 248, False, TURN),
    (complete(toolCallId="c3"), 248, False, TURN),
    (confirm_result(approved=True, toolCallId="c4"), 248, False, TURN),
    (turn_act("turnComplete"), 225, True, END),
    (turn_act("turnCancelled"), 225, True, END),
    (broken(), 226, True, END),
    (act("truncated", turnId="a"), 225, True, END),
    (act("inputRequested", request=request("r3")), 216, True, {"inputRequests"}),
    (act("inputAnswerChanged", requestId="r1", questionId="q"), 228, True, {"inputRequests"}),
    (act("inputCompleted", requestId="r1", response="accept"), 248, True, {"inputRequests"}),
    (act("titleChanged", title="New"), 228, True, {"summary.title"}),
    (act("modelChanged", model={"id": "b"}), 228, True, {"summary.model"}),
    (act("configChanged", config={"mode": "slow"}), 228, True, {"config"}),
    (act("isReadChanged", isRead=False), 196, False, set()),
    (act("isArchivedChanged", isArchived=False), 164, False, set()),
    (act("activityChanged", activity="Writing"), 228, False, {"summary.activity"}),
    (act("diffsChanged", diffs=[{"diff": {"added": 1}}]), 228, False, {"summary.diffs"}),
    (act("metaChanged", _meta={"b": 2}), 228, False, {"_meta"}),
    (act("serverToolsChanged", tools=[]), 228, False, {"serverTools"}),
    (act("activeClientChanged", activeClient=None), 228, False, {"activeClient"}),
    (act("activeClientToolsChanged", tools=[tool("a")]), 228, False, {"activeClient"}),
    (act("customizationsChanged", customizations=[]), 228, False, {"customizations"}),
    (act("customizationToggled", uri="p:/1", enabled=False), 228, False, {"customizations"}),
    (act("customizationUpdated", customization=reference("p:/2")), 228, False, {"customizations"}),
    (
        act("pendingMessageSet", kind="queued", id="q3", userMessage={"text": "x"}),
        228,
        False,
        {"queuedMessages"},
    ),
    (
        act("pendingMessageSet", kind="steering", id="s2", userMessage={"text": "x"}),
        228,
        False,
        {"steeringMessage"},
    ),
    (act("pendingMessageRemoved", kind="queued", id="q1"), 228, False, {"queuedMessages"}),
    (act("pendingMessageRemoved", kind="steering", id="s1"), 228, False, {"steeringMessage"}),
    (act("queuedMessagesReordered", order=["q2"]), 228, False, {"queuedMessages"}),
]
ACTIONS = [row[0] for row in MATRIX]


def name(value: object) -> str | None:
    return str(value["type"]) if isinstance(value, dict) else None


def differences(before: Json, after: Json) -> set[str]:
    """Name the keys whose values differ or that only one side has."""
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@rule("H4", "H5", "H6", "H7", "H8", "H9", *(f"S{number}" for number in range(1, 40)))
@pytest.mark.parametrize(("action", "status", "stamps", "changed"), MATRIX, ids=name)
def test_an_action_changes_its_own_part_of_the_session_only(
    action: Json, status: int, stamps: bool, changed: set[str]
) -> None:
    before = crowded()
    after = reduce_session(before, action)
    summaries = differences(before["summary"], after["summary"]) - {"status", "modifiedAt"}
    parts = differences(before, after) - {"summary"}
    assert after["summary"]["status"] == status
    assert after["summary"]["modifiedAt"] == (9999 if stamps else 2000)
    assert parts | {f"summary.{key}" for key in summaries} == changed


@rule("G4")
def test_the_matrix_knows_all_session_actions() -> None:
    assert len({action["type"] for action in ACTIONS}) == 38


@rule("H9", "S11", "S3")
@pytest.mark.parametrize(
    ("action", "present"),
    [
        (started(), {"activeTurn", "inputRequests"}),
        (turn_act("turnComplete"), set()),
        (turn_act("turnCancelled"), set()),
        (broken(), set()),
        (act("truncated", turnId="b"), set()),
    ],
    ids=name,
)
def test_turn_and_requests_go_together(action: Json, present: set[str]) -> None:
    after = reduce_session(crowded(), action)
    assert {"activeTurn", "inputRequests"} & after.keys() == present


@rule("G2")
@pytest.mark.parametrize("action", ACTIONS, ids=name)
def test_neither_the_session_nor_the_action_is_changed(action: Json) -> None:
    state, told = crowded(), deepcopy(action)
    reduce_session(state, told)
    assert state == crowded()
    assert told == action


@rule("G2")
@pytest.mark.parametrize("action", ACTIONS, ids=name)
def test_the_same_action_on_the_same_session_gives_the_same_result(action: Json) -> None:
    state = crowded()
    assert reduce_session(state, action) == reduce_session(state, action)


@rule("G2")
def test_a_result_does_not_change_with_what_comes_after_it() -> None:
    first = reduce_session(crowded(), turn_act("delta", partId="m1", content="!"))
    kept = deepcopy(first)
    for action in ACTIONS:
        reduce_session(first, action)
    assert first == kept


@rule("G2")
def test_the_other_reducers_do_not_change_what_they_are_given() -> None:
    host, shell = root(config=config(a=1)), terminal(unclassified("a"))
    reduce_root(host, root_act("configChanged", config={"a": 2}))
    reduce_terminal(shell, term_act("data", data="b"), term_act("cleared"))
    assert (host, shell) == (root(config=config(a=1)), terminal(unclassified("a")))


@rule("G5")
@pytest.mark.parametrize("action", ACTIONS, ids=name)
def test_no_action_looks_at_the_session_it_names(action: Json) -> None:
    elsewhere = {**action, "session": "other:/two"}
    assert reduce_session(crowded(), elsewhere) == reduce_session(crowded(), action)


@rule("G1")
@pytest.mark.parametrize("action", ACTIONS, ids=name)
def test_no_result_holds_a_null(action: Json) -> None:
    assert not any(found is None for found in values(reduce_session(crowded(), action)))


def values(value: Any) -> list[Any]:
    """List a JSON value and everything inside it."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(deep for item in inside for deep in values(item))]
