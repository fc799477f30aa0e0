"""The session reducer: questions to the user, their answers, and when they count as settled."""

from typing import Any

import pytest

from building import (
    act,
    completed,
    draft,
    in_turn,
    pending,
    pending_result,
    request,
    session,
    status,
    turn_act,
)
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]
TOUCHED = {"modifiedAt": 9999}


def ask(new: Json) -> Json:
    return act("inputRequested", request=new)


def answer(request_id: str, question_id: str, **fields: Any) -> Json:
    return act("inputAnswerChanged", requestId=request_id, questionId=question_id, **fields)


def settle(request_id: str, response: str = "accept", **fields: Any) -> Json:
    return act("inputCompleted", requestId=request_id, response=response, **fields)


def asking(*requests: Json, **over: Any) -> Json:
    """Build a session that waits for these requests within a turn."""
    return in_turn(inputRequests=list(requests), **{"status": 24, **over})


# Asking.


@rule("S34", "H8")
def test_a_first_request_makes_the_list() -> None:
    new = request("r1", url="https://a.example", questions=[{"kind": "text", "id": "q", "message": "Name?"}])
    assert reduce_session(in_turn(), ask(new)) == asking(new, summary=TOUCHED)


@rule("S34")
def test_another_request_is_appended() -> None:
    state = reduce_session(asking(request("r2")), ask(request("r1")))
    assert state == asking(request("r2"), request("r1"), summary=TOUCHED)


@rule("S34")
def test_a_request_into_an_empty_list_is_appended() -> None:
    assert reduce_session(asking(status=8), ask(request("r1"))) == asking(request("r1"), summary=TOUCHED)


@rule("S34", "H4")
@pytest.mark.parametrize("lifecycle", ["ready", "creating"])
def test_a_request_needs_no_turn(lifecycle: str) -> None:
    state = reduce_session(session(lifecycle=lifecycle), ask(request("r1")))
    assert state == session(status=24, lifecycle=lifecycle, summary=TOUCHED, inputRequests=[request("r1")])


@rule("S34", "H5", "H7")
@pytest.mark.parametrize("make", [session, in_turn])
@pytest.mark.parametrize(("before", "after"), [(33, 24), (40, 24), (97, 88), (2, 24), (255, 216), (4, 24)])
def test_a_request_is_unread_and_keeps_the_other_flags(make: Any, before: int, after: int) -> None:
    assert status(reduce_session(make(status=before), ask(request("r1")))) == after


@rule("S34")
def test_a_request_asked_again_is_replaced_in_its_place() -> None:
    old = request("r1", url="https://a.example", questions=[], **{"x-old": 1})
    before = asking(request("r0"), old, request("r2"), status=24 + 32)
    state = reduce_session(before, ask({"id": "r1", "message": "New", "x-new": 2}))
    new = {"id": "r1", "message": "New", "x-new": 2}
    assert state == asking(request("r0"), new, request("r2"), summary=TOUCHED)


@rule("S34", "G1")
@pytest.mark.parametrize("given", [{}, {"answers": None}], ids=["absent", "null"])
def test_a_request_asked_again_keeps_the_answers(given: Json) -> None:
    before = asking(request("r1", answers={"q": draft("a")}))
    state = reduce_session(before, ask({"id": "r1", "message": "New", **given}))
    assert state["inputRequests"] == [{"id": "r1", "message": "New", "answers": {"q": draft("a")}}]


@rule("S34", "G7")
@pytest.mark.parametrize("answers", [{}, {"p": draft("b")}], ids=["empty", "other"])
def test_a_request_asked_again_with_answers_has_only_those(answers: Json) -> None:
    before = asking(request("r1", answers={"q": draft("a")}))
    state = reduce_session(before, ask(request("r1", answers=answers)))
    assert state["inputRequests"] == [request("r1", answers=answers)]


@rule("S34", "G1")
def test_a_request_without_answers_before_and_after_has_none() -> None:
    state = reduce_session(
        asking(request("r1")), ask(request("r1", answers=None)), ask(request("r2", answers=None))
    )
    assert state["inputRequests"] == [request("r1"), request("r2")]


# Answering.


@rule("S35", "H8")
def test_a_first_answer_is_stored() -> None:
    state = reduce_session(asking(request("r0"), request("r1")), answer("r1", "q", answer=draft("a")))
    assert state == asking(request("r0"), request("r1", answers={"q": draft("a")}), summary=TOUCHED)


@rule("S35")
@pytest.mark.parametrize(
    "new",
    [
        draft(""),
        {"state": "skipped"},
        {"state": "skipped", "freeformValues": ["x"]},
        {"state": "submitted", "value": {"kind": "number", "value": 1.5}},
        {"state": "draft", "value": {"kind": "boolean", "value": False}},
        {"state": "submitted", "value": {"kind": "selected-many", "value": [], "freeformValues": []}},
        {"state": "someday", "x-new": 1},
    ],
)
def test_an_answer_is_replaced_as_a_whole_and_the_others_stay(new: Json) -> None:
    before = asking(request("r1", answers={"p": draft("b"), "q": {**draft("a"), "x-old": 1}}))
    state = reduce_session(before, answer("r1", "q", answer=new))
    assert state["inputRequests"] == [request("r1", answers={"p": draft("b"), "q": new})]


@rule("S35", "G1")
@pytest.mark.parametrize("given", [{}, {"answer": None}], ids=["absent", "null"])
def test_an_answer_can_be_removed(given: Json) -> None:
    before = asking(request("r1", answers={"p": draft("b"), "q": draft("a")}))
    state = reduce_session(before, answer("r1", "q", **given))
    assert state == asking(request("r1", answers={"p": draft("b")}), summary=TOUCHED)


@rule("S35", "G1")
@pytest.mark.parametrize(
    "old",
    [{"answers": {"q": draft("a")}}, {"answers": {}}, {"answers": None}, {}],
    ids=["last", "empty", "null", "absent"],
)
def test_no_answers_means_no_key(old: Json) -> None:
    state = reduce_session(asking(request("r1", **old)), answer("r1", "q"))
    assert state == asking(request("r1"), summary=TOUCHED)


@rule("S35")
def test_removing_a_missing_answer_keeps_the_others() -> None:
    before = asking(request("r1", answers={"p": draft("b")}))
    assert reduce_session(before, answer("r1", "q")) == asking(
        request("r1", answers={"p": draft("b")}), summary=TOUCHED
    )


@rule("S35", "G6")
def test_an_answer_keeps_the_rest_of_the_request() -> None:
    rest = {"url": "https://a.example", "questions": [], "x-new": 1}
    state = reduce_session(asking(request("r1", **rest)), answer("r1", "q", answer=draft("a")))
    assert state["inputRequests"] == [request("r1", **rest, answers={"q": draft("a")})]


@rule("S35", "H5")
@pytest.mark.parametrize("number", [33, 4, 2, 120])
def test_an_answer_leaves_the_status_alone(number: int) -> None:
    before = asking(request("r1"), status=number)
    assert status(reduce_session(before, answer("r1", "q", answer=draft("a")))) == number


# Settling.


@rule("S36", "H8")
@pytest.mark.parametrize("response", ["accept", "decline", "cancel"])
def test_a_completed_request_is_removed_with_its_answers(response: str) -> None:
    before = asking(request("r0"), request("r1", answers={"q": draft("a")}), request("r2"))
    state = reduce_session(before, settle("r1", response, answers={"q": draft("b")}))
    assert state == asking(request("r0"), request("r2"), summary=TOUCHED)


@rule("S36", "G1", "H5")
def test_the_last_completed_request_removes_the_list() -> None:
    assert reduce_session(asking(request("r1")), settle("r1")) == in_turn(summary=TOUCHED)


@rule("S36", "H4")
def test_without_a_turn_the_session_is_idle_again() -> None:
    state = reduce_session(session(status=24, inputRequests=[request("r1")]), settle("r1"))
    assert state == session(summary=TOUCHED)


@rule("S36", "H4")
@pytest.mark.parametrize("part", [pending(), pending_result()])
def test_a_waiting_call_needs_input_after_the_last_request(part: Json) -> None:
    state = reduce_session(in_turn(completed(), part, status=24, inputRequests=[request("r1")]), settle("r1"))
    assert status(state) == 24


@rule("S36", "H5", "H7")
@pytest.mark.parametrize(("before", "after"), [(24 + 32, 40), (255, 232), (4 + 64, 72), (2, 8)])
def test_completing_a_request_keeps_every_flag(before: int, after: int) -> None:
    assert status(reduce_session(asking(request("r1"), status=before), settle("r1"))) == after


@rule("S35", "S36")
@pytest.mark.parametrize("action", [answer("zz", "q", answer=draft("a")), answer("zz", "q"), settle("zz")])
@pytest.mark.parametrize("over", [{"inputRequests": [request("r1")]}, {"inputRequests": []}, {}])
def test_an_unknown_request_changes_nothing(action: Json, over: Json) -> None:
    before = in_turn(pending(), status=4 + 32, **over)
    assert reduce_session(before, action) == before


@rule("H4")
def test_an_empty_list_of_requests_needs_no_input() -> None:
    before = in_turn(pending(), status=24, inputRequests=[])
    approved = turn_act("toolCallConfirmed", toolCallId="c1", approved=True, confirmed="user-action")
    assert status(reduce_session(before, approved)) == 8
