"""When a turn may not start, be cancelled or be resumed, and when turns may not be truncated."""

from typing import Any

import pytest

from agenthost.core.decisions import is_deferred
from chat_building import act, broken, done, end, failed, message, said, session_act, started
from deciding import QUEUE, chat, conversation, given, in_turn, reason, session

LONG = "t" * 200


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (in_turn(), started(), "turn 't1' is still running"),
        (in_turn(), started("t1"), "turn 't1' is still running"),
        (
            session(lifecycle="failed"),
            started(),
            "the session is not ready: its lifecycle is 'failed'",
        ),
        (chat(turns=[done("t1"), done("t2")]), started("t1"), "this session already had a turn 't1'"),
        (session(), started(""), "the id of a turn may not be empty"),
        (session(), started(queuedMessageId="m1"), "no message 'm1' is pending"),
        (chat(**QUEUE), started(queuedMessageId="m9"), "no message 'm9' is pending"),
        (chat(**QUEUE), started(queuedMessageId=""), "no message '' is pending"),
        (chat(steeringMessage=message("m1")), started(queuedMessageId="m2"), "no message 'm2' is pending"),
    ],
)
def test_a_turn_may_not_start(state: Any, action: Any, expected: str) -> None:
    assert reason(state, action) == expected


def test_one_turn_may_be_started_before_the_session_is_ready_and_has_to_wait() -> None:
    state: Any = session(lifecycle="creating")
    later = [started("t1")]
    assert reason(state, started("t1")) is None
    assert is_deferred(state, given(started("t1")))
    assert reason(state, started("t2"), waiting=later) == "turn 't1' is waiting until the session is ready"
    cancel, other = end("turnCancelled", turnId="t1"), end("turnCancelled", turnId="t2")
    assert reason(state, cancel, waiting=later) is None
    assert is_deferred(state, given(cancel), later)
    assert reason(state, other, waiting=later) == "no turn is running"
    assert reason(state, cancel) == "no turn is running"
    assert not is_deferred(state, given(session_act("titleChanged", title="x")), later)


def test_a_turn_may_start_though_others_wait_and_are_read() -> None:
    assert reason(chat(status=64 + 32 + 2, turns=[done("t1")], **QUEUE), started()) is None


@pytest.mark.parametrize(
    ("state", "turn_id", "expected"),
    [
        (session(), "t1", "no turn is running"),
        (chat(turns=[done("t1")]), "t1", "no turn is running"),
        (in_turn(), "t2", "the running turn is 't1', not 't2'"),
        (in_turn(), LONG, f"the running turn is 't1', not '{'t' * 40}'…"),
    ],
)
def test_a_turn_may_not_be_cancelled(state: Any, turn_id: str, expected: str) -> None:
    assert reason(state, end("turnCancelled", turnId=turn_id)) == expected


@pytest.mark.parametrize("turn_id", ["t9", "t1", ""])
def test_what_is_not_an_ended_turn_cannot_be_the_last_one_kept(turn_id: str) -> None:
    state = in_turn(turns=[done("t0")])
    expected = f"this session has no ended turn {turn_id!r}"
    assert reason(state, act("truncated", turnId=turn_id)) == expected


def test_whoever_knows_the_ids_of_turns_spares_the_search_for_them() -> None:
    known = {"t5"}
    assert (
        reason(session(), started("t5"), had_turn=known.__contains__)
        == "this session already had a turn 't5'"
    )
    assert reason(chat(turns=[done("t1")]), started("t1"), had_turn=known.__contains__) is None
    assert reason(session(), act("truncated", turnId="t5"), had_turn=known.__contains__) is None


def test_a_session_without_turns_may_be_truncated() -> None:
    assert reason(session(), act("truncated")) is None


def test_a_message_may_be_as_large_as_the_limit_and_no_larger() -> None:
    size = len(b'{"text":"Later"}')
    action = started(message=said("Later"))
    assert reason(session(), action, message_bytes=size) is None
    assert reason(session(), action, message_bytes=size - 1) == f"the message is larger than {size - 1} bytes"


def test_a_turn_may_not_start_while_its_agent_lacks_a_token() -> None:
    assert reason(session(), started(), lacks="the agent needs a token") == "the agent needs a token"


@pytest.mark.parametrize("kind", ["agent", "tool", "automation", "systemNotification", "somebody", ""])
def test_a_client_sends_messages_of_the_user_only(kind: str) -> None:
    forged = said("Hi", origin={"kind": kind})
    expected = f"origin.kind: expected 'user', found {kind!r}"
    assert reason(session(), started(message=forged)) == f"$.message.{expected}"
    queued = act("pendingMessageSet", kind="queued", id="m", message=forged)
    assert reason(session(), queued) == f"$.message.{expected}"
    assert reason(session(), act("draftChanged", draft=forged)) == f"$.draft.{expected}"


def test_the_model_of_a_message_has_to_be_on_offer_where_models_are_known() -> None:
    large = said("Hi", model={"id": "large"})
    for action in (started(message=large), act("pendingMessageSet", kind="queued", id="m", message=large)):
        assert reason(session(), action, models=["small"]) == "there is no model 'large'"
        assert reason(session(), action, models=[]) == "there is no model 'large'"
        assert reason(session(), action, models=["small", "large"]) is None
        assert reason(session(), action, models=None) is None
    assert reason(session(), started(), models=["small"]) is None
    assert reason(session(), act("draftChanged", draft=large), models=["small"]) is None


@pytest.mark.parametrize("time", ["", "now", "1767323045000", "2026-01-02T03:04:05." + "0" * 100 + "Z"])
def test_a_turn_starts_at_a_time(time: str) -> None:
    assert str(reason(session(), started(startedAt=time))).startswith("$.startedAt: expected a time, found '")


def test_a_draft_may_be_as_large_as_a_message_and_no_larger() -> None:
    size = len(b'{"text":"Later"}')
    action = act("draftChanged", draft=said("Later"))
    assert reason(session(), action, message_bytes=size) is None
    assert reason(session(), action, message_bytes=size - 1) == f"the message is larger than {size - 1} bytes"
    assert reason(session(), act("draftChanged"), message_bytes=1) is None


def test_the_duration_of_a_cancelled_turn_is_a_number() -> None:
    without = {"type": "chat/turnCancelled", "turnId": "t1"}
    assert reason(in_turn(), without) == "$.duration: expected a number, found nothing"
    assert reason(in_turn(), {**without, "duration": -5}) is None


# Resuming.

RESUME = act("turnResume", turnId="t2")


def test_the_last_turn_may_be_resumed_if_it_failed_and_offers_that() -> None:
    assert reason(chat(turns=[done("t1"), failed("t2")]), RESUME) is None


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (session(), "the last turn of this session is not 't2'"),
        (chat(turns=[failed("t1")]), "the last turn of this session is not 't2'"),
        (chat(turns=[failed("t2"), failed("t3")]), "the last turn of this session is not 't2'"),
        (chat(turns=[done("t2")]), "turn 't2' cannot be resumed"),
        (chat(turns=[failed("t2", resumable=False)]), "turn 't2' cannot be resumed"),
        (chat(turns=[failed("t2", resumable=1)]), "turn 't2' cannot be resumed"),
        (chat(turns=[done("t2", state="error")]), "turn 't2' cannot be resumed"),
        (chat(turns=[done("t2", broken(resumable=True), state="cancelled")]), "turn 't2' cannot be resumed"),
        (
            chat(turns=[done("t2", broken(resumable=True), {"kind": "markdown"}, state="error")]),
            "turn 't2' cannot be resumed",
        ),
        (in_turn(turns=[failed("t2")]), "turn 't1' is still running"),
        (
            conversation({"lifecycle": "creating"}, {"turns": [failed("t2")]}),
            "the session is not ready: its lifecycle is 'creating'",
        ),
    ],
)
def test_a_turn_may_not_be_resumed(state: Any, expected: str) -> None:
    assert reason(state, RESUME) == expected


def test_a_turn_may_not_be_resumed_while_its_agent_lacks_a_token() -> None:
    state = chat(turns=[failed("t2")])
    assert reason(state, RESUME, lacks="the agent needs a token") == "the agent needs a token"
