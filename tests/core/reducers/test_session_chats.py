"""The session reducer: the chats of a session, and what it waits for."""

from typing import Any

import pytest

from chat_building import session, session_act, summary
from folding import changes_nothing, fold_session
from rules import rule

Json = dict[str, Any]


@rule("1.0/S3")
def test_a_chat_is_listed_once_and_keeps_its_place() -> None:
    added = [session_act("chatAdded", summary=summary(one)) for one in ("a", "b")]
    state = fold_session(session(), *added, session_act("chatAdded", summary=summary("a", title="New")))
    assert state == session(chats=[summary("a", title="New"), summary("b")])
    assert changes_nothing("session", session(), session_act("chatAdded"))


@rule("1.0/S4")
def test_a_chat_that_goes_is_no_longer_the_default() -> None:
    before = session(chats=[summary("a"), summary("b")], defaultChat="a")
    assert fold_session(before, session_act("chatRemoved", chat="a")) == session(chats=[summary("b")])
    assert fold_session(before, session_act("chatRemoved", chat="b")) == session(
        chats=[summary("a")], defaultChat="a"
    )


@rule("1.0/S4")
def test_a_chat_that_is_not_listed_does_not_go() -> None:
    assert changes_nothing("session", session(defaultChat="a"), session_act("chatRemoved", chat="a"))


@rule("1.0/S5", "1.0/G1")
def test_what_changed_of_a_chat_is_merged() -> None:
    kept = {"activity": "Reading", "x-new": 1}
    before = session(chats=[summary("a"), summary("b", **kept)])
    changes = {"resource": "c", "title": "New", "activity": None, "status": 8}
    state = fold_session(before, session_act("chatUpdated", chat="b", changes=changes))
    assert state == session(chats=[summary("a"), summary("b", title="New", status=8, **kept)])


@rule("1.0/S5")
def test_a_chat_that_is_not_listed_does_not_change() -> None:
    action = session_act("chatUpdated", chat="zz", changes={"title": "New"})
    assert changes_nothing("session", session(chats=[summary("a")]), action)


@rule("1.0/S6")
def test_chats_are_reordered_if_each_is_named_once() -> None:
    before = session(chats=[summary(one) for one in "abc"])
    state = fold_session(before, session_act("chatsReordered", chats=list("cab")))
    assert state == session(chats=[summary(one) for one in "cab"])


@rule("1.0/S6")
@pytest.mark.parametrize("order", ["", "ab", "abb", "abcc", "abd", "abcd"])
def test_chats_keep_their_order_otherwise(order: str) -> None:
    before = session(chats=[summary(one) for one in "abc"])
    assert changes_nothing("session", before, session_act("chatsReordered", chats=list(order)))


@rule("1.0/S5", "1.0/S6")
def test_a_chat_without_a_uri_breaks_nothing() -> None:
    updated, reordered = session_act("chatUpdated", changes={"title": "New"}), session_act("chatsReordered")
    state = fold_session(session(chats=[{"title": "Old"}]), updated, {**reordered, "chats": [""]})
    assert state == session(chats=[{"title": "New"}])


# What it waits for.


def needed(request_id: str, kind: str = "chatInput", **over: Any) -> Json:
    return {"kind": kind, "id": request_id, "chat": "ahp-chat:/one", **over}


def need(request_id: str, kind: str = "chatInput", **over: Any) -> Json:
    return session_act("inputNeededSet", request=needed(request_id, kind, **over))


def served(request_id: str) -> Json:
    return session_act("inputNeededRemoved", id=request_id)


@rule("1.0/S19")
@pytest.mark.parametrize("kind", ["chatInput", "toolConfirmation", "toolAuthentication", "somethingNew"])
def test_a_session_waits_for_its_user(kind: str) -> None:
    state = fold_session(session(status=1 + 64), need("a", kind))
    assert state == session(status=24 + 64, inputNeeded=[needed("a", kind)])


@rule("1.0/S19")
@pytest.mark.parametrize(("before", "after"), [(1, 1), (8, 8), (24 + 32, 8 + 32)])
def test_a_call_that_a_client_executes_needs_no_user(before: int, after: int) -> None:
    state = fold_session(session(status=before), need("a", "toolClientExecution"))
    assert state == session(status=after, inputNeeded=[needed("a", "toolClientExecution")])


@rule("1.0/S19")
def test_a_request_that_is_known_keeps_its_place() -> None:
    state = fold_session(session(), need("a"), need("b"), need("a", "toolConfirmation"))
    assert state == session(status=24, inputNeeded=[needed("a", "toolConfirmation"), needed("b")])


@rule("1.0/S20")
def test_a_session_waits_until_the_last_question_is_answered() -> None:
    state = fold_session(
        session(status=32), need("a"), need("b"), need("c", "toolClientExecution"), served("a")
    )
    assert (state["status"], len(state["inputNeeded"])) == (24 + 32, 2)
    state = fold_session(state, served("b"))
    assert state == session(status=8 + 32, inputNeeded=[needed("c", "toolClientExecution")])
    assert fold_session(state, served("c")) == session(status=8 + 32)


@rule("1.0/S20")
def test_a_request_that_is_unknown_changes_nothing() -> None:
    assert changes_nothing("session", session(status=24), served("a"), session_act("inputNeededSet"))
    assert changes_nothing("session", session(status=1, inputNeeded=[needed("b")]), served("a"))
