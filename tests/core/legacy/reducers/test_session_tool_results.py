"""The session reducer: a tool call is done and its result is looked at, rows 10 to 14 of the machine."""

from typing import Any

import pytest

from building import (
    complete,
    confirm_result,
    in_turn,
    option,
    pending,
    pending_result,
    running,
    text,
    tool_call,
)
from reducing import reduce_session
from rules import rule

Json = dict[str, Any]
OFFER = {
    "confirmationTitle": "Really?",
    "edits": {"items": []},
    "editable": True,
    "options": [option("yes"), option("no", "deny")],
}
RESULT = {
    "success": False,
    "pastTenseMessage": {"markdown": "*Failed*"},
    "content": [text("a")],
    "structuredContent": {"n": 1},
    "error": {"message": "No", "code": "E1"},
}


def after(part: Json, *actions: Json) -> Json:
    """Apply the actions to a turn that holds this part only, and return what became of the part."""
    [found] = reduce_session(in_turn(part), *actions)["activeTurn"]["responseParts"]
    result: Json = found
    return result


# Rows 10 to 12: it is done.


def how(*, asks: bool) -> Json:
    return {"requiresResultConfirmation": True} if asks else {}


each_outcome = pytest.mark.parametrize(
    ("asks", "status"), [(False, "completed"), (True, "pending-result-confirmation")]
)


@each_outcome
@rule("S17")
def test_a_running_call_is_done_with_its_result(asks: bool, status: str) -> None:
    kept = {"toolInput": "ls", "confirmed": "setting", "selectedOption": option("o")}
    before = running(invocationMessage="Listing", content=[text("partial")], **kept)
    part = after(before, complete(RESULT, **how(asks=asks)))
    assert part == tool_call(status, invocationMessage="Listing", **kept, **RESULT)


@each_outcome
@rule("S17", "G1")
@pytest.mark.parametrize("keys", [[], ["content", "structuredContent", "error"]], ids=["absent", "null"])
def test_a_call_is_done_without_the_content_it_had_shown(asks: bool, status: str, keys: list[str]) -> None:
    part = after(running(content=[text("partial")]), complete(dict.fromkeys(keys), **how(asks=asks)))
    expected = {"invocationMessage": "Working", "confirmed": "user-action"}
    assert part == tool_call(status, **expected, success=True, pastTenseMessage="Worked")


@each_outcome
@rule("S17")
def test_a_waiting_call_is_done_as_if_nobody_had_to_be_asked(asks: bool, status: str) -> None:
    part = after(
        pending(invocationMessage="Removing", toolInput="rm a", **OFFER), complete(RESULT, **how(asks=asks))
    )
    expected = {"invocationMessage": "Removing", "toolInput": "rm a", "confirmed": "not-needed"}
    assert part == tool_call(status, **expected, **RESULT)


@rule("S17", "G7")
@pytest.mark.parametrize("asks", [False, None])
def test_a_result_is_final_unless_confirmation_is_required(asks: Any) -> None:
    part = after(running(), complete(requiresResultConfirmation=asks))
    assert part["toolCall"]["status"] == "completed"


@rule("S17", "G7")
def test_a_result_may_be_empty() -> None:
    empty = {"success": False, "pastTenseMessage": "", "content": [], "structuredContent": {}}
    part = after(running(toolInput=""), complete(empty))
    kept = {"invocationMessage": "Working", "toolInput": "", "confirmed": "user-action"}
    assert part == tool_call("completed", **kept, **empty)


@rule("S17")
def test_other_keys_of_a_result_are_left_out() -> None:
    intruders = {
        "status": "streaming",
        "toolCallId": "zz",
        "confirmed": "setting",
        "toolInput": "x",
        "new": 1,
    }
    part = after(running(), complete(intruders))
    expected = {"invocationMessage": "Working", "confirmed": "user-action"}
    assert part == tool_call("completed", **expected, success=True, pastTenseMessage="Worked")


# Rows 13 and 14: its result is looked at.

JUDGED = {"invocationMessage": "Listing", "toolInput": "ls", "selectedOption": option("o")}


@rule("S18")
def test_an_approved_result_keeps_every_field() -> None:
    part = after(pending_result(**JUDGED, confirmed="setting", **RESULT), confirm_result(approved=True))
    assert part == tool_call("completed", **JUDGED, confirmed="setting", **RESULT)


@rule("S18")
def test_a_denied_result_is_forgotten() -> None:
    part = after(pending_result(**JUDGED, confirmed="setting", **RESULT), confirm_result(approved=False))
    assert part == tool_call("cancelled", **JUDGED, reason="result-denied")


@rule("S18", "G1")
def test_a_denied_result_of_a_bare_call_has_no_other_keys() -> None:
    part = after(pending_result(toolInput=None, selectedOption=None), confirm_result(approved=False))
    assert part == tool_call("cancelled", invocationMessage="Working", reason="result-denied")
