"""The chat reducer: questions to the user, which are parts of the running turn."""

from typing import Any

import pytest

from building import draft, markdown
from chat_building import BEFORE, act, chat, in_turn, question, request
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]


def ask(request_id: str, **over: Any) -> Json:
    return act("inputRequested", request=request(request_id, **over))


def answer(request_id: str, question_id: str, words: Any = None) -> Json:
    given = {} if words is None else {"answer": draft(words)}
    return act("inputAnswerChanged", requestId=request_id, questionId=question_id, **given)


def finish(request_id: str, response: str = "accept", **fields: Any) -> Json:
    return act("inputCompleted", requestId=request_id, response=response, **fields)


@rule("1.0/C14", "1.0/H4")
def test_a_question_becomes_a_part_and_the_chat_waits_unread() -> None:
    state = fold_chat(in_turn(markdown("p1"), status=8 + 32 + 64), ask("r1"))
    assert state == in_turn(markdown("p1"), question("r1"), status=24 + 64)
    assert state["modifiedAt"] == BEFORE


@rule("1.0/C14")
def test_a_question_that_is_repeated_keeps_its_place_and_its_answers() -> None:
    before = in_turn(question("r1", answers={"q": draft("a")}, **{"x-new": 1}), question("r2"), status=24)
    state = fold_chat(before, ask("r1", message="Again"))
    kept = question("r1", answers={"q": draft("a")}, **{"x-new": 1})
    kept["request"]["message"] = "Again"
    assert state == in_turn(kept, question("r2"), status=24)
    state = fold_chat(before, ask("r1", answers={}))
    assert state["activeTurn"]["responseParts"][0]["request"] == request("r1", answers={})


@rule("1.0/C14")
def test_a_question_that_was_answered_is_asked_anew() -> None:
    before = in_turn(question("r1", response="decline"))
    assert fold_chat(before, ask("r1")) == in_turn(
        question("r1", response="decline"), question("r1"), status=24
    )


@rule("1.0/C14")
def test_nobody_asks_without_a_turn() -> None:
    assert changes_nothing("chat", chat(), ask("r1"))
    assert changes_nothing("chat", in_turn(), act("inputRequested"))


@rule("1.0/C15")
def test_an_answer_is_set_replaced_and_removed() -> None:
    waiting = in_turn(question("r0"), question("r1"), status=24)
    state = fold_chat(waiting, answer("r1", "q", "a"), answer("r1", "record", "b"), answer("r1", "q", "c"))
    answers = {"q": draft("c"), "record": draft("b")}
    assert state == in_turn(question("r0"), question("r1", answers=answers), status=24)
    assert fold_chat(state, answer("r1", "q"), answer("r1", "record"), answer("r1", "zz")) == waiting


@rule("1.0/C16", "1.0/H5")
def test_a_question_that_is_answered_stays_with_its_answers_and_its_response() -> None:
    before = in_turn(question("r1", answers={"a": draft("1"), "b": draft("2")}), status=24 + 32)
    state = fold_chat(before, finish("r1", answers={"b": draft("3")}))
    answers = {"a": draft("1"), "b": draft("3")}
    assert state == in_turn(question("r1", answers=answers, response="accept"), status=8 + 32)


@rule("1.0/C16", "1.0/H4")
def test_the_chat_waits_until_the_last_question_is_answered() -> None:
    before = in_turn(question("r1"), question("r2"), status=24)
    state = fold_chat(before, finish("r1", "cancel", answers={}))
    assert state == in_turn(question("r1", response="cancel"), question("r2"), status=24)
    assert fold_chat(state, finish("r2", "decline"))["status"] == 8


@rule("1.0/C15", "1.0/C16", "1.0/G2")
@pytest.mark.parametrize(
    "before",
    [
        chat(status=4),
        in_turn(question("r2"), status=4),
        in_turn(question("r1", response="accept"), status=4),
        in_turn({"kind": "inputRequest"}, {"kind": "hologram", "request": {"id": "r1"}}, status=4),
    ],
    ids=["no turn", "another", "answered", "odd"],
)
def test_a_question_that_is_not_open_takes_no_answer(before: Json) -> None:
    assert changes_nothing("chat", before, answer("r1", "q", "a"), answer("r1", "q"), finish("r1"))
