"""What holds for every state and every log of actions."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.wire.ahp.actions.text import TerminalData, as_text
from channel_logs import actions, states
from chat_building import in_turn, terminal
from folding import fold
from rules import rule
from strategies import json_values, share

KINDS: tuple[ResourceKind, ...] = tuple(REDUCERS)


def replay(kind: ResourceKind, start: Any, log: list[Any]) -> Any:
    live = Live(start)
    for action in log:
        live = REDUCERS[kind](live, action)
    return live.state


@rule("1.0/G2")
@pytest.mark.parametrize("partial", [False, True], ids=["whole", "partial"])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=share(30))
@given(data=st.data())
def test_no_log_makes_a_reducer_raise_or_change_its_input(
    kind: ResourceKind, partial: bool, data: st.DataObject
) -> None:
    start = data.draw(states(kind, partial=partial))
    log = data.draw(st.lists(actions(kind, partial=partial), max_size=8))
    fold(kind, start, *log)  # asserts that its inputs stay as they are


@pytest.mark.parametrize("kind", ["chat", "session", "terminal"])
@settings(max_examples=share(50))
@given(data=st.data())
def test_rejoining_anywhere_gives_the_same_state(kind: ResourceKind, data: st.DataObject) -> None:
    start = data.draw(states(kind))
    log = data.draw(st.lists(actions(kind), max_size=8))
    cut = data.draw(st.integers(0, len(log)))
    assert replay(kind, replay(kind, start, log[:cut]), log[cut:]) == replay(kind, start, log)


@pytest.mark.parametrize("kind", ["chat", "terminal"])
@settings(max_examples=share(50))
@given(data=st.data())
def test_versions_that_diverge_do_not_affect_each_other(kind: ResourceKind, data: st.DataObject) -> None:
    start = data.draw(states(kind))
    shared, one, other = (data.draw(st.lists(actions(kind), max_size=4)) for _ in range(3))
    parting = Live(deepcopy(start))
    for action in shared:
        parting = REDUCERS[kind](parting, action)
    ends = []
    for branch in (one, other):
        live = parting
        for action in branch:
            live = REDUCERS[kind](live, action)
        ends.append(live)
    assert [end.state for end in ends] == [replay(kind, start, shared + branch) for branch in (one, other)]
    assert parting.state == replay(kind, start, shared)


@rule("1.0/G3")
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_an_action_of_another_scope_changes_nothing(kind: ResourceKind, data: st.DataObject) -> None:
    live = Live(data.draw(states(kind)))
    others = [other for other in KINDS if other != kind]
    foreign = data.draw(st.lists(st.sampled_from(others).flatmap(actions), max_size=4))
    assert all(REDUCERS[kind](live, action) is live for action in foreign)


@rule("1.0/G5")
@given(kind=st.sampled_from(KINDS).filter(lambda kind: kind != "canvas"), data=st.data())
def test_unknown_keys_of_a_state_are_kept(kind: ResourceKind, data: st.DataObject) -> None:
    start = {**data.draw(states(kind)), "x-new": [{"x": None}]}
    log = data.draw(st.lists(actions(kind), max_size=6))
    after = fold(kind, start, *log)
    assert {key: start[key] for key in start if key.startswith("x-")} == {
        key: after[key] for key in after if key.startswith("x-")
    }


# Text.

PARTS: list[Any] = [
    {"kind": "markdown", "id": "a", "content": ""},
    {"kind": "reasoning", "id": "b", "content": "-"},
    {"kind": "toolCall", "toolCall": {"toolCallId": "a", "status": "streaming"}},
    {"kind": "markdown", "id": "c", "content": "x" * 499},
    {"kind": "markdown", "id": "a", "content": "hidden"},
]
ids = st.sampled_from("abcd")
texts = st.text(max_size=3) | st.just("y" * 600)
deltas = st.builds(
    lambda kind, part, turn, content: {
        "type": f"chat/{kind}",
        "turnId": turn,
        "toolCallId" if kind == "toolCallDelta" else "partId": part,
        "content": content,
    },
    st.sampled_from(["delta", "reasoning", "toolCallDelta"]),
    ids,
    st.sampled_from(["t1", "t1", "t1", "t2"]),
    texts,
)


def plainly(parts: list[Any], log: list[Any]) -> list[Any]:
    """Append each text by the rules C3 and T2, and nothing clever."""
    parts = [deepcopy(part) for part in parts]  # the same part may be there twice
    for action in log:
        if action["turnId"] != "t1":
            continue
        if action["type"] == "chat/toolCallDelta":
            for part in parts:
                call = part.get("toolCall", {})
                if call.get("toolCallId") == action["toolCallId"]:
                    call["partialInput"] = call.get("partialInput", "") + action["content"]
            continue
        named = [
            part
            for part in parts
            if part.get("toolCall", {}).get("toolCallId", part.get("id")) == action["partId"]
        ]
        kind = "markdown" if action["type"] == "chat/delta" else "reasoning"
        if named and named[0]["kind"] == kind:
            named[0]["content"] += action["content"]
    return parts


@rule("1.0/C3", "1.0/T2")
@pytest.mark.parametrize("decoded", [False, True], ids=["dicts", "structs"])
@given(parts=st.lists(st.sampled_from(PARTS), max_size=4), log=st.lists(deltas, max_size=12))
def test_text_that_grows_is_the_text_that_is_appended(
    decoded: bool, parts: list[Any], log: list[Any]
) -> None:
    given_log = [as_text(action) for action in log] if decoded else log
    state = replay("chat", in_turn(*deepcopy(parts)), given_log)
    assert state == in_turn(*plainly(parts, log))


@rule("1.0/TM1")
@given(log=st.lists(texts, max_size=12))
def test_output_that_grows_is_the_output_that_is_appended(log: list[str]) -> None:
    data = [TerminalData(text) for text in log]
    parts = [{"type": "unclassified", "value": "".join(log)}] if log else []
    assert replay("terminal", terminal(), data) == terminal(*parts)


# What nobody knows.


def anything_under(*keys: str) -> SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys), json_values, max_size=4)


odd_parts = st.lists(
    st.builds(
        lambda rest, kind, call: {
            **rest,
            "kind": kind,
            "type": kind,
            "toolCall": {**call, "status": "dreaming"},
        },
        anything_under("id", "content", "value", "commandId", "x"),
        st.sampled_from(["hologram", "toolCall", ""]),
        anything_under("toolCallId", "invocationMessage", "toolInput"),
    ),
    max_size=4,
)
"""Parts of kinds, and calls in states, that nobody knows: anything may be in them."""


@rule("1.0/G5")
@given(parts=odd_parts, log=st.lists(actions("chat"), max_size=6))
def test_unknown_parts_never_make_the_chat_reducer_raise(parts: list[Any], log: list[Any]) -> None:
    result = fold("chat", in_turn(*parts, turn={"id": "a"}), *log)
    if "activeTurn" in result and not any(action["type"] == "chat/turnStarted" for action in log):
        assert result["activeTurn"]["responseParts"][: len(parts)] == parts


@rule("1.0/G5")
@given(parts=odd_parts, log=st.lists(actions("terminal"), max_size=6))
def test_unknown_parts_are_kept_by_the_terminal_reducer(parts: list[Any], log: list[Any]) -> None:
    result = fold("terminal", terminal(*parts), *log)
    if not any(action["type"] == "terminal/cleared" for action in log):
        assert result["content"][: len(parts)] == parts
