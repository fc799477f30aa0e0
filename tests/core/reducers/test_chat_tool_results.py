"""The chat reducer: a tool call is done, its result is looked at, or its server wants somebody to sign in."""

from typing import Any

import pytest

from building import (
    cancelled,
    completed,
    option,
    pending,
    pending_result,
    running,
    streaming,
    text,
    tool_call,
)
from chat_building import auth_required, call_act, complete, confirm_result, in_turn, mcp_running
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]
RESULT = {
    "success": False,
    "pastTenseMessage": {"markdown": "*Failed*"},
    "content": [text("a")],
    "structuredContent": {"n": 1},
    "error": {"message": "No", "code": "E1"},
}
DONE = {"success": True, "pastTenseMessage": "Worked"}
IDENTITY = {"intention": "List", "contributor": {"kind": "client", "clientId": "one"}, "_meta": {"a": 1}}
AUTH = {"reason": "expired", "resource": {"resource": "https://mcp.example"}}


def after(part: Json, *actions: Json) -> Json:
    """Apply the actions to a turn that holds this part only, and return what became of the part."""
    [found] = fold_chat(in_turn(part), *actions)["activeTurn"]["responseParts"]
    result: Json = found
    return result


def signing(name: str = "toolCallAuthRequired", **fields: Any) -> Json:
    return call_act(name, **fields)


each_outcome = pytest.mark.parametrize(
    ("asks", "status"),
    [({}, "completed"), ({"requiresResultConfirmation": True}, "pending-result-confirmation")],
)


@each_outcome
@rule("1.0/T6", "1.0/H7")
def test_a_running_call_is_done_with_its_result(asks: Json, status: str) -> None:
    given = {"invocationMessage": "Listing", "toolInput": "ls", "confirmed": "setting"}
    kept = {**given, "selectedOption": option("o"), **IDENTITY}
    part = after(running(content=[text("old")], **kept), complete(RESULT, **asks))
    assert part == tool_call(status, **kept, **RESULT)
    assert after(running(**kept), complete(_meta={"b": 2}))["toolCall"]["_meta"] == {"b": 2}


@rule("1.0/T6")
def test_what_a_call_showed_while_it_ran_is_not_its_result() -> None:
    part = after(running(content=[text("old")]), complete())
    assert part == completed(invocationMessage="Working")


@each_outcome
@rule("1.0/T6")
def test_a_waiting_call_is_done_as_if_nobody_had_to_be_asked(asks: Json, status: str) -> None:
    part = after(pending(toolInput="rm a", options=[option("o")]), complete(RESULT, **asks))
    kept = {"invocationMessage": "May I?", "toolInput": "rm a", "confirmed": "not-needed"}
    assert part == tool_call(status, **kept, **RESULT)


@rule("1.0/T6", "1.0/G6", "1.0/G1")
def test_a_result_may_be_empty_and_is_final_unless_somebody_has_to_look() -> None:
    empty = {"success": False, "pastTenseMessage": "", "content": [], "structuredContent": {}, "error": None}
    part = after(running(toolInput=""), complete(empty, requiresResultConfirmation=False))
    del empty["error"]
    kept = {"invocationMessage": "Working", "toolInput": "", "confirmed": "user-action"}
    assert part == tool_call("completed", **kept, **empty)


@rule("1.0/T6", "1.0/G5")
def test_other_keys_of_a_result_are_left_out() -> None:
    part = after(running(), complete({"status": "streaming", "toolCallId": "zz", "new": 1}))
    assert part == completed(invocationMessage="Working")


@rule("1.0/T6")
def test_a_call_that_nobody_signed_in_for_can_only_fail() -> None:
    before = auth_required(content=[text("so far")], toolInput="q", selectedOption=option("o"))
    assert after(before, complete(), complete({"success": None})) == before
    kept = {**mcp_running(), "toolInput": "q", "selectedOption": option("o")}
    failed = {"success": False, "pastTenseMessage": "Failed"}
    part = after(before, complete(failed, requiresResultConfirmation=True))
    assert part == tool_call("completed", **kept, **failed, content=[text("so far")])
    assert after(before, complete(RESULT)) == tool_call("completed", **kept, **RESULT)


@rule("1.0/T6", "1.0/H6")
@pytest.mark.parametrize("part", [streaming(), completed(), cancelled(), pending_result()])
def test_a_call_in_another_state_is_not_done(part: Json) -> None:
    assert after(part, complete(RESULT)) == part
    assert fold_chat(in_turn(streaming(), status=24), complete())["status"] == 8


# Its result is looked at.

JUDGED = {"invocationMessage": "Listing", "toolInput": "ls", "selectedOption": option("o"), **IDENTITY}


@rule("1.0/T7", "1.0/H5")
def test_an_approved_result_is_kept_and_a_denied_one_forgotten() -> None:
    waiting = in_turn(pending_result(**JUDGED, confirmed="setting", **RESULT), status=24)
    state = fold_chat(waiting, confirm_result(approved=True))
    assert state == in_turn(tool_call("completed", **JUDGED, confirmed="setting", **RESULT), status=8)
    state = fold_chat(waiting, confirm_result(approved=False, _meta={"b": 2}))
    withheld = {**JUDGED, "_meta": {"b": 2}}
    assert state == in_turn(tool_call("cancelled", **withheld, reason="result-denied"), status=8)


@rule("1.0/T7", "1.0/G6")
@pytest.mark.parametrize("approved", [False, None])
def test_a_denied_result_of_a_bare_call_has_no_other_keys(approved: Any) -> None:
    part = after(pending_result(), confirm_result(approved=approved))
    assert part == tool_call("cancelled", invocationMessage="Working", reason="result-denied")


@rule("1.0/T7", "1.0/H6")
def test_only_a_result_that_waits_is_looked_at() -> None:
    for part in (streaming(), pending(), running(), completed(), auth_required()):
        assert after(part, confirm_result(approved=True), confirm_result(approved=False)) == part
    assert fold_chat(in_turn(status=24), confirm_result(approved=True))["status"] == 8


# Its server wants somebody to sign in.


@rule("1.0/T8", "1.0/H4")
def test_a_call_waits_until_somebody_signed_in() -> None:
    kept = mcp_running(toolInput="q", selectedOption=option("o"), content=[text("a")], intention="Ask")
    state = fold_chat(in_turn(tool_call("running", **kept, **{"x-new": 1})), signing(auth=AUTH))
    assert state == in_turn(tool_call("auth-required", **kept, auth=AUTH), status=24)
    state = fold_chat(state, signing("toolCallAuthResolved", _meta={"b": 2}))
    assert state == in_turn(tool_call("running", **kept, _meta={"b": 2}), status=8)


@rule("1.0/T8", "1.0/H6")
@pytest.mark.parametrize(
    "part",
    [running(), running(contributor={"kind": "client", "clientId": "one"}), pending(**mcp_running())],
)
def test_only_a_running_call_of_an_mcp_server_needs_it(part: Json) -> None:
    assert after(part, signing(auth=AUTH)) == part
    assert after(part, signing("toolCallAuthResolved")) == part
    assert fold_chat(in_turn(running(), status=24), signing(auth=AUTH)) == in_turn(running())


@rule("1.0/G2")
def test_an_action_that_finds_nothing_returns_the_same_state() -> None:
    actions = complete(), confirm_result(approved=True), signing(auth=AUTH), signing("toolCallAuthResolved")
    assert changes_nothing("chat", in_turn(streaming()), *actions)
