"""Transcripts for tests: builders that show only what matters, and random ones that are well-formed."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from agenthost.core.transcript import STEERING, Message

Json = dict[str, Any]

IMAGE: Json = {"type": "image", "url": "data:image/png;base64," + "A" * 999}


def system(text: str = "Be brief.", **over: Any) -> Any:
    """Build a system message."""
    return {"role": "system", "content": text, **over}


def user(content: Any = "Hello", **over: Any) -> Any:
    """Build a user message."""
    return {"role": "user", "content": content, **over}


def steering(text: str = "Faster!") -> Any:
    """Build a user message that came in the middle of a turn."""
    return user(text, _private=STEERING)


def says(text: str = "Hi", **over: Any) -> Any:
    """Build an assistant message of plain text."""
    return {"role": "assistant", "content": text, **over}


def call(call_id: str, **over: Any) -> Any:
    """Build a tool use block."""
    return {"type": "tool_use", "toolCallId": call_id, "name": "add", "input": {"a": 1}, **over}


def calls(*call_ids: str) -> Any:
    """Build an assistant message that asks for these calls, after a word."""
    return {"role": "assistant", "content": [{"type": "text", "text": "So:"}, *map(call, call_ids)]}


def answer(call_id: str, content: Any = "3", **over: Any) -> Any:
    """Build a tool message."""
    return {"role": "tool", "toolCallId": call_id, "content": content, **over}


_IDS = ["a", "b", "c", "d"]
_words = st.text("x y\nжé漢", min_size=1, max_size=8)
_texts = st.builds(lambda word, times: word * times, _words, st.sampled_from([1, 1, 5, 50, 500]))
_blocks = st.lists(st.just(IMAGE) | _texts.map(lambda text: {"type": "text", "text": text}), max_size=3)
_contents = _texts | _blocks
_kinds = st.sampled_from(
    "system user user assistant assistant calls calls answer answer answer steering".split()
)


@st.composite
def _well_formed(draw: DrawFn) -> list[Message]:
    """Draw messages in any order that a seed may have: answers may come late, calls stay open, ids return."""
    messages: list[Message] = []
    pending: list[str] = []
    for kind in draw(st.lists(_kinds, max_size=14)):
        free = [call_id for call_id in _IDS if call_id not in pending]
        if kind == "calls" and free:
            asked = draw(st.lists(st.sampled_from(free), min_size=1, unique=True))
            messages.append(calls(*asked))
            pending += asked
        elif kind == "answer" and pending:
            answered = draw(st.sampled_from(pending))
            pending.remove(answered)
            messages.append(answer(answered, draw(_contents)))
        elif kind in _SIMPLE:
            messages.append(draw(_SIMPLE[kind]))
    return messages


_SIMPLE: dict[str, SearchStrategy[Any]] = {
    "system": _texts.map(system),
    "user": _contents.map(user),
    "assistant": _texts.map(says),
    "steering": _texts.map(steering),
}

transcripts: SearchStrategy[list[Message]] = _well_formed()
"""Random well-formed transcripts."""
