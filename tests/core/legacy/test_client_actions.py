"""What our own client sends to a legacy host."""

from typing import Any

import pytest

from agenthost.core.legacy.client_actions import project_client_actions
from agenthost.core.session_meta import MODEL
from building import SESSION
from chat_building import act, message, said, session, session_act, started

LARGE = {"id": "large", "config": {"deep": True, "steps": 3}}


def sent(action: Any, **of: Any) -> Any:
    """Return what a client's action becomes, on a session with these fields."""
    state: Any = session(**of)
    return project_client_actions(action, state, SESSION)


def legacy(kind: str, **fields: Any) -> Any:
    return {"type": f"session/{kind}", "session": SESSION, **fields}


def toggle(name: str, *, enabled: bool) -> Any:
    entry = {"kind": "session", "enabled": enabled}
    return session_act("customizationToggled", id=name, enablement=[entry])


def test_most_actions_are_projected_as_those_of_a_host() -> None:
    assert sent(session_act("titleChanged", title="New")) == [legacy("titleChanged", title="New")]
    assert sent(act("turnCancelled", turnId="t1", duration=5)) == [legacy("turnCancelled", turnId="t1")]
    assert sent(started("t2")) == [legacy("turnStarted", turnId="t2", userMessage={"text": "Go on"})]


@pytest.mark.parametrize("action", [act("draftChanged"), act("isReadChanged", isRead=True)])
def test_what_the_legacy_protocol_lacks_becomes_nothing(action: Any) -> None:
    assert sent(action) == []


def test_the_model_of_a_message_is_chosen_before_it() -> None:
    turn = legacy("turnStarted", turnId="t2", userMessage={"text": "Go on"})
    chosen = legacy("modelChanged", model={"id": "large", "config": {"deep": "true", "steps": "3"}})
    action = started("t2", message=said("Go on", model=LARGE))
    assert sent(action) == [chosen, turn]
    assert sent(action, _meta={MODEL: {"id": "small"}}) == [chosen, turn]
    assert sent(action, _meta={MODEL: LARGE}) == [turn]


def test_a_message_that_waits_chooses_its_model_too() -> None:
    queued = act("pendingMessageSet", kind="queued", **message("m"))
    queued["message"]["model"] = {"id": "large"}
    chosen, waits = sent(queued)
    assert chosen == legacy("modelChanged", model={"id": "large"})
    assert (waits["type"], waits["userMessage"]["text"]) == ("session/pendingMessageSet", "Later")


def test_a_client_that_joins_or_leaves_changes_the_one_that_is_active() -> None:
    plugin = {"type": "plugin", "id": "p:/1", "uri": "p:/1", "name": "One"}
    me = {"clientId": "me", "tools": [{"name": "look"}], "customizations": [plugin]}
    known = {**me, "customizations": [{"uri": "p:/1", "displayName": "One"}]}
    joined = session_act("activeClientSet", activeClient=me)
    assert sent(joined) == [legacy("activeClientChanged", activeClient=known)]
    left = session_act("activeClientRemoved", clientId="me")
    assert sent(left) == [legacy("activeClientChanged", activeClient=None)]


@pytest.mark.parametrize("enabled", [True, False])
def test_a_plugin_is_switched_by_its_uri_if_the_session_has_it(enabled: bool) -> None:
    plugin = {"type": "plugin", "id": "k", "uri": "p:/k", "name": "K"}
    switched = legacy("customizationToggled", uri="p:/k", enabled=enabled)
    assert sent(toggle("k", enabled=enabled), customizations=[plugin]) == [switched]
    assert sent(toggle("other", enabled=enabled), customizations=[plugin]) == []
    assert sent(toggle("k", enabled=enabled)) == []
