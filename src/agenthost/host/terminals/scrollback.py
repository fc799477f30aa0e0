"""Scrollback: how much of a terminal's content the host keeps, and how the rest goes.

Only actions change a state, and there is none for "the oldest lines are gone" (`terminal/cleared` would take
the screen too). But each side is free in how much it keeps, and no action looks at old content. So the host
drops the front of its own copy, which new subscribers are shown; those who are there keep what they have.
From then on both go through the same actions, and end the same.
"""

from typing import Any

from agenthost.wire.ahp.terminal import TerminalState

MOST_PARTS = 1_000
"""How many commands and stretches between them are kept: each new one costs as much as there are."""


def size_of(state: TerminalState) -> int:
    """Give how many characters a terminal's content has."""
    return sum(len(_text(part)) for part in state["content"])


def trimmed(state: TerminalState, limit: int) -> TerminalState:
    """Give the state with the newest so many characters of content, from the beginning of a line on."""
    content: list[Any] = state["content"][-MOST_PARTS:]
    kept: list[Any] = []
    room = limit
    for part in reversed(content):
        text = _text(part)
        if len(text) > room:
            if rest := _tail(text, room):
                kept.append({**part, _field(part): rest})
            elif not kept:  # the last part goes on, so it has to be there
                kept.append({**part, _field(part): ""})
            break
        kept.append(part)
        room -= len(text)
    if len(kept) == len(state["content"]) and all(
        new is old for new, old in zip(reversed(kept), state["content"], strict=True)
    ):
        return state
    return {**state, "content": kept[::-1]}


def _field(part: Any) -> str:
    return "output" if part["type"] == "command" else "value"


def _text(part: Any) -> str:
    text: str = part[_field(part)]
    return text


def _tail(text: str, room: int) -> str:
    """Give the last so many characters; from the first whole line on, if there is one."""
    if room <= 0:
        return ""
    tail = text[-room:]
    line = tail.find("\n") + 1
    return tail[line:] if 0 < line < len(tail) else tail
