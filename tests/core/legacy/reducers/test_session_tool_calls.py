"""The session reducer: a tool call from its first word to its end, one row of the state machine at a time.

Each expected call is written out in full: `tool_call` adds nothing but the identity and the status.
"""

from typing import Any

import pytest

from building import (
    approve,
    call_act,
    deny,
    in_turn,
    markdown,
    option,
    pending,
    ready,
    running,
    show,
    start,
    streaming,
    text,
    tool_call,
)
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]
OFFER = {
    "toolInput": "rm a",
    "confirmationTitle": {"markdown": "*Really?*"},
    "edits": {"items": [{"after": {"uri": "file:///a", "content": {"uri": "x:/a"}}}]},
    "editable": True,
    "options": [option("yes"), option("no", "deny")],
}


def after(part: Json, *actions: Json) -> Json:
    """Apply the actions to a turn that holds this part only, and return what became of the part."""
    [found] = reduce_session(in_turn(part), *actions)["activeTurn"]["responseParts"]
    result: Json = found
    return result


def delta(content: str, **fields: Any) -> Json:
    return call_act("toolCallDelta", content=content, **fields)


# Row 1: it starts.


@rule("S12")
def test_a_call_starts_streaming_at_the_end_of_the_turn() -> None:
    action = start(toolName="grep", displayName="Search", toolClientId="me", _meta={"a": 1})
    fields = {"toolCallId": "c1", "toolName": "grep", "displayName": "Search", "toolClientId": "me"}
    call = {"kind": "toolCall", "toolCall": {**fields, "_meta": {"a": 1}, "status": "streaming"}}
    assert reduce_session(in_turn(markdown("m1")), action) == in_turn(markdown("m1"), call)


@rule("S12", "G1")
@pytest.mark.parametrize("given", [{}, {"toolClientId": None, "_meta": None}], ids=["absent", "null"])
def test_a_call_starts_with_what_the_action_names_only(given: Json) -> None:
    state = reduce_session(in_turn(), start(partialInput="x", invocationMessage="x", **given))
    assert state == in_turn(tool_call("streaming"))


@rule("S12")
@pytest.mark.parametrize("status", ["streaming", "running", "completed", "someday"])
def test_a_repeated_id_starts_another_call(status: str) -> None:
    old = tool_call(status, invocationMessage="Old", confirmed="setting")
    assert reduce_session(in_turn(old), start()) == in_turn(old, tool_call("streaming"))


# Row 2: its input arrives.


@rule("S13")
def test_input_arrives_in_pieces() -> None:
    part = after(streaming(), delta('{"a"'), delta(""), delta(":1}"))
    assert part == tool_call("streaming", partialInput='{"a":1}')


@rule("S13")
def test_an_empty_piece_is_a_piece() -> None:
    assert after(streaming(), delta("")) == tool_call("streaming", partialInput="")


@rule("S13", "G7")
@pytest.mark.parametrize("words", ["New", "", {"markdown": "*New*"}])
def test_a_piece_may_replace_the_message(words: Any) -> None:
    part = after(streaming(partialInput="a", invocationMessage="Old"), delta("b", invocationMessage=words))
    assert part == tool_call("streaming", partialInput="ab", invocationMessage=words)


@rule("S13", "G1")
@pytest.mark.parametrize("given", [{}, {"invocationMessage": None}], ids=["absent", "null"])
def test_a_piece_without_a_message_keeps_the_old_one(given: Json) -> None:
    part = after(streaming(invocationMessage="Old"), delta("b", **given))
    assert part == tool_call("streaming", partialInput="b", invocationMessage="Old")


@rule("S13", "H10", "G6")
def test_a_piece_keeps_every_other_field() -> None:
    kept = {"toolClientId": "me", "_meta": {"a": 1}, "x-new": 1}
    part = after({**streaming(**kept), "x-part": 2}, delta("b", _meta={"b": 2}))
    assert part == {**tool_call("streaming", partialInput="b", **kept), "x-part": 2}


# Rows 3 to 6: it is ready.

READY_FROM = [
    streaming(partialInput="rm", invocationMessage="Old"),
    running(toolInput="old", selectedOption=option("o"), content=[text("a")]),
]
each_ready = pytest.mark.parametrize("before", READY_FROM, ids=["streaming", "running"])


@each_ready
@rule("S14")
def test_a_ready_call_waits_with_all_fields_of_the_action(before: Json) -> None:
    part = after(before, ready(invocationMessage="Removing", **OFFER))
    assert part == tool_call("pending-confirmation", invocationMessage="Removing", **OFFER)


@each_ready
@rule("S14", "G1")
@pytest.mark.parametrize("given", [{}, dict.fromkeys([*OFFER, "confirmed"])], ids=["absent", "null"])
def test_a_ready_call_waits_with_nothing_else(before: Json, given: Json) -> None:
    part = after(before, ready(invocationMessage="Removing", **given))
    assert part == tool_call("pending-confirmation", invocationMessage="Removing")


@each_ready
@rule("S14", "G7")
def test_a_ready_call_takes_empty_values(before: Json) -> None:
    empty = {"toolInput": "", "confirmationTitle": "", "editable": False, "options": []}
    part = after(before, ready(invocationMessage="", **empty))
    assert part == tool_call("pending-confirmation", invocationMessage="", **empty)


@each_ready
@rule("S14")
@pytest.mark.parametrize("reason", ["not-needed", "user-action", "setting"])
def test_a_ready_call_that_is_confirmed_runs_at_once(before: Json, reason: str) -> None:
    part = after(before, ready(invocationMessage="Removing", confirmed=reason, **OFFER))
    expected = {"invocationMessage": "Removing", "toolInput": "rm a", "confirmed": reason}
    assert part == tool_call("running", **expected)


@each_ready
@rule("S14")
def test_a_ready_call_without_input_runs_without_the_old_one(before: Json) -> None:
    part = after(before, ready(invocationMessage="Removing", confirmed="setting"))
    assert part == tool_call("running", invocationMessage="Removing", confirmed="setting")


@each_ready
@rule("S14", "G7")
def test_a_ready_call_with_an_empty_reason_waits(before: Json) -> None:
    part = after(before, ready(invocationMessage="Removing", confirmed=""))
    assert part == tool_call("pending-confirmation", invocationMessage="Removing")


# Row 7: it is approved.


@rule("S15")
@pytest.mark.parametrize("reason", ["not-needed", "user-action", "setting"])
def test_an_approved_call_runs_with_its_message_and_input_only(reason: str) -> None:
    part = after(pending(invocationMessage="Removing", **OFFER), approve(confirmed=reason))
    expected = {"invocationMessage": "Removing", "toolInput": "rm a", "confirmed": reason}
    assert part == tool_call("running", **expected)


@rule("S15", "G7")
@pytest.mark.parametrize("old", [{}, {"toolInput": "rm a"}], ids=["no input", "input"])
@pytest.mark.parametrize("edited", ["rm b", ""])
def test_an_approved_call_runs_with_the_edited_input(old: Json, edited: str) -> None:
    part = after(pending(**old), approve(editedToolInput=edited))
    expected = {"invocationMessage": "May I?", "toolInput": edited, "confirmed": "user-action"}
    assert part == tool_call("running", **expected)


@rule("S15", "G1")
def test_an_edit_of_null_is_not_an_edit() -> None:
    part = after(pending(toolInput="rm a"), approve(editedToolInput=None))
    expected = {"invocationMessage": "May I?", "toolInput": "rm a", "confirmed": "user-action"}
    assert part == tool_call("running", **expected)


@rule("S15", "H11", "G6")
def test_an_approved_call_remembers_the_whole_option() -> None:
    chosen = option("b", group=2, **{"x-new": 1})
    offered = [option("a"), chosen, option("b", "deny"), option("c")]
    part = after(pending(options=offered), approve(selectedOptionId="b"))
    expected = {"invocationMessage": "May I?", "confirmed": "user-action", "selectedOption": chosen}
    assert part == tool_call("running", **expected)


# Row 8: it is denied.


@rule("S16")
@pytest.mark.parametrize("reason", ["denied", "skipped"])
def test_a_denied_call_is_cancelled_with_its_message_and_input_only(reason: str) -> None:
    part = after(pending(invocationMessage="Removing", **OFFER), deny(reason=reason))
    expected = {"invocationMessage": "Removing", "toolInput": "rm a", "reason": reason}
    assert part == tool_call("cancelled", **expected)


@rule("S16")
def test_a_denied_call_remembers_what_the_user_said() -> None:
    said = {"reasonMessage": {"markdown": "*No*"}, "userSuggestion": {"text": "Use trash", "attachments": []}}
    part = after(pending(), deny(**said))
    assert part == tool_call("cancelled", invocationMessage="May I?", reason="denied", **said)


@rule("S16", "G1", "G7")
def test_a_denied_call_keeps_an_empty_message_but_no_null() -> None:
    part = after(pending(toolInput=""), deny(reasonMessage="", userSuggestion=None, selectedOptionId=None))
    expected = {"invocationMessage": "May I?", "toolInput": "", "reason": "denied", "reasonMessage": ""}
    assert part == tool_call("cancelled", **expected)


@rule("S16", "H11")
def test_a_denied_call_remembers_the_whole_option() -> None:
    offered = [option("a"), option("no", "deny", group=1)]
    part = after(pending(options=offered), deny(selectedOptionId="no"))
    chosen = option("no", "deny", group=1)
    expected = {"invocationMessage": "May I?", "reason": "denied", "selectedOption": chosen}
    assert part == tool_call("cancelled", **expected)


@rule("H11", "G7")
@pytest.mark.parametrize("answer", [approve, deny])
@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ({"options": [option("a")]}, {"selectedOptionId": "zz"}),
        ({"options": [option("a")]}, {"selectedOptionId": None}),
        ({"options": [option("a")]}, {}),
        ({"options": [option("")]}, {"selectedOptionId": ""}),
        ({"options": []}, {"selectedOptionId": "a"}),
        ({"options": None}, {"selectedOptionId": "a"}),
        ({}, {"selectedOptionId": "a"}),
    ],
)
def test_a_choice_that_was_not_offered_is_ignored(answer: Any, offered: Json, chosen: Json) -> None:
    assert "selectedOption" not in after(pending(**offered), answer(**chosen))["toolCall"]


# Row 9: it shows what it does.


@rule("S19")
@pytest.mark.parametrize("old", [{}, {"content": [text("a"), text("b")]}], ids=["none", "two"])
@pytest.mark.parametrize("new", [[text("c")], []], ids=["one", "empty"])
def test_a_running_call_shows_the_new_content_only(old: Json, new: list[Json]) -> None:
    kept = {"toolInput": "ls", "selectedOption": option("o"), "toolClientId": "me", "_meta": {"a": 1}}
    part = after(running(**kept, **old), show(*new, _meta={"b": 2}))
    assert part == running(**kept, content=new)


@rule("S19", "G6")
def test_new_content_keeps_what_we_do_not_know() -> None:
    before = {**running(**{"x-new": 1}), "x-part": 2}
    assert after(before, show(text("c"))) == {**running(content=[text("c")], **{"x-new": 1}), "x-part": 2}
