"""What the host does next by itself: the first message of the queue becomes a turn, when it is its time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.decisions import RULES
from agenthost.core.following import TRIGGERS, following
from building import SESSION, in_turn, message, session
from deciding import reason
from reducing import reduce_session

IDLE: Any = session(queuedMessages=[message("m1", "First"), message("m2", "Second")])


def after(state: Any, kind: str = "session/turnComplete") -> list[Any]:
    return [*following(state, {"type": kind}, "t2")]


def test_the_first_queued_message_is_taken_out_and_starts_its_turn() -> None:
    removed, started = after(IDLE)
    assert removed == {
        "type": "session/pendingMessageRemoved",
        "session": SESSION,
        "kind": "queued",
        "id": "m1",
    }
    assert started == {
        "type": "session/turnStarted",
        "session": SESSION,
        "turnId": "t2",
        "userMessage": {"text": "First"},
        "queuedMessageId": "m1",
    }


@pytest.mark.parametrize("kind", sorted(TRIGGERS))
@pytest.mark.parametrize(
    "state",
    [
        session(),
        session(queuedMessages=[]),
        session(steeringMessage=message("m1")),
        in_turn(queuedMessages=[message("m1")]),
        session(lifecycle="creating", queuedMessages=[message("m1")]),
        session(lifecycle="creationFailed", queuedMessages=[message("m1")]),
    ],
    ids=["no queue", "empty queue", "steering", "turn runs", "creating", "failed"],
)
def test_nothing_follows_where_nothing_waits_or_no_turn_can_start(state: Any, kind: str) -> None:
    assert after(state, kind) == []


@pytest.mark.parametrize("kind", [*sorted(set(RULES) - TRIGGERS), "session/error", "x/unknown"])
def test_the_queue_waits_after_what_somebody_should_look_at(kind: str) -> None:
    assert after(IDLE, kind) == []


@given(count=st.integers(0, 6), kind=st.sampled_from(sorted(TRIGGERS)))
def test_a_queue_empties_itself_in_its_order_turn_by_turn(count: int, kind: str) -> None:
    state: Any = session(queuedMessages=[message(f"m{place}", f"words {place}") for place in range(count)])
    for place in range(count):
        actions: list[Any] = [*following(state, {"type": kind}, f"t{place}")]
        assert reason(state, actions[0]) is None
        state = reduce_session(state, *actions)
        assert after(state, kind) == []  # one at a time
        end = {"type": "session/turnComplete", "session": SESSION, "turnId": f"t{place}"}
        state = reduce_session(state, end)
    assert [turn["userMessage"]["text"] for turn in state["turns"]] == [f"words {n}" for n in range(count)]
    assert after(state, kind) == []
