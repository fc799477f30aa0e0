"""Random values that actions on sessions and chats bring: messages, errors, models, answers.

They are drawn by chance alone, which is fast enough for long histories. The same number draws the same ones.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias, TypeVar

Json = dict[str, Any]

T = TypeVar("T")

CHAT = "ahp-chat:/one"


class Draw:
    """Draws values of any kind."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - chance, not a secret

    def __call__(self, kind: "Kind[T]") -> T:
        return kind(self)


Kind: TypeAlias = Callable[[Draw], T]
"""Draws values of one kind."""


def pick(draw: Draw, *values: T) -> T:
    return draw.random.choice(values)


def some(draw: Draw, **fields: Any) -> Json:
    """Draw some of these fields; a kind stands for its values."""
    chosen = {key: value for key, value in fields.items() if draw(flags)}
    return {key: draw(value) if callable(value) else value for key, value in chosen.items()}


def one_of(*values: T) -> Kind[T]:
    return lambda draw: pick(draw, *values)


def few(kind: Kind[T], most: int = 2) -> Kind[list[T]]:
    """Draw short lists."""
    return lambda draw: [draw(kind) for _ in range(draw.random.randrange(most + 1))]


def flags(draw: Draw) -> bool:
    return draw.random.random() < 0.5


def times(draw: Draw) -> str:
    n = draw.random.randrange(10**6)
    return f"2026-01-01T{n % 24:02}:{n % 60:02}:{n % 59:02}.{n % 1000:03}Z"


texts = one_of("", "a", "words")
metas: Kind[Json] = one_of({"git": "main"}, {"k": [1]}, {"x": None})
tools = few(one_of({"name": "look"}, {"name": "say", "title": "Say"}))
tool_contents = few(
    one_of(
        {"type": "text", "text": "out"},
        {"type": "terminal", "resource": "t:/1", "title": "T", "isPty": True},
        {"type": "subagent", "resource": "x:/2", "title": "S"},
    )
)
models = one_of({"id": "m"}, {"id": "n", "config": {"effort": "high", "n": 3, "on": True, "x": None}})
file_edits = few(one_of({"after": {"uri": "f:/a", "content": {"uri": "f:/a", "nonce": "1"}}}))
attachments = few(
    one_of(
        {"type": "simple", "label": "one", "modelRepresentation": "1"},
        {"type": "resource", "label": "file", "uri": "f:/a", "nonce": "2"},
        {"type": "embeddedResource", "label": "bytes", "data": "", "contentType": "text/plain"},
        {"type": "chat", "label": "a chat", "resource": "ahp-chat:/other", "_meta": {"k": 1}},
        {"type": "annotations", "label": "notes", "resource": "n:/1"},
        {"type": "hologram", "label": "odd", "beam": 1},
    )
)


def messages(draw: Draw) -> Json:
    kind = pick(draw, "user", "user", "agent", "automation")
    extra = some(draw, attachments=attachments, model=models, agent={"uri": "a:/1"}, _meta=metas)
    return {"text": draw(texts), "origin": {"kind": kind}, **extra}


def errors(draw: Draw) -> Json:
    error = {"errorType": "Boom", "message": draw(texts), **some(draw, stack=texts, _meta=metas)}
    return {"kind": "error", "error": error, **some(draw, resumable=True)}


OPTIONS = [{"id": "yes", "label": "Yes", "kind": "approve"}, {"id": "no", "label": "No", "kind": "deny"}]
QUESTIONS = [
    {"kind": "text", "id": "q1", "message": "Name?"},
    {"kind": "boolean", "id": "q2", "message": "Sure?"},
]
ANSWER = {"state": "draft", "value": {"kind": "text", "value": "me"}}
answers = one_of({}, {"q1": ANSWER}, {"q1": ANSWER, "q2": {"state": "skipped"}})
