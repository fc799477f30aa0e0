"""The chat reducer: text that streams into parts and calls."""

from typing import Any

import pytest

from building import cancelled, markdown, pending, reasoning, running, streaming
from chat_building import call_act, chat, in_turn, question, turn_act
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]


def more(part_id: str, content: Any = "!", **fields: Any) -> Json:
    return turn_act("delta", partId=part_id, content=content, **fields)


def thought(part_id: str, content: Any = "?", **fields: Any) -> Json:
    return turn_act("reasoning", partId=part_id, content=content, **fields)


def typed(content: Any = "x", **fields: Any) -> Json:
    return call_act("toolCallDelta", content=content, **fields)


@rule("1.0/C3")
def test_text_goes_to_its_part_and_nothing_else_changes() -> None:
    before = in_turn(markdown("a", "A"), reasoning("b", "B"), markdown("c", "C"), status=4)
    state = fold_chat(before, more("a"), thought("b"), more("c"), more("a", ""))
    assert state == in_turn(markdown("a", "A!"), reasoning("b", "B?"), markdown("c", "C!"), status=4)


@rule("1.0/C3", "1.0/G5")
def test_text_keeps_what_we_do_not_know_of_its_part() -> None:
    assert fold_chat(in_turn(markdown("a", "A", **{"x-new": 1})), more("a", _meta={"a": 1})) == in_turn(
        markdown("a", "A!", **{"x-new": 1})
    )


@rule("1.0/C3", "1.0/H1", "1.0/H2")
@pytest.mark.parametrize(
    "action",
    [
        more("b"),
        more("c1"),
        more("r1"),
        more("zz"),
        more("a", turnId="t9"),
        thought("a"),
        thought("c1"),
        typed(turnId="t9"),
        typed(toolCallId="c9"),
        typed(toolCallId="a"),
    ],
)
def test_text_for_a_part_of_another_kind_or_turn_is_ignored(action: Json) -> None:
    before = in_turn(markdown("a", "A"), reasoning("b", "B"), streaming(), question("r1"))
    assert changes_nothing("chat", before, action)
    assert changes_nothing("chat", chat(), action)


@rule("1.0/H2")
def test_the_first_part_with_the_id_is_meant() -> None:
    state = fold_chat(in_turn(markdown("a", "1"), markdown("a", "2")), more("a"))
    assert state == in_turn(markdown("a", "1!"), markdown("a", "2"))


@rule("1.0/H2")
@pytest.mark.parametrize("first", [reasoning("c1"), streaming()])
def test_a_first_part_of_the_wrong_kind_hides_the_next(first: Json) -> None:
    assert changes_nothing("chat", in_turn(first, markdown("c1")), more("c1"))


@rule("1.0/H2")
def test_parts_without_an_id_are_passed_over() -> None:
    nameless = {"kind": "markdown", "content": "-"}
    state = fold_chat(in_turn(nameless, question("a"), markdown("a")), more("a"))
    assert state == in_turn(nameless, question("a"), markdown("a", "!"))


@rule("1.0/T2", "1.0/H3")
def test_the_input_of_every_streaming_call_with_the_id_grows() -> None:
    before = in_turn(streaming(partialInput="{"), streaming(), streaming(call="c2"), running())
    state = fold_chat(before, typed("a"), typed("b"))
    grown = [streaming(partialInput="{ab"), streaming(partialInput="ab")]
    assert state == in_turn(*grown, streaming(call="c2"), running())


@rule("1.0/T2")
def test_a_message_and_meta_come_with_input_or_without() -> None:
    before = in_turn(streaming(partialInput="{", _meta={"a": 1}))
    state = fold_chat(before, typed("a", invocationMessage="Listing"))
    assert state == in_turn(streaming(partialInput="{a", _meta={"a": 1}, invocationMessage="Listing"))
    state = fold_chat(before, call_act("toolCallDelta", invocationMessage="Listing", _meta={"b": 2}))
    assert state == in_turn(streaming(partialInput="{", _meta={"b": 2}, invocationMessage="Listing"))
    state = fold_chat(in_turn(streaming()), call_act("toolCallDelta", _meta={"b": 2}))
    assert state == in_turn(streaming(_meta={"b": 2}))


@rule("1.0/T2", "1.0/G2")
@pytest.mark.parametrize("given", [{}, {"content": "x"}, {"invocationMessage": "New"}])
@pytest.mark.parametrize("part", [pending(), running(), cancelled()])
def test_only_a_streaming_call_takes_input(part: Json, given: Json) -> None:
    assert changes_nothing("chat", in_turn(part), call_act("toolCallDelta", **given))


@rule("1.0/T2", "1.0/G1")
def test_a_delta_of_nothing_is_nothing_and_empty_text_is_text() -> None:
    assert changes_nothing("chat", in_turn(streaming()), call_act("toolCallDelta"), typed(None, _meta=None))
    assert fold_chat(in_turn(streaming()), typed("")) == in_turn(streaming(partialInput=""))
