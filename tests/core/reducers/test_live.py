"""Live states of chats: text that grows cheaply, in versions that do not affect each other."""

from typing import Any

import pytest

from agenthost.core.reducers import Live, reduce_chat, reduce_terminal
from agenthost.core.reducers.text import MAX_COPIED_CHARS
from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning, ChatToolCallDelta, TerminalData
from building import markdown, reasoning, streaming, unclassified
from chat_building import act, in_turn, terminal

both = pytest.mark.parametrize("begun", ["", "x" * MAX_COPIED_CHARS], ids=["short", "long"])
"""Text grows in one way while it is short, and in another once it is long."""


def content_of(live: Live[Any]) -> list[str]:
    parts = live.state["activeTurn"]["responseParts"]
    return [
        part["content"] if "content" in part else part["toolCall"].get("partialInput", "") for part in parts
    ]


def test_alternating_texts_each_go_to_their_own_part() -> None:
    live: Live[Any] = Live(in_turn(markdown("p1", "A"), reasoning("p2"), streaming()))
    for place in range(3):
        live = reduce_chat(live, ChatDelta("t1", "p1", f"m{place}"))
        live = reduce_chat(live, ChatReasoning("t1", "p2", f"r{place}"))
        live = reduce_chat(live, ChatToolCallDelta("t1", "c1", f"i{place}"))
    assert content_of(live) == ["Am0m1m2", "r0r1r2", "i0i1i2"]


@both
def test_a_version_can_be_continued_in_two_ways(begun: str) -> None:
    start: Live[Any] = Live(in_turn(markdown("p1", begun)))
    first = reduce_chat(start, ChatDelta("t1", "p1", "one "))
    left = reduce_chat(first, ChatDelta("t1", "p1", "left"))
    right = reduce_chat(first, ChatDelta("t1", "p1", "right"))
    shown = [content_of(live) for live in (left, right, first, start)]
    assert shown == [[f"{begun}one left"], [f"{begun}one right"], [f"{begun}one "], [begun]]


@both
def test_text_goes_on_where_it_becomes_long(begun: str) -> None:
    live: Live[Any] = Live(in_turn(reasoning("p1", begun)))
    for length in (MAX_COPIED_CHARS - 1, 2, MAX_COPIED_CHARS, 1):
        live = reduce_chat(live, ChatReasoning("t1", "p1", "y" * length))
    assert content_of(live) == [begun + "y" * (2 * MAX_COPIED_CHARS + 2)]


@both
def test_a_text_without_a_matching_part_returns_the_same_version(begun: str) -> None:
    live: Live[Any] = Live(in_turn(markdown("p1", begun)))
    assert reduce_chat(live, ChatReasoning("t1", "p1", "x")) is live
    assert reduce_chat(live, ChatDelta("t1", "p9", "x")) is live
    assert reduce_chat(live, ChatDelta("t9", "p1", "x")) is live


def test_an_input_for_a_part_of_no_kind_is_ignored() -> None:
    live: Live[Any] = Live(in_turn({"id": "c1", "content": "x"}))
    assert reduce_chat(live, ChatToolCallDelta("t1", "c1", "x")) is live


def test_an_action_that_changes_nothing_leaves_the_log_to_grow() -> None:
    live: Live[Any] = Live(in_turn(markdown("p1", "x" * MAX_COPIED_CHARS)))
    grown = reduce_chat(live, ChatDelta("t1", "p1", "a"))
    assert reduce_chat(grown, act("truncated", turnId="zz")) is grown  # type: ignore[arg-type] # a plain dict
    assert content_of(reduce_chat(grown, ChatDelta("t1", "p1", "b"))) == ["x" * MAX_COPIED_CHARS + "ab"]


def test_terminal_output_grows_in_versions_too() -> None:
    start: Live[Any] = Live(terminal(unclassified("$ ")))
    first = reduce_terminal(start, TerminalData("one "))
    left = reduce_terminal(first, TerminalData("left"))
    right = reduce_terminal(first, TerminalData("right"))
    shown = [version.state["content"] for version in (left, right, first, start)]
    assert shown == [[unclassified(text)] for text in ("$ one left", "$ one right", "$ one ", "$ ")]


def test_a_delta_makes_no_copy_of_what_is_there() -> None:
    """The parts of the answer are shared between versions until somebody reads, however many deltas come."""
    live: Live[Any] = Live(in_turn(markdown("p1", "x" * 1_000_000)))
    before = live.base
    for _ in range(1_000):
        live = reduce_chat(live, ChatDelta("t1", "p1", "y"))
    assert live.base is before
    assert content_of(live) == ["x" * 1_000_000 + "y" * 1_000]
