"""Calls that an agent ran by itself: when they are told to the model, and as what."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.recording import SKIPPED, WITHHELD, covered_parts, is_reported, reported_messages
from agenthost.core.transcript import TRANSCRIPT, calls_of, check_seed, open_calls, public
from building import markdown, tool_call

RESULT = {"success": True, "pastTenseMessage": "Ran", "content": [{"type": "text", "text": "3"}]}
ENDS: dict[str, Any] = {
    "completed": {**RESULT, "confirmed": "not-needed"},
    "cancelled": {"reason": "denied", "reasonMessage": "Not now"},
}


def reported(call_id: str, status: str = "completed", **over: Any) -> Any:
    """Build a call that its agent runs."""
    fields = {"toolInput": '{"a":1}', **ENDS.get(status, {}), **over}
    return tool_call(status, call=call_id, _meta={"agenthost": {"reported": True}}, **fields)


def told(parts: list[Any], messages: Any = (), **over: Any) -> list[Any]:
    return [*reported_messages(parts, messages, {}, **over)]


def asked(messages: list[Any]) -> list[str]:
    return [call["toolCallId"] for message in messages for call in calls_of(message)]


def test_a_call_that_has_ended_is_told_with_what_was_said_before_it_and_its_result() -> None:
    parts = [markdown("p1", "Let me see."), reported("a")]
    asking, result = told(parts)
    assert asking["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "toolCallId": "a", "name": "bash", "input": {"a": 1}},
    ]
    assert result == {"role": "tool", "toolCallId": "a", "content": "3"}
    assert covered_parts([asking, result]) == 2
    assert told(parts, [asking, result]) == []  # once


def test_a_call_of_the_hosts_own_is_not_told_here() -> None:
    assert told([tool_call("completed", **ENDS["completed"])], is_over=True) == []
    assert not is_reported({})
    assert not is_reported({"_meta": {"agenthost": {}}})


@pytest.mark.parametrize("status", ["streaming", "running", "pending-confirmation"])
def test_a_call_that_goes_on_waits(status: str) -> None:
    assert told([reported("a", status)]) == []


def test_when_the_turn_is_over_what_has_not_ended_was_skipped_unless_it_was_never_whole() -> None:
    messages = told([reported("a", "running"), reported("b", "streaming")], is_over=True)
    assert asked(messages) == ["a"]
    assert messages[1]["content"] == SKIPPED


def test_a_call_that_asks_is_told_at_once_and_the_others_wait_until_it_has_ended() -> None:
    parts = [reported("a"), reported("b", "pending-confirmation"), reported("c")]
    (asking,) = first = told(parts, asking="b")
    assert asked(first) == ["b"]
    assert covered_parts([asking]) == 2
    assert told(parts, first) == []
    assert asked(told(parts, first, is_over=True)) == ["a", "c"]
    parts[1] = reported("b")
    answered = [*first, {"role": "tool", "toolCallId": "b", "content": "3"}]
    rest = told(parts, answered)
    assert asked(rest) == ["a", "c"]
    assert covered_parts(rest) == 3


@pytest.mark.parametrize(
    ("reason", "over", "content"),
    [
        ("denied", {"reasonMessage": "Not now"}, "Not now"),
        ("denied", {"reasonMessage": {"markdown": "*No*"}}, "*No*"),
        ("skipped", {"reasonMessage": None}, "skipped by the user"),
        ("denied", {"userSuggestion": {"text": "Ask me"}}, "The user suggests: Ask me"),
        ("result-denied", {}, WITHHELD),
    ],
)
def test_a_call_that_was_not_to_be_is_told_with_the_reason(reason: str, over: Any, content: str) -> None:
    _, result = told([reported("a", "cancelled", **{"reason": reason, **over})])
    assert content in result["content"]


@pytest.mark.parametrize("given_input", ["{", "[1]", "null", ""])
def test_an_input_that_is_no_object_is_told_as_an_empty_one(given_input: str) -> None:
    asking, _ = told([reported("a", toolInput=given_input)])
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
def test_each_call_is_told_once_with_one_result_however_the_turn_goes_on(parts: list[Any], seen: int) -> None:
    messages = told(parts[:seen])
    messages += told(parts, messages)
    messages += told(parts, messages, is_over=True)
    TRANSCRIPT.check(messages)
    check_seed(public(messages))
    whole = [part["toolCall"] for part in parts if "toolCall" in part]
    assert sorted(asked(messages)) == sorted(
        call["toolCallId"] for call in whole if call["status"] != "streaming"
    )
    assert not open_calls(messages)
    assert told(parts, messages, is_over=True) == []
