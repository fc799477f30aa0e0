"""Queries about legacy states, which may lack anything."""

from typing import Any, get_args

import pytest

from agenthost.core.legacy.queries import TURN_ENDINGS, active_calls
from agenthost.core.legacy.reducers import Live, reduce_session
from agenthost.wire.ahp.legacy.enums import SessionActionType


def part(call_id: str, status: str = "running") -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": call_id, "status": status}}


def test_only_the_running_turn_has_active_calls() -> None:
    idle: Any = {"turns": [{"id": "t1", "responseParts": [part("a", "completed")]}]}
    running: Any = {**idle, "activeTurn": {"id": "t2", "responseParts": [part("b")]}}
    bare: Any = {"activeTurn": {"id": "t2"}}
    assert active_calls(idle) == active_calls(bare) == []
    assert active_calls(running) == [part("b")["toolCall"]]


@pytest.mark.parametrize("kind", get_args(SessionActionType))
def test_exactly_the_actions_that_move_a_turn_to_the_ended_ones_are_its_endings(kind: str) -> None:
    state: Any = {"summary": {}, "turns": [], "activeTurn": {"id": "t1", "responseParts": []}}
    action: Any = {"type": kind, "turnId": "t1", "session": "demo:/1", "content": "", "partId": ""}
    ended = [turn["id"] for turn in reduce_session(Live(state), action, 1).state["turns"]] == ["t1"]
    assert ended == (kind in TURN_ENDINGS)
