"""Questions of an agent to the user, and the answers as Python values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agenthost.wire.ahp.enums import ChatInputResponseKind
from agenthost.wire.ahp.input import ChatInputOption, ChatInputQuestion
from agenthost.wire.json import JsonObject

__all__ = ["Answers", "Choice", "Question"]

QuestionKind: TypeAlias = Literal["text", "number", "integer", "boolean", "single-select", "multi-select"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the choices of a question."""

    id: str
    label: str | None = None
    description: str | None = None
    recommended: bool = False

    def option(self) -> ChatInputOption:
        """Return it as clients get it."""
        option: ChatInputOption = {"id": self.id, "label": self.label or self.id}
        if self.description is not None:
            option["description"] = self.description
        if self.recommended:
            option["recommended"] = True
        return option


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question. Make one with `text`, `number`, `integer`, `yes_no`, `choice` or `choices`.

    Attributes:
        id: the key of its answer.
        kind: what kind of answer it takes.
        message: what is asked.
        title: a short name for it.
        required: whether it must be answered before the request can be accepted.
        default: the initial answer.
        minimum: the smallest number, text length or number of choices.
        maximum: the largest, likewise.
        format: the format of a text: `email`, `uri`, `date`, `date-time`.
        choices: what to choose from.
        freeform: whether the answer may be something other than one of the choices.
    """

    id: str
    kind: QuestionKind
    message: str
    title: str | None = None
    required: bool = False
    default: str | float | bool | None = None
    minimum: float | None = None
    maximum: float | None = None
    format: str | None = None
    options: tuple[Choice, ...] = ()
    freeform: bool = False

    @staticmethod
    def text(id: str, message: str, **more: Any) -> "Question":  # noqa: A002 - the keyword that callers write
        """Ask for text."""
        return Question(id=id, message=message, kind="text", **more)

    @staticmethod
    def number(id: str, message: str, **more: Any) -> "Question":  # noqa: A002
        """Ask for a number."""
        return Question(id=id, message=message, kind="number", **more)

    @staticmethod
    def integer(id: str, message: str, **more: Any) -> "Question":  # noqa: A002
        """Ask for a whole number."""
        return Question(id=id, message=message, kind="integer", **more)

    @staticmethod
    def yes_no(id: str, message: str, **more: Any) -> "Question":  # noqa: A002
        """Ask for yes or no."""
        return Question(id=id, message=message, kind="boolean", **more)

    @staticmethod
    def choice(id: str, message: str, choices: Sequence[str | Choice], **more: Any) -> "Question":  # noqa: A002
        """Ask for one of several choices."""
        return _select("single-select", id, message, choices, more)

    @staticmethod
    def choices(id: str, message: str, choices: Sequence[str | Choice], **more: Any) -> "Question":  # noqa: A002
        """Ask for any number of several choices."""
        return _select("multi-select", id, message, choices, more)

    def asked(self) -> ChatInputQuestion:
        """Return it as clients get it."""
        asked: JsonObject = {"id": self.id, "kind": self.kind, "message": self.message}
        rest = {
            "title": self.title,
            "required": self.required or None,
            "defaultValue": self.default,
            "min": self.minimum,
            "max": self.maximum,
            "format": self.format,
            "options": [choice.option() for choice in self.options] or None,
            "allowFreeformInput": self.freeform or None,
        }
        asked.update({key: value for key, value in rest.items() if value is not None})
        return asked  # type: ignore[return-value] # its fields match its kind


def _select(
    kind: Literal["single-select", "multi-select"],
    question_id: str,
    message: str,
    choices: Sequence[str | Choice],
    more: dict[str, Any],
) -> Question:
    options = tuple(Choice(choice) if isinstance(choice, str) else choice for choice in choices)
    return Question(id=question_id, message=message, kind=kind, options=options, **more)


class Answers(Mapping[str, Any]):
    """The user's answers, by the ids of the questions; questions without an answer are missing.

    A text is a `str`, a number an `int` or `float`, yes or no a `bool`, a choice its id, several choices a
    list. A freeform answer takes the place of a choice.

    Attributes:
        response: `accept`, `decline` or `cancel`; the answers count only if they are accepted.
    """

    def __init__(self, response: ChatInputResponseKind, answers: Mapping[str, Any]) -> None:
        self.response = response
        submitted = {key: answer for key, answer in answers.items() if answer.get("state") == "submitted"}
        self._values = {key: _value(answer["value"]) for key, answer in submitted.items()}

    @property
    def is_accepted(self) -> bool:
        """Whether the user answered, and did not decline or cancel."""
        return self.response == "accept"

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Answers({self.response!r}, {self._values!r})"


def _value(answer: JsonObject) -> Any:
    others = answer.get("freeformValues", [])
    if answer["kind"] == "selected":
        return others[0] if others and not answer["value"] else answer["value"]
    if answer["kind"] == "selected-many":
        return [*answer["value"], *others]
    return answer["value"]
