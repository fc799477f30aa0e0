"""The slash commands of the demo agent. They are a contract; see `demo`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from agenthost.agents.demo.arguments import (
    ArgumentError,
    parse_calls,
    parse_count,
    parse_seconds,
    require_text,
    split_words,
)
from agenthost.agents.demo.voice import Voice
from agenthost.errors import HostError
from agenthost.host.authoring.questions import Answers, Choice, Question
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.turn import Turn

__all__ = ["COMMANDS", "DemoCommand"]

DOT_SECONDS = 0.05
MAX_WAIT_SECONDS = 3_600
MAX_DELTAS = 1_000_000


class DemoError(HostError):
    """The demo agent was asked to fail."""


@dataclass(frozen=True, slots=True)
class DemoCommand:
    """A slash command.

    Attributes:
        usage: how it is written.
        meaning: what it does.
        example: an example.
        run: the function that runs it, with the text after the command.
    """

    usage: str
    meaning: str
    example: str
    run: Callable[[Turn, Voice, str], Awaitable[None]]


# Talking


async def _help(_turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(HELP.splitlines(keepends=True))


async def _think(turn: Turn, voice: Voice, rest: str) -> None:
    text = require_text(rest)
    for piece in split_words(f"I was asked to say: {text}"):
        await turn.think(piece)
    await voice.stream(split_words(text))


async def _stream(_turn: Turn, voice: Voice, rest: str) -> None:
    await voice.stream(repeat("hello world ", parse_count(rest, MAX_DELTAS)))


async def _wait(turn: Turn, voice: Voice, rest: str) -> None:
    for _ in range(round(parse_seconds(rest, MAX_WAIT_SECONDS) / DOT_SECONDS)):
        await voice.say(".")
        await turn.sleep(DOT_SECONDS)


# Tools and questions


async def _call(turn: Turn, voice: Voice, rest: str) -> None:
    calls = parse_calls(rest)
    results = await turn.calls(*calls)
    lines = [f"{call.name} -> {result}" for call, result in zip(calls, results, strict=True)]
    await voice.stream("\n".join(lines).splitlines(keepends=True))


async def _edit(turn: Turn, voice: Voice, rest: str) -> None:
    path, text = (*rest.split(maxsplit=1), "", "")[:2]
    if not text:
        raise ArgumentError("That takes the path of a file and the text to write to it.")
    (result,) = await turn.calls(Call("write_file", {"path": path, "text": text}))
    await voice.stream(split_words(result))


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
"""One question of each kind; only the first is required."""


async def _ask(turn: Turn, voice: Voice, _rest: str) -> None:
    answers = await turn.ask(*QUESTIONS, message="One question of each kind")
    await voice.stream(_describe_answers(answers).splitlines(keepends=True))


def _describe_answers(answers: Answers) -> str:
    if not answers.is_accepted:
        return f"The questions were {'declined' if answers.response == 'decline' else 'cancelled'}."
    lines = [f"- {question.id}: {_describe_value(answers.get(question.id))}" for question in QUESTIONS]
    return "\n".join(["You answered:", "", *lines])


def _describe_value(value: Any) -> str:
    if value is None or value == []:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# Endings


async def _error(_turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(split_words("Something is about to go wrong. "))
    raise DemoError("this is the error that you asked for")


async def _refuse(turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(split_words("I would rather not answer that."))
    turn.stop("refusal")


async def _full(turn: Turn, voice: Voice, _rest: str) -> None:
    await voice.stream(split_words("This answer ends in the middle of a"))
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
    await voice.stream(split_words(f"{total}: {counts}" if counts else total))


async def _title(turn: Turn, voice: Voice, rest: str) -> None:
    title = require_text(" ".join(rest.split()))
    await turn.title(title)
    await voice.stream(split_words(f"The title is now: {title}"))


GROUPS: dict[str, tuple[DemoCommand, ...]] = {
    "Talking": (
        DemoCommand("/help", "shows this list", "/help", _help),
        DemoCommand("/think TEXT", "thinks first, then says TEXT", "/think Hello there", _think),
        DemoCommand("/stream N", "says `hello world` N times, as fast as it can", "/stream 20", _stream),
        DemoCommand(
            "/wait SECONDS",
            "says a dot every 50 ms; cancel it, or restart the host meanwhile",
            "/wait 5",
            _wait,
        ),
    ),
    "Tools and questions": (
        DemoCommand(
            "/call NAME JSON && …",
            "calls tools, yours too, all at the same time; JSON may be left out",
            '/call add {"a": 2, "b": 3} && clock',
            _call,
        ),
        DemoCommand(
            "/edit PATH TEXT",
            "writes TEXT to a file, and shows the change",
            "/edit notes.txt Buy milk",
            _edit,
        ),
        DemoCommand("/ask", "asks you one question of each kind", "/ask", _ask),
    ),
    "Endings": (
        DemoCommand("/error", "fails", "/error", _error),
        DemoCommand("/refuse", "refuses to answer", "/refuse", _refuse),
        DemoCommand("/full", "runs out of room in the middle of its answer", "/full", _full),
    ),
    "The session": (
        DemoCommand("/history", "says how many messages a model would be given now", "/history", _history),
        DemoCommand("/image", "says how many images came with your message", "/image", _image),
        DemoCommand("/title TEXT", "gives the session a title", "/title My first session", _title),
    ),
}

COMMANDS: dict[str, DemoCommand] = {
    command.usage.partition(" ")[0]: command for commands in GROUPS.values() for command in commands
}


def _help_text() -> str:
    lines = [
        "I am the demo agent. A message that starts with one of these commands runs it;",
        "anything else I say back to you.",
    ]
    for group, commands in GROUPS.items():
        lines += ["", f"**{group}**", ""]
        for command in commands:
            example = f". Try `{command.example}`" if command.example != command.usage else ""
            lines.append(f"- `{command.usage}` {command.meaning}{example}")
    return "\n".join(lines)


HELP = _help_text()
