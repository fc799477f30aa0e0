"""The session reducer: messages that wait, one to steer the running turn and a queue for later turns."""

from typing import Any

import pytest

from building import act, in_turn, message, session
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]


def put(kind: str, message_id: str, words: str = "Later", **fields: Any) -> Json:
    return act("pendingMessageSet", kind=kind, id=message_id, userMessage={"text": words}, **fields)


def drop(kind: str, message_id: str) -> Json:
    return act("pendingMessageRemoved", kind=kind, id=message_id)


def reorder(*order: str) -> Json:
    return act("queuedMessagesReordered", order=list(order))


def queued(*messages: str | Json, **over: Any) -> Json:
    """Build a session with this queue."""
    return session(queuedMessages=[message(m) if isinstance(m, str) else m for m in messages], **over)


# Setting.


@rule("S37")
def test_a_steering_message_takes_the_empty_slot() -> None:
    assert reduce_session(in_turn(), put("steering", "a")) == in_turn(steeringMessage=message("a"))


@rule("S37")
@pytest.mark.parametrize("old", ["a", "b"], ids=["same id", "another id"])
def test_a_steering_message_replaces_the_one_before_it(old: str) -> None:
    before = session(steeringMessage=message(old, "Old", **{"x-new": 1}))
    assert reduce_session(before, put("steering", "a", "New")) == session(steeringMessage=message("a", "New"))


@rule("S37")
def test_a_first_queued_message_makes_the_queue() -> None:
    assert reduce_session(session(), put("queued", "a")) == queued("a")


@rule("S37")
def test_a_new_queued_message_goes_to_the_end() -> None:
    assert reduce_session(queued("b", "c"), put("queued", "a")) == queued("b", "c", "a")


@rule("S37")
def test_a_queued_message_joins_an_empty_queue() -> None:
    assert reduce_session(queued(), put("queued", "a")) == queued("a")


@rule("S37")
def test_a_queued_message_with_a_known_id_is_replaced_in_its_place() -> None:
    state = reduce_session(queued("a", "b", "c"), put("queued", "b", "New"))
    assert state == queued("a", message("b", "New"), "c")


@rule("S37")
def test_only_the_first_queued_message_with_the_id_is_replaced() -> None:
    state = reduce_session(queued("a", "b", "b"), put("queued", "b", "New"))
    assert state == queued("a", message("b", "New"), "b")


@rule("S37", "G6")
@pytest.mark.parametrize("kind", ["steering", "queued"])
def test_a_pending_message_is_built_anew(kind: str) -> None:
    old = message("a", "Old", **{"x-old": 1})
    before = session(steeringMessage=old, queuedMessages=[old])
    state = reduce_session(before, put(kind, "a", "New", **{"x-new": 2}))
    new = message("a", "New")
    slot, queue = (new, [old]) if kind == "steering" else (old, [new])
    assert state == session(steeringMessage=slot, queuedMessages=queue)


@rule("S37")
def test_a_pending_message_keeps_all_of_what_the_user_wrote() -> None:
    words = {"text": "See", "attachments": [{"type": "simple", "label": "A"}], "x-new": 1}
    state = reduce_session(session(), {**put("queued", "a"), "userMessage": words})
    assert state["queuedMessages"] == [{"id": "a", "userMessage": words}]


@rule("S37", "S38")
def test_a_kind_we_do_not_know_means_the_queue() -> None:
    assert reduce_session(session(), put("someday", "a")) == queued("a")
    assert reduce_session(queued("a", "b"), drop("someday", "a")) == queued("b")


@rule("S37")
def test_slot_and_queue_may_hold_the_same_id() -> None:
    state = reduce_session(session(), put("steering", "a", "Now"), put("queued", "a"))
    assert state == queued("a", steeringMessage=message("a", "Now"))


# Removing.


@rule("S38", "G1")
def test_the_steering_message_is_removed_by_its_id() -> None:
    assert reduce_session(queued("a", steeringMessage=message("a")), drop("steering", "a")) == queued("a")


@rule("S38")
@pytest.mark.parametrize("slot", [{"steeringMessage": message("b")}, {}], ids=["another", "none"])
def test_removing_a_steering_message_that_is_not_there_changes_nothing(slot: Json) -> None:
    before = queued("a", **slot)
    assert reduce_session(before, drop("steering", "a")) == before


@rule("S38")
def test_every_queued_message_with_the_id_is_removed() -> None:
    before = queued("a", "b", "a", "c", steeringMessage=message("a"))
    assert reduce_session(before, drop("queued", "a")) == queued("b", "c", steeringMessage=message("a"))


@rule("S38", "G1")
def test_removing_the_last_queued_message_drops_the_queue() -> None:
    assert reduce_session(queued("a"), drop("queued", "a")) == session()


@rule("S38")
@pytest.mark.parametrize("before", [queued("b"), queued(), session()], ids=["another", "empty", "no queue"])
def test_removing_a_queued_message_that_is_not_there_changes_nothing(before: Json) -> None:
    assert reduce_session(before, drop("queued", "a")) == before


# Reordering.


@rule("S39")
@pytest.mark.parametrize(
    ("order", "after"),
    [
        (["d", "c", "b", "a"], ["d", "c", "b", "a"]),
        (["c"], ["c", "d", "a", "b"]),
        (["b", "d"], ["b", "d", "a", "c"]),
        (["zz", "a", "yy"], ["a", "d", "b", "c"]),
        (["c", "a", "c", "a"], ["c", "a", "d", "b"]),
        (["b", "zz", "b", "d", "b"], ["b", "d", "a", "c"]),
        ([], ["d", "a", "b", "c"]),
    ],
    ids=["all", "one", "two", "unknown", "twice", "mixed", "empty"],
)
def test_named_messages_come_first_and_the_rest_keep_their_order(order: list[str], after: list[str]) -> None:
    assert reduce_session(queued("d", "a", "b", "c"), reorder(*order)) == queued(*after)


@rule("S39", "G6")
def test_reordering_moves_whole_messages() -> None:
    first, second = message("a", "One", **{"x-new": 1}), message("b", "Two")
    assert reduce_session(queued(first, second), reorder("b", "a")) == queued(second, first)


@rule("S39")
@pytest.mark.parametrize("before", [session(), queued()], ids=["no queue", "empty"])
def test_there_is_nothing_to_reorder_without_messages(before: Json) -> None:
    assert reduce_session(before, reorder("a")) == before


@rule("S39", "G1")
def test_a_queue_of_null_counts_as_missing() -> None:
    assert reduce_session(session(queuedMessages=None), reorder("a")).get("queuedMessages") is None


@rule("S37", "S38", "S39", "H5", "H8")
@pytest.mark.parametrize(
    "action", [put("queued", "c"), put("steering", "c"), drop("queued", "a"), reorder("b")]
)
def test_pending_messages_touch_neither_status_nor_time(action: Json) -> None:
    before = queued("a", "b", status=4 + 32 + 64)
    assert reduce_session(before, action)["summary"] == before["summary"]


@rule("S37", "G1")
def test_a_null_slot_and_a_null_queue_are_free() -> None:
    before = session(steeringMessage=None, queuedMessages=None)
    state = reduce_session(before, put("queued", "a"), put("steering", "b"), drop("steering", "b"))
    assert state == queued("a")
