"""The chat reducer: a tool call starts, becomes ready, and is approved or denied."""

from typing import Any

import pytest

from building import (
    cancelled,
    completed,
    markdown,
    option,
    pending,
    pending_result,
    running,
    streaming,
    text,
    tool_call,
)
from chat_building import approve, auth_required, chat, deny, in_turn, ready, show, start
from folding import changes_nothing, fold_chat
from rules import rule

Json = dict[str, Any]
CLIENT = {"kind": "client", "clientId": "one"}
MCP = {"kind": "mcp", "customizationId": "server"}
IDENTITY = {"intention": "List", "contributor": MCP, "_meta": {"a": 1}}
OFFER = {
    "confirmationTitle": "Really?",
    "riskAssessment": {"kind": "judge", "status": "loading"},
    "edits": {"items": []},
    "editable": False,
    "options": [option("yes"), option("no", "deny")],
}


def after(part: Json, *actions: Json) -> Json:
    """Apply the actions to a turn that holds this part only, and return what became of the part."""
    [found] = fold_chat(in_turn(part), *actions)["activeTurn"]["responseParts"]
    result: Json = found
    return result


@rule("1.0/T1")
def test_a_call_starts_with_its_identity_and_no_more() -> None:
    state = fold_chat(in_turn(markdown("a")), start(**IDENTITY, **{"x-new": 1, "partialInput": "x"}))
    assert state == in_turn(markdown("a"), streaming(**IDENTITY))


@rule("1.0/T1", "1.0/H1")
def test_a_known_id_starts_another_call_and_another_turn_none() -> None:
    assert fold_chat(in_turn(running()), start()) == in_turn(running(), streaming())
    assert changes_nothing("chat", in_turn(), start(turnId="t9"))
    assert changes_nothing("chat", chat(), start())


# Ready.


@rule("1.0/T3", "1.0/H7")
@pytest.mark.parametrize("reason", ["not-needed", "user-action", "setting"])
def test_a_call_that_is_confirmed_already_runs(reason: str) -> None:
    part = after(streaming(partialInput="{", **IDENTITY), ready(toolInput="ls", confirmed=reason, **OFFER))
    assert part == tool_call(
        "running", **IDENTITY, invocationMessage="May I?", toolInput="ls", confirmed=reason
    )


@rule("1.0/T3", "1.0/G6", "1.0/H4")
@pytest.mark.parametrize("confirmed", [{}, {"confirmed": ""}, {"confirmed": None}])
def test_a_call_that_is_not_confirmed_asks(confirmed: Json) -> None:
    before = in_turn(streaming(partialInput="{", invocationMessage="Listing"), status=8 + 64)
    state = fold_chat(before, ready(toolInput={"uri": "f:/i"}, **confirmed, **OFFER))
    part = tool_call("pending-confirmation", invocationMessage="May I?", toolInput={"uri": "f:/i"}, **OFFER)
    assert state == in_turn(part, status=24 + 64)


@rule("1.0/T3")
def test_a_call_that_asks_again_keeps_what_it_asked_unless_told_otherwise() -> None:
    before = pending(toolInput="ls", **OFFER)
    assert after(before, ready()) == before
    risk = {"kind": "judge", "status": "complete", "reason": "Harmless", "safety": 1}
    state = after(before, ready(riskAssessment=risk, options=[], toolInput="ls -l"))
    assert state == pending(**{**OFFER, "riskAssessment": risk, "options": []}, toolInput="ls -l")


@rule("1.0/T3")
def test_a_running_call_asks_with_its_old_input_alone() -> None:
    before = running(toolInput="ls", content=[text("a")], selectedOption=option("yes"), **OFFER)
    assert after(before, ready()) == pending(toolInput="ls")
    assert after(before, ready(toolInput="")) == pending(toolInput="")
    assert after(streaming(toolInput="ls"), ready()) == pending()


@rule("1.0/T3", "1.0/H7")
def test_a_call_that_is_ready_is_known_better() -> None:
    part = after(streaming(intention="Query"), ready(intention="Query all", contributor=MCP, _meta={"b": 2}))
    assert part == pending(intention="Query all", contributor=MCP, _meta={"b": 2})
    other = {"kind": "mcp", "customizationId": "other"}
    assert after(running(**IDENTITY), ready(contributor=other)) == pending(
        **{**IDENTITY, "contributor": other}
    )
    assert after(running(**IDENTITY), ready()) == pending(**IDENTITY)


@rule("1.0/T3")
@pytest.mark.parametrize("given", [{"kind": "client", "clientId": "two"}, MCP, CLIENT])
def test_a_call_of_a_client_stays_with_that_client(given: Json) -> None:
    assert after(streaming(contributor=CLIENT), ready(contributor=given)) == pending(contributor=CLIENT)


@rule("1.0/T3")
def test_no_call_becomes_that_of_a_client_late() -> None:
    assert after(streaming(), ready(contributor=CLIENT)) == pending()
    assert after(streaming(contributor=MCP), ready(contributor=CLIENT)) == pending(contributor=MCP)


@rule("1.0/T3", "1.0/H6")
@pytest.mark.parametrize("part", [completed(), cancelled(), pending_result(), auth_required()])
def test_a_call_in_another_state_does_not_become_ready(part: Json) -> None:
    assert after(part, ready(confirmed="setting")) == part


# Approved or denied.


@rule("1.0/T4", "1.0/H7")
def test_an_approved_call_runs_with_what_it_asked_for() -> None:
    part = after(pending(toolInput="ls", **OFFER, **IDENTITY), approve(_meta={"b": 2}))
    expected = {**IDENTITY, "_meta": {"b": 2}, "toolInput": "ls"}
    assert part == tool_call("running", **expected, invocationMessage="May I?", confirmed="user-action")


@rule("1.0/T4")
@pytest.mark.parametrize(
    ("old", "new"),
    [({"toolInput": "ls"}, {"toolInput": "pwd"}), ({"toolInput": {"uri": "f:/i"}},) * 2, ({}, {})],
    ids=["text", "stored elsewhere", "none"],
)
def test_an_edited_input_replaces_only_a_text(old: Json, new: Json) -> None:
    part = after(pending(**old), approve(editedToolInput="pwd"))
    assert part == tool_call("running", invocationMessage="May I?", confirmed="user-action", **new)


@rule("1.0/T4", "1.0/G6")
@pytest.mark.parametrize(
    ("chosen", "kept"),
    [("yes", {"selectedOption": option("yes")}), ("zz", {}), ("", {}), (None, {})],
)
def test_the_chosen_option_is_kept_as_a_whole(chosen: Any, kept: Json) -> None:
    before = pending(options=[option(""), option("yes"), option("no")])
    granted = {"invocationMessage": "May I?", "confirmed": "user-action"}
    assert after(before, approve(selectedOptionId=chosen)) == tool_call("running", **granted, **kept)
    refused = {"invocationMessage": "May I?", "reason": "denied"}
    assert after(before, deny(selectedOptionId=chosen)) == tool_call("cancelled", **refused, **kept)


@rule("1.0/T4", "1.0/H5")
@pytest.mark.parametrize("reason", ["denied", "skipped"])
def test_a_denied_call_is_cancelled_with_the_reason(reason: str) -> None:
    why = {"reason": reason, "reasonMessage": {"markdown": "*no*"}, "userSuggestion": {"text": "Ask"}}
    before = in_turn(pending(toolInput="ls", **OFFER, **IDENTITY), status=24)
    state = fold_chat(before, deny(**why, editedToolInput="pwd"))
    part = tool_call("cancelled", **IDENTITY, invocationMessage="May I?", toolInput="ls", **why)
    assert state == in_turn(part, status=8)


@rule("1.0/T4", "1.0/G6")
@pytest.mark.parametrize("approved", [False, None])
def test_what_is_not_approved_is_denied(approved: Any) -> None:
    assert after(pending(), deny(approved=approved))["toolCall"]["status"] == "cancelled"


@rule("1.0/T4")
@pytest.mark.parametrize("part", [streaming(), running(), completed(), pending_result(), auth_required()])
def test_a_call_that_asks_nothing_can_be_neither_approved_nor_denied(part: Json) -> None:
    assert after(part, approve(), deny()) == part


# What it shows while it runs.


@rule("1.0/T5", "1.0/G5")
def test_progress_replaces_what_a_running_call_showed() -> None:
    before = running(content=[text("a")], _meta={"a": 1}, **{"x-new": 1})
    assert after(before, show(text("b"))) == running(content=[text("b")], _meta={"a": 1}, **{"x-new": 1})
    assert after(before, show(_meta={"b": 2})) == running(content=[], _meta={"b": 2}, **{"x-new": 1})


@rule("1.0/T5", "1.0/H1", "1.0/H3")
def test_progress_of_a_call_that_does_not_run_is_ignored() -> None:
    other = in_turn(pending(), auth_required(), running(call="c2"), status=4)
    assert changes_nothing("chat", other, show(text("b")), show(text("b"), toolCallId="c2", turnId="t9"))


# All of these recompute the status.


@rule("1.0/H6", "1.0/H1")
@pytest.mark.parametrize("action", [ready(), approve(), deny()], ids=lambda action: str(action["type"]))
@pytest.mark.parametrize("other", [{"toolCallId": "c9"}, {"turnId": "t9"}])
def test_an_action_on_no_call_still_recomputes_the_status(action: Json, other: Json) -> None:
    before = in_turn(pending(), status=2 + 32)
    assert fold_chat(before, {**action, **other}) == in_turn(pending(), status=24 + 32)
    assert changes_nothing("chat", in_turn(pending(), status=24), {**action, **other})


@rule("1.0/H3")
def test_every_call_with_the_id_is_changed() -> None:
    state = fold_chat(in_turn(pending(), markdown("a"), pending(call="c2"), pending(), status=24), approve())
    ran = tool_call("running", invocationMessage="May I?", confirmed="user-action")
    assert state == in_turn(ran, markdown("a"), pending(call="c2"), ran, status=24)
