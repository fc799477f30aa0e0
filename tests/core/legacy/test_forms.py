"""What legacy clients see of actions that need the states around them."""

from typing import Any

import pytest

from agenthost.core.legacy.forms import DEFAULT, legacy_form
from agenthost.core.legacy.meta import DIFFS, MODEL
from agenthost.core.reducers import REDUCERS, Live
from building import SESSION, TURN, markdown, tool_call
from chat_building import auth_required, broken, chat, done, failed, in_turn, message, question, said, session

CALL = {"turnId": TURN, "toolCallId": "c1"}


def form(action: Any, *, on: Any = None, of: Any = None) -> Any:
    """Return the form of an action on this chat or session."""
    states: Any = {"session": of or session(), "chat": on or chat()}
    scope: Any = action["type"].partition("/")[0]
    after = {**states, scope: REDUCERS[scope](Live(states[scope]), action).state}
    return legacy_form(action, states["session"], after["session"], states["chat"], after["chat"], SESSION)


def legacy(kind: str, **fields: Any) -> Any:
    return {"type": f"session/{kind}", "session": SESSION, **fields}


def client(client_id: str, *tools: str) -> Any:
    return {"clientId": client_id, "tools": [{"name": tool} for tool in tools]}


def joined(one: Any) -> Any:
    return {"type": "session/activeClientSet", "activeClient": one}


def left(client_id: str) -> Any:
    return {"type": "session/activeClientRemoved", "clientId": client_id}


def plugin(name: str, **fields: Any) -> Any:
    return {"type": "plugin", "id": name, "uri": f"p:/{name}", "name": name, **fields}


# Turns


def test_a_turn_that_is_resumed_vanishes_and_begins_again() -> None:
    parts = [markdown("p", "half"), question("r"), tool_call("completed", invocationMessage="x")]
    before = chat(turns=[done("t0"), failed("t1", *parts, usage={"inputTokens": 1})], status=2)
    made = form({"type": "chat/turnResume", "turnId": "t1"}, on=before)
    assert made == [
        legacy("truncated", turnId="t0"),
        legacy("turnStarted", turnId="t1", userMessage={"text": "t1"}),
        legacy("responsePart", turnId="t1", part=parts[0]),
        legacy("responsePart", turnId="t1", part=parts[2]),
        legacy("usage", turnId="t1", usage={"inputTokens": 1}),
        legacy("inputRequested", request=question("r")["request"]),
    ]


def test_the_only_turn_that_is_resumed_leaves_no_turn_before_it() -> None:
    made = form({"type": "chat/turnResume", "turnId": "t1"}, on=chat(turns=[failed("t1")], status=2))
    assert made == [legacy("truncated"), legacy("turnStarted", turnId="t1", userMessage={"text": "t1"})]


def test_a_turn_that_is_replaced_goes_first() -> None:
    started = {"type": "chat/turnStarted", "turnId": "t9", "startedAt": "", "message": said("Again")}
    before = in_turn(question("r"), turns=[done("t0")], status=24)
    made = form(started, on=before)
    assert made == [
        legacy("truncated", turnId="t0"),
        legacy("turnStarted", turnId="t9", userMessage={"text": "Again"}),
    ]
    assert form(started) is DEFAULT


# Tool calls


def test_a_call_that_gets_ready_keeps_its_input() -> None:
    before = in_turn(tool_call("running", invocationMessage="Look", toolInput="{}", confirmed="setting"))
    ready = {"type": "chat/toolCallReady", **CALL, "invocationMessage": "Sure?"}
    assert form(ready, on=before) == [
        legacy("toolCallReady", **CALL, invocationMessage="Sure?", toolInput="{}")
    ]
    assert form({**ready, "toolInput": "[]"}, on=before) is DEFAULT


def test_a_call_that_waits_is_asked_about_anew_by_a_detour() -> None:
    before = in_turn(tool_call("pending-confirmation", invocationMessage="Look", editable=True), status=24)
    ready = {"type": "chat/toolCallReady", **CALL, "invocationMessage": "Sure?"}
    again = legacy("toolCallReady", **CALL, invocationMessage="Sure?", editable=True)
    detour = legacy("toolCallConfirmed", **CALL, approved=True, confirmed="not-needed")
    assert form(ready, on=before) == [detour, again]


def test_a_client_does_not_see_the_detour_that_would_start_its_tool() -> None:
    contributor = {"kind": "client", "clientId": "me"}
    call = tool_call("pending-confirmation", invocationMessage="Look", contributor=contributor)
    ready = {"type": "chat/toolCallReady", **CALL, "invocationMessage": "Sure?"}
    assert form(ready, on=in_turn(call, status=24)) == []


def test_a_call_that_waits_and_may_run_after_all_is_confirmed() -> None:
    before = in_turn(tool_call("pending-confirmation", invocationMessage="Look"), status=24)
    ready = {"type": "chat/toolCallReady", **CALL, "invocationMessage": "Go", "confirmed": "setting"}
    assert form(ready, on=before) == [
        legacy("toolCallConfirmed", **CALL, approved=True, confirmed="setting"),
        legacy("toolCallReady", **CALL, invocationMessage="Go", confirmed="setting"),
    ]


@pytest.mark.parametrize("stored", [None, {"uri": "f:/input"}])
def test_an_edited_input_is_left_out_where_it_replaces_no_text(stored: Any) -> None:
    given = {} if stored is None else {"toolInput": stored}
    before = in_turn(tool_call("pending-confirmation", invocationMessage="Look", **given), status=24)
    yes = {"type": "chat/toolCallConfirmed", **CALL, "approved": True, "confirmed": "user-action"}
    assert form({**yes, "editedToolInput": "{}"}, on=before) == [
        legacy("toolCallConfirmed", **CALL, approved=True, confirmed="user-action")
    ]


def test_a_call_that_nobody_signed_in_for_fails_with_what_it_had_shown() -> None:
    shown = [{"type": "text", "text": "half"}]
    result = {"success": False, "pastTenseMessage": "No"}
    ended = {"type": "chat/toolCallComplete", **CALL, "result": result, "requiresResultConfirmation": True}
    assert form(ended, on=in_turn(auth_required(content=shown), status=24)) == [
        legacy("toolCallComplete", **CALL, result={**result, "content": shown})
    ]
    assert form(ended, on=in_turn(auth_required(), status=24)) == [
        legacy("toolCallComplete", **CALL, result=result)
    ]


@pytest.mark.parametrize(
    "late",
    [
        {"type": "chat/toolCallContentChanged", **CALL, "content": []},
        {"type": "chat/toolCallReady", **CALL, "invocationMessage": "x"},
        {"type": "chat/toolCallComplete", **CALL, "result": {"success": True, "pastTenseMessage": "x"}},
    ],
)
def test_what_comes_while_somebody_has_to_sign_in_is_not_seen(late: Any) -> None:
    assert form(late, on=in_turn(auth_required(), status=24)) == []


def test_a_call_that_comes_too_late_is_projected_by_itself() -> None:
    late = {"type": "chat/toolCallReady", **CALL, "invocationMessage": "x"}
    assert form(late, on=chat(status=2, turns=[done("t0", broken())])) is DEFAULT


# Sessions


def test_flags_are_repeated_when_a_session_gets_ready() -> None:
    ready = {"type": "session/ready"}
    assert form(ready, of=session(lifecycle="creating")) is DEFAULT
    assert form(ready, of=session(lifecycle="creating", status=97)) == [
        legacy("ready"),
        legacy("isReadChanged", isRead=True),
        legacy("isArchivedChanged", isArchived=True),
    ]


def test_a_session_that_is_ready_does_not_get_ready() -> None:
    assert form({"type": "session/ready"}, of=session(lifecycle="ready", status=33)) == []


def test_the_activity_of_a_chat_shows_unless_the_session_has_one() -> None:
    busy = {"type": "chat/activityChanged", "activity": "thinking"}
    assert form(busy) == [legacy("activityChanged", activity="thinking")]
    assert form(busy, of=session(activity="waiting")) == []
    silent = {"type": "session/activityChanged"}
    assert form(silent, of=session(activity="waiting")) == [legacy("activityChanged")]
    assert form(silent, of=session(activity="waiting"), on=chat(activity="thinking")) == [
        legacy("activityChanged", activity="thinking")
    ]


def test_the_earliest_client_with_tools_is_the_active_one() -> None:
    me, you = client("me", "look"), client("you", "say")
    assert form(joined(me)) == [legacy("activeClientChanged", activeClient=me)]
    assert form(joined(you), of=session(activeClients=[me])) == []
    assert form(joined(you), of=session(activeClients=[client("me")])) == [
        legacy("activeClientChanged", activeClient=you)
    ]
    assert form(left("you"), of=session(activeClients=[me, you])) == []
    assert form(left("me"), of=session(activeClients=[me, you])) == [
        legacy("activeClientChanged", activeClient=you)
    ]


def test_the_last_client_that_leaves_leaves_none() -> None:
    assert form(left("me"), of=session(activeClients=[client("me")])) == [
        legacy("activeClientChanged", activeClient=None)
    ]


def test_the_tools_of_the_active_client_change_by_themselves() -> None:
    assert form(joined(client("me", "say")), of=session(activeClients=[client("me", "look")])) == [
        legacy("activeClientToolsChanged", tools=[{"name": "say"}])
    ]


def test_what_legacy_clients_see_elsewhere_is_told_there() -> None:
    meta = {MODEL: {"id": "m", "config": {"n": 1, "on": True}}, DIFFS: [], "git": "main"}
    made = form({"type": "session/metaChanged", "_meta": meta}, of=session(_meta={"git": "dev"}))
    assert made == [
        legacy("modelChanged", model={"id": "m", "config": {"n": "1", "on": "true"}}),
        legacy("diffsChanged", diffs=[]),
        legacy("metaChanged", _meta={"git": "main"}),
    ]
    only_model = {MODEL: {"id": "m"}}
    assert form({"type": "session/metaChanged", "_meta": only_model}, of=session(_meta={"git": "dev"})) == [
        legacy("modelChanged", model={"id": "m"}),
        legacy("metaChanged"),
    ]
    assert form({"type": "session/metaChanged", "_meta": {"git": "main"}}) is DEFAULT


def test_a_plugin_is_switched_by_its_uri() -> None:
    off = {
        "type": "session/customizationToggled",
        "id": "k",
        "enablement": [{"kind": "session", "enabled": False}],
    }
    assert form(off, of=session(customizations=[plugin("k"), plugin("j")])) == [
        legacy("customizationToggled", uri="p:/k", enabled=False)
    ]


def test_all_plugins_are_told_where_one_has_no_uri_of_its_own() -> None:
    off = {
        "type": "session/customizationToggled",
        "id": "k",
        "enablement": [{"kind": "session", "enabled": False}],
    }
    twins = [plugin("j", uri="p:/k"), plugin("k")]
    [made] = form(off, of=session(customizations=twins))
    assert made["type"] == "session/customizationsChanged"
    assert [one["enabled"] for one in made["customizations"]] == [True, False]


def test_what_is_no_plugin_is_not_seen() -> None:
    server = {"type": "mcpServer", "id": "s", "uri": "m:/1", "name": "s", "state": {"kind": "ready"}}
    updated = {"type": "session/customizationUpdated", "customization": server}
    assert form(updated, of=session(customizations=[])) == []
    assert form(updated) == [legacy("customizationsChanged", customizations=[])]


def test_most_actions_need_no_form() -> None:
    assert form({"type": "chat/pendingMessageSet", "kind": "queued", **message("m")}) is DEFAULT
    assert form({"type": "session/titleChanged", "title": "New"}) is DEFAULT
