"""What many modules ask about a session's state, on states that may lack anything."""

from typing import Any, get_args

import pytest

from agenthost.core.legacy.queries import (
    ENDED_CALL_STATUSES,
    TURN_ENDINGS,
    WAITING_CALL_STATUSES,
    active_calls,
    find_active_call,
    find_call,
    has_ended,
    is_tool_call,
    tool_calls,
)
from agenthost.core.legacy.reducers import Live, reduce_session
from agenthost.wire.ahp.legacy.enums import SessionActionType, ToolCallStatus


def part(call_id: str, status: str = "running") -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": call_id, "status": status}}


TEXT: Any = {"kind": "markdown", "id": "p1", "content": "hello"}


def test_the_calls_among_parts_come_in_order() -> None:
    parts = [part("a"), TEXT, part("b"), {"kind": "toolCall"}, {}]
    assert tool_calls(parts) == [part("a")["toolCall"], part("b")["toolCall"], {}]
    assert [is_tool_call(one) for one in parts] == [True, False, True, True, False]


def test_of_two_calls_with_one_id_the_newest_is_found() -> None:
    parts = [part("a", "completed"), part("a", "running"), {"kind": "toolCall"}, TEXT]
    assert find_call(parts, "a") == {"toolCallId": "a", "status": "running"}
    assert find_call(parts, "b") is None


def test_only_the_running_turn_has_active_calls() -> None:
    idle: Any = {"turns": [{"id": "t1", "responseParts": [part("a", "completed")]}]}
    running: Any = {**idle, "activeTurn": {"id": "t2", "responseParts": [part("b")]}}
    bare: Any = {"activeTurn": {"id": "t2"}}
    assert active_calls(idle) == active_calls(bare) == []
    assert active_calls(running) == [part("b")["toolCall"]]
    assert find_active_call(running, "b") == part("b")["toolCall"]
    assert find_active_call(running, "a") is find_active_call(idle, "a") is None


@pytest.mark.parametrize("status", get_args(ToolCallStatus))
def test_a_call_has_ended_or_waits_or_neither(status: str) -> None:
    assert has_ended({"status": status}) == (status in ("completed", "cancelled"))
    assert not (status in ENDED_CALL_STATUSES and status in WAITING_CALL_STATUSES)
    assert not has_ended({})


@pytest.mark.parametrize("kind", get_args(SessionActionType))
def test_exactly_the_actions_that_move_a_turn_to_the_ended_ones_are_its_endings(kind: str) -> None:
    state: Any = {"summary": {}, "turns": [], "activeTurn": {"id": "t1", "responseParts": []}}
    action: Any = {"type": kind, "turnId": "t1", "session": "demo:/1", "content": "", "partId": ""}
    ended = [turn["id"] for turn in reduce_session(Live(state), action, 1).state["turns"]] == ["t1"]
    assert ended == (kind in TURN_ENDINGS)
