"""When an answer does not fit its question, and when a request may not be completed."""

from typing import Any

import pytest

from agenthost.core.decisions import final_answers
from chat_building import done
from deciding import (
    answer,
    answered,
    asking,
    chat,
    in_turn,
    open_request,
    question,
    reason,
    reduced,
    session,
    settled,
)

OPTIONS = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
QUESTIONS = {
    "text": question("text"),
    "number": question("number"),
    "integer": question("integer"),
    "boolean": question("boolean"),
    "single-select": question("single-select", options=OPTIONS),
    "multi-select": question("multi-select", options=OPTIONS),
}
VALUES = {
    "text": answer("text", "x"),
    "number": answer("number", 2),
    "boolean": answer("boolean", False),
    "selected": answer("selected", "a"),
    "selected-many": answer("selected-many", ["b", "a"]),
}
FITS = {
    ("text", "text"),
    ("number", "number"),
    ("integer", "number"),
    ("boolean", "boolean"),
    ("single-select", "selected"),
    ("multi-select", "selected-many"),
}


@pytest.mark.parametrize("state", ["draft", "submitted"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_each_kind_of_question_takes_one_kind_of_value(kind: str, value: str, state: str) -> None:
    found = reason(asking(QUESTIONS[kind]), answered({**VALUES[value], "state": state}))
    if (kind, value) in FITS:
        assert found is None
    else:
        [needed] = (fitting for asked, fitting in FITS if asked == kind)
        assert found == f"question 'q' takes a value of kind {needed!r}, not {value!r}"


@pytest.mark.parametrize(("state", "request_id"), [(session(), "r"), (asking(QUESTIONS["text"]), "s")])
def test_a_request_that_is_not_open_takes_no_answer(state: Any, request_id: str) -> None:
    expected = f"no input request {request_id!r} is open"
    assert reason(state, answered(VALUES["text"], request_id=request_id)) == expected
    assert reason(state, answered(request_id=request_id)) == expected
    assert reason(state, settled("cancel", requestId=request_id)) == expected


@pytest.mark.parametrize("state", [in_turn(open_request("r")), asking(), asking(QUESTIONS["text"])])
def test_a_question_that_was_not_asked_takes_no_answer(state: Any) -> None:
    expected = "input request 'r' has no question 'p'"
    assert reason(state, answered(VALUES["text"], "p")) == expected
    assert reason(state, answered(question_id="p")) == expected
    assert reason(state, settled(answers={"p": VALUES["text"]})) == expected


@pytest.mark.parametrize(
    ("number", "fits"), [(2, True), (2.0, True), (-0.0, True), (1.5, False), (1e300, True), (10**400, True)]
)
@pytest.mark.parametrize("state", ["draft", "submitted"])
def test_an_integer_is_a_whole_number(number: float, fits: bool, state: str) -> None:
    found = reason(asking(QUESTIONS["integer"]), answered(answer("number", number, state)))
    expected = f"question 'q' takes a whole number, not the number {number}"
    assert found == (None if fits else expected)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_question_may_be_skipped(kind: str) -> None:
    asked = {**QUESTIONS[kind], "required": True, "min": 9}
    assert reason(asking(asked), answered({"state": "skipped"})) is None


def test_a_question_of_a_kind_that_is_new_takes_any_value() -> None:
    assert reason(asking(question("colour")), answered(VALUES["text"])) is None


# Options.


@pytest.mark.parametrize(
    ("kind", "new", "expected"),
    [
        ("single-select", answer("selected", "z"), "question 'q' offers no option 'z'"),
        ("single-select", answer("selected", ""), "question 'q' offers no option ''"),
        ("multi-select", answer("selected-many", ["a", "z"]), "question 'q' offers no option 'z'"),
        (
            "single-select",
            answer("selected", "a", freeformValues=["z"]),
            "question 'q' takes only the options that it offers",
        ),
        (
            "multi-select",
            answer("selected-many", [], freeformValues=["z"]),
            "question 'q' takes only the options that it offers",
        ),
    ],
)
def test_only_what_is_offered_may_be_chosen_unless_it_is_free(kind: str, new: Any, expected: str) -> None:
    for state in ("draft", "submitted"):
        assert reason(asking(QUESTIONS[kind]), answered({**new, "state": state})) == expected
        free = {**QUESTIONS[kind], "allowFreeformInput": True}
        assert reason(asking(free), answered({**new, "state": state})) is None


def test_no_free_values_are_none() -> None:
    new = answer("selected", "a", freeformValues=[])
    assert reason(asking(QUESTIONS["single-select"]), answered(new)) is None


# Limits.

LIMITS = [
    ("text", answer("text", "ab"), answer("text", "abcde"), " characters long"),
    ("number", answer("number", 2.5), answer("number", 4.5), ""),
    ("integer", answer("number", 2), answer("number", 5), ""),
    (
        "multi-select",
        answer("selected-many", ["a", "b", "a"]),
        answer("selected-many", ["a", "b"], freeformValues=["c", "d", "e"]),
        " choices",
    ),
]


@pytest.mark.parametrize(("kind", "less", "more", "unit"), LIMITS)
def test_what_is_submitted_has_to_be_within_the_limits(kind: str, less: Any, more: Any, unit: str) -> None:
    asked = {**QUESTIONS[kind], "min": 3, "max": 4, "allowFreeformInput": True}
    at_least = f"the answer to question 'q' must be at least 3{unit}"
    at_most = f"the answer to question 'q' must be at most 4{unit}"
    assert reason(asking(asked), answered(less)) == at_least
    assert reason(asking(asked), answered(more)) == at_most
    for new in (less, more):
        assert reason(asking(asked), answered({**new, "state": "draft"})) is None


@pytest.mark.parametrize(("size", "fits"), [(2, False), (3, True), (4, True), (5, False)])
def test_the_limits_themselves_are_within_them(size: int, fits: bool) -> None:
    for asked, new in (
        (question("text", min=3, max=4), answer("text", "é" * size)),
        (question("number", min=3, max=4), answer("number", size)),
    ):
        assert (reason(asking(asked), answered(new)) is None) == fits


# Settling.

REQUIRED = question("text", required=True)


@pytest.mark.parametrize(
    "stored", [{}, {"q": answer("text", "x", "draft")}, {"q": {"state": "skipped"}}, {"p": VALUES["text"]}]
)
def test_accepting_needs_a_submitted_answer_to_what_is_required(stored: Any) -> None:
    state = asking(REQUIRED, question("text", "p"), answers=stored)
    assert reason(state, settled()) == "question 'q' needs a submitted answer"
    assert reason(state, settled(answers={"q": VALUES["text"]})) is None
    for response in ("decline", "cancel"):
        assert reason(state, settled(response)) is None


@pytest.mark.parametrize("given", [answer("text", "x", "draft"), {"state": "skipped"}])
def test_an_answer_of_the_action_takes_the_place_of_the_stored_one(given: Any) -> None:
    state = asking(REQUIRED, answers={"q": VALUES["text"]})
    assert reason(state, settled()) is None
    expected = "question 'q' needs a submitted answer"
    assert reason(state, settled(answers={"q": given})) == expected


def test_accepting_without_what_is_not_required_is_fine() -> None:
    assert reason(asking(question("text"), question("text", "p", required=False)), settled()) is None


def test_accepting_looks_at_every_answer() -> None:
    expected = "question 'q' takes a value of kind 'text', not 'number'"
    wrong = {"q": VALUES["number"]}
    assert reason(asking(question("text")), settled(answers=wrong)) == expected
    assert reason(asking(question("text"), answers=wrong), settled()) == expected


def test_a_draft_that_no_longer_fits_does_not_prevent_accepting() -> None:
    state = asking(question("text"), answers={"q": answer("number", 1, "draft"), "old": VALUES["text"]})
    assert reason(state, settled()) is None


def test_declining_does_not_look_at_answers() -> None:
    assert reason(asking(question("text")), settled("decline", answers={"p": VALUES["number"]})) is None


def test_the_final_answers_are_the_stored_ones_overlaid_with_those_of_the_action() -> None:
    stored = {"p": answer("text", "old", "draft"), "q": answer("text", "old")}
    state: Any = asking(question("text"), question("text", "p"), answers=stored)
    given = {"q": answer("text", "new"), "o": {"state": "skipped"}}
    action: Any = settled(answers=given)
    assert final_answers(state.chat, action) == {"p": stored["p"], **given}


@pytest.mark.parametrize("state", [session(), in_turn(open_request("r"), open_request("s"))])
def test_there_may_be_no_final_answers(state: Any) -> None:
    action: Any = settled()
    assert final_answers(state.chat, action) == {}


def test_a_request_that_was_completed_stays_in_its_turn_and_takes_no_more() -> None:
    after = reduced(asking(QUESTIONS["text"]), settled(answers={"q": VALUES["text"]}))
    assert len(after.chat["activeTurn"]["responseParts"]) == 1
    assert reason(after, answered(VALUES["text"])) == "no input request 'r' is open"
    assert reason(after, settled("cancel")) == "no input request 'r' is open"
    action: Any = settled()
    assert final_answers(after.chat, action) == {}


def test_a_request_that_is_asked_again_after_its_end_is_open_again() -> None:
    closed = {**open_request("r", answers={"q": VALUES["text"]}), "response": "accept"}
    again = open_request("r", questions=[question("text", required=True)])
    state = in_turn(closed, again)
    assert reason(state, settled()) == "question 'q' needs a submitted answer"
    assert reason(state, settled(answers={"q": VALUES["text"]})) is None


def test_a_request_of_a_turn_that_has_ended_takes_no_answer() -> None:
    state = chat(turns=[done("t1", open_request("r", questions=[QUESTIONS["text"]]))])
    assert reason(state, answered(VALUES["text"])) == "no input request 'r' is open"
