"""The message queue: when its first message starts a turn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.decisions import RULES
from agenthost.core.message_queue import TRIGGERS, next_from_queue
from chat_building import end, message, said
from deciding import chat, conversation, in_turn, reason, reduced, session

NOW = "2026-01-02T03:04:05.000Z"
IDLE: Any = chat(queuedMessages=[message("m1", "First"), message("m2", "Second")])


def after(state: Any, kind: str = "chat/turnComplete") -> list[Any]:
    action: Any = {"type": kind}
    return [*next_from_queue(state, action, "t2", NOW)]


def test_the_first_queued_message_is_taken_out_and_starts_its_turn() -> None:
    removed, started = after(IDLE)
    assert removed == {"type": "chat/pendingMessageRemoved", "kind": "queued", "id": "m1"}
    assert started == {
        "type": "chat/turnStarted",
        "turnId": "t2",
        "startedAt": NOW,
        "message": said("First"),
        "queuedMessageId": "m1",
    }


@pytest.mark.parametrize("kind", sorted(TRIGGERS))
@pytest.mark.parametrize(
    "state",
    [
        session(),
        chat(queuedMessages=[]),
        chat(steeringMessage=message("m1")),
        in_turn(queuedMessages=[message("m1")]),
        conversation({"lifecycle": "creating"}, {"queuedMessages": [message("m1")]}),
        conversation({"lifecycle": "failed"}, {"queuedMessages": [message("m1")]}),
    ],
    ids=["no queue", "empty queue", "steering", "turn runs", "creating", "failed"],
)
def test_no_turn_starts_where_no_message_is_queued_or_no_turn_can_start(state: Any, kind: str) -> None:
    assert after(state, kind) == []


@pytest.mark.parametrize("kind", [*sorted(set(RULES) - TRIGGERS), "chat/error", "x/unknown"])
def test_the_queue_waits_after_a_turn_that_was_cancelled_or_failed(kind: str) -> None:
    assert after(IDLE, kind) == []


@given(count=st.integers(0, 6), kind=st.sampled_from(sorted(TRIGGERS)))
def test_a_queue_empties_itself_in_its_order_turn_by_turn(count: int, kind: str) -> None:
    state: Any = chat(queuedMessages=[message(f"m{place}", f"words {place}") for place in range(count)])
    for place in range(count):
        cause: Any = {"type": kind}
        actions: list[Any] = [*next_from_queue(state, cause, f"t{place}", NOW)]
        assert reason(state, actions[0]) is None
        state = reduced(state, *actions)
        assert after(state, kind) == []  # one at a time
        state = reduced(state, end(turnId=f"t{place}"))
    assert [turn["message"]["text"] for turn in state.chat["turns"]] == [f"words {n}" for n in range(count)]
    assert after(state, kind) == []
