"""Questions: the forms of a server (elicitation) as questions to the user, and the answers back."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.host.asking import Answers, Choice, Question

__all__ = ["Unaskable", "content_of", "questions_of"]


class Unaskable(ValueError):
    """A form has a field that no question asks for."""


def questions_of(schema: Mapping[str, Any]) -> list[Question]:
    """Make a question of each field of a form.

    Raises:
        Unaskable: a field is of a kind that there is no question for.
    """
    properties = schema.get("properties", {})
    required = schema.get("required") or ()
    if not isinstance(properties, dict):
        raise Unaskable("the form has no fields")
    return [_question(name, field, name in required) for name, field in properties.items()]


def _question(name: str, field: Any, required: bool) -> Question:  # noqa: FBT001 - only to be read here
    if not isinstance(field, dict):
        raise Unaskable(f"the field {name!r} is of no kind")
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
    raise Unaskable(f"the field {name!r} is of the kind {kind!r}, which nobody can be asked for")


def _choices(field: Mapping[str, Any], chosen: Sequence[Any] | None) -> list[Choice] | None:
    """Give what there is to choose from, in each of the ways that this is written."""
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
        raise Unaskable(f"the field {name!r} is a list of what cannot be chosen from")
    return choices


def content_of(answers: Answers, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Give the answers as the form wants them; what was not answered is not in it."""
    properties = schema.get("properties", {})
    return {name: _value(value, properties.get(name, {})) for name, value in answers.items()}


def _value(value: Any, field: Mapping[str, Any]) -> Any:
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if field.get("type") == "integer" and is_whole else value
