"""The session reducer: what the end of a turn leaves behind, complete, cancelled or broken."""

from typing import Any

import pytest

from building import (
    broken,
    cancelled,
    completed,
    done,
    in_turn,
    markdown,
    message,
    option,
    pending,
    pending_result,
    reasoning,
    request,
    running,
    session,
    status,
    streaming,
    text,
    tool_call,
    turn_act,
)
from reducing import reduce_session
from rules import rule

TOUCHED = {"modifiedAt": 9999}
ERROR = {"errorType": "Boom", "message": "It broke"}
ENDS = [turn_act("turnComplete"), turn_act("turnCancelled"), broken()]
each_end = pytest.mark.parametrize("end", ENDS, ids=lambda end: str(end["type"]))


def record(*parts: dict[str, Any], **over: Any) -> dict[str, Any]:
    """Build the turn `t1` as it stands in the history."""
    return {"id": "t1", "userMessage": {"text": "Hello"}, "responseParts": list(parts), **over}


def after_the_end(part: dict[str, Any]) -> dict[str, Any]:
    """Complete a turn that holds this part only, and return what became of the part."""
    [turn] = reduce_session(in_turn(part), turn_act("turnComplete"))["turns"]
    [found] = turn["responseParts"]
    result: dict[str, Any] = found
    return result


@rule("S6", "H9", "H8", "H5")
def test_a_complete_turn_joins_the_history() -> None:
    state = reduce_session(in_turn(markdown("m1", "Hi"), turns=[done("a")]), turn_act("turnComplete"))
    assert state == session(
        summary=TOUCHED, turns=[done("a"), record(markdown("m1", "Hi"), state="complete")]
    )


@rule("S7", "H9", "H8", "H5")
def test_a_cancelled_turn_joins_the_history() -> None:
    state = reduce_session(in_turn(markdown("m1", "Hi"), turns=[done("a")]), turn_act("turnCancelled"))
    assert state == session(
        summary=TOUCHED, turns=[done("a"), record(markdown("m1", "Hi"), state="cancelled")]
    )


@rule("S8", "H9", "H8", "H4")
def test_a_broken_turn_joins_the_history_with_its_error() -> None:
    state = reduce_session(in_turn(markdown("m1", "Hi"), turns=[done("a")]), broken())
    ended = record(markdown("m1", "Hi"), state="error", error=ERROR)
    assert state == session(status=2, summary=TOUCHED, turns=[done("a"), ended])


@rule("S8")
def test_the_error_of_a_turn_is_kept_whole() -> None:
    error = {**ERROR, "stack": "line 1", "x-new": 1}
    assert reduce_session(in_turn(), broken(error=error))["turns"][0]["error"] == error


@each_end
@rule("H9")
def test_the_record_carries_the_usage(end: dict[str, Any]) -> None:
    [turn] = reduce_session(in_turn(turn={"usage": {"inputTokens": 5}}), end)["turns"]
    assert turn["usage"] == {"inputTokens": 5}


@each_end
@rule("H9", "G6")
def test_the_record_is_built_anew(end: dict[str, Any]) -> None:
    [turn] = reduce_session(in_turn(turn={"x-new": 1, "state": "odd", "usage": None}), end)["turns"]
    assert set(turn) - {"error"} == {"id", "userMessage", "responseParts", "state"}


@rule("H9", "G1")
def test_only_a_broken_turn_has_an_error() -> None:
    for end in ENDS[:2]:
        [turn] = reduce_session(in_turn(), end)["turns"]
        assert "error" not in turn


@each_end
@rule("H9")
def test_the_end_of_a_turn_drops_it_and_all_requests(end: dict[str, Any]) -> None:
    before = in_turn(status=24, inputRequests=[request("r1"), request("r2")])
    state = reduce_session(before, end)
    assert not {"activeTurn", "inputRequests"} & set(state)


@rule("H9", "H5", "H7")
@pytest.mark.parametrize(
    ("end", "before", "after"),
    [
        (ENDS[0], 8 + 32, 33),
        (ENDS[0], 24 + 64, 65),
        (ENDS[0], 255, 225),
        (ENDS[1], 8 + 32 + 64, 97),
        (ENDS[1], 4, 1),
        (ENDS[1], 2, 1),
        (ENDS[2], 8 + 32, 34),
        (ENDS[2], 255, 226),
        (ENDS[2], 1, 2),
    ],
)
def test_the_end_keeps_the_flags_and_stays_read(end: dict[str, Any], before: int, after: int) -> None:
    state = reduce_session(in_turn(pending(), status=before, inputRequests=[request("r1")]), end)
    assert status(state) == after


@each_end
@rule("H9")
def test_the_end_keeps_the_activity_and_everything_pending(end: dict[str, Any]) -> None:
    kept = {"queuedMessages": [message("q1")], "steeringMessage": message("s1"), "_meta": {"a": 1}}
    before = in_turn(summary={"activity": "Reading"}, **kept)
    state = reduce_session(before, end)
    assert state["summary"]["activity"] == "Reading"
    assert {key: state[key] for key in kept} == kept


@each_end
@rule("H9")
@pytest.mark.parametrize(
    "part",
    [
        markdown("m1", "a", **{"x-new": 1}),
        reasoning("r1", "b"),
        {"kind": "contentRef", "uri": "file:///a"},
        {"kind": "someday", "toolCall": {"status": "running"}},
        completed(toolInput="ls", content=[text("a")], **{"x-new": 1}),
        cancelled(reasonMessage="No", **{"x-new": 1}),
        {**completed(), "x-part": 1},
    ],
    ids=["markdown", "reasoning", "content", "unknown", "completed", "cancelled", "completed part"],
)
def test_the_end_leaves_finished_calls_and_other_parts(end: dict[str, Any], part: dict[str, Any]) -> None:
    [turn] = reduce_session(in_turn(part), end)["turns"]
    assert turn["responseParts"] == [part]


FULL = {"toolClientId": "me", "_meta": {"a": 1}}


@each_end
@rule("H9", "H10")
@pytest.mark.parametrize(
    "part",
    [
        streaming(invocationMessage="So far", partialInput="l", **FULL),
        pending(invocationMessage="So far", confirmationTitle="Really?", edits={"items": []}, **FULL),
        pending(invocationMessage="So far", editable=True, options=[option("o1")], **FULL),
        running(invocationMessage="So far", selectedOption=option("o1"), content=[text("a")], **FULL),
        pending_result(invocationMessage="So far", selectedOption=option("o1"), content=[text("a")], **FULL),
        pending_result(invocationMessage="So far", structuredContent={}, error={"message": "No"}, **FULL),
        tool_call("someday", invocationMessage="So far", confirmed="setting", **FULL),
        running(invocationMessage="So far", **FULL, **{"x-new": 1}),
        {**running(invocationMessage="So far", **FULL), "x-part": 1},
    ],
    ids=["streaming", "pending", "options", "running", "result", "error", "unknown", "x-new", "x-part"],
)
def test_an_open_call_is_skipped_with_its_message_only(end: dict[str, Any], part: dict[str, Any]) -> None:
    [turn] = reduce_session(in_turn(part), end)["turns"]
    skipped = tool_call("cancelled", reason="skipped", invocationMessage="So far", **FULL)
    assert turn["responseParts"] == [skipped]


@rule("H9")
@pytest.mark.parametrize("make", [pending, running, pending_result])
@pytest.mark.parametrize("written", ["ls", ""])
def test_a_skipped_call_keeps_its_input(make: Any, written: str) -> None:
    part = after_the_end(make(invocationMessage={"markdown": "*So*"}, toolInput=written))
    kept = {"invocationMessage": {"markdown": "*So*"}, "toolInput": written}
    assert part == tool_call("cancelled", reason="skipped", **kept)


@rule("H9", "G6")
def test_a_skipped_call_of_an_unknown_status_keeps_its_input() -> None:
    part = after_the_end(tool_call("someday", invocationMessage="So far", toolInput="ls", extra=1))
    assert part == tool_call("cancelled", reason="skipped", invocationMessage="So far", toolInput="ls")


@rule("H9")
def test_a_skipped_call_that_was_streaming_has_no_input() -> None:
    part = after_the_end(streaming(partialInput="l", toolInput="ls", invocationMessage="So far"))
    assert part == tool_call("cancelled", reason="skipped", invocationMessage="So far")


@rule("H9", "G1")
@pytest.mark.parametrize("given", [{}, {"invocationMessage": None}, {"invocationMessage": ""}])
def test_a_skipped_call_that_was_streaming_without_a_message_gets_an_empty_one(given: Any) -> None:
    assert after_the_end(streaming(**given)) == tool_call("cancelled", reason="skipped", invocationMessage="")


@rule("H9")
def test_every_open_call_is_skipped_in_its_place() -> None:
    before = in_turn(
        streaming(), markdown("m1"), completed(call="c2"), running(call="c3"), running(call="c3")
    )
    [turn] = reduce_session(before, turn_act("turnCancelled"))["turns"]
    last = tool_call("cancelled", call="c3", reason="skipped", invocationMessage="Working")
    first = tool_call("cancelled", reason="skipped", invocationMessage="")
    assert turn["responseParts"] == [first, markdown("m1"), completed(call="c2"), last, last]


@rule("H9", "H1")
def test_the_end_leaves_open_calls_of_earlier_turns() -> None:
    before = in_turn(turns=[done("a", running())])
    assert reduce_session(before, turn_act("turnComplete"))["turns"][0] == done("a", running())


@rule("H9")
def test_the_end_of_a_turn_that_is_already_in_the_history_adds_a_second_record() -> None:
    state = reduce_session(in_turn(turns=[done("t1")]), turn_act("turnComplete"))
    assert state["turns"] == [done("t1"), record(state="complete")]


@rule("H1", "H9")
def test_a_second_end_changes_nothing() -> None:
    once = reduce_session(in_turn(), broken())
    assert reduce_session(once, *ENDS) == once
