"""Compaction: what is kept, what is left out, and what never happens."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.compaction import compact, find_cut, kept_summary, leave_out, summary_note, with_summary
from agenthost.core.token_estimate import IMAGE_TOKENS, estimate_text, estimate_tokens
from agenthost.core.transcript import (
    Message,
    check_imported_history,
    host_mark,
    public,
    requested_calls,
    turn_starts,
)
from agenthost.wire.json import encode_json
from transcripts import IMAGE, answer, calls, says, steering, system, transcripts, user

budgets = st.integers(0, 3000)
SUMMARIES: list[Callable[..., str] | None] = [
    None,
    lambda _: "They met.",
    lambda _: "word " * 999,
    lambda _: "",
]
ESTIMATES = [estimate_tokens, lambda _: 1, lambda message: len(str(message["content"]))]
options = st.fixed_dictionaries(
    {},
    optional={
        "summarize": st.sampled_from(SUMMARIES),
        "summary_tokens": st.sampled_from([0, 20, 100]),
        "estimate": st.sampled_from(ESTIMATES),
    },
)


def size(messages: list[Message], estimate: Callable[[Message], int] = estimate_tokens) -> int:
    return sum(estimate(message) for message in messages)


def is_note(message: Message) -> bool:
    return "leftOut" in host_mark(message)


def skeleton(messages: list[Message]) -> list[Any]:
    """Return the messages without notes, and results without their content, which may have been shortened."""
    return [m | {"content": 0} if m["role"] == "tool" else m for m in messages if not is_note(m)]


def without_first(messages: list[Any], count: int) -> list[Any]:
    """Leave out the first messages that are not the system's."""
    gone = {id(message) for message in [m for m in messages if m["role"] != "system"][:count]}
    return [message for message in messages if id(message) not in gone]


def pairs(messages: list[Message]) -> list[tuple[int, int]]:
    """Return the positions of each call's message and of its result's; a result without its call fails."""
    asked: dict[str, int] = {}
    found = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            found.append((asked.pop(message["toolCallId"]), index))
        asked |= {call["toolCallId"]: index for call in requested_calls(message)}
    return found


def free_starts(messages: list[Message]) -> list[int]:
    """Return the starts of turns that part no call from its result, the slow and plain way."""
    held = pairs(messages)
    return [start for start in turn_starts(messages) if not any(a < start <= b for a, b in held)]


# Properties.


@given(transcripts, budgets, options)
def test_the_budget_is_kept_or_only_the_last_turn_is_left_and_its_results_are_short(
    messages: list[Message], budget: int, over: Any
) -> None:
    compacted = compact(messages, budget, **over)
    if size(compacted, over.get("estimate", estimate_tokens)) > budget:
        last = max(free_starts(messages), default=0)
        assert skeleton(compacted)[-len(messages[last:]) :] == skeleton(messages[last:])
        assert {m["role"] for m in skeleton(compacted)[: -len(messages[last:])]} <= {"system"}
        results = [m["content"] for m in compacted if m["role"] == "tool"]
        blocks = [block for content in results if not isinstance(content, str) for block in content]
        assert all(len(content) <= 300 for content in results if isinstance(content, str))
        assert all(block["type"] == "text" and len(block["text"]) <= 300 for block in blocks)


@given(transcripts, budgets, options)
def test_compacting_again_changes_nothing(messages: list[Message], budget: int, over: Any) -> None:
    compacted = compact(messages, budget, **over)
    assert compact(compacted, budget, **over) == compacted


@given(transcripts, budgets, options)
def test_system_messages_and_the_end_are_kept_in_order_and_only_results_are_touched(
    messages: list[Message], budget: int, over: Any
) -> None:
    before = encode_json(messages)
    whole, kept = skeleton(messages), skeleton(compact(messages, budget, **over))
    assert kept == without_first(whole, len(whole) - len(kept))
    assert encode_json(messages) == before


@given(transcripts, budgets, options)
def test_a_result_never_lacks_its_call_nor_a_call_its_result(
    messages: list[Message], budget: int, over: Any
) -> None:
    compacted = compact(messages, budget, **over)
    called = sum(len(requested_calls(message)) for message in compacted)
    never_answered = sum(len(requested_calls(message)) for message in messages) - len(pairs(messages))
    assert called - len(pairs(compacted)) <= never_answered
    check_imported_history(public(compacted))


@given(transcripts, budgets, options)
def test_where_something_is_left_out_a_note_and_then_a_turn_come_first(
    messages: list[Message], budget: int, over: Any
) -> None:
    compacted = compact(messages, budget, **over)
    gone = len(messages) - len(skeleton(compacted))
    notes = [index for index, message in enumerate(compacted) if is_note(message)]
    assert len(notes) == (gone > 0)
    for index in notes:
        assert {message["role"] for message in compacted[:index]} <= {"system"}
        assert host_mark(compacted[index]) == {"leftOut": gone}
        assert index + 1 in turn_starts(compacted)


@given(transcripts, budgets)
def test_no_turn_is_left_out_that_would_have_fitted(messages: list[Message], budget: int) -> None:
    cut = find_cut(messages, budget)
    earlier = [0, *(start for start in free_starts(messages) if start < cut)]
    assert cut == 0 or all(size(leave_out(messages, start)) > budget for start in earlier)


@given(transcripts, budgets, budgets)
def test_a_transcript_that_grows_has_one_note_for_all_that_was_left_out(
    messages: list[Message], budget: int, later: int
) -> None:
    first = compact(messages, budget)
    grown: list[Message] = [*first, user(), says()]
    notes = [message for message in compact(grown, min(budget, later)) if is_note(message)]
    assert len(notes) <= 1
    kept = skeleton(compact(grown, min(budget, later)))
    assert sum(host_mark(note)["leftOut"] for note in notes) == len(messages) + 2 - len(kept)


# Examples.

LONG = "".join(f"line {number}\n" for number in range(2000))


def test_what_fits_is_left_as_it_is_even_a_greeting() -> None:
    messages = [says(), user(), says()]
    assert compact(messages, size(messages)) == messages


def test_the_oldest_turns_go_and_a_line_says_how_many_messages() -> None:
    messages = [system(), user(LONG), says(), system("Be kind."), user("And now?"), says()]
    note = user("[2 earlier messages were left out]", _private={"host": {"leftOut": 2}})
    assert compact(messages, 100) == [system(), system("Be kind."), note, *messages[4:]]


def test_a_summary_stands_in_the_note_and_sees_what_is_left_out() -> None:
    seen: list[Message] = []

    def summarize(messages: Any) -> str:
        seen.extend(messages)
        return "They greeted."

    messages = [user(LONG), says(), user("And now?"), says()]
    compacted = compact(messages, 1100, summarize=summarize)
    assert seen == messages[:2]
    assert compacted[0]["content"] == "[2 earlier messages were left out; a summary:]\nThey greeted."
    assert compacted[1:] == messages[2:]


def test_a_summary_that_is_too_long_loses_its_end() -> None:
    messages = [user(LONG), says(), user("And now?"), says()]
    note = compact(messages, 100, summarize=lambda _: LONG, summary_tokens=50)[0]
    assert 25 <= estimate_tokens(note) <= 50
    assert str(note["content"]).endswith("…")


def test_nothing_is_summed_up_when_nothing_is_left_out() -> None:
    compact([user(LONG), says()], 10, summarize=lambda _: pytest.fail("called"))


def test_a_last_turn_that_is_too_large_has_its_longest_results_shortened_in_the_middle() -> None:
    messages = [user(), calls("a", "b"), answer("a", LONG, isError=True), answer("b", "3"), steering()]
    compacted = compact(messages, 1000)
    result: Any = compacted[2]
    assert 900 < size(compacted) <= 1000
    assert [*compacted[:2], *compacted[3:]] == [*messages[:2], *messages[3:]]
    assert result["content"].startswith("line 0\n")
    assert result["content"].endswith("line 1999\n")
    assert "characters left out …]" in result["content"]
    assert result["isError"] is True


def test_images_in_results_are_left_out_oldest_first_and_those_of_the_user_stay() -> None:
    messages = [user([IMAGE]), calls("a"), answer("a", [IMAGE]), calls("b"), answer("b", [IMAGE])]
    compacted = compact(messages, 2 * IMAGE_TOKENS + 200)
    gone = [{"type": "text", "text": "[image left out]"}]
    assert [m["content"] for m in (compacted[0], compacted[2], compacted[4])] == [[IMAGE], gone, [IMAGE]]


@pytest.mark.parametrize("summarize", SUMMARIES)
def test_the_note_counts_towards_every_budget(summarize: Any) -> None:
    messages = [system(), *(message for _ in range(5) for message in (user(), says()))]
    for budget in range(size(messages) + 1):
        compacted = compact(messages, budget, summarize=summarize, summary_tokens=12)
        assert size(compacted) <= budget or turn_starts(compacted) == [2]
        assert compact(compacted, budget, summarize=summarize, summary_tokens=12) == compacted


def test_a_note_alone_is_not_replaced_by_another_but_together_with_a_turn_it_is() -> None:
    first = compact([user(LONG), says(), user(LONG)], 10, summarize=lambda _: "Once upon a time. " * 9)
    assert compact(first, 10) == first
    grown: list[Message] = [*first, says(), user(), says()]
    assert compact(grown, size(first)) == [
        user("[4 earlier messages were left out]", _private={"host": {"leftOut": 4}}),
        *grown[-2:],
    ]


def test_what_the_user_wrote_is_never_shortened() -> None:
    assert compact([user(LONG), says(LONG)], 10) == [user(LONG), says(LONG)]


def test_a_result_that_comes_a_turn_later_keeps_the_turn_of_its_call() -> None:
    messages = [user(LONG), says(), user("1"), calls("a"), user("2"), answer("a"), says()]
    assert compact(messages, 20)[1:] == messages[2:]


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_each_message_is_estimated_a_few_times_however_many_there_are(count: int) -> None:
    asked = 0

    def estimate(message: Message) -> int:
        nonlocal asked
        asked += 1
        return estimate_tokens(message)

    messages = [user(), *(m for _ in range(count) for m in (calls("a"), answer("a", "word " * 200)))]
    compact(messages * 2, count * 50, estimate=estimate)
    assert asked < 12 * len(messages)


# Tokens.


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog.", 9, 12),
        ("Съешь же ещё этих мягких французских булок", 14, 28),
        ("我能吞下玻璃而不伤身体", 8, 14),
        ("いろはにほへと ちりぬるを", 10, 18),
        ("👍🏽👍🏽", 4, 8),
    ],
)
def test_the_estimate_of_a_text_is_near_what_tokenizers_say(text: str, least: int, most: int) -> None:
    assert least <= estimate_text(text) <= most


def test_half_a_surrogate_pair_is_counted_too() -> None:
    assert estimate_text("\ud83d") == 1


def test_an_image_counts_the_same_however_long_its_url_is() -> None:
    short = {"type": "image", "url": "https://example.com/a.png"}
    assert estimate_tokens(user([IMAGE])) == estimate_tokens(user([short])) > IMAGE_TOKENS


def test_thoughts_and_calls_count_and_private_data_does_not() -> None:
    thought: Any = {"type": "thinking", "thinking": "Hm. " * 100, "_private": {"x": {"signature": LONG}}}
    assert 100 <= estimate_tokens({"role": "assistant", "content": [thought]}) <= 110
    assert estimate_tokens(calls("a", "b")) > estimate_tokens(calls("a")) > estimate_tokens(says("So:"))


def kept(place: int, text: str = "They met.") -> Any:
    """Build an assistant message that a summary is kept with."""
    return says("Hi", _private=summary_note(place, text))


def test_a_stored_summary_replaces_its_messages_when_something_is_left_out() -> None:
    messages = [system(), user("a" * 400), says(), user("b" * 400), says(), user("c"), kept(3)]
    assert compact(messages, 1_000) == messages
    first, note, *rest = public(compact(messages, 150))
    assert (first, rest) == (system(), public(messages[3:]))
    assert note["content"] == "[2 earlier messages were left out; a summary:]\nThey met."


def test_the_newest_summary_counts() -> None:
    messages = [user("a"), says(), user("b"), kept(2, "One."), user("c"), kept(4, "Two.")]
    assert kept_summary(messages) == (4, "Two.")
    assert [message["content"] for message in with_summary(messages)][1:] == ["c", "Hi"]


@pytest.mark.parametrize("place", [0, -1, 9, "1", None])
def test_a_summary_of_nothing_that_is_there_is_none(place: Any) -> None:
    messages = [user(), kept(place)]
    assert kept_summary(messages) == (0, "")
    assert with_summary(messages) == messages


def test_more_that_has_to_go_goes_under_the_same_summary() -> None:
    messages = [user("a" * 400), says(), user("b" * 400), kept(2), user("c"), says()]
    note, *rest = public(compact(messages, 60))
    assert rest == public(messages[4:])
    assert note["content"] == "[4 earlier messages were left out; a summary:]\nThey met."


def test_truncation_removes_a_summary_and_a_fork_keeps_it() -> None:
    messages = [user("a"), says(), user("b"), kept(2)]
    assert kept_summary(messages[:3]) == (0, "")
    assert kept_summary([*messages, user("c")]) == (2, "They met.")


@given(transcripts, budgets, st.integers(0, 14))
def test_compacting_again_changes_nothing_where_a_summary_was_kept(
    messages: list[Any], budget: int, place: int
) -> None:
    told = [*messages, user("And?"), kept(place)]
    once = compact(told, budget)
    assert compact(once, budget) == once
