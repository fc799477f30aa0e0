"""The session reducer: how a session becomes ready, or fails, and how its history is cut."""

from typing import Any

import pytest

from building import (
    act,
    config,
    done,
    in_turn,
    markdown,
    message,
    pending,
    request,
    root_act,
    session,
    term_act,
    turn_act,
)
from reducing import NOW, reduce_session
from rules import rule

ERROR = {"errorType": "NoBackend", "message": "It did not start"}


@rule("S1")
def test_a_session_becomes_ready() -> None:
    assert reduce_session(session(lifecycle="creating"), act("ready")) == session()


@rule("S1")
@pytest.mark.parametrize("status", [33, 65, 97, 2, 255, 2048])
def test_ready_sets_the_status_to_one_and_wipes_every_flag(status: int) -> None:
    assert reduce_session(session(status=status, lifecycle="creating"), act("ready")) == session()


@rule("S1")
def test_ready_does_not_look_at_a_turn_or_at_requests() -> None:
    before = in_turn(pending(), status=24, inputRequests=[request("r1")], lifecycle="creating")
    after = in_turn(pending(), status=1, inputRequests=[request("r1")])
    assert reduce_session(before, act("ready")) == after


@rule("S1")
def test_ready_keeps_the_error_of_an_earlier_failure() -> None:
    before = session(lifecycle="creationFailed", creationError=ERROR)
    assert reduce_session(before, act("ready")) == session(creationError=ERROR)


@rule("S2")
@pytest.mark.parametrize("status", [1, 2, 97])
def test_a_failed_creation_stores_its_error_and_nothing_else(status: int) -> None:
    state = reduce_session(session(lifecycle="creating", status=status), act("creationFailed", error=ERROR))
    assert state == session(lifecycle="creationFailed", creationError=ERROR, status=status)


@rule("S2")
def test_the_error_of_a_failed_creation_is_replaced_as_a_whole() -> None:
    before = session(lifecycle="creationFailed", creationError={**ERROR, "stack": "line 1"})
    state = reduce_session(before, act("creationFailed", error={"errorType": "Other", "message": "No"}))
    assert state["creationError"] == {"errorType": "Other", "message": "No"}


def history(*turns: dict[str, Any], **over: Any) -> dict[str, Any]:
    return session(turns=list(turns), **over)


CUT = {"modifiedAt": 9999}


@rule("S11", "H8")
@pytest.mark.parametrize(
    ("turn_id", "left"),
    [("a", [done("a")]), ("b", [done("a"), done("b")]), ("c", [done("a"), done("b"), done("c")])],
)
def test_turns_up_to_the_named_one_are_kept(turn_id: str, left: list[Any]) -> None:
    state = reduce_session(history(done("a"), done("b"), done("c")), act("truncated", turnId=turn_id))
    assert state == session(turns=left, summary=CUT)


@rule("S11", "G1")
@pytest.mark.parametrize("given", [{}, {"turnId": None}], ids=["absent", "null"])
def test_all_turns_are_removed_when_none_is_named(given: dict[str, Any]) -> None:
    state = reduce_session(history(done("a"), done("b")), act("truncated", **given))
    assert state == session(turns=[], summary=CUT)


@rule("S11")
def test_the_first_turn_with_the_id_is_the_cut() -> None:
    twice = done("a", markdown("m", "first")), done("b"), done("a", markdown("m", "second"))
    state = reduce_session(history(*twice), act("truncated", turnId="a"))
    assert state["turns"] == [done("a", markdown("m", "first"))]


@rule("S11", "H5")
@pytest.mark.parametrize("given", [{}, {"turnId": "a"}], ids=["all", "one"])
def test_the_cut_drops_the_active_turn_and_open_requests(given: dict[str, Any]) -> None:
    before = in_turn(pending(), status=24, turns=[done("a")], inputRequests=[request("r1")])
    state = reduce_session(before, act("truncated", **given))
    assert state == session(turns=[done("a")] if given else [], summary=CUT)


@rule("S11")
def test_a_cut_with_nothing_to_cut_still_counts_as_a_change() -> None:
    assert reduce_session(session(), act("truncated")) == session(summary=CUT)


@rule("S11", "H5", "H7")
def test_the_cut_keeps_the_flags() -> None:
    before = in_turn(status=8 + 32 + 64 + 128, turns=[done("a")])
    assert reduce_session(before, act("truncated"))["summary"]["status"] == 225


@rule("S11", "H5")
def test_the_cut_ends_a_status_of_error() -> None:
    assert reduce_session(history(done("a"), status=2), act("truncated"))["summary"]["status"] == 1


@rule("S11")
def test_the_cut_keeps_everything_pending_and_the_activity() -> None:
    kept = {
        "queuedMessages": [message("q1")],
        "steeringMessage": message("s1"),
        "config": config(mode="fast"),
        "_meta": {"a": 1},
    }
    before = in_turn(summary={"activity": "Reading"}, **kept)
    after = session(summary={"activity": "Reading", **CUT}, **kept)
    assert reduce_session(before, act("truncated")) == after


@rule("S11")
@pytest.mark.parametrize("turn_id", ["zzz", "t1", ""], ids=["unknown", "the active turn", "empty"])
def test_a_cut_at_a_turn_that_is_not_in_the_history_changes_nothing(turn_id: str) -> None:
    before = in_turn(status=4, turns=[done("a")], inputRequests=[request("r1")])
    assert reduce_session(before, act("truncated", turnId=turn_id)) == before


@rule("G3", "H8")
def test_the_time_is_taken_from_the_caller_even_when_it_goes_back() -> None:
    before = session(summary={"modifiedAt": 20_000})
    assert reduce_session(before, act("titleChanged", title="New"))["summary"]["modifiedAt"] == 9999 == NOW


@rule("G3", "H8")
def test_the_clock_does_not_touch_the_time_of_creation() -> None:
    state = reduce_session(session(), act("titleChanged", title="New"))
    assert state["summary"]["createdAt"] == 1000


@rule("G4")
@pytest.mark.parametrize(
    "action",
    [
        act("somethingNew", title="New"),
        turn_act("toolCallRetried", toolCallId="c1"),
        root_act("configChanged", config={"mode": "slow"}),
        term_act("titleChanged", title="New"),
        {"type": "titleChanged", "title": "New"},
    ],
    ids=lambda action: str(action["type"]),
)
def test_an_action_of_another_kind_changes_nothing(action: dict[str, Any]) -> None:
    before = in_turn(pending(), status=4, config=config(mode="fast"))
    assert reduce_session(before, action) == before


@rule("G5")
def test_the_uri_in_the_action_is_not_looked_at() -> None:
    action = {**act("titleChanged", title="New"), "session": "other:/two"}
    assert reduce_session(session(), action) == session(summary={"title": "New", **CUT})


@rule("G1")
def test_null_keys_of_the_state_do_not_come_back() -> None:
    keys = ["activeTurn", "steeringMessage", "queuedMessages", "inputRequests", "config", "customizations"]
    more = ["creationError", "serverTools", "activeClient", "_meta"]
    empty = ["activity", "project", "model", "workingDirectory", "diffs"]
    before = session(summary=dict.fromkeys(empty), **dict.fromkeys([*keys, *more]))
    assert reduce_session(before, act("titleChanged", title="New")) == session(
        summary={"title": "New", **CUT}
    )


@rule("G1")
def test_null_keys_inside_a_turn_do_not_come_back() -> None:
    call = pending(toolClientId=None, _meta=None, toolInput=None, options=None, editable=None)
    before = in_turn(call, status=24, turn={"usage": None}, turns=[done("a", usage=None, error=None)])
    after = in_turn(pending(), status=24, turns=[done("a")], summary={"title": "New", **CUT})
    assert reduce_session(before, act("titleChanged", title="New")) == after


@rule("G1", "H4")
def test_null_requests_and_a_null_turn_count_as_none() -> None:
    before = session(status=8, turns=[done("a")], activeTurn=None, inputRequests=None)
    assert reduce_session(before, act("truncated", turnId="a"))["summary"]["status"] == 1


@rule("G6")
def test_what_we_do_not_know_of_a_session_is_kept() -> None:
    before = in_turn(summary={"x-sum": 1}, turns=[done("a", **{"x-turn": 2})], **{"x-new": {"deep": [3]}})
    summary = {"x-sum": 1, **CUT}
    after = session(summary=summary, turns=[done("a", **{"x-turn": 2})], **{"x-new": {"deep": [3]}})
    assert reduce_session(before, act("truncated", turnId="a")) == after
