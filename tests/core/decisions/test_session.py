"""When messages, models, clients and customizations of a session may not change."""

from typing import Any

import pytest

from agenthost.core import session_meta
from agenthost.core.decisions import Context, decide, is_deferred
from building import tool
from chat_building import act, message, session_act, started
from deciding import (
    ME,
    QUEUE,
    chat,
    client,
    given,
    in_turn,
    plugin,
    reason,
    reduced,
    session,
    skill,
    toggled,
)


def model(model_id: str, **others: Any) -> Any:
    return session_act("metaChanged", _meta={**others, session_meta.MODEL: {"id": model_id}})


def chosen(state: Any, action: Any, **context: Any) -> str | None:
    """Ask why the model that a client of an older protocol chose is refused."""
    return reason(state, action, is_translated=True, **context)


def test_a_message_without_an_id_cannot_be_pending() -> None:
    action = act("pendingMessageSet", kind="queued", **message(""))
    assert reason(session(), action) == "the id of a message may not be empty"


def test_a_message_that_was_taken_or_removed_is_not_pending_again() -> None:
    action = act("pendingMessageSet", kind="queued", **message("m1"))
    expected = "the queued message 'm1' was taken or removed before"
    assert reason(session(), action, taken={"queued/m1"}) == expected
    assert reason(session(), action, taken={"steering/m1"}) is None


@pytest.mark.parametrize(
    ("state", "kind", "message_id"),
    [
        (session(), "queued", "m1"),
        (session(), "steering", "m1"),
        (chat(**QUEUE), "queued", "m9"),
        (chat(**QUEUE), "steering", "m1"),
        (chat(steeringMessage=message("m1")), "queued", "m1"),
        (chat(steeringMessage=message("m1")), "steering", "m2"),
    ],
)
def test_only_a_pending_message_can_be_removed(state: Any, kind: str, message_id: str) -> None:
    action = act("pendingMessageRemoved", kind=kind, id=message_id)
    assert reason(state, action) == f"no {kind} message {message_id!r} is pending"


@pytest.mark.parametrize("order", [[], ["m2"], ["m9", "m9"]])
@pytest.mark.parametrize("state", [session(), chat(**QUEUE)])
def test_any_order_is_allowed(state: Any, order: list[str]) -> None:
    assert reason(state, act("queuedMessagesReordered", order=order)) is None


# The model.


def test_only_what_was_translated_changes_the_metadata_of_a_session() -> None:
    expected = "'session/metaChanged' is not an action that a client may dispatch"
    assert reason(session(), model("gpt")) == expected
    assert chosen(session(), model("gpt")) is None


def test_a_model_has_to_be_on_offer_where_models_are_known() -> None:
    assert chosen(session(), model("x"), models={"small", "large"}) == "there is no model 'x'"
    assert chosen(session(), model("x"), models=[]) == "there is no model 'x'"
    assert chosen(session(), model("gpt"), models=["gpt"]) is None
    assert chosen(session(), model("x"), models=None) is None


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, "$.model: expected an object (ModelSelection), found null"),
        ({"_meta": {"git": {}}}, "$.model: expected an object (ModelSelection), found null"),
        (
            {"_meta": {session_meta.MODEL: "gpt"}},
            "$.model: expected an object (ModelSelection), found a string",
        ),
        ({"_meta": {session_meta.MODEL: {}}}, "$.model.id: expected a string, found nothing"),
    ],
)
def test_a_change_of_the_metadata_is_a_change_of_the_model(meta: Any, expected: str) -> None:
    assert chosen(session(), session_act("metaChanged", **meta)) == expected


def test_nothing_but_the_model_changes_though_the_rest_has_changed_since() -> None:
    state = session(_meta={"git": {"branch": "main"}, session_meta.DIFFS: [{}]})
    context = Context(is_translated=True)
    action: Any = decide(state, model("gpt", git={"branch": "old"}), ME, context=context)
    assert reduced(state, action).session["_meta"] == {
        **state.session["_meta"],
        session_meta.MODEL: {"id": "gpt"},
    }


def test_a_running_turn_defers_a_new_model_and_nothing_else() -> None:
    busy, idle = in_turn(), session()
    assert chosen(busy, model("gpt"), models=["gpt"]) is None
    assert is_deferred(busy, model("gpt"))
    assert not is_deferred(idle, model("gpt"))
    assert not is_deferred(busy, given(session_act("titleChanged", title="New")))
    assert not is_deferred(busy, given(act("draftChanged")))


def test_a_new_model_does_not_overtake_a_turn_that_waits_for_its_session() -> None:
    state = session(lifecycle="creating")
    assert not is_deferred(state, model("gpt"))
    assert is_deferred(state, model("gpt"), [started()])


# Clients and their tools.


@pytest.mark.parametrize(
    "state", [session(), session(activeClients=[client()]), session(activeClients=[client("you")])]
)
def test_a_client_cannot_act_for_another(state: Any) -> None:
    expected = "a client can only make itself active, not 'you'"
    assert reason(state, session_act("activeClientSet", activeClient=client("you"))) == expected
    expected = "a client can only end its own part, not that of 'you'"
    assert reason(state, session_act("activeClientRemoved", clientId="you")) == expected


def test_several_clients_are_active_at_once_even_with_tools_of_the_same_name() -> None:
    state = session(activeClients=[client("you", tools=[tool("a")])])
    assert reason(state, session_act("activeClientSet", activeClient=client(tools=[tool("a")]))) is None


@pytest.mark.parametrize(
    ("active", "expected"),
    [([], "no client is active"), ([client("you")], "client 'me' is not active")],
)
def test_a_client_that_is_not_active_cannot_be_removed(active: Any, expected: str) -> None:
    state = session(activeClients=active)
    assert reason(state, session_act("activeClientRemoved", clientId=ME)) == expected


@pytest.mark.parametrize(
    ("state", "tools"),
    [
        (session(activeClients=[client()]), [tool("a"), tool("a")]),
        (session(serverTools=[tool("a")]), [tool("b"), tool("a")]),
    ],
)
def test_two_tools_cannot_have_the_same_name(state: Any, tools: list[Any]) -> None:
    expected = "$.activeClient.tools[1].name: expected a name that no other tool has, found 'a'"
    changed = session_act("activeClientSet", activeClient=client(tools=tools))
    assert reason(state, changed) == expected


def test_a_tool_of_the_host_keeps_its_name_though_the_session_does_not_show_it() -> None:
    brought = session_act("activeClientSet", activeClient=client(tools=[tool("a")]))
    expected = "$.activeClient.tools[0].name: expected a name that no other tool has, found 'a'"
    assert reason(session(), brought, tool_names=["a"]) == expected
    assert reason(session(), brought, tool_names=["b"]) is None


def test_an_agent_may_take_no_tools_of_clients() -> None:
    state = session(activeClients=[client()])
    expected = "expected no tools, as the agent takes none from clients"
    changed = session_act("activeClientSet", activeClient=client(tools=[tool("a"), tool("b")]))
    assert reason(state, changed, takes_client_tools=False) == f"$.activeClient.tools: {expected}, found 2"
    active = session_act("activeClientSet", activeClient=client())
    assert reason(state, active, takes_client_tools=False) is None


# Customizations, and what can always be changed.

SERVER = {**plugin("m1"), "type": "mcpServer", "state": {"kind": "stopped"}, "children": [skill("s2")]}


@pytest.mark.parametrize(
    "state", [session(), session(customizations=[plugin("p2"), SERVER])], ids=["none", "others"]
)
@pytest.mark.parametrize("customization_id", ["p1", "s2", ""])
def test_only_a_customization_of_the_session_can_be_switched(state: Any, customization_id: str) -> None:
    expected = f"the session has no customization {customization_id!r}"
    assert reason(state, toggled(customization_id, enabled=True)) == expected


@pytest.mark.parametrize("customization_id", ["p1", "s1", "m1"])
def test_customizations_are_switched_at_the_top_and_inside_of_others(customization_id: str) -> None:
    state = session(customizations=[plugin("p1", children=[skill("s1")]), SERVER])
    assert reason(state, toggled(customization_id)) is None


@pytest.mark.parametrize("lifecycle", ["creating", "failed"])
def test_a_session_that_is_not_ready_can_be_renamed_read_and_archived(lifecycle: str) -> None:
    state = session(lifecycle=lifecycle)
    assert reason(state, session_act("titleChanged", title="")) is None
    for make in (session_act, act):
        assert reason(state, make("isReadChanged", isRead=False)) is None
        assert reason(state, make("isArchivedChanged", isArchived=False)) is None
