"""The questions of an agent, answered by typing. An answer that is not valid is asked for again."""

from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from typing import Any

from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal, InputCancelled, KeyChoice
from agenthost.cli.chat.terminal.text import one_line
from agenthost.client.ahp import Chat
from agenthost.client.ahp.answers import build_answers
from agenthost.core.decisions.answers import check_answer
from agenthost.core.decisions.refusal import Refused

__all__ = ["QuestionForm", "read_answer"]

YES, NO = ("y", "yes", "true"), ("n", "no", "false")


def read_answer(request: Any, question: Any, typed: str) -> Any:
    """Return the typed text as an answer to the question, of its kind; None if it was skipped.

    Raises:
        ValueError: it is not valid; the message says what would be.
    """
    text = typed.strip()
    if not text:
        if question.get("required"):
            raise ValueError("an answer is required; :decline declines all questions")
        return None
    read: Callable[[Any, str], Any] = _READERS.get(question["kind"], _text)
    value = read(question, text)
    try:
        check_answer(question, build_answers(request, {question["id"]: value})[question["id"]])
    except Refused as refusal:
        raise ValueError(str(refusal)) from None
    return value


def _text(_question: Any, text: str) -> str:
    return text


def _number(_question: Any, text: str) -> float:
    for read in (int, float):
        with suppress(ValueError):
            number = read(text)
            if isfinite(number):  # JSON has no other numbers
                return number
    raise ValueError(f"expected a number, found {one_line(text, 40)!r}")


def _yes_no(_question: Any, text: str) -> bool:
    if text.lower() in (*YES, *NO):
        return text.lower() in YES
    raise ValueError(f"expected y or n, found {one_line(text, 40)!r}")


def _choice(question: Any, text: str) -> str:
    options = question["options"]
    if text.isdigit() and 1 <= int(text) <= len(options):
        return str(options[int(text) - 1]["id"])
    exact = [one["id"] for one in options if text.lower() in (one["id"].lower(), one["label"].lower())]
    begun = [one["id"] for one in options if one["label"].lower().startswith(text.lower())]
    for found in (exact, begun):
        if len(found) == 1:
            return str(found[0])
    if question.get("allowFreeformInput"):
        return text
    raise ValueError(f"expected a number from 1 to {len(options)}, or a name, found {one_line(text, 40)!r}")


def _choices(question: Any, text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if len(words) == 1 and all(word.isdigit() for word in text.split()):
        words = text.split()
    return list(dict.fromkeys(_choice(question, word) for word in words if word))


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "text": _text,
    "number": _number,
    "integer": _number,
    "boolean": _yes_no,
    "single-select": _choice,
    "multi-select": _choices,
}


class QuestionForm:
    """Asks the user the questions of one session; `prefix` goes before their titles."""

    def __init__(self, session: Chat, terminal: ChatTerminal, painter: Painter, prefix: str = "") -> None:
        self._session = session
        self._prefix = prefix
        self._terminal = terminal
        self._painter = painter

    async def ask(self, request: Any) -> None:
        """Ask all questions of a request, then answer, decline or cancel it.

        Raises:
            AhpError: the host refuses the answer.
        """
        questions = request.get("questions", [])
        if not questions:
            await self._ask_consent(request)
            return
        answers: dict[str, Any] = {}
        index, typed, problem = 0, None, ""
        while index < len(questions):
            question = questions[index]
            start = (
                _as_typed(question, _initial_value(request, question, answers)) if typed is None else typed
            )
            try:
                typed = await self._ask_one(request, index, start, problem, is_suggested=typed is None)
            except InputCancelled:
                await self._session.decline(request, "cancel")
                return
            problem = ""
            match typed.strip():
                case ":decline":
                    await self._session.decline(request)
                    return
                case ":back":
                    index, typed = max(0, index - 1), None
                    continue
                case ":skip":
                    typed = ""
            try:
                answers[question["id"]] = read_answer(request, question, typed)
            except ValueError as error:
                problem = str(error)
                continue
            index, typed = index + 1, None
        await self._session.answer(request, answers)
        self._terminal.print_lines(["", *self._summary_lines(request, answers)])

    async def _ask_one(
        self, request: Any, index: int, start: str, problem: str, *, is_suggested: bool
    ) -> str:
        question = request["questions"][index]
        count = len(request["questions"])
        lines = [""]
        if request.get("message"):
            lines += self._painter.text(f"{self._prefix}{request['message']}", "bold yellow")
        elif self._prefix:
            lines += self._painter.text(self._prefix, "bold yellow")
        position = f" ({index + 1} of {count})" if count > 1 else ""
        required = " *" if question.get("required") else ""
        lines += self._painter.text(f"{question['message']}{required}{position}", "bold")
        lines += self._option_lines(question)
        lines += self._painter.text(_hint(question), "dim", indent=2)
        if problem:
            lines += self._painter.text(problem, "red", indent=2)
        names = [option["label"] for option in question.get("options", [])]
        label = f"{question.get('title', 'answer')}: "
        return await self._terminal.ask_line(
            label, start, about=lines, completions=names, is_suggested=is_suggested
        )

    def _option_lines(self, question: Any) -> list[str]:
        rows = []
        for number, option in enumerate(question.get("options", []), 1):
            description = f": {option['description']}" if option.get("description") else ""
            mark = " (recommended)" if option.get("recommended") else ""
            rows += self._painter.text(f"{number}. {option['label']}{description}{mark}", indent=2)
        return rows

    def _summary_lines(self, request: Any, answers: dict[str, Any]) -> list[str]:
        rows = []
        for question in request["questions"]:
            answer = _as_typed(question, answers.get(question["id"])) or "no answer"
            rows += self._painter.marked("?", f"{question['message']} {answer}", "dim", mark_style="dim")
        return rows

    async def _ask_consent(self, request: Any) -> None:
        """Ask a request without questions: the user has to visit a page, or just agree."""
        message = f"{self._prefix}{request.get('message', 'The agent is waiting for you.')}"
        lines = ["", *self._painter.text(message, "bold yellow")]
        if request.get("url"):
            lines += self._painter.text(request["url"], "underline", indent=2)
        key = await self._terminal.ask_key(
            lines, [KeyChoice("y", "Done"), KeyChoice("n", "Decline"), KeyChoice("c", "Cancel")]
        )
        if key == "y":
            await self._session.answer(request)
        else:
            await self._session.decline(request, "decline" if key == "n" else "cancel")


def _initial_value(request: Any, question: Any, answers: dict[str, Any]) -> Any:
    """Return the answer given before, here or by another client; else the default."""
    if question["id"] in answers:
        return answers[question["id"]]
    stored = request.get("answers", {}).get(question["id"], {}).get("value")
    return stored["value"] if stored else question.get("defaultValue")


def _as_typed(question: Any, value: Any) -> str:
    """Return a value as the user would type it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels: dict[str, str] = {option["id"]: option["label"] for option in question.get("options", [])}
    if isinstance(value, list):
        return ", ".join(labels.get(one, str(one)) for one in value)
    return labels.get(value, value) if isinstance(value, str) else f"{value:g}"


_HINTS = {
    "text": "type some text",
    "number": "type a number",
    "integer": "type a whole number",
    "boolean": "y or n",
    "single-select": "type a number or a name",
    "multi-select": "type numbers or names, separated by commas",
}

_UNITS = {"text": " characters", "multi-select": " choices"}


def _hint(question: Any) -> str:
    unit = _UNITS.get(question["kind"], "")
    limits = [f"at least {question['min']:g}{unit}"] if "min" in question else []
    limits += [f"at most {question['max']:g}{unit}"] if "max" in question else []
    other = ", or something else" if question.get("allowFreeformInput") else ""
    words = [_HINTS.get(question["kind"], "type an answer") + other, *limits]
    skip = [] if question.get("required") else [":skip"]
    return f"{', '.join(words)} · {' '.join([*skip, ':back', ':decline'])}, Ctrl-C cancels"
