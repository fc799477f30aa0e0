"""The catalogue of a session: tasks of subagents, the order of chats, and what lists show of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core import actions
from agenthost.core.chats import in_order_added, is_task, new_entry, places, reordered, tasks_below
from agenthost.core.reducers import next_session_state
from agenthost.core.summaries import is_task_summary, session_summary
from rules import rule

NOW = "2026-01-01T00:00:00.000Z"


def entry(name: str, of: str | None = None, status: int = 1) -> Any:
    origin = {"kind": "user"} if of is None else {"kind": "tool", "chat": of, "toolCallId": "c"}
    return {"resource": name, "title": name, "status": status, "modifiedAt": NOW, "origin": origin}


def session(*entries: Any) -> Any:
    base = {"provider": "demo", "title": "T", "status": 1, "defaultChat": "d"}
    return {**base, "chats": [{**entry("d"), "origin": {}}, *entries]}


@rule("1.0/C7")
def test_the_tasks_below_a_chat_are_those_of_its_calls_and_theirs() -> None:
    state = session(entry("a", "d"), entry("b"), entry("c", "a"), entry("e", "b"), entry("f", "c"))
    assert [is_task(one) for one in state["chats"]] == [False, True, False, True, True, True]
    assert tasks_below(state, "d") == ["a", "c", "f"]
    assert tasks_below(state, "b") == ["e"]
    assert tasks_below(state, "f") == []


def test_lists_show_tasks_while_they_run_and_no_failures_of_theirs() -> None:
    state = session(entry("run", "d", 8), entry("ended", "d"), entry("failed", "d", 2), entry("more"))
    summary: Any = session_summary("demo:/1", state, NOW)
    assert [one["resource"] for one in summary["chats"]] == ["d", "run", "more"]
    assert summary["status"] == 1
    waits: Any = session_summary("demo:/1", session(entry("asks", "d", 24)), NOW)
    failed: Any = session_summary("demo:/1", session(entry("other", None, 2)), NOW)
    assert (waits["status"], failed["status"]) == (24, 2)


def test_the_summary_of_a_task_says_so() -> None:
    own = {"provider": "demo", "title": "T", "status": 1, "defaultChat": "t", "chats": [entry("t", "d", 2)]}
    summary: Any = session_summary("demo:/t", own, NOW)  # type: ignore[arg-type] # some fields of one
    assert (is_task_summary(summary), summary["status"]) == (True, 2)
    assert not is_task_summary(session_summary("demo:/1", session(entry("a", "d")), NOW))
    assert not is_task_summary({})


@rule("1.0/M1")
@pytest.mark.parametrize(
    ("chats", "after", "order"),
    [
        (["x"], None, None),
        (["x"], "b", None),
        (["x"], "d", "dxab"),
        (["x", "y"], "a", "daxyb"),
        (["b"], "d", "dba"),
        (["b"], "a", None),
        (["b"], None, None),
    ],
)
def test_chats_stand_after_another(chats: list[str], after: str | None, order: str | None) -> None:
    found = reordered(session(entry("a"), entry("b")), chats, after)
    assert found == (None if order is None else list(order))


@rule("1.0/M1", "1.0/V2")
@given(st.data())
def test_the_order_in_which_chats_were_added_is_known_after_any_moves(data: st.DataObject) -> None:
    state, added = session(), ["d"]
    for name in "ABCDEF"[: data.draw(st.integers(1, 6))]:
        there = [one["resource"] for one in state["chats"]]
        after = data.draw(st.sampled_from([None, *there]))
        order = reordered(state, [name], after)
        steps: list[Any] = [actions.chat_updated(uri, place) for uri, place in places(state).items()]
        steps = steps if order else []
        for step in steps:
            state = next_session_state(state, step)
        state = next_session_state(state, actions.chat_added(new_entry(state, entry(name))))
        added.append(name)
        if order:
            state = next_session_state(state, actions.chats_reordered(order))
            assert [one["resource"] for one in state["chats"]] == order
        gone = data.draw(st.sampled_from([None, *added[1:]]))
        if gone is not None:
            state = next_session_state(state, actions.chat_removed(gone))
            added.remove(gone)
        assert [one["resource"] for one in in_order_added(state["chats"])] == added
