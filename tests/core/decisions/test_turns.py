"""When a turn may not start, stop or be cut off."""

from typing import Any

import pytest

from agenthost.core.decisions import is_deferred
from building import act, done, in_turn, message, session, started, turn_act
from deciding import QUEUE, reason

LONG = "t" * 200


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (in_turn(), started(), "turn 't1' is still running"),
        (in_turn(), started("t1"), "turn 't1' is still running"),
        (
            session(lifecycle="creationFailed"),
            started(),
            "the session is not ready: its lifecycle is 'creationFailed'",
        ),
        (session(turns=[done("t1"), done("t2")]), started("t1"), "this session had a turn 't1' before"),
        (session(), started(""), "the id of a turn may not be empty"),
        (session(), started(queuedMessageId="m1"), "no message 'm1' is pending"),
        (session(**QUEUE), started(queuedMessageId="m9"), "no message 'm9' is pending"),
        (session(**QUEUE), started(queuedMessageId=""), "no message '' is pending"),
        (session(steeringMessage=message("m1")), started(queuedMessageId="m2"), "no message 'm2' is pending"),
    ],
)
def test_a_turn_may_not_start(state: Any, action: Any, expected: str) -> None:
    assert reason(state, action) == expected


def test_one_turn_may_be_started_before_the_session_is_ready_and_has_to_wait() -> None:
    state: Any = session(lifecycle="creating")
    later = [started("t1")]
    assert reason(state, started("t1")) is None
    assert is_deferred(state, started("t1"))
    assert reason(state, started("t2"), waiting=later) == "turn 't1' waits until the session is ready"
    cancel, other = turn_act("turnCancelled", turnId="t1"), turn_act("turnCancelled", turnId="t2")
    assert reason(state, cancel, waiting=later) is None
    assert is_deferred(state, cancel, later)
    assert reason(state, other, waiting=later) == "no turn is running"
    assert reason(state, cancel) == "no turn is running"
    assert not is_deferred(state, act("titleChanged", title="x"), later)


def test_a_turn_may_start_though_others_wait_and_are_read() -> None:
    assert reason(session(status=64 + 32 + 2, turns=[done("t1")], **QUEUE), started()) is None


@pytest.mark.parametrize(
    ("state", "turn_id", "expected"),
    [
        (session(), "t1", "no turn is running"),
        (session(turns=[done("t1")]), "t1", "no turn is running"),
        (in_turn(), "t2", "the turn that is running is 't1', not 't2'"),
        (in_turn(), LONG, f"the turn that is running is 't1', not '{'t' * 40}'…"),
    ],
)
def test_a_turn_may_not_be_cancelled(state: Any, turn_id: str, expected: str) -> None:
    assert reason(state, turn_act("turnCancelled", turnId=turn_id)) == expected


@pytest.mark.parametrize("turn_id", ["t9", "t1", ""])
def test_what_is_not_an_ended_turn_cannot_be_the_last_one_kept(turn_id: str) -> None:
    state = in_turn(turns=[done("t0")])
    expected = f"this session has no turn {turn_id!r} that has ended"
    assert reason(state, act("truncated", turnId=turn_id)) == expected


def test_a_session_without_turns_may_be_truncated() -> None:
    assert reason(session(), act("truncated")) is None


def test_a_message_may_be_as_large_as_the_host_will_hold_and_no_larger() -> None:
    size = len(b'{"text":"Later"}')
    action = started(userMessage={"text": "Later"})
    assert reason(session(), action, message_bytes=size) is None
    assert reason(session(), action, message_bytes=size - 1) == f"the message is larger than {size - 1} bytes"


def test_a_turn_may_not_start_while_its_agent_lacks_a_token() -> None:
    assert reason(session(), started(), lacks="the agent needs a token") == "the agent needs a token"
