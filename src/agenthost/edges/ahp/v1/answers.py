"""Answers to questions for a number, which some clients send as text (D7)."""

import math
from typing import Any

from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import Json

__all__ = ["ANSWERING", "fit_numbers"]

ANSWERING = frozenset({"chat/inputCompleted", "chat/inputAnswerChanged"})
"""The actions that bring answers."""


def fit_numbers(chat: ChatState, action: Any) -> Json:
    """Return an action with texts that answer questions for a number as numbers, and empty ones as skipped.

    What is no number stays as it is, and so does what is not an answer at all: both are refused later.
    """
    kinds = _kinds(chat, action.get("requestId"))
    if type(action.get("answers")) is dict:
        answers = {name: _fit(kinds.get(name), answer) for name, answer in action["answers"].items()}
        return {**action, "answers": answers}
    if "answer" in action:
        return {**action, "answer": _fit(kinds.get(action.get("questionId")), action["answer"])}
    return action


def _kinds(chat: ChatState, request_id: Any) -> dict[Any, Any]:
    """Return the kinds of the questions of a request, by their ids; also when it has been answered."""
    for turn in [*chat["turns"], *([chat["activeTurn"]] if "activeTurn" in chat else [])]:
        for part in turn["responseParts"]:
            if part["kind"] == "inputRequest" and part["request"]["id"] == request_id:
                return {one["id"]: one.get("kind") for one in part["request"].get("questions", [])}
    return {}


def _fit(kind: Any, answer: Any) -> Any:
    value = answer.get("value") if type(answer) is dict else None
    if kind not in ("number", "integer") or type(value) is not dict or value.get("kind") != "text":
        return answer
    text = value.get("value")
    if type(text) is not str:
        return answer
    if not text.strip():
        return {"state": "skipped"}
    number = _number(text)
    return answer if number is None else {**answer, "value": {"kind": "number", "value": number}}


def _number(text: str) -> float | int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    # Above that, a float cannot tell neighbouring integers apart.
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
