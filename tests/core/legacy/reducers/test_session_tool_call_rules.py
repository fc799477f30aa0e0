"""The session reducer: what holds for all tool actions, whichever call and status they meet."""

from itertools import product
from typing import Any

import pytest

from building import (
    approve,
    call_act,
    cancelled,
    complete,
    completed,
    confirm_result,
    deny,
    done,
    in_turn,
    markdown,
    option,
    parts,
    pending,
    pending_result,
    ready,
    request,
    running,
    session,
    show,
    start,
    status,
    streaming,
    text,
    tool_call,
    turn_act,
)
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]
CALLS: dict[str, Json] = {
    "streaming": streaming(partialInput="a", invocationMessage="So far"),
    "pending-confirmation": pending(toolInput="a", options=[option("o")], editable=True),
    "running": running(toolInput="a", content=[text("a")], selectedOption=option("o")),
    "pending-result-confirmation": pending_result(toolInput="a", content=[text("a")]),
    "completed": completed(toolInput="a", content=[text("a")]),
    "cancelled": cancelled(toolInput="a", reasonMessage="No"),
    "someday": tool_call("someday", invocationMessage="So far", toolInput="a", other=[1]),
}
ACTIONS: dict[str, Json] = {
    "delta": call_act("toolCallDelta", content="b", invocationMessage="New"),
    "ready": ready(toolInput="b"),
    "ready and confirmed": ready(toolInput="b", confirmed="setting"),
    "approve": approve(editedToolInput="b", selectedOptionId="o"),
    "deny": deny(reasonMessage="Never", selectedOptionId="o"),
    "complete": complete({"content": [text("b")]}),
    "complete, asking": complete(requiresResultConfirmation=True),
    "approve result": confirm_result(approved=True),
    "deny result": confirm_result(approved=False),
    "content": show(text("b")),
}
TRANSITIONS = {
    ("streaming", "delta"): "streaming",
    ("streaming", "ready"): "pending-confirmation",
    ("streaming", "ready and confirmed"): "running",
    ("running", "ready"): "pending-confirmation",
    ("running", "ready and confirmed"): "running",
    ("pending-confirmation", "approve"): "running",
    ("pending-confirmation", "deny"): "cancelled",
    ("running", "content"): "running",
    ("running", "complete"): "completed",
    ("running", "complete, asking"): "pending-result-confirmation",
    ("pending-confirmation", "complete"): "completed",
    ("pending-confirmation", "complete, asking"): "pending-result-confirmation",
    ("pending-result-confirmation", "approve result"): "completed",
    ("pending-result-confirmation", "deny result"): "cancelled",
}
OTHERS = [pair for pair in product(CALLS, ACTIONS) if pair not in TRANSITIONS]
BUILT_ANEW = [pair for pair in TRANSITIONS if pair[1] not in {"delta", "content", "approve result"}]
NUMBERS = {"pending-confirmation": 24, "pending-result-confirmation": 24}
RECOMPUTING = [name for name in ACTIONS if name not in {"delta", "content"}]
QUIET = {"delta": ACTIONS["delta"], "content": ACTIONS["content"], "start": start()}


def holding(part: Json, **over: Any) -> Json:
    """Build a session with this one part and the status that belongs to it."""
    number = NUMBERS.get(part["toolCall"]["status"], 8)
    return in_turn(part, **{"status": number, **over})


@rule("S13", "S14", "S15", "S16", "S17", "S18", "S19", "H5", "H6")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_a_call_goes_where_the_table_says(before: str, name: str) -> None:
    state = reduce_session(holding(CALLS[before]), ACTIONS[name])
    target = TRANSITIONS[before, name]
    assert parts(state)[0]["toolCall"]["status"] == target
    assert parts(state)[0] != CALLS[before]
    assert status(state) == NUMBERS.get(target, 8)
    assert state["summary"]["modifiedAt"] == 2000


@rule("S13", "S14", "S15", "S16", "S17", "S18", "S19", "G6")
@pytest.mark.parametrize(("before", "name"), OTHERS)
def test_every_other_combination_changes_nothing(before: str, name: str) -> None:
    state = holding(CALLS[before])
    assert reduce_session(state, ACTIONS[name]) == state


@rule("S12")
@pytest.mark.parametrize("before", CALLS)
def test_starting_leaves_the_calls_before_it(before: str) -> None:
    state = reduce_session(holding(CALLS[before], status=4), start())
    assert state == in_turn(CALLS[before], streaming(), status=4)


@rule("H10")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_identity_comes_from_the_call_and_never_from_the_action(before: str, name: str) -> None:
    identity = {"toolCallId": "c1", "toolName": "grep", "displayName": "Find", "toolClientId": "me"}
    mine = {**CALLS[before]["toolCall"], **identity, "_meta": {"mine": 1}}
    other = {"toolName": "x", "displayName": "x", "toolClientId": "x", "_meta": {"theirs": 1}}
    state = reduce_session(in_turn({"kind": "toolCall", "toolCall": mine}), {**ACTIONS[name], **other})
    call = parts(state)[0]["toolCall"]
    assert {key: call[key] for key in (*identity, "_meta")} == {**identity, "_meta": {"mine": 1}}


@rule("H10", "G1")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_identity_that_the_call_lacks_stays_absent(before: str, name: str) -> None:
    action = {**ACTIONS[name], "_meta": {"theirs": 1}, "toolClientId": "x"}
    call = parts(reduce_session(holding(CALLS[before]), action))[0]["toolCall"]
    assert not {"_meta", "toolClientId"} & set(call)


@rule("G6")
@pytest.mark.parametrize(("before", "name"), BUILT_ANEW)
def test_a_call_in_a_new_state_is_built_anew_but_its_part_is_kept(before: str, name: str) -> None:
    call = {**CALLS[before]["toolCall"], "x-new": 1}
    state = reduce_session(in_turn({"kind": "toolCall", "toolCall": call, "x-part": 2}), ACTIONS[name])
    [part] = parts(state)
    assert part["x-part"] == 2
    assert "x-new" not in part["toolCall"]


@rule("H3")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_every_call_with_the_id_is_changed_and_no_other(before: str, name: str) -> None:
    mine, strange = CALLS[before], {"kind": "someday", "toolCall": {"toolCallId": "c1", "status": before}}
    other = {"kind": "toolCall", "toolCall": {**mine["toolCall"], "toolCallId": "c2"}}
    state = reduce_session(in_turn(mine, markdown("c1", "a"), other, strange, mine), ACTIONS[name])
    [first, *between, last] = parts(state)
    assert first == last != mine
    assert between == [markdown("c1", "a"), other, strange]


@rule("H3", "S14")
def test_calls_with_the_same_id_are_changed_one_by_one() -> None:
    before = in_turn(streaming(), completed(), running(), tool_call("someday"))
    state = reduce_session(before, ready(confirmed="setting"))
    now = tool_call("running", invocationMessage="May I?", confirmed="setting")
    assert parts(state) == [now, completed(), now, tool_call("someday")]


@rule("H1", "H3", "H6")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_an_action_for_another_turn_changes_no_call(before: str, name: str) -> None:
    state = holding(CALLS[before], turns=[done("t9", CALLS[before])])
    assert reduce_session(state, {**ACTIONS[name], "turnId": "t9"}) == state


@rule("H3", "H6")
@pytest.mark.parametrize(("before", "name"), TRANSITIONS)
def test_an_action_for_an_unknown_call_changes_nothing(before: str, name: str) -> None:
    state = holding(CALLS[before])
    assert reduce_session(state, {**ACTIONS[name], "toolCallId": "zz"}) == state


@rule("H1", "S12")
@pytest.mark.parametrize("given", [{}, {"activeTurn": None}], ids=["absent", "null"])
def test_a_call_cannot_start_without_its_turn(given: Json) -> None:
    state = reduce_session(session(turns=[done("t1")], **given), start())
    assert state.get("activeTurn") is None
    assert state["turns"] == [done("t1")]


@rule("H1", "S12")
def test_a_call_cannot_start_in_another_turn() -> None:
    state = in_turn(status=4)
    assert reduce_session(state, {**start(), "turnId": "t9"}) == state


@rule("H6")
@pytest.mark.parametrize("name", RECOMPUTING)
@pytest.mark.parametrize(("before", "after"), [(2, 1), (2 + 32, 33), (255, 225), (24, 1), (4, 1)])
def test_the_status_is_recomputed_even_when_the_turn_is_gone(name: str, before: int, after: int) -> None:
    state = session(status=before, turns=[done("t1", running())])
    assert reduce_session(state, ACTIONS[name]) == session(status=after, turns=[done("t1", running())])


@rule("H6", "H4", "H5")
@pytest.mark.parametrize("name", RECOMPUTING)
@pytest.mark.parametrize(
    "wrong", [{"turnId": "t9"}, {"toolCallId": "zz"}, {"toolCallId": "c2"}], ids=["turn", "call", "status"]
)
def test_the_status_is_recomputed_even_when_nothing_matched(name: str, wrong: Json) -> None:
    ended = completed(call="c2")
    action = {**ACTIONS[name], **wrong}
    assert reduce_session(in_turn(ended, status=97), action) == in_turn(ended, status=104)
    assert reduce_session(in_turn(ended, pending(), status=97), action) == in_turn(
        ended, pending(), status=120
    )


@rule("H6", "H4")
@pytest.mark.parametrize(("before", "name"), [pair for pair in TRANSITIONS if pair[1] in RECOMPUTING])
def test_a_change_of_a_call_keeps_the_flags_and_minds_open_requests(before: str, name: str) -> None:
    state = holding(CALLS[before], status=255, inputRequests=[request("r1")])
    assert status(reduce_session(state, ACTIONS[name])) == 248


@rule("H6")
@pytest.mark.parametrize("name", QUIET)
@pytest.mark.parametrize("make", [streaming, running])
def test_these_tool_actions_never_recompute_the_status(name: str, make: Any) -> None:
    assert status(reduce_session(in_turn(make(), pending(call="c2"), status=2 + 32), QUIET[name])) == 34
    assert status(reduce_session(session(status=2 + 32), QUIET[name])) == 34


@rule("H4", "S14", "S15")
def test_a_second_waiting_call_still_needs_input() -> None:
    before = in_turn(pending(), pending_result(call="c2"), status=24)
    assert status(reduce_session(before, approve())) == 24
    both = reduce_session(before, approve(), confirm_result(approved=True, toolCallId="c2"))
    assert status(both) == 8


@rule("S8", "H6")
def test_a_late_confirmation_ends_a_status_of_error() -> None:
    error = {"errorType": "Boom", "message": "It broke"}
    late = reduce_session(in_turn(pending(), status=24), turn_act("error", error=error), approve())
    assert status(late) == 1
