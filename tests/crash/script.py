"""What the agents of the crash tests do in a turn, as data: the agents act on it, and the checks expect it.

All of it follows from the user's message, which is a kind and the name of the turn. So whatever happens to
the host meanwhile, there is one right answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

from agenthost.core.stop_reasons import STOP_SENTENCES
from agenthost.host.turns.tool_calls import INTERRUPTED

GATE = "gate"
"""The question at the beginning of a turn with which its agent waits until the driver lets it go on."""

GATED = frozenset({"queue", "steer", "cancel", "cut", "refuse", "model"})
ONCE = frozenset({"note", "careful"})
"""The tools that must not run twice."""

LONG_STREAM = 1_500
SHOWN_BYTES = 70_000
DENIED = "Tool call denied: not today"


@dataclass(frozen=True, slots=True)
class Say:
    """Words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Words of a thought."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the user, and then words with the answer, unless it is the gate."""

    question: str


@dataclass(frozen=True, slots=True)
class Use:
    """Calls of tools, side by side: each a name and a text."""

    calls: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Echo:
    """Words with what came of the last calls."""


@dataclass(frozen=True, slots=True)
class Steered:
    """Words with what the user said meanwhile."""


@dataclass(frozen=True, slots=True)
class Show:
    """Large content, by reference."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The agent breaks."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The agent has no room left."""


Move: TypeAlias = Say | Think | Ask | Use | Echo | Steered | Show | Fail | Stop

SINGLE = ("note", "look", "slow", "careful", "guarded", "remote", "big")


MODEL = ("talk", "think", "stream", "denied", "parallel", "chain", "stop")
MODEL_KINDS = tuple(f"model-{kind}" for kind in (*MODEL, *SINGLE) if kind != "big")
"""What a model is told to do by its service: the same, but it cannot repeat what came of its calls."""


def moves_of(text: str) -> list[Move]:
    """Return what an agent does about a message."""
    kind, name = text.split()
    if kind in MODEL_KINDS:
        return _moves_of_model(kind.removeprefix("model-"), name)
    opening = Say(words(name, 3 + crc32(name.encode()) % 40))
    gate: list[Move] = [Ask(GATE)] if kind in GATED else []
    return [*gate, opening, *_body(kind, name)]


def _body(kind: str, name: str) -> list[Move]:
    if kind in SINGLE:
        return [Use(((kind, name),)), *([] if kind == "big" else [Echo()]), Say(" Done.")]
    bodies: dict[str, list[Move]] = {
        "think": [Think(words(name, 30)), Say(words(name, 20)), Think("Well."), Say("So.")],
        "stream": [Say(words(name, LONG_STREAM))],
        "denied": [Use((("careful", f"{name}-deny"),)), Echo()],
        "parallel": [
            Use((("note", f"{name}-a"), ("look", f"{name}-b"), ("slow", f"{name}-c"), ("note", f"{name}-d"))),
            Echo(),
        ],
        "chain": [part for n in "abc" for part in (Use((("note", f"{name}-{n}"),)), Echo())],
        "ask": [Ask("first"), Use((("note", name),)), Echo(), Ask("second"), Use((("look", name),)), Echo()],
        "steer": [Use((("look", name),)), Steered(), Echo()],
        "show": [Show(), Say("Look at that.")],
        "fail": [Use((("note", name),)), Echo(), Fail()],
        "stop": [Think("Hm."), Say("I would say"), Stop()],
        "cancel": [Use((("careful", name),))],
    }
    return bodies.get(kind, [])


def _moves_of_model(kind: str, name: str) -> list[Move]:
    match kind:
        case "think":
            return [Think(words(name, 30)), Say(words(name, 20))]
        case "stream":
            return [Say(words(name, LONG_STREAM // 10))]
        case "stop":
            return [Say("I would say"), Stop()]
        case _:
            moves = moves_of(f"{kind} {name}")
            return [Say("So.") if isinstance(move, Echo) else move for move in moves]


def words(name: str, count: int) -> str:
    """Return so many words, which differ from name to name."""
    return " ".join(f"{name}:{place}" for place in range(count))


def pieces(text: str) -> list[str]:
    """Return a text as the deltas that an agent says it in."""
    *others, last = text.split(" ")
    return [piece + " " for piece in others] + [last]


def answer_to(question: str, name: str) -> str:
    """Return what the driver answers."""
    return f"{question} is blue for {name}"


def steering_of(name: str) -> str:
    """Return what the driver says while the turn runs."""
    return f"rather {name}"


def usual_result(tool: str, text: str) -> str:
    """Return what a tool tells when nothing comes in between."""
    return f"{tool} did {text}"


def allowed_results(tool: str, text: str) -> set[str]:
    """Return all that a model may be told of a call."""
    if text.endswith("-deny"):
        return {DENIED}
    interrupted = {INTERRUPTED.format(tool)} if tool in ONCE else set()
    return {usual_result(tool, text)} | interrupted


def echo_of(results: Sequence[str]) -> str:
    """Return the words with what came of calls."""
    return f"Results: {'; '.join(results)}."


class _Expected:
    """The parts of an answer, as the moves add to them."""

    def __init__(self, name: str, calls: Sequence[Any], told: Mapping[str, str]) -> None:
        self.parts: list[dict[str, Any]] = []
        self._name = name
        self._left = [call["toolCallId"] for call in calls]
        self._used: list[str] = []
        self._told = told
        self._is_open = False

    def take(self, move: Move) -> bool:
        """Take a move; tells whether it is known what the next one gives."""
        match move:
            case Say(text):
                self._text("markdown", text)
            case Think(text):
                self._text("reasoning", text)
            case Ask(question):
                self._add("inputRequest", question=question)
                self._text("markdown", "" if question == GATE else answer_to(question, self._name))
            case Use(calls):
                self._use(calls)
            case Echo():
                return self._echo()
            case _:
                self._take_other(move)
        return True

    def _take_other(self, move: Move) -> None:
        match move:
            case Steered():
                self._text("markdown", steering_of(self._name))
            case Show():
                self._add("contentRef", size=SHOWN_BYTES)
            case Stop():
                self._add("systemNotification", text=STOP_SENTENCES["max_tokens"])
            case Fail():
                self._add("error")

    def _text(self, kind: str, text: str) -> None:
        if not text:
            return
        if self._is_open and self.parts[-1]["kind"] == kind:
            self.parts[-1]["text"] += text
        else:
            self.parts.append({"kind": kind, "text": text})
        self._is_open = True

    def _add(self, kind: str, **fields: Any) -> None:
        self.parts.append({"kind": kind, **fields})
        self._is_open = False

    def _use(self, calls: tuple[tuple[str, str], ...]) -> None:
        for tool, argument in calls:
            self._add("toolCall", tool=tool, argument=argument)
        self._used, self._left = self._left[: len(calls)], self._left[len(calls) :]

    def _echo(self) -> bool:
        is_known = all(call_id in self._told for call_id in self._used)
        if is_known:
            self._text("markdown", echo_of([self._told[call_id] for call_id in self._used]))
        return is_known


def expected_parts(text: str, calls: Sequence[Any], told: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the parts that the answer to a message has, as far as they follow from what is known.

    `calls` are those that were made, in order, and `told` what the model was told of each.
    """
    expected = _Expected(text.split()[1], calls, told)
    for move in moves_of(text):
        if not expected.take(move):
            break
    return expected.parts
