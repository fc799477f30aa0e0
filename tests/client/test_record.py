"""Records: what a turn said, put together from its events or taken as it came."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.client import Answer
from agenthost.client.aap.record import Record, events_of, open_calls_of

TEXTS = st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(min_size=1)))


@given(TEXTS)
def test_deltas_join_to_one_block_for_each_stretch_of_a_kind(said: list[tuple[str, str]]) -> None:
    record = Record()
    for kind, text in said:
        record.take({"event": f"{kind}_delta", "delta": text})  # type: ignore[arg-type, misc]
    record.take({"event": "turn_stop", "stopReason": "end_turn"})
    answer = Answer("end_turn", record.messages, "s")
    assert answer.text == "".join(text for kind, text in said if kind == "text")
    assert answer.thinking == "".join(text for kind, text in said if kind == "thinking")
    assert len(record.messages) == bool(said)


@given(TEXTS, st.booleans())
def test_a_whole_answer_and_its_events_say_the_same(said: list[tuple[str, str]], has_call: bool) -> None:
    blocks: list[Any] = [{"type": kind, kind: text} for kind, text in said]
    call: Any = {"toolCallId": "c", "name": "add", "input": {}}
    messages: list[Any] = []
    if has_call:
        messages.append({"role": "assistant", "content": [{"type": "tool_use", **call}]})
        messages.append({"role": "tool", "toolCallId": "c", "content": "3"})
    if blocks:
        is_text = len(blocks) == 1 and said[0][0] == "text"
        messages.append({"role": "assistant", "content": said[0][1] if is_text else blocks})
    record = Record()
    for event in events_of({"stopReason": "end_turn", "messages": messages}):
        record.take(event)
    assert record.messages == messages
    assert (record.open_calls, record.stop_reason) == ([], "end_turn")


def test_open_calls_are_those_of_the_last_assistant_message_without_a_result() -> None:
    def use(*names: str) -> Any:
        blocks = [{"type": "tool_use", "toolCallId": name, "name": name, "input": {}} for name in names]
        return {"role": "assistant", "content": blocks}

    done: Any = {"role": "tool", "toolCallId": "a", "content": ""}
    user: Any = {"role": "user", "content": "hi"}
    text: Any = {"role": "assistant", "content": "hi"}
    assert [call["name"] for call in open_calls_of([user, use("a", "b"), done])] == ["b"]
    assert open_calls_of([user, use("a"), done, text]) == []
    assert open_calls_of([use("a"), user]) == []
    assert open_calls_of([use("b"), use("a"), done]) == []
    assert open_calls_of([]) == []


def test_the_texts_of_two_messages_stand_apart() -> None:
    messages: Any = [
        {"role": "assistant", "content": "One moment."},
        {"role": "tool", "toolCallId": "a", "content": "3"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "It is "}, {"type": "text", "text": "3."}],
        },
    ]
    assert Answer("end_turn", messages, "s").text == "One moment.\n\nIt is 3."
