"""Records: the messages of a turn, from its events or from a whole answer."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.client import Answer
from agenthost.client.aap.record import Record, find_open_calls, to_events

TEXTS = st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(min_size=1)))


@given(TEXTS)
def test_consecutive_deltas_of_a_kind_become_one_block(said: list[tuple[str, str]]) -> None:
    record = Record()
    for kind, text in said:
        record.add({"event": f"{kind}_delta", "delta": text})  # type: ignore[arg-type, misc]
    record.add({"event": "turn_stop", "stopReason": "end_turn"})
    answer = Answer("end_turn", record.messages, "s")
    assert answer.text == "".join(text for kind, text in said if kind == "text")
    assert answer.thinking == "".join(text for kind, text in said if kind == "thinking")
    assert len(record.messages) == bool(said)


@given(TEXTS, st.booleans())
def test_an_answer_and_its_events_have_the_same_messages(said: list[tuple[str, str]], has_call: bool) -> None:
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
    for event in to_events({"stopReason": "end_turn", "messages": messages}):
        record.add(event)
    assert record.messages == messages
    assert (record.open_calls, record.stop_reason) == ([], "end_turn")


def test_open_calls_are_those_of_the_last_assistant_message_without_a_result() -> None:
    def use(*names: str) -> Any:
        blocks = [{"type": "tool_use", "toolCallId": name, "name": name, "input": {}} for name in names]
        return {"role": "assistant", "content": blocks}

    done: Any = {"role": "tool", "toolCallId": "a", "content": ""}
    user: Any = {"role": "user", "content": "hi"}
    text: Any = {"role": "assistant", "content": "hi"}
    assert [call["name"] for call in find_open_calls([user, use("a", "b"), done])] == ["b"]
    assert find_open_calls([user, use("a"), done, text]) == []
    assert find_open_calls([use("a"), user]) == []
    assert find_open_calls([use("b"), use("a"), done]) == []
    assert find_open_calls([]) == []


def test_a_blank_line_separates_the_texts_of_two_messages() -> None:
    messages: Any = [
        {"role": "assistant", "content": "One moment."},
        {"role": "tool", "toolCallId": "a", "content": "3"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "It is "}, {"type": "text", "text": "3."}],
        },
    ]
    assert Answer("end_turn", messages, "s").text == "One moment.\n\nIt is 3."
