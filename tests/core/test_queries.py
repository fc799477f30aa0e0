"""What many modules ask about a session's state, on states that may lack anything."""

from typing import Any, get_args

import pytest

from agenthost.core.queries import (
    ENDED_CALL_STATUSES,
    TURN_ENDINGS,
    WAITING_CALL_STATUSES,
    active_calls,
    client_of,
    error_of,
    find_active_call,
    find_active_client,
    find_call,
    has_ended,
    is_tool_call,
    open_questions,
    tool_calls,
    working_directory,
)
from agenthost.core.reducers import Live, reduce_chat
from agenthost.core.reducers.chat import HANDLERS
from agenthost.wire.ahp.enums import ToolCallStatus


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


@pytest.mark.parametrize("kind", [*HANDLERS, "chat/delta", "chat/reasoning"])
def test_exactly_the_actions_that_move_a_turn_to_the_ended_ones_are_its_endings(kind: str) -> None:
    now = "2026-01-01T00:00:00.000Z"
    turn = {"id": "t1", "startedAt": now, "message": {"text": ""}, "responseParts": []}
    state: Any = {"resource": "c:/1", "title": "", "status": 8, "modifiedAt": now, "turns": []}
    part = {"kind": "error", "error": {"errorType": "x", "message": "y"}}
    action: Any = {"type": kind, "turnId": "t1", "content": "", "partId": "", "duration": 1, "part": part}
    running: Any = {**state, "activeTurn": turn}
    action |= {"turns": [], "order": []}
    after = reduce_chat(Live(running), action).state
    ended = [turn["id"] for turn in after["turns"]] == ["t1"]
    assert ended == (kind in TURN_ENDINGS)


def test_a_call_names_the_client_that_runs_it() -> None:
    assert client_of({"contributor": {"kind": "client", "clientId": "me"}}) == "me"
    assert client_of({"contributor": {"kind": "mcp", "customizationId": "x"}}) is None
    assert client_of({}) is None


def test_questions_are_open_until_somebody_has_completed_them() -> None:
    asked, answered = {"id": "q1"}, {"id": "q2"}
    parts = [
        {"kind": "inputRequest", "request": asked},
        {"kind": "inputRequest", "request": answered, "response": "accept"},
        TEXT,
    ]
    idle: Any = {"turns": []}
    running: Any = {**idle, "activeTurn": {"id": "t1", "responseParts": parts}}
    assert open_questions(running) == [asked]
    assert open_questions(idle) == []


def test_a_session_knows_its_clients_and_its_folder() -> None:
    me: Any = {"clientId": "me", "tools": []}
    state: Any = {"activeClients": [me], "workingDirectories": ["file:///a", "file:///b"]}
    assert (find_active_client(state, "me"), find_active_client(state, "you")) == (me, None)
    nowhere: Any = {**state, "workingDirectories": []}
    assert (working_directory(state), working_directory(nowhere)) == ("file:///a", None)


def test_a_turn_that_failed_has_its_error_at_the_end() -> None:
    error = {"errorType": "x", "message": "y"}
    failed = {"state": "error", "responseParts": [TEXT, {"kind": "error", "error": error}]}
    assert error_of(failed) == error
    assert error_of({**failed, "state": "complete"}) is None
    assert error_of({"state": "error", "responseParts": []}) is None
