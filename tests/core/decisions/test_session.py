"""When messages, models, clients and plug-ins of a session may not change."""

from typing import Any

import pytest

from agenthost.core.decisions import is_deferred
from building import act, in_turn, message, plugin, session, tool
from deciding import QUEUE, client, reason


def model(model_id: str) -> Any:
    return act("modelChanged", model={"id": model_id})


def test_a_message_without_an_id_cannot_wait() -> None:
    action = act("pendingMessageSet", kind="queued", **message(""))
    assert reason(session(), action) == "the id of a message may not be empty"


@pytest.mark.parametrize(
    ("state", "kind", "message_id"),
    [
        (session(), "queued", "m1"),
        (session(), "steering", "m1"),
        (session(**QUEUE), "queued", "m9"),
        (session(**QUEUE), "steering", "m1"),
        (session(steeringMessage=message("m1")), "queued", "m1"),
        (session(steeringMessage=message("m1")), "steering", "m2"),
    ],
)
def test_only_a_message_that_waits_can_be_removed(state: Any, kind: str, message_id: str) -> None:
    action = act("pendingMessageRemoved", kind=kind, id=message_id)
    assert reason(state, action) == f"no {kind} message {message_id!r} is pending"


@pytest.mark.parametrize("order", [[], ["m2"], ["m9", "m9"]])
@pytest.mark.parametrize("state", [session(), session(**QUEUE)])
def test_any_order_will_do(state: Any, order: list[str]) -> None:
    assert reason(state, act("queuedMessagesReordered", order=order)) is None


def test_a_model_has_to_be_known_where_models_are() -> None:
    assert reason(session(), model("x"), models={"small", "large"}) == "there is no model 'x'"
    assert reason(session(), model("x"), models=[]) == "there is no model 'x'"
    assert reason(session(), model("gpt"), models=["gpt"]) is None
    assert reason(session(), model("x"), models=None) is None


def test_a_running_turn_defers_a_new_model_and_nothing_else() -> None:
    busy: Any = in_turn()
    idle: Any = session()
    assert reason(busy, model("gpt"), models=["gpt"]) is None
    assert is_deferred(busy, model("gpt"))
    assert not is_deferred(idle, model("gpt"))
    assert not is_deferred(busy, act("titleChanged", title="New"))


@pytest.mark.parametrize(
    ("state", "new", "expected"),
    [
        (session(activeClient=client("you")), client(), "client 'you' is active"),
        (session(activeClient=client("you")), None, "client 'you' is active"),
        (session(activeClient=client("you")), client("you"), "client 'you' is active"),
        (session(), None, "no client is active"),
        (session(), client("you"), "a client can only make itself active, not 'you'"),
        (session(activeClient=client()), client("you"), "a client can only make itself active, not 'you'"),
    ],
)
def test_a_client_cannot_speak_for_another(state: Any, new: Any, expected: str) -> None:
    assert reason(state, act("activeClientChanged", activeClient=new)) == expected


@pytest.mark.parametrize("state", [session(), session(activeClient=client("you"))])
def test_only_the_active_client_changes_its_tools(state: Any) -> None:
    action = act("activeClientToolsChanged", tools=[tool("a")])
    assert reason(state, action) == "only the active client can change its tools"


@pytest.mark.parametrize("state", [session(), session(customizations=[plugin("p:/2")])])
def test_only_a_plugin_of_the_session_can_be_switched(state: Any) -> None:
    action = act("customizationToggled", uri="p:/1", enabled=True)
    assert reason(state, action) == "the session has no customization 'p:/1'"


@pytest.mark.parametrize("lifecycle", ["creating", "creationFailed"])
def test_a_session_that_is_not_ready_can_be_renamed_read_and_archived(lifecycle: str) -> None:
    state = session(lifecycle=lifecycle)
    assert reason(state, act("titleChanged", title="")) is None
    assert reason(state, act("isReadChanged", isRead=False)) is None
    assert reason(state, act("isArchivedChanged", isArchived=False)) is None
