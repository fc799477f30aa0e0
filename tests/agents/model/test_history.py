"""Transcripts as services read them: whatever was said, cancelled or left open, all of them can."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)

from agenthost.agents.model.history import (
    ASSISTANT_FIRST,
    NO_IMAGE,
    NO_RESULT,
    NO_SUCH_IMAGE,
    NO_TEXT,
    ToolNames,
    collect_instructions,
    to_history,
    tool_definitions,
)
from transcripts import answer, call, calls, says, system, transcripts, user

PNG = "data:image/png;base64,iVBORw0KGgo="


def history(*messages: Any, service: str = "anthropic", **how: Any) -> list[ModelMessage]:
    return to_history(messages, service, ToolNames(()), **how)


def blocks(*content: Any, **over: Any) -> Any:
    """Build an assistant message of these blocks."""
    return {"role": "assistant", "content": list(content), **over}


def short(messages: list[ModelMessage]) -> list[Any]:
    """Return a short form of a history: the text of each part."""
    return [[_short(part) for part in message.parts] for message in messages]


def _short(part: Any) -> Any:
    match part:
        case ToolCallPart():
            return ("call", part.tool_call_id)
        case ToolReturnPart():
            return (part.tool_call_id, part.content)
        case _:
            return part.content


@given(transcripts)
def test_every_transcript_becomes_a_valid_history(messages: list[Any]) -> None:
    made = to_history(messages, "anthropic", ToolNames(()))
    assert all(isinstance(one, ModelRequest) != (place % 2 == 1) for place, one in enumerate(made))
    assert all(one.parts for one in made)
    seen: set[str] = set()
    for place, one in enumerate(made):
        if isinstance(one, ModelResponse):
            asked = [part.tool_call_id for part in one.parts if isinstance(part, ToolCallPart)]
            told = made[place + 1].parts if place + 1 < len(made) else []
            given_ = [part.tool_call_id for part in told if isinstance(part, ToolReturnPart)]
            assert asked == given_[: len(asked)] == given_
            assert not seen & set(asked)
            seen |= set(asked)


@given(transcripts)
def test_nothing_that_was_said_is_lost(messages: list[Any]) -> None:
    said = [one["content"] for one in messages if one["role"] == "user" and isinstance(one["content"], str)]
    told = [text for one in short(to_history(messages, "x", ToolNames(()))) for text in one]
    assert [text for text in said if text not in told] == []


def test_a_call_that_was_cut_off_still_has_a_result() -> None:
    assert short(history(user(), calls("a", "b"), answer("b", "five"), user("Go on"))) == [
        ["Hello"],
        ["So:", ("call", "a"), ("call", "b")],
        [("a", NO_RESULT), ("b", "five"), "Go on"],
    ]


def test_results_stand_in_the_order_of_the_calls_however_late_they_came() -> None:
    made = history(user(), calls("a", "b"), answer("b", "2"), user("Wait"), answer("a", "1"))
    assert short(made)[2] == [("a", "1"), ("b", "2"), "Wait"]


def test_two_user_messages_in_a_row_become_one() -> None:
    assert short(history(user("One"), user("Two"), says("Three"))) == [["One", "Two"], ["Three"]]


def test_a_conversation_that_the_assistant_begins_gets_a_user_message_first() -> None:
    assert short(history(says("Welcome"), user())) == [[ASSISTANT_FIRST], ["Welcome"], ["Hello"]]


def test_empty_messages_are_accepted() -> None:
    assert short(history(user(""), says(" "), user([]), blocks())) == [[NO_TEXT, NO_TEXT]]


def test_ids_that_services_do_not_accept_are_replaced_consistently() -> None:
    messages = [user(), calls("a b/c"), answer("a b/c"), user(), calls("a b/c"), answer("a b/c")]
    first, again = history(*messages), history(*messages)
    ids = [part.tool_call_id for one in first for part in one.parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", one) for one in ids)
    assert short(first) == short(again)


THOUGHT: Any = {"type": "thinking", "thinking": "Hm."}
SIGNED: Any = {**THOUGHT, "_private": {"anthropic": {"signature": "sig"}}}


def test_thoughts_go_back_with_their_signatures_to_the_service_that_had_them() -> None:
    message = blocks(SIGNED, call("a"), _private={"anthropic": {"id": "m1", "url": "u"}})
    made: Any = history(user(), message, answer("a"))
    thought, _ = made[1].parts
    assert (thought.content, thought.signature, thought.provider_name) == ("Hm.", "sig", "anthropic")
    assert (made[1].provider_response_id, made[1].provider_url) == ("m1", "u")
    other = history(user(), message, answer("a"), service="openai")
    assert not [part for one in other for part in one.parts if isinstance(part, ThinkingPart)]


def test_thoughts_that_were_cut_off_do_not_go_back() -> None:
    assert short(history(user(), blocks(THOUGHT, {"type": "text", "text": "So"}))) == [["Hello"], ["So"]]


def test_thoughts_without_text_go_back_before_what_follows_them() -> None:
    private = {"openai": {"id": "fc", "thoughts": [{"id": "rs", "signature": "secret"}]}}
    made: Any = history(user(), blocks(call("a", _private=private)), answer("a"), service="openai")
    thought, asked = made[1].parts
    assert (thought.content, thought.id, thought.signature) == ("", "rs", "secret")
    assert asked.id == "fc"


def test_images_are_sent_to_models_that_see_them() -> None:
    content = [
        {"type": "text", "text": "Look"},
        {"type": "image", "url": PNG},
        {"type": "image", "url": "https://x/y"},
    ]
    made: Any = history(user(content), calls("a"), answer("a", content))
    for part in (made[0].parts[0], made[2].parts[0]):
        text, data, link = part.content
        assert text == "Look"
        assert isinstance(data, BinaryContent)
        assert (data.media_type, data.data) == ("image/png", b"\x89PNG\r\n\x1a\n")
        assert isinstance(link, ImageUrl)
    assert short(history(user(content), sees_images=False)) == [[f"Look\n{NO_IMAGE}\n{NO_IMAGE}"]]
    broken = [{"type": "image", "url": "data:image/png;base64,A"}]
    assert short(history(user(broken))) == [[NO_SUCH_IMAGE]]


def test_instructions_are_collected_from_everywhere() -> None:
    messages = [system("Be kind."), user(), system("Be quick."), says()]
    assert collect_instructions("Be brief.", messages) == "Be brief.\n\nBe kind.\n\nBe quick."
    assert short(history(*messages)) == [["Hello"], ["Hi"]]
    assert collect_instructions("", [user()]) == ""


names = st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=6)


@given(names)
def test_tool_names_are_valid_for_all_services_and_map_back(given_names: list[str]) -> None:
    known = ToolNames(given_names)
    sent = [known.add(name) for name in given_names]
    assert len(set(sent)) == len(sent)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one) for one in sent)
    assert [known.original(one) for one in sent] == given_names


def test_tools_are_described_with_the_schema_of_an_object() -> None:
    tools: Any = [
        {"name": "files/read", "description": "Read."},
        {"name": "b", "inputSchema": {"required": ["x"]}},
    ]
    first, second = tool_definitions(tools, ToolNames(()))
    assert (first.name, first.description) == ("files_read", "Read.")
    assert first.parameters_json_schema == {"type": "object", "properties": {}}
    assert second.parameters_json_schema == {"type": "object", "properties": {}, "required": ["x"]}


def test_a_name_that_the_model_made_up_stays_unchanged() -> None:
    assert ToolNames(["a"]).original("nothing") == "nothing"
