"""Imported histories: the turns that they become, and the one that waits."""

from typing import Any

import pytest
from hypothesis import given

from agenthost.core.history_import import ImportedHistory, import_history, sent_message
from agenthost.core.transcript import Message, check_imported_history, open_calls
from agenthost.core.turn_transcript import covered_parts
from agenthost.wire.ahp.turn import ActiveTurn, Turn
from agenthost.wire.shape import Shape
from chat_building import said
from transcripts import answer, calls, says, system, transcripts, user

WAITING = {"status": "pending-confirmation", "confirmationTitle": "May it?"}
NOW = "2026-01-02T03:04:05.000Z"
SHOWN = {"toolName": "add", "displayName": "add", "invocationMessage": "add", "toolInput": '{"a":1}'}
TURNS: Shape[list[Turn]] = Shape(list[Turn])
ACTIVE: Shape[ActiveTurn] = Shape(ActiveTurn)


def seed_of(*messages: Any) -> ImportedHistory:
    check_imported_history(messages)
    return import_history(messages, lambda _call: dict(WAITING), NOW)


def calls_in(turn: Any) -> dict[str, Any]:
    parts = [part for part in turn["responseParts"] if part["kind"] == "toolCall"]
    return {part["toolCall"]["toolCallId"]: part["toolCall"] for part in parts}


def test_each_user_message_begins_a_turn() -> None:
    seed = seed_of(system(), says("Welcome."), user("One"), says("Two"), user("Three"))
    assert seed.active is None
    assert seed.turns == [
        {
            "id": "seed-1",
            "message": said("One"),
            "responseParts": [{"kind": "markdown", "id": "p1", "content": "Two"}],
            "state": "complete",
        },
        {"id": "seed-2", "message": said("Three"), "responseParts": [], "state": "complete"},
    ]
    assert [turn for turn, _ in seed.messages] == [None, None, "seed-1", "seed-1", "seed-2"]


def test_thoughts_and_words_are_numbered_as_a_running_agent_does() -> None:
    content = [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}]
    seed = seed_of(user(), {"role": "assistant", "content": content}, says("And?"))
    assert seed.turns[0]["responseParts"] == [
        {"kind": "reasoning", "id": "p1", "content": "Hm"},
        {"kind": "markdown", "id": "p2", "content": "Yes"},
        {"kind": "markdown", "id": "p3", "content": "And?"},
    ]


def test_a_call_with_its_answer_is_completed() -> None:
    seed = seed_of(user(), calls("a"), answer("a", "3"), says("It is 3."))
    assert calls_in(seed.turns[0])["a"] == {
        **SHOWN,
        "toolCallId": "a",
        "status": "completed",
        "confirmed": "not-needed",
        "success": True,
        "pastTenseMessage": "Ran add",
        "content": [{"type": "text", "text": "3"}],
    }


def test_calls_that_were_passed_over_are_skipped() -> None:
    seed = seed_of(user(), calls("a"), says("Never mind."), user("Next"))
    skipped = {**SHOWN, "toolCallId": "a", "status": "cancelled", "reason": "skipped"}
    assert calls_in(seed.turns[0])["a"] == skipped
    seed = seed_of(user(), calls("a"), user("Next"))  # its turn is not the last
    assert calls_in(seed.turns[0])["a"] == skipped


def test_a_history_that_ends_in_open_calls_is_a_turn_that_waits() -> None:
    seed = seed_of(user("Old"), user("New"), calls("gone"), calls("a", "b"), answer("a"))
    assert [turn["id"] for turn in seed.turns] == ["seed-1"]
    assert seed.active is not None
    assert "state" not in seed.active
    assert seed.active["startedAt"] == NOW
    assert not {"startedAt", "duration"} & seed.turns[0].keys()  # nobody knows when it was
    found = calls_in(seed.active)
    assert {name: one["status"] for name, one in found.items()} == {
        "gone": "cancelled",
        "a": "completed",
        "b": "pending-confirmation",
    }
    assert found["b"] == {**SHOWN, "toolCallId": "b", **WAITING}


def test_the_last_answer_of_a_waiting_turn_is_marked_with_the_number_of_recorded_parts() -> None:
    seed = seed_of(user(), calls("a", "b"), answer("a"))
    assert seed.active is not None
    messages = [message for _, message in seed.messages]
    assert covered_parts(messages) == len(seed.active["responseParts"]) == 3
    assert "_private" not in messages[0]
    assert "_private" not in messages[2]


def test_an_answer_to_a_call_before_the_turn_belongs_to_no_part() -> None:
    seed = seed_of(user(), calls("a"), user("Well?"), answer("a", "late"))
    assert calls_in(seed.turns[0])["a"]["status"] == "cancelled"
    assert seed.turns[1]["responseParts"] == []
    assert seed.messages[-1][0] == "seed-2"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Hi", said("Hi")),
        ([], said("")),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], said("a\nb")),
        (
            [{"type": "text", "text": "See"}, {"type": "image", "url": "data:image/png;base64,AAAA"}],
            said(
                "See",
                attachments=[
                    {
                        "type": "embeddedResource",
                        "label": "image 1",
                        "data": "AAAA",
                        "contentType": "image/png",
                        "displayKind": "image",
                    }
                ],
            ),
        ),
        (
            [{"type": "image", "url": "https://x/;base64,/a.png"}],
            said(
                "",
                attachments=[
                    {
                        "type": "resource",
                        "label": "image 1",
                        "uri": "https://x/;base64,/a.png",
                        "displayKind": "image",
                    }
                ],
            ),
        ),
    ],
)
def test_a_users_message_is_its_text_with_its_images_attached(content: Any, expected: Any) -> None:
    assert sent_message(content) == expected


@given(transcripts)
def test_any_history_becomes_turns_that_fit_the_protocol_and_loses_no_message(
    messages: list[Message],
) -> None:
    seed = import_history(messages, lambda _call: dict(WAITING), NOW)
    assert [{**said, "_private": 0} for _, said in seed.messages] == [
        {**one, "_private": 0} for one in messages
    ]
    turns: list[Any] = [*seed.turns, *([seed.active] if seed.active else [])]
    TURNS.check(seed.turns)
    if seed.active is not None:
        ACTIVE.check(seed.active)
    questions = [sent_message(one["content"]) for one in messages if one["role"] == "user"]
    assert [turn["message"] for turn in turns] == questions
    assert [turn["id"] for turn in turns] == [f"seed-{place}" for place, _ in enumerate(turns, 1)]


@given(transcripts)
def test_only_the_last_turn_waits_and_only_for_calls_that_are_open(messages: list[Message]) -> None:
    seed = import_history(messages, lambda _call: dict(WAITING), NOW)
    statuses = [one["status"] for turn in seed.turns for one in calls_in(turn).values()]
    assert set(statuses) <= {"completed", "cancelled"}
    waiting = [
        one
        for one in calls_in(seed.active or {"responseParts": []}).values()
        if one["status"] == WAITING["status"]
    ]
    assert bool(waiting) == (seed.active is not None)
    assert {one["toolCallId"] for one in waiting} <= {one["toolCallId"] for one in open_calls(messages)}
