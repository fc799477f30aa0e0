"""Answers: plain Python values converted to answers, by the kind of the question."""

from collections.abc import Mapping
from typing import Any

from agenthost.wire.ahp.input import ChatInputAnswer, ChatInputRequest

__all__ = ["build_answers"]


def build_answers(request: ChatInputRequest, values: Mapping[str, Any]) -> dict[str, ChatInputAnswer]:
    """Return answers, by the ids of their questions. None skips a question; a dict is used as it is.

    A choice is the id of an option. Where free text is allowed, any other value is such a text.

    Raises:
        ValueError: there is no such question, or a value does not fit it.
    """
    questions = {question["id"]: question for question in request.get("questions", [])}
    answers: dict[str, Any] = {}
    for key, value in values.items():
        if key not in questions:
            raise ValueError(f"there is no question {key!r}; there are {', '.join(questions) or 'none'}")
        answers[key] = _answer(questions[key], value)
    return answers


def _answer(question: Any, value: Any) -> Any:
    if value is None:
        return {"state": "skipped"}
    if isinstance(value, dict):
        return value if "state" in value else {"state": "submitted", "value": value}
    return {"state": "submitted", "value": _value(question, value)}


def _value(question: Any, value: Any) -> Any:
    kind = question["kind"]
    if kind == "text" and isinstance(value, str):
        return {"kind": "text", "value": value}
    if kind in ("number", "integer") and isinstance(value, int | float) and not isinstance(value, bool):
        return {"kind": "number", "value": value}
    if kind == "boolean" and isinstance(value, bool):
        return {"kind": "boolean", "value": value}
    if kind == "single-select" and isinstance(value, str):
        chosen, others = _split(question, [value])
        return {"kind": "selected", "value": "".join(chosen), **others}
    if kind == "multi-select" and not isinstance(value, str | int | float):
        chosen, others = _split(question, [str(one) for one in value])
        return {"kind": "selected-many", "value": chosen, **others}
    raise ValueError(f"{value!r:.100} is not an answer to the {kind} question {question['id']!r}")


def _split(question: Any, values: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Split values into ids of options and free text, where that is allowed."""
    if question.get("allowFreeformInput") is not True:
        return values, {}
    offered = {option["id"] for option in question["options"]}
    others = [value for value in values if value not in offered]
    chosen = [value for value in values if value in offered]
    return chosen, {"freeformValues": others} if others else {}
