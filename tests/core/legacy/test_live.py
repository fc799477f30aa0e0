"""Live states: text that grows cheaply, in versions that do not affect each other."""

from typing import Any

import pytest

from agenthost.core.legacy.reducers import Live, reduce_session, reduce_terminal
from agenthost.core.reducers.text import MAX_COPIED_CHARS
from agenthost.wire.ahp.legacy.actions.text import (
    SessionDelta,
    SessionReasoning,
    SessionToolCallDelta,
    TerminalData,
)
from building import SESSION, TERMINAL, in_turn, markdown, reasoning, streaming, terminal, unclassified
from reducing import NOW

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
        live = reduce_session(live, SessionDelta(SESSION, "t1", "p1", f"m{place}"), NOW)
        live = reduce_session(live, SessionReasoning(SESSION, "t1", "p2", f"r{place}"), NOW)
        live = reduce_session(live, SessionToolCallDelta(SESSION, "t1", "c1", f"i{place}"), NOW)
    assert content_of(live) == ["Am0m1m2", "r0r1r2", "i0i1i2"]


@both
def test_an_older_version_still_shows_what_it_showed(begun: str) -> None:
    start: Live[Any] = Live(in_turn(markdown("p1", begun)))
    first = reduce_session(start, SessionDelta(SESSION, "t1", "p1", "one "), NOW)
    second = reduce_session(first, SessionDelta(SESSION, "t1", "p1", "two"), NOW)
    shown = [content_of(live) for live in (second, start, first)]
    assert shown == [[f"{begun}one two"], [begun], [f"{begun}one "]]


@both
def test_a_version_can_be_continued_in_two_ways(begun: str) -> None:
    start: Live[Any] = Live(in_turn(markdown("p1", begun)))
    first = reduce_session(start, SessionDelta(SESSION, "t1", "p1", "one "), NOW)
    left = reduce_session(first, SessionDelta(SESSION, "t1", "p1", "left"), NOW)
    right = reduce_session(first, SessionDelta(SESSION, "t1", "p1", "right"), NOW)
    shown = [content_of(live) for live in (left, right, first)]
    assert shown == [[f"{begun}one left"], [f"{begun}one right"], [f"{begun}one "]]


@both
def test_reading_in_the_middle_changes_nothing_that_follows(begun: str) -> None:
    live: Live[Any] = Live(in_turn(markdown("p1", begun)))
    for place in range(4):
        live = reduce_session(live, SessionDelta(SESSION, "t1", "p1", str(place)), NOW)
        assert content_of(live) == [begun + "0123"[: place + 1]]


@both
def test_text_goes_on_where_it_becomes_long(begun: str) -> None:
    live: Live[Any] = Live(in_turn(reasoning("p1", begun)))
    for length in (MAX_COPIED_CHARS - 1, 2, MAX_COPIED_CHARS, 1):
        live = reduce_session(live, SessionReasoning(SESSION, "t1", "p1", "y" * length), NOW)
    assert content_of(live) == [begun + "y" * (2 * MAX_COPIED_CHARS + 2)]


@both
def test_a_text_without_a_matching_part_returns_the_same_version(begun: str) -> None:
    live: Live[Any] = Live(in_turn(markdown("p1", begun)))
    assert reduce_session(live, SessionReasoning(SESSION, "t1", "p1", "x"), NOW) is live
    assert reduce_session(live, SessionDelta(SESSION, "t1", "p9", "x"), NOW) is live
    assert reduce_session(live, SessionDelta(SESSION, "t9", "p1", "x"), NOW) is live


def test_terminal_output_grows_in_versions_too() -> None:
    live: Live[Any] = Live(terminal())
    first = reduce_terminal(live, TerminalData(TERMINAL, "one "), NOW)
    second = reduce_terminal(first, TerminalData(TERMINAL, "two "), NOW)
    other = reduce_terminal(first, TerminalData(TERMINAL, "three"), NOW)
    third = reduce_terminal(second, TerminalData(TERMINAL, "four"), NOW)
    shown = [version.state["content"] for version in (third, other, second, first, live)]
    assert shown == [
        [{"type": "unclassified", "value": "one two four"}],
        [{"type": "unclassified", "value": "one three"}],
        [{"type": "unclassified", "value": "one two "}],
        [{"type": "unclassified", "value": "one "}],
        [],
    ]


def test_terminal_output_can_be_continued_in_two_ways() -> None:
    start: Live[Any] = Live(terminal(unclassified("$ ")))
    first = reduce_terminal(start, TerminalData(TERMINAL, "one "), NOW)
    left = reduce_terminal(first, TerminalData(TERMINAL, "left"), NOW)
    right = reduce_terminal(first, TerminalData(TERMINAL, "right"), NOW)
    shown = [version.state["content"] for version in (left, right, first)]
    assert shown == [[unclassified(text)] for text in ("$ one left", "$ one right", "$ one ")]


def test_a_delta_makes_no_copy_of_what_is_there() -> None:
    """The parts of the answer are shared between versions until somebody reads, however many deltas come."""
    live: Live[Any] = Live(in_turn(markdown("p1", "x" * 1_000_000)))
    before = live.base
    for _ in range(1_000):
        live = reduce_session(live, SessionDelta(SESSION, "t1", "p1", "y"), NOW)
    assert live.base is before
    assert content_of(live) == ["x" * 1_000_000 + "y" * 1_000]
