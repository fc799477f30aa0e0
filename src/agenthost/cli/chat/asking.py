"""Asking: the questions of an agent, of every kind, answered by typing. What does not fit is asked again."""

from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from typing import Any

from agenthost.cli.chat.face import Back, Face, Key
from agenthost.cli.chat.painting import Painter, one_line
from agenthost.client.ahp import Session
from agenthost.client.ahp.answers import answers_of
from agenthost.core.decisions.answers import check_answer
from agenthost.core.decisions.refusal import Refused

__all__ = ["Asking", "read_answer"]

YES, NO = ("y", "yes", "true"), ("n", "no", "false")


def read_answer(request: Any, question: Any, typed: str) -> Any:
    """Read what was typed as the answer to a question; None skips it.

    Raises:
        ValueError: it does not fit; the sentence says what would.
    """
    text = typed.strip()
    if not text:
        if question.get("required"):
            raise ValueError("this one has to be answered; :decline declines all of them")
        return None
    read: Callable[[Any, str], Any] = _READERS.get(question["kind"], _text)
    value = read(question, text)
    try:
        check_answer(question, answers_of(request, {question["id"]: value})[question["id"]])
    except Refused as refusal:
        raise ValueError(str(refusal)) from None
    return value


def _text(_question: Any, text: str) -> str:
    return text


def _number(_question: Any, text: str) -> float:
    for read in (int, float):
        with suppress(ValueError):
            number = read(text)
            if isfinite(number):  # what is not has no JSON
                return number
    raise ValueError(f"that takes a number, not {one_line(text, 40)!r}")


def _yes_no(_question: Any, text: str) -> bool:
    if text.lower() in (*YES, *NO):
        return text.lower() in YES
    raise ValueError(f"that takes y or n, not {one_line(text, 40)!r}")


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
    raise ValueError(f"that takes a number from 1 to {len(options)}, or a name, not {one_line(text, 40)!r}")


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


class Asking:
    """Asks what an agent asks, in one session."""

    def __init__(self, session: Session, face: Face, painter: Painter, who: str = "") -> None:
        self._session = session
        self._who = who
        self._face = face
        self._painter = painter

    async def ask(self, request: Any) -> None:
        """Ask all questions of a request, and answer, decline or cancel it.

        Raises:
            AhpError: the host refuses what was answered.
        """
        questions = request.get("questions", [])
        if not questions:
            await self._ask_plainly(request)
            return
        answers: dict[str, Any] = {}
        at, typed, trouble = 0, None, ""
        while at < len(questions):
            question = questions[at]
            start = _shown(question, _begun(request, question, answers)) if typed is None else typed
            try:
                typed = await self._line(request, at, start, trouble, is_suggested=typed is None)
            except Back:
                await self._session.decline(request, "cancel")
                return
            trouble = ""
            match typed.strip():
                case ":decline":
                    await self._session.decline(request)
                    return
                case ":back":
                    at, typed = max(0, at - 1), None
                    continue
                case ":skip":
                    typed = ""
            try:
                answers[question["id"]] = read_answer(request, question, typed)
            except ValueError as error:
                trouble = str(error)
                continue
            at, typed = at + 1, None
        await self._session.answer(request, answers)
        self._face.show(["", *self._summary(request, answers)])

    async def _line(self, request: Any, at: int, start: str, trouble: str, *, is_suggested: bool) -> str:
        question = request["questions"][at]
        count = len(request["questions"])
        lines = [""]
        if request.get("message"):
            lines += self._painter.text(f"{self._who}{request['message']}", "bold yellow")
        elif self._who:
            lines += self._painter.text(self._who, "bold yellow")
        place = f" ({at + 1} of {count})" if count > 1 else ""
        needed = " *" if question.get("required") else ""
        lines += self._painter.text(f"{question['message']}{needed}{place}", "bold")
        lines += self._options(question)
        lines += self._painter.text(_hint(question), "dim", indent=2)
        if trouble:
            lines += self._painter.text(trouble, "red", indent=2)
        words = [option["label"] for option in question.get("options", [])]
        label = f"{question.get('title', 'answer')}: "
        return await self._face.line(label, start, about=lines, words=words, is_suggested=is_suggested)

    def _options(self, question: Any) -> list[str]:
        rows = []
        for number, option in enumerate(question.get("options", []), 1):
            about = f": {option['description']}" if option.get("description") else ""
            mark = " (recommended)" if option.get("recommended") else ""
            rows += self._painter.text(f"{number}. {option['label']}{about}{mark}", indent=2)
        return rows

    def _summary(self, request: Any, answers: dict[str, Any]) -> list[str]:
        rows = []
        for question in request["questions"]:
            said = _shown(question, answers.get(question["id"])) or "nothing"
            rows += self._painter.marked("?", f"{question['message']} {said}", "dim", mark_style="dim")
        return rows

    async def _ask_plainly(self, request: Any) -> None:
        """Ask where there is nothing to type: somebody has to go somewhere, or to agree."""
        message = f"{self._who}{request.get('message', 'The agent waits for you.')}"
        lines = ["", *self._painter.text(message, "bold yellow")]
        if request.get("url"):
            lines += self._painter.text(request["url"], "underline", indent=2)
        key = await self._face.key(lines, [Key("y", "Done"), Key("n", "Decline"), Key("c", "Cancel")])
        if key == "y":
            await self._session.answer(request)
        else:
            await self._session.decline(request, "decline" if key == "n" else "cancel")


def _begun(request: Any, question: Any, answers: dict[str, Any]) -> Any:
    """Give what an answer begins with: what was said before, here or elsewhere, or the default."""
    if question["id"] in answers:
        return answers[question["id"]]
    stored = request.get("answers", {}).get(question["id"], {}).get("value")
    return stored["value"] if stored else question.get("defaultValue")


def _shown(question: Any, value: Any) -> str:
    """Give a value as it would be typed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels: dict[str, str] = {option["id"]: option["label"] for option in question.get("options", [])}
    if isinstance(value, list):
        return ", ".join(labels.get(one, str(one)) for one in value)
    return labels.get(value, value) if isinstance(value, str) else f"{value:g}"


_HINTS = {
    "text": "type a text",
    "number": "type a number",
    "integer": "type a whole number",
    "boolean": "y or n",
    "single-select": "type a number or a name",
    "multi-select": "type numbers or names, with commas between them",
}


def _hint(question: Any) -> str:
    limits = [f"at least {question['min']:g}"] if "min" in question else []
    limits += [f"at most {question['max']:g}"] if "max" in question else []
    more = ", or something else" if question.get("allowFreeformInput") else ""
    words = [_HINTS.get(question["kind"], "type an answer") + more, *limits]
    skip = [] if question.get("required") else [":skip"]
    return f"{', '.join(words)} · {' '.join([*skip, ':back', ':decline'])}, Ctrl-C cancels"
