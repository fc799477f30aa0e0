"""Questions of every kind, as they travel, and answers as Python values."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.questions import Answers, Choice, Question
from agenthost.host.authoring.turn import Turn
from talking import Talk
from turning import tell

COLOURS: list[str | Choice] = ["red", Choice("blue", "Blue", "As the sky", recommended=True)]
OPTIONS = [
    {"id": "red", "label": "red"},
    {"id": "blue", "label": "Blue", "description": "As the sky", "recommended": True},
]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            Question.text("q", "Who?", title="Name", required=True, format="email", minimum=1),
            {"kind": "text", "title": "Name", "required": True, "format": "email", "min": 1},
        ),
        (Question.number("q", "Who?", maximum=0.5), {"kind": "number", "max": 0.5}),
        (Question.integer("q", "Who?", default=0), {"kind": "integer", "defaultValue": 0}),
        (Question.yes_no("q", "Who?", default=False), {"kind": "boolean", "defaultValue": False}),
        (
            Question.choice("q", "Who?", COLOURS, freeform=True),
            {"kind": "single-select", "options": OPTIONS, "allowFreeformInput": True},
        ),
        (Question.choices("q", "Who?", COLOURS), {"kind": "multi-select", "options": OPTIONS}),
    ],
)
def test_a_question_is_sent_with_only_the_fields_that_were_set(question: Question, asked: Any) -> None:
    assert question.asked() == {"id": "q", "message": "Who?", **asked}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"kind": "text", "value": ""}, ""),
        ({"kind": "number", "value": 2.5}, 2.5),
        ({"kind": "boolean", "value": False}, False),
        ({"kind": "selected", "value": "red"}, "red"),
        ({"kind": "selected", "value": "", "freeformValues": ["green"]}, "green"),
        ({"kind": "selected-many", "value": ["red"], "freeformValues": ["green"]}, ["red", "green"]),
    ],
)
def test_an_answer_is_a_plain_value(answer: Any, value: Any) -> None:
    answers = Answers("accept", {"q": {"state": "submitted", "value": answer}})
    assert (answers["q"], dict(answers), answers.is_accepted) == (value, {"q": value}, True)


def test_drafts_and_skipped_questions_are_not_answers() -> None:
    text = {"kind": "text", "value": "x"}
    answers = Answers("accept", {"a": {"state": "draft", "value": text}, "b": {"state": "skipped"}})
    assert (len(answers), answers.get("a"), repr(answers)) == (0, None, "Answers('accept', {})")


def test_several_questions_are_asked_at_once_with_a_message_and_a_link(tmp_path: Path) -> None:
    async def handler(turn: Turn) -> None:
        kinds = [Question.text("name", "Who?"), Question.choices("colours", "Which?", COLOURS)]
        answers = await turn.ask(*kinds, message="Tell me", url="https://example.org/form")
        await turn.say(f"{answers.response} {answers['name']} {answers['colours']}")

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        asked = await talk.hear_one("inputRequested")
        request = asked["request"]
        assert (request["message"], request["url"]) == ("Tell me", "https://example.org/form")
        assert [question["id"] for question in request["questions"]] == ["name", "colours"]
        assert talk.state["summary"]["status"] & 24 == 24
        many = {"kind": "selected-many", "value": ["red", "blue"]}
        await talk.reply(asked, {"name": {"kind": "text", "value": "Ann"}, "colours": many})
        await talk.finish()
        assert talk.answer == "accept Ann ['red', 'blue']"

    tell(tmp_path, handler, story)


@pytest.mark.parametrize("response", ["decline", "cancel"])
def test_questions_can_be_declined_or_cancelled(tmp_path: Path, response: str) -> None:
    async def handler(turn: Turn) -> None:
        answers = await turn.ask("Really?")
        await turn.say(f"{answers.response} {answers.is_accepted} {len(answers)}")

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await talk.reply(await talk.hear_one("inputRequested"), response=response)
        await talk.finish()
        assert talk.answer == f"{response} False 0"
        assert "asked" not in talk.session.private

    tell(tmp_path, handler, story)
