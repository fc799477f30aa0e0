"""The chat reducer: how turns start, end, are resumed, loaded and truncated."""

from typing import Any

import pytest

from building import cancelled, completed, markdown, pending, running, streaming, tool_call
from chat_building import (
    BEFORE,
    BEGUN,
    act,
    auth_required,
    broken,
    chat,
    complete,
    done,
    end,
    failed,
    in_turn,
    message,
    question,
    said,
    started,
    turn_act,
)
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]
ENDED = "2026-01-02T03:04:07.000Z"
MODEL = {"id": "m"}


@rule("1.0/C1")
def test_a_turn_starts_empty_at_the_time_that_the_action_says() -> None:
    turn = {"id": "t2", "startedAt": BEGUN, "message": said("Go on"), "responseParts": []}
    assert fold_chat(chat(), started()) == chat(status=8, modifiedAt=BEGUN, activeTurn=turn)


@rule("1.0/C1")
def test_a_turn_replaces_one_that_is_running() -> None:
    state = fold_chat(in_turn(markdown("p1", "Hi"), pending(), status=24), started())
    assert (state["activeTurn"]["id"], state["activeTurn"]["responseParts"], state["status"]) == ("t2", [], 8)
    assert state["turns"] == []


@rule("1.0/C1", "1.0/H5")
def test_a_turn_makes_the_chat_unread_and_leaves_the_other_flags() -> None:
    assert fold_chat(chat(status=1 + 32 + 64 + 128), started())["status"] == 8 + 64 + 128


@rule("1.0/C1")
def test_a_turn_takes_its_message_out_of_the_queue() -> None:
    state = fold_chat(chat(queuedMessages=[message("a"), message("b")]), started(queuedMessageId="a"))
    assert state["queuedMessages"] == [message("b")]
    assert "queuedMessages" not in fold_chat(state, started(queuedMessageId="b"))


@rule("1.0/C1")
def test_a_turn_takes_its_message_out_of_the_steering_slot() -> None:
    before = chat(steeringMessage=message("s"), queuedMessages=[message("a")])
    state = fold_chat(before, started(queuedMessageId="s"))
    assert "steeringMessage" not in state
    assert state["queuedMessages"] == [message("a")]


@rule("1.0/C1", "1.0/G6")
@pytest.mark.parametrize("given", [{}, {"queuedMessageId": ""}, {"queuedMessageId": "zz"}])
def test_a_turn_leaves_the_messages_that_it_does_not_name(given: Json) -> None:
    waiting = {"steeringMessage": message(""), "queuedMessages": [message("a")]}
    state = fold_chat(chat(**waiting), started(**given))
    assert {key: state[key] for key in waiting} == waiting


@rule("1.0/C1", "1.0/G1", "1.0/G5")
def test_a_turn_is_built_from_what_is_known_and_given() -> None:
    state = fold_chat(chat(), {"type": "chat/turnStarted", "turnId": "t", "x-new": 1, "_meta": {"a": 1}})
    assert state["activeTurn"] == {"id": "t", "responseParts": []}


@rule("1.0/C2")
def test_a_part_is_added_unchanged() -> None:
    part = {"kind": "hologram", "x-new": [1]}
    assert fold_chat(in_turn(markdown("a")), turn_act("responsePart", part=part)) == in_turn(
        markdown("a"), part
    )


@rule("1.0/C2", "1.0/H1")
@pytest.mark.parametrize(
    "action",
    [
        turn_act("responsePart", part=broken()),
        turn_act("responsePart"),
        turn_act("responsePart", part=markdown("b"), turnId="t9"),
    ],
)
def test_an_error_and_a_part_of_another_turn_are_not_added(action: Json) -> None:
    assert changes_nothing("chat", in_turn(markdown("a")), action)


@rule("1.0/C8", "1.0/H1")
def test_the_usage_of_the_running_turn_is_replaced() -> None:
    state = fold_chat(
        in_turn(turn={"usage": {"inputTokens": 1}}), turn_act("usage", usage={"outputTokens": 2})
    )
    assert state == in_turn(turn={"usage": {"outputTokens": 2}})
    assert changes_nothing("chat", in_turn(), turn_act("usage", turnId="t9", usage={}))
    assert changes_nothing("chat", chat(), turn_act("usage", usage={}))


# How turns end.


@rule("1.0/C4", "1.0/H8")
@pytest.mark.parametrize(("name", "outcome"), [("turnComplete", "complete"), ("turnCancelled", "cancelled")])
def test_a_turn_ends_when_its_duration_is_over(name: str, outcome: str) -> None:
    running_turn = in_turn(markdown("p1", "Hi"), turn={"usage": {"inputTokens": 1}, "x-new": 1}, status=40)
    record = done(
        "t1",
        markdown("p1", "Hi"),
        message=said(),
        usage={"inputTokens": 1},
        duration=2000,
        state=outcome,
    )
    assert fold_chat(running_turn, end(name)) == chat(status=33, modifiedAt=ENDED, turns=[record])


@rule("1.0/C5", "1.0/H4", "1.0/H8")
def test_an_error_ends_the_turn_and_becomes_its_last_part() -> None:
    state = fold_chat(in_turn(markdown("p1"), status=72), end("error", part=broken(resumable=True)))
    record = done("t1", markdown("p1"), broken(resumable=True), message=said(), duration=2000, state="error")
    assert state == chat(status=66, modifiedAt=ENDED, turns=[record])


@rule("1.0/H6")
def test_a_late_action_on_a_call_turns_the_error_of_a_chat_into_idle() -> None:
    assert fold_chat(in_turn(), end("error", part=broken()), complete())["status"] == 1


@rule("1.0/H8")
@pytest.mark.parametrize(
    ("given", "duration", "modified"),
    [
        ({"duration": -5}, {"duration": 0}, BEGUN),
        ({"duration": 0}, {"duration": 0}, BEGUN),
        ({"duration": 1.75}, {"duration": 1.75}, "2026-01-02T03:04:05.001Z"),
        ({"duration": None}, {}, BEGUN),
        ({"duration": 1e300}, {"duration": 1e300}, BEFORE),
    ],
)
def test_no_turn_ends_before_it_starts(given: Json, duration: Json, modified: str) -> None:
    state = fold_chat(in_turn(), end(**given))
    record = done("t1", message=said(), **duration)
    if not duration:
        del record["duration"]
    assert (state["turns"], state["modifiedAt"]) == ([record], modified)


@rule("1.0/H8")
@pytest.mark.parametrize(
    ("begun", "ended"),
    [
        ("2026-12-31T23:59:59.500Z", "2027-01-01T00:00:01.500Z"),
        ("2026-01-02T03:04:05.9999Z", "2026-01-02T03:04:07.999Z"),
        ("2026-01-02T03:04:05Z", ENDED),
        ("2026-01-02T05:04:05+02:00", ENDED),
        ("2026-01-02T03:04:05", ENDED),
        ("long ago", BEFORE),
    ],
)
def test_the_end_is_a_time_in_utc_with_milliseconds(begun: str, ended: str) -> None:
    assert fold_chat(in_turn(turn={"startedAt": begun}), end())["modifiedAt"] == ended


@rule("1.0/H8", "1.0/G1")
def test_a_turn_without_a_start_leaves_the_time_of_the_chat() -> None:
    state = fold_chat(in_turn(turn={"startedAt": None}), end())
    assert state["modifiedAt"] == BEFORE
    assert "startedAt" not in state["turns"][0]


@rule("1.0/H8", "1.0/H7")
def test_calls_that_are_open_are_cancelled_when_the_turn_ends() -> None:
    identity = {
        "intention": "List",
        "contributor": {"kind": "mcp", "customizationId": "s"},
        "_meta": {"a": 1},
    }
    parts = [
        streaming(partialInput="{", **identity),
        streaming(invocationMessage="Listing"),
        pending(toolInput="ls", options=[]),
        running(toolInput={"uri": "f:/i"}, content=[], selectedOption={"id": "o"}),
        auth_required(content=[]),
        tool_call("dreaming", invocationMessage="?"),
        completed(),
        cancelled(),
    ]
    parts[2]["x-new"] = 1
    state = fold_chat(in_turn(*parts, status=24), end(_meta={"b": 2}))
    skip = {"reason": "skipped"}
    assert state["turns"][0]["responseParts"] == [
        tool_call("cancelled", **identity, invocationMessage="", **skip),
        tool_call("cancelled", invocationMessage="Listing", **skip),
        tool_call("cancelled", invocationMessage="May I?", toolInput="ls", **skip),
        tool_call("cancelled", invocationMessage="Working", toolInput={"uri": "f:/i"}, **skip),
        tool_call(
            "cancelled",
            contributor={"kind": "mcp", "customizationId": "server"},
            invocationMessage="Working",
            **skip,
        ),
        tool_call("cancelled", invocationMessage="?", **skip),
        completed(),
        cancelled(),
    ]
    assert state["status"] == 1


@rule("1.0/H8")
def test_a_question_that_is_open_stays_in_the_turn_that_ends() -> None:
    state = fold_chat(in_turn(question("r1"), status=24), end())
    assert (state["turns"][0]["responseParts"], state["status"]) == ([question("r1")], 1)


@rule("1.0/H1")
@pytest.mark.parametrize("name", ["turnComplete", "turnCancelled", "error"])
def test_another_turn_does_not_end(name: str) -> None:
    assert changes_nothing("chat", in_turn(), end(name, turnId="t9", part=broken()))
    assert changes_nothing("chat", chat(), end(name, part=broken()))


# How they are resumed.


@rule("1.0/C6", "1.0/G5")
def test_the_last_turn_goes_on_after_an_error() -> None:
    turns = [done("a"), failed("b", markdown("p1"), usage={"inputTokens": 1}, **{"x-new": 1})]
    state = fold_chat(chat(turns=turns, status=2 + 32 + 64), act("turnResume", turnId="b"))
    turn = {
        "id": "b",
        "startedAt": BEGUN,
        "message": said("b"),
        "responseParts": [markdown("p1"), broken(resumable=True)],
        "usage": {"inputTokens": 1},
    }
    assert state == chat(turns=[done("a")], status=8 + 64, activeTurn=turn)


@rule("1.0/C6", "1.0/G1")
def test_a_resumed_turn_without_a_start_began_when_the_chat_last_changed() -> None:
    state = fold_chat(chat(turns=[failed("b", startedAt=None)]), act("turnResume", turnId="b"))
    assert state["activeTurn"]["startedAt"] == BEFORE
    bare = {"turns": [failed("b", startedAt=None)]}
    assert "startedAt" not in fold_chat(bare, act("turnResume", turnId="b"))["activeTurn"]


@rule("1.0/C6")
@pytest.mark.parametrize(
    ("before", "turn_id"),
    [
        (chat(), "b"),
        (chat(turns=[failed("b")]), "a"),
        (chat(turns=[failed("b"), done("c")]), "b"),
        (chat(turns=[failed("b", resumable=False)]), "b"),
        (chat(turns=[failed("b", resumable=None)]), "b"),
        (chat(turns=[done("b", broken(resumable=True))]), "b"),
        (chat(turns=[done("b", state="error")]), "b"),
        (chat(turns=[done("b", broken(resumable=True), markdown("p"), state="error")]), "b"),
        (in_turn(turns=[failed("b")]), "b"),
    ],
)
def test_no_other_turn_can_be_resumed(before: Json, turn_id: str) -> None:
    assert changes_nothing("chat", before, act("turnResume", turnId=turn_id))


# How they are truncated and loaded.


@rule("1.0/C9", "1.0/H5")
def test_turns_are_kept_up_to_the_one_that_is_named() -> None:
    before = in_turn(pending(), status=24 + 32, turns=[done("a"), done("b"), done("c")], turnsNextCursor="n")
    state = fold_chat(before, act("truncated", turnId="b"))
    assert state == chat(status=33, turns=[done("a"), done("b")], turnsNextCursor="n")


@rule("1.0/C9")
def test_all_turns_go_if_none_is_named_and_there_are_no_older_ones() -> None:
    before = in_turn(turns=[done("a")], turnsNextCursor="n", queuedMessages=[message("q")])
    assert fold_chat(before, act("truncated")) == chat(queuedMessages=[message("q")])


@rule("1.0/C9")
def test_a_turn_that_is_not_there_truncates_nothing() -> None:
    before = in_turn(turns=[done("a")])
    assert changes_nothing("chat", before, act("truncated", turnId="t1"), act("truncated", turnId=""))


@rule("1.0/C10")
def test_older_turns_come_first_and_only_once() -> None:
    before = chat(turns=[done("c"), done("d", state="cancelled")], turnsNextCursor="n")
    older = [done("a"), done("b"), done("d")]
    state = fold_chat(before, act("turnsLoaded", turns=older, turnsNextCursor="m"))
    turns = [done("a"), done("b"), done("c"), done("d", state="cancelled")]
    assert state == chat(turns=turns, turnsNextCursor="m")
    assert fold_chat(state, act("turnsLoaded", turns=[])) == chat(turns=turns)
