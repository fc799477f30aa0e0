"""Whether an answer fits its question.

The kind of value, whole numbers where the question asks for one, and the options on offer are checked for
drafts too. Limits are only checked for submitted answers: a draft may still be too short.
"""

from collections.abc import Callable
from typing import Any

from agenthost.core.decisions.refusal import Refused
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.json import JsonObject

VALUE_KINDS = {
    "text": "text",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "single-select": "selected",
    "multi-select": "selected-many",
}
"""The kind of value that answers each kind of question."""

SIZES: dict[str, tuple[Callable[[Any], float], str]] = {
    "text": (lambda value: len(value["value"]), " characters long"),
    "number": (lambda value: value["value"], ""),
    "integer": (lambda value: value["value"], ""),
    # A set: the same choice twice counts once.
    "multi-select": (lambda value: len({*value["value"], *value.get("freeformValues", [])}), " choices"),
}
"""What the limits of each kind of question measure, with the unit."""


def check_answer(question: Any, answer: Any) -> None:
    """Refuse an answer that does not fit; its shape has been checked already.

    Raises:
        Refused: it does not fit.
    """
    kind = question.get("kind")
    if answer["state"] == "skipped" or kind not in VALUE_KINDS:
        return  # there is no value, or the question is of a kind that we do not know
    value = answer["value"]
    if value["kind"] != VALUE_KINDS[kind]:
        needed = f"a value of kind {quote(VALUE_KINDS[kind])}, not {quote(value['kind'])}"
        raise Refused(f"question {quote(question.get('id'))} takes {needed}")
    if kind == "integer" and not _is_whole(value["value"]):
        raise Refused(
            f"question {quote(question.get('id'))} takes a whole number, not {describe(value['value'])}"
        )
    _check_options(question, value)
    if answer["state"] == "submitted":
        _check_limits(question, value)


def _is_whole(number: float) -> bool:
    return type(number) is int or number.is_integer()


def _check_options(question: JsonObject, value: JsonObject) -> None:
    if value["kind"] not in ("selected", "selected-many") or question.get("allowFreeformInput") is True:
        return
    if value.get("freeformValues"):
        raise Refused(f"question {quote(question.get('id'))} takes only the options that it offers")
    offered = [option.get("id") for option in question.get("options", [])]
    chosen = [value["value"]] if value["kind"] == "selected" else value["value"]
    for option_id in chosen:
        if option_id not in offered:
            raise Refused(f"question {quote(question.get('id'))} offers no option {quote(option_id)}")


def _check_limits(question: JsonObject, value: JsonObject) -> None:
    if question["kind"] not in SIZES:
        return
    measure, unit = SIZES[question["kind"]]
    size, least, most = measure(value), question.get("min"), question.get("max")
    if least is not None and size < least:
        raise Refused(f"the answer to question {quote(question.get('id'))} must be at least {least}{unit}")
    if most is not None and size > most:
        raise Refused(f"the answer to question {quote(question.get('id'))} must be at most {most}{unit}")
