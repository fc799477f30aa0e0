"""Forms of MCP elicitation as questions to the user, and the answers as content for the server."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.host.authoring.questions import Answers, Choice, Question

__all__ = ["UnsupportedForm", "answers_to_content", "questions_from_schema"]


class UnsupportedForm(ValueError):
    """A form has a field that cannot be asked as a question."""


def questions_from_schema(schema: Mapping[str, Any]) -> list[Question]:
    """Return a question for each field of a form.

    Raises:
        UnsupportedForm: a field has a type that cannot be asked.
    """
    properties = schema.get("properties", {})
    required = schema.get("required") or ()
    if not isinstance(properties, dict):
        raise UnsupportedForm("the form has no fields")
    return [_question(name, field, name in required) for name, field in properties.items()]


def _question(name: str, field: Any, required: bool) -> Question:  # noqa: FBT001 - private
    if not isinstance(field, dict):
        raise UnsupportedForm(f"the field {name!r} has no type")
    title = field.get("title")
    more: dict[str, Any] = {"title": title, "required": required}
    message = field.get("description") or title or name
    kind = field.get("type")
    if kind == "array":
        items = field.get("items") or {}
        choices = _choices(items, field.get("default"))
        more |= {"minimum": field.get("minItems"), "maximum": field.get("maxItems")}
        return Question.choices(name, message, _some(name, choices), **more)
    if (choices := _choices(field, [field.get("default")])) is not None:
        return Question.choice(name, message, choices, **more)
    more["default"] = field.get("default")
    match kind:
        case "string":
            more |= {"minimum": field.get("minLength"), "maximum": field.get("maxLength")}
            return Question.text(name, message, format=field.get("format"), **more)
        case "integer" | "number":
            more |= {"minimum": field.get("minimum"), "maximum": field.get("maximum")}
            make = Question.integer if kind == "integer" else Question.number
            return make(name, message, **more)
        case "boolean":
            return Question.yes_no(name, message, **more)
    raise UnsupportedForm(f"the field {name!r} has the type {kind!r}, which cannot be asked")


def _choices(field: Mapping[str, Any], chosen: Sequence[Any] | None) -> list[Choice] | None:
    """Return the choices of a field: MCP allows `oneOf`, `anyOf` and `enum` with `enumNames`."""
    chosen = chosen or ()
    for keyword in ("oneOf", "anyOf"):
        if members := field.get(keyword):
            named = [(one.get("const"), one.get("title")) for one in members if isinstance(one, dict)]
            break
    else:
        if "enum" not in field:
            return None
        names = field.get("enumNames") or ()
        named = [(one, names[at] if at < len(names) else None) for at, one in enumerate(field["enum"])]
    return [Choice(str(value), label, recommended=value in chosen) for value, label in named]


def _some(name: str, choices: list[Choice] | None) -> list[Choice]:
    if choices is None:
        raise UnsupportedForm(f"the field {name!r} is a list without choices")
    return choices


def answers_to_content(answers: Answers, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers in the types of the form. Fields without an answer are left out."""
    properties = schema.get("properties", {})
    return {name: _value(value, properties.get(name, {})) for name, value in answers.items()}


def _value(value: Any, field: Mapping[str, Any]) -> Any:
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if field.get("type") == "integer" and is_whole else value
