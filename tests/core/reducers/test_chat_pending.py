"""The chat reducer: messages that wait for the running turn or the next one."""

from typing import Any

import pytest

from chat_building import act, chat, message, said
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]


def put(kind: str, message_id: str, words: Any = "Later", **fields: Any) -> Json:
    return act("pendingMessageSet", kind=kind, id=message_id, message=said(words), **fields)


def take(kind: str, message_id: str) -> Json:
    return act("pendingMessageRemoved", kind=kind, id=message_id)


def reorder(*order: str) -> Json:
    return act("queuedMessagesReordered", order=list(order))


@rule("1.0/C11")
def test_there_is_one_message_that_steers() -> None:
    state = fold_chat(chat(), put("steering", "a"))
    assert state == chat(steeringMessage=message("a"))
    assert fold_chat(state, put("steering", "b", "Now")) == chat(steeringMessage=message("b", "Now"))


@rule("1.0/C11")
def test_queued_messages_stand_in_line_and_keep_their_place() -> None:
    state = fold_chat(chat(), put("queued", "a"), put("queued", "b"), put("queued", "a", "New"))
    assert state == chat(queuedMessages=[message("a", "New"), message("b")])


@rule("1.0/C11", "1.0/G5")
def test_a_pending_message_is_built_anew() -> None:
    before = chat(queuedMessages=[message("a", **{"x-old": 1})])
    assert fold_chat(before, put("queued", "a", **{"x-new": 1})) == chat(queuedMessages=[message("a")])


@rule("1.0/C12")
def test_a_message_is_removed_from_where_it_is_said_to_be() -> None:
    before = chat(steeringMessage=message("a"), queuedMessages=[message("a"), message("b")])
    assert fold_chat(before, take("steering", "a")) == chat(queuedMessages=[message("a"), message("b")])
    left = chat(steeringMessage=message("a"), queuedMessages=[message("b")])
    assert fold_chat(before, take("queued", "a")) == left


@rule("1.0/C12", "1.0/G2")
def test_an_empty_queue_is_dropped_and_an_unknown_message_changes_nothing() -> None:
    assert fold_chat(chat(queuedMessages=[message("a")]), take("queued", "a")) == chat()
    before = chat(steeringMessage=message("a"), queuedMessages=[message("b")])
    assert changes_nothing("chat", before, take("steering", "b"), take("queued", "a"))
    assert changes_nothing("chat", chat(), take("steering", "a"), take("queued", "a"))


@rule("1.0/C13")
@pytest.mark.parametrize(
    ("order", "after"),
    [("cab", "cab"), ("c", "cab"), ("", "abc"), ("bzb", "bac"), ("ccba", "cba")],
)
def test_the_named_messages_come_first_and_once(order: str, after: str) -> None:
    state = fold_chat(chat(queuedMessages=[message(one) for one in "abc"]), reorder(*order))
    assert state == chat(queuedMessages=[message(one) for one in after])


@rule("1.0/C13")
def test_without_a_queue_there_is_nothing_to_reorder() -> None:
    assert changes_nothing("chat", chat(), reorder("a"))
