"""Scrollback: how much of a terminal's content the host keeps, and how the rest is dropped (HR-X04).

Only actions change a state, and there is none for "the oldest lines are gone" (`terminal/cleared` would clear
the screen too). But each side may keep as much as it likes, and no action depends on old content. So the host
drops the beginning of its own copy, which new subscribers are shown. Existing ones keep what they have, and
both apply the same actions from then on.
"""

from typing import Any

from agenthost.wire.ahp.terminal import TerminalState

MAX_PARTS = 1_000
"""How many parts (commands, and output between them) are kept: adding one costs time for each of them."""


def content_size(state: TerminalState) -> int:
    """Return how many characters a terminal's content has."""
    return sum(len(_text(part)) for part in state["content"])


def trim_content(state: TerminalState, limit: int) -> TerminalState:
    """Return the state with the newest `limit` characters of content, from the beginning of a line on."""
    content: list[Any] = state["content"][-MAX_PARTS:]
    kept: list[Any] = []
    room = limit
    for part in reversed(content):
        text = _text(part)
        if len(text) > room:
            if rest := _tail(text, room):
                kept.append({**part, _field(part): rest})
            elif not kept:  # the last part may still grow, so it has to stay
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
    """Return the last `room` characters, from the first whole line on if there is one."""
    if room <= 0:
        return ""
    tail = text[-room:]
    line = tail.find("\n") + 1
    return tail[line:] if 0 < line < len(tail) else tail
