"""Calls that an agent runs itself: when they enter the transcript, and as which messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.transcript import TRANSCRIPT, check_imported_history, open_calls, public, requested_calls
from agenthost.core.turn_transcript import SKIPPED, WITHHELD, covered_parts, is_reported, reported_messages
from building import markdown, tool_call
from chat_building import said

RESULT = {"success": True, "pastTenseMessage": "Ran", "content": [{"type": "text", "text": "3"}]}
ENDS: dict[str, Any] = {
    "completed": {**RESULT, "confirmed": "not-needed"},
    "cancelled": {"reason": "denied", "reasonMessage": "Not now"},
}


def reported(call_id: str, status: str = "completed", **over: Any) -> Any:
    """Build a call that its agent runs."""
    fields = {"toolInput": '{"a":1}', **ENDS.get(status, {}), **over}
    return tool_call(status, call=call_id, _meta={"agenthost": {"reported": True}}, **fields)


def recorded(parts: list[Any], messages: Any = (), **over: Any) -> list[Any]:
    return [*reported_messages(parts, messages, {}, **over)]


def asked(messages: list[Any]) -> list[str]:
    return [call["toolCallId"] for message in messages for call in requested_calls(message)]


def test_a_call_that_has_ended_is_recorded_with_the_text_before_it_and_its_result() -> None:
    parts = [markdown("p1", "Let me see."), reported("a")]
    asking, result = recorded(parts)
    assert asking["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "toolCallId": "a", "name": "bash", "input": {"a": 1}},
    ]
    assert result == {"role": "tool", "toolCallId": "a", "content": "3"}
    assert covered_parts([asking, result]) == 2
    assert recorded(parts, [asking, result]) == []  # once


def test_a_call_that_the_host_runs_is_not_recorded_here() -> None:
    assert recorded([tool_call("completed", **ENDS["completed"])], is_over=True) == []
    assert not is_reported({})
    assert not is_reported({"_meta": {"agenthost": {}}})


@pytest.mark.parametrize("status", ["streaming", "running", "pending-confirmation"])
def test_a_call_that_has_not_ended_is_not_recorded_yet(status: str) -> None:
    assert recorded([reported("a", status)]) == []


def test_when_the_turn_is_over_open_calls_count_as_skipped_unless_their_input_was_incomplete() -> None:
    messages = recorded([reported("a", "running"), reported("b", "streaming")], is_over=True)
    assert asked(messages) == ["a"]
    assert messages[1]["content"] == SKIPPED


def test_a_call_that_asks_is_recorded_at_once_and_the_others_wait_until_it_has_ended() -> None:
    parts = [reported("a"), reported("b", "pending-confirmation"), reported("c")]
    (asking,) = first = recorded(parts, asking="b")
    assert asked(first) == ["b"]
    assert covered_parts([asking]) == 2
    assert recorded(parts, first) == []
    assert asked(recorded(parts, first, is_over=True)) == ["a", "c"]
    parts[1] = reported("b")
    answered = [*first, {"role": "tool", "toolCallId": "b", "content": "3"}]
    rest = recorded(parts, answered)
    assert asked(rest) == ["a", "c"]
    assert covered_parts(rest) == 3


@pytest.mark.parametrize(
    ("reason", "over", "content"),
    [
        ("denied", {"reasonMessage": "Not now"}, "Not now"),
        ("denied", {"reasonMessage": {"markdown": "*No*"}}, "*No*"),
        ("skipped", {"reasonMessage": None}, "skipped by the user"),
        ("denied", {"userSuggestion": said("Ask me")}, "The user suggests: Ask me"),
        ("result-denied", {}, WITHHELD),
    ],
)
def test_a_cancelled_call_is_recorded_with_the_reason(reason: str, over: Any, content: str) -> None:
    _, result = recorded([reported("a", "cancelled", **{"reason": reason, **over})])
    assert content in result["content"]


@pytest.mark.parametrize("given_input", ["{", "[1]", "null", "", {"uri": "demo:/one/content/1"}])
def test_an_input_that_is_not_an_object_is_recorded_as_an_empty_one(given_input: Any) -> None:
    asking, _ = recorded([reported("a", toolInput=given_input)])
    assert asking["content"][-1]["input"] == {}


@st.composite
def turns(draw: st.DrawFn) -> list[Any]:
    """Draw the parts of a turn: words, and calls in any state."""
    statuses = ["completed", "cancelled", "running", "streaming"]
    kinds = draw(st.lists(st.sampled_from(["words", *statuses]), max_size=8))
    return [
        markdown(f"p{place}", "So") if kind == "words" else reported(f"c{place}", kind)
        for place, kind in enumerate(kinds)
    ]


@given(parts=turns(), seen=st.integers(0, 8))
def test_each_call_is_recorded_once_with_one_result_however_the_turn_goes_on(
    parts: list[Any], seen: int
) -> None:
    messages = recorded(parts[:seen])
    messages += recorded(parts, messages)
    messages += recorded(parts, messages, is_over=True)
    TRANSCRIPT.check(messages)
    check_imported_history(public(messages))
    whole = [part["toolCall"] for part in parts if "toolCall" in part]
    assert sorted(asked(messages)) == sorted(
        call["toolCallId"] for call in whole if call["status"] != "streaming"
    )
    assert not open_calls(messages)
    assert recorded(parts, messages, is_over=True) == []
