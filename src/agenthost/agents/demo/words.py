"""The words that the demo agent understands, each with what it does. They are a contract; see `demo`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from agenthost.agents.demo.parsing import (
    WrongArgument,
    pieces_of,
    read_calls,
    read_count,
    read_seconds,
    read_text,
)
from agenthost.agents.demo.voice import Voice
from agenthost.errors import HostError
from agenthost.host.asking import Answers, Choice, Question
from agenthost.host.steps import Call
from agenthost.host.turn import Turn

__all__ = ["WORDS", "Word"]

DOT_SECONDS = 0.05
MOST_SECONDS = 3_600
MOST_DELTAS = 1_000_000


class DemoError(HostError):
    """The demo agent was asked to fail."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word: how it is used, what it is good for, an example, and what it does with the text behind it."""

    usage: str
    meaning: str
    example: str
    does: Callable[[Turn, Voice, str], Awaitable[None]]


# Talking


async def _help(_turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(HELP.splitlines(keepends=True))


async def _think(turn: Turn, voice: Voice, rest: str) -> None:
    text = read_text(rest)
    for piece in pieces_of(f"I was asked to say: {text}"):
        await turn.think(piece)
    await voice.stream(pieces_of(text))


async def _stream(_turn: Turn, voice: Voice, rest: str) -> None:
    await voice.stream(repeat("hello world ", read_count(rest, MOST_DELTAS)))


async def _wait(turn: Turn, voice: Voice, rest: str) -> None:
    for _ in range(round(read_seconds(rest, MOST_SECONDS) / DOT_SECONDS)):
        await voice.say(".")
        await turn.sleep(DOT_SECONDS)


# Tools and questions


async def _call(turn: Turn, voice: Voice, rest: str) -> None:
    calls = read_calls(rest)
    results = await turn.calls(*calls)
    lines = [f"{call.name} -> {result}" for call, result in zip(calls, results, strict=True)]
    await voice.stream("\n".join(lines).splitlines(keepends=True))


async def _edit(turn: Turn, voice: Voice, rest: str) -> None:
    path, text = (*rest.split(maxsplit=1), "", "")[:2]
    if not text:
        raise WrongArgument("That takes the path of a file and the text to write to it.")
    (result,) = await turn.calls(Call("write_file", {"path": path, "text": text}))
    await voice.stream(pieces_of(result))


QUESTIONS = (
    Question.text("name", "What is your name?", title="Name", required=True, maximum=100),
    Question.number("price", "What may it cost?", title="Price", minimum=0, default=9.5),
    Question.integer("count", "How many do you want?", title="Count", minimum=1, maximum=100, default=1),
    Question.yes_no("gift", "Is it a gift?", title="Gift", default=False),
    Question.choice(
        "colour",
        "Which colour?",
        [Choice("red", "Red"), Choice("green", "Green", recommended=True), Choice("blue", "Blue")],
        title="Colour",
    ),
    Question.choices("extras", "Which extras?", ["ribbon", "card", "box"], title="Extras", maximum=2),
)
"""One of each kind; only the first has to be answered."""


async def _ask(turn: Turn, voice: Voice, _rest: str) -> None:
    answers = await turn.ask(*QUESTIONS, message="One question of each kind")
    await voice.stream(_told(answers).splitlines(keepends=True))


def _told(answers: Answers) -> str:
    if not answers.is_accepted:
        return f"The questions were {'declined' if answers.response == 'decline' else 'cancelled'}."
    lines = [f"- {question.id}: {_said(answers.get(question.id))}" for question in QUESTIONS]
    return "\n".join(["You answered:", "", *lines])


def _said(value: Any) -> str:
    if value is None or value == []:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# Endings


async def _error(_turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(pieces_of("Something is about to go wrong. "))
    raise DemoError("this is the error that you asked for")


async def _refuse(turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(pieces_of("I would rather not answer that."))
    turn.stop("refusal")


async def _full(turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(pieces_of("This answer ends in the middle of a"))
    turn.stop("max_tokens")


# The session


async def _history(turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.say(str(len(turn.messages)))


async def _image(turn: Turn, voice: Voice, _rest: str) -> None:
    images = turn.images
    embedded = sum(image["url"].startswith("data:") for image in images)
    kinds = {"http": len(images) - embedded, "data": embedded}
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    total = f"{len(images)} image{'' if len(images) == 1 else 's'}"
    await voice.stream(pieces_of(f"{total}: {counts}" if counts else total))


async def _title(turn: Turn, voice: Voice, rest: str) -> None:
    title = read_text(" ".join(rest.split()))
    await turn.title(title)
    await voice.stream(pieces_of(f"The title is now: {title}"))


GROUPS: dict[str, tuple[Word, ...]] = {
    "Talking": (
        Word("/help", "shows this list", "/help", _help),
        Word("/think TEXT", "thinks first, then says TEXT", "/think Hello there", _think),
        Word("/stream N", "says `hello world` N times, as fast as it can", "/stream 20", _stream),
        Word(
            "/wait SECONDS",
            "says a dot every 50 ms; cancel it, or restart the host meanwhile",
            "/wait 5",
            _wait,
        ),
    ),
    "Tools and questions": (
        Word(
            "/call NAME JSON && …",
            "calls tools, yours too, all at the same time; JSON may be left out",
            '/call add {"a": 2, "b": 3} && clock',
            _call,
        ),
        Word(
            "/edit PATH TEXT",
            "writes TEXT to a file, and shows the change",
            "/edit notes.txt Buy milk",
            _edit,
        ),
        Word("/ask", "asks you one question of each kind", "/ask", _ask),
    ),
    "Endings": (
        Word("/error", "fails", "/error", _error),
        Word("/refuse", "refuses to answer", "/refuse", _refuse),
        Word("/full", "runs out of room in the middle of its answer", "/full", _full),
    ),
    "The session": (
        Word("/history", "says how many messages a model would be given now", "/history", _history),
        Word("/image", "says how many images came with your message", "/image", _image),
        Word("/title TEXT", "gives the session a title", "/title My first session", _title),
    ),
}

WORDS: dict[str, Word] = {word.usage.partition(" ")[0]: word for words in GROUPS.values() for word in words}


def _help_text() -> str:
    lines = [
        "I am the demo agent. A message that starts with one of these words does what it says;",
        "anything else I say back to you.",
    ]
    for group, words in GROUPS.items():
        lines += ["", f"**{group}**", ""]
        for word in words:
            example = f". Try `{word.example}`" if word.example != word.usage else ""
            lines.append(f"- `{word.usage}` {word.meaning}{example}")
    return "\n".join(lines)


HELP = _help_text()
