"""The session reducer: turns start, grow part by part, and end."""

from typing import Any

import pytest

from building import (
    act,
    broken,
    cancelled,
    completed,
    done,
    in_turn,
    markdown,
    message,
    parts,
    pending,
    pending_result,
    reasoning,
    request,
    running,
    session,
    started,
    status,
    streaming,
    tool_call,
    turn_act,
)
from reducing import reduce_session
from rules import rule

NEW_TURN = {"id": "t2", "userMessage": {"text": "Go on"}, "responseParts": []}
TOUCHED = {"modifiedAt": 9999}


@rule("S3", "H5", "H8")
def test_a_turn_starts_empty() -> None:
    state = reduce_session(session(), started())
    assert state == session(status=8, summary=TOUCHED, activeTurn=NEW_TURN)


@rule("S3")
def test_a_turn_takes_the_whole_message_of_the_user() -> None:
    words = {"text": "See", "attachments": [{"type": "simple", "label": "A"}], "x-new": 1}
    assert reduce_session(session(), started(userMessage=words))["activeTurn"]["userMessage"] == words


@rule("S3", "G6")
def test_a_started_turn_has_nothing_of_the_turn_before_it() -> None:
    before = in_turn(pending(), status=24, turn={"usage": {"inputTokens": 5}, "x-new": 1}, turns=[done("a")])
    after = session(status=8, summary=TOUCHED, turns=[done("a")], activeTurn=NEW_TURN)
    assert reduce_session(before, started()) == after


@rule("S3", "H4")
def test_a_turn_started_under_an_open_request_still_needs_input() -> None:
    state = reduce_session(session(status=24, inputRequests=[request("r1")]), started())
    after = session(status=24, summary=TOUCHED, activeTurn=NEW_TURN, inputRequests=[request("r1")])
    assert state == after


@rule("S3", "H5", "H7")
@pytest.mark.parametrize(("before", "after"), [(33, 8), (97, 72), (2, 8), (255, 200), (4, 8), (16, 8)])
def test_a_started_turn_is_unread_and_keeps_the_other_flags(before: int, after: int) -> None:
    assert status(reduce_session(session(status=before), started())) == after


@rule("S3")
@pytest.mark.parametrize("lifecycle", ["creating", "creationFailed"])
def test_a_turn_starts_in_any_lifecycle(lifecycle: str) -> None:
    state = reduce_session(session(lifecycle=lifecycle), started())
    assert (state["lifecycle"], state["activeTurn"]) == (lifecycle, NEW_TURN)


@rule("S3")
def test_the_message_that_starts_a_turn_leaves_the_queue() -> None:
    before = session(queuedMessages=[message("q1"), message("q2"), message("q3"), message("q2")])
    state = reduce_session(before, started(queuedMessageId="q2"))
    assert state["queuedMessages"] == [message("q1"), message("q3")]


@rule("S3", "G1")
@pytest.mark.parametrize("queue", [[message("q1")], []], ids=["last one", "already empty"])
def test_an_emptied_queue_is_dropped(queue: list[Any]) -> None:
    state = reduce_session(session(queuedMessages=queue), started(queuedMessageId="q1"))
    assert state == session(status=8, summary=TOUCHED, activeTurn=NEW_TURN)


@rule("S3")
def test_the_message_that_starts_a_turn_leaves_the_steering_slot_and_the_queue() -> None:
    before = session(steeringMessage=message("q1"), queuedMessages=[message("q1"), message("q2")])
    state = reduce_session(before, started(queuedMessageId="q1"))
    assert "steeringMessage" not in state
    assert state["queuedMessages"] == [message("q2")]


@rule("S3")
def test_a_turn_from_another_message_leaves_what_is_pending() -> None:
    before = session(steeringMessage=message("s1"), queuedMessages=[message("q1")])
    state = reduce_session(before, started(queuedMessageId="q9"))
    assert (state["steeringMessage"], state["queuedMessages"]) == (message("s1"), [message("q1")])


@rule("S3", "G7", "G1")
@pytest.mark.parametrize("given", [{}, {"queuedMessageId": None}, {"queuedMessageId": ""}])
@pytest.mark.parametrize("queue", [[message("")], []], ids=["empty id", "empty"])
def test_a_turn_from_no_message_leaves_what_is_pending(given: dict[str, Any], queue: list[Any]) -> None:
    before = session(steeringMessage=message(""), queuedMessages=queue)
    state = reduce_session(before, started(**given))
    assert (state["steeringMessage"], state["queuedMessages"]) == (message(""), queue)


@rule("S4", "H2")
def test_text_is_added_to_its_markdown_part() -> None:
    before = in_turn(markdown("m1", "To "), markdown("m2", "Or "))
    state = reduce_session(
        before,
        turn_act("delta", partId="m1", content="be"),
        turn_act("delta", partId="m2", content="not"),
        turn_act("delta", partId="m1", content="!"),
    )
    assert state == in_turn(markdown("m1", "To be!"), markdown("m2", "Or not"))


@rule("S10", "H2")
def test_reasoning_is_added_to_its_reasoning_part() -> None:
    before = in_turn(reasoning("r1", "Hm"), reasoning("r2", "So"))
    state = reduce_session(before, turn_act("reasoning", partId="r2", content="..."))
    assert state == in_turn(reasoning("r1", "Hm"), reasoning("r2", "So..."))


FITTING = [("delta", markdown), ("reasoning", reasoning)]
SHADOWS = [
    {"kind": "someday", "id": "p1", "content": "x"},
    streaming(call="p1"),
]


@rule("S4", "S10", "H2")
@pytest.mark.parametrize(("name", "part"), FITTING)
def test_only_the_first_part_with_the_id_grows(name: str, part: Any) -> None:
    state = reduce_session(
        in_turn(part("p1", "a"), part("p1", "b")), turn_act(name, partId="p1", content="!")
    )
    assert state == in_turn(part("p1", "a!"), part("p1", "b"))


@rule("S4", "S10", "H2")
@pytest.mark.parametrize("shadow", SHADOWS, ids=["unknown kind", "tool call"])
@pytest.mark.parametrize(("name", "part"), FITTING)
def test_a_part_of_another_kind_hides_the_parts_behind_it(name: str, part: Any, shadow: Any) -> None:
    before = in_turn(shadow, part("p1", "a"))
    assert reduce_session(before, turn_act(name, partId="p1", content="!")) == before


@rule("S4", "S10", "H2")
def test_markdown_and_reasoning_hide_one_another() -> None:
    before = in_turn(markdown("p1", "a"), reasoning("p1", "b"), reasoning("p2", "c"), markdown("p2", "d"))
    thought, words = (
        turn_act("reasoning", partId="p1", content="!"),
        turn_act("delta", partId="p2", content="!"),
    )
    assert reduce_session(before, thought, words) == before


@rule("S4", "S10", "H2", "G6")
@pytest.mark.parametrize(("name", "part"), FITTING)
def test_parts_without_an_id_are_passed_over_and_kept(name: str, part: Any) -> None:
    strange: list[dict[str, Any]] = [
        {"kind": "someday", "x": [1, 2]},
        {"kind": "contentRef", "uri": "file:///p1"},
        {"kind": "systemNotification", "content": "p1"},
    ]
    state = reduce_session(in_turn(*strange, part("p1", "a")), turn_act(name, partId="p1", content="!"))
    assert state == in_turn(*strange, part("p1", "a!"))


@rule("S4", "S10", "G6")
@pytest.mark.parametrize(("name", "part"), FITTING)
def test_growing_keeps_what_we_do_not_know_of_the_part(name: str, part: Any) -> None:
    before = in_turn(part("p1", "a", **{"x-new": 1}), turn={"x-turn": 2})
    state = reduce_session(before, turn_act(name, partId="p1", content="!"))
    assert state == in_turn(part("p1", "a!", **{"x-new": 1}), turn={"x-turn": 2})


@rule("S5")
@pytest.mark.parametrize(
    "part",
    [
        markdown("m1", "again"),
        reasoning("r1", "Hm", **{"x-new": 1}),
        {"kind": "contentRef", "uri": "file:///a", "sizeHint": 3},
        {"kind": "systemNotification", "content": {"markdown": "*Note*"}},
        {"kind": "someday", "x": [1]},
        running(toolInput="ls", **{"x-new": 1}),
    ],
    ids=lambda part: str(part["kind"]),
)
def test_a_part_is_appended_as_it_is(part: dict[str, Any]) -> None:
    state = reduce_session(in_turn(markdown("m1", "a")), turn_act("responsePart", part=part))
    assert state == in_turn(markdown("m1", "a"), part)


@rule("S5", "H6")
@pytest.mark.parametrize("part", [pending(), pending_result()])
def test_a_waiting_tool_call_that_comes_as_a_part_does_not_change_the_status(part: Any) -> None:
    assert reduce_session(in_turn(), turn_act("responsePart", part=part)) == in_turn(part, status=8)


@rule("S9")
def test_usage_is_replaced_as_a_whole() -> None:
    before = in_turn(turn={"usage": {"inputTokens": 5, "model": "m"}})
    state = reduce_session(before, turn_act("usage", usage={"outputTokens": 7, "x-new": 1}))
    assert state == in_turn(turn={"usage": {"outputTokens": 7, "x-new": 1}})


@rule("S9")
def test_a_turn_gets_its_first_usage() -> None:
    state = reduce_session(in_turn(), turn_act("usage", usage={"inputTokens": 0}))
    assert state == in_turn(turn={"usage": {"inputTokens": 0}})


LATE = [
    turn_act("delta", partId="m1", content="!"),
    turn_act("reasoning", partId="r1", content="!"),
    turn_act("responsePart", part=markdown("m2", "x")),
    turn_act("usage", usage={"inputTokens": 1}),
    turn_act("turnComplete"),
    turn_act("turnCancelled"),
    broken(),
]


@rule("H1", "S4", "S5", "S6", "S7", "S8", "S9", "S10")
@pytest.mark.parametrize("action", LATE, ids=lambda action: str(action["type"]))
@pytest.mark.parametrize("active", [None, "t2"], ids=["no turn", "another turn"])
def test_what_comes_for_another_turn_changes_nothing(action: dict[str, Any], active: str | None) -> None:
    own = [markdown("m1", "a"), reasoning("r1", "b"), pending()]
    turn = {"id": active, "userMessage": {"text": "Hi"}, "responseParts": own}
    over: dict[str, Any] = {"activeTurn": turn} if active else {}
    before = session(status=4 + 32, turns=[done("t1", *own)], inputRequests=[request("q")], **over)
    assert reduce_session(before, action) == before


@rule("H1", "S4")
def test_text_for_an_unknown_part_changes_nothing() -> None:
    before = in_turn(markdown("m1", "a"), reasoning("r1", "b"))
    late = [turn_act(name, partId="zz", content="!") for name in ("delta", "reasoning")]
    assert reduce_session(before, *late) == before


@rule("G5", "H1")
def test_growing_parts_do_not_look_at_the_session_uri() -> None:
    action = {**turn_act("delta", partId="m1", content="!"), "session": "other:/two"}
    assert parts(reduce_session(in_turn(markdown("m1", "a")), action)) == [markdown("m1", "a!")]


@rule("H4", "H5")
@pytest.mark.parametrize(
    ("part", "number"),
    [
        (streaming(), 8),
        (pending(), 24),
        (running(), 8),
        (pending_result(), 24),
        (completed(), 8),
        (cancelled(), 8),
        (tool_call("someday"), 8),
    ],
)
def test_the_status_follows_the_tool_calls_of_the_active_turn(part: dict[str, Any], number: int) -> None:
    before = in_turn(markdown("m1"), part, status=1, inputRequests=[request("r1")])
    state = reduce_session(before, act("inputCompleted", requestId="r1", response="accept"))
    assert status(state) == number


@rule("H4")
def test_a_waiting_tool_call_of_an_ended_turn_does_not_need_input() -> None:
    before = session(status=24, turns=[done("a", pending())], inputRequests=[request("r1")])
    state = reduce_session(before, act("inputCompleted", requestId="r1", response="accept"))
    assert status(state) == 1
