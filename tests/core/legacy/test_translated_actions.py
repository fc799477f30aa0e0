"""What single actions of legacy clients and hosts become."""

from typing import Any

import pytest

from agenthost.core.legacy.meta import DIFFS, MODEL
from agenthost.core.legacy.translation import lift_action, translate_action
from building import SESSION, TURN, tool_call
from chat_building import BEGUN, chat, in_turn, session

NOW = 1_767_323_047_500
"""Two and a half seconds after the turn began."""


def legacy(kind: str, **fields: Any) -> Any:
    return {"type": f"session/{kind}", "session": SESSION, **fields}


def done_by_me(action: Any, *, on: Any = None, of: Any = None) -> Any:
    """Return what an action of the client `me` becomes."""
    states: Any = (of or session(), on or chat())
    return translate_action(action, *states, now_ms=NOW, client_id="me")


def done_by_the_host(action: Any, *, on: Any = None, of: Any = None) -> list[tuple[str, Any]]:
    states: Any = (of or session(), on or chat())
    return [*lift_action(action, *states, now_ms=NOW)]


def client(client_id: str, *tools: str) -> Any:
    return {"clientId": client_id, "tools": [{"name": tool} for tool in tools]}


def plugin(name: str, **fields: Any) -> Any:
    return {"type": "plugin", "id": name, "uri": f"p:/{name}", "name": name, **fields}


def test_a_turn_starts_now_with_a_message_of_the_user() -> None:
    action = legacy("turnStarted", turnId="t", userMessage={"text": "Hi"}, queuedMessageId="m")
    message = {"text": "Hi", "origin": {"kind": "user"}}
    started = {"type": "chat/turnStarted", "turnId": "t", "queuedMessageId": "m", "message": message}
    assert done_by_me(action) == ("chat", [{**started, "startedAt": "2026-01-02T03:04:07.500Z"}])


def test_a_turn_that_ends_took_the_time_since_its_start() -> None:
    cancelled = legacy("turnCancelled", turnId=TURN)
    ended = {"type": "chat/turnCancelled", "turnId": TURN}
    assert done_by_me(cancelled, on=in_turn(turn={"startedAt": BEGUN})).actions == [
        {**ended, "duration": 2500}
    ]
    assert done_by_me(cancelled, on=in_turn(turn={"startedAt": "soon"})).actions == [{**ended, "duration": 0}]
    assert done_by_me(cancelled).actions == [{**ended, "duration": 0}]


def test_an_error_of_a_legacy_host_cannot_be_resumed() -> None:
    error = {"errorType": "Boom", "message": "x"}
    [(_, failed)] = done_by_the_host(legacy("error", turnId=TURN, error=error), on=in_turn())
    assert failed["part"] == {"kind": "error", "error": error}


def test_what_begins_at_a_legacy_host_makes_its_session_unread() -> None:
    started = legacy("turnStarted", turnId="t", userMessage={"text": "Hi"})
    unread = ("session", {"type": "session/isReadChanged", "isRead": False})
    assert done_by_the_host(started, of=session(status=33))[1:] == [unread]
    assert done_by_the_host(started)[1:] == []


def test_a_session_that_gets_ready_at_a_legacy_host_forgets_its_flags() -> None:
    types = [action["type"] for _, action in done_by_the_host(legacy("ready"), of=session(status=97))]
    assert types == ["session/ready", "session/isReadChanged", "session/isArchivedChanged"]
    assert len(done_by_the_host(legacy("ready"))) == 1


def test_a_model_is_kept_with_what_was_there() -> None:
    action = legacy("modelChanged", model={"id": "m"})
    meta = {"git": "main", MODEL: {"id": "m"}}
    changed = {"type": "session/metaChanged", "_meta": meta}
    assert done_by_me(action, of=session(_meta={"git": "main", MODEL: {"id": "n"}})) == ("session", [changed])


def test_free_data_of_a_legacy_host_leaves_what_it_has_fields_for() -> None:
    before = session(_meta={"git": "main", DIFFS: []})
    [(_, cleared)] = done_by_the_host(legacy("metaChanged"), of=before)
    assert cleared["_meta"] == {DIFFS: []}
    [(_, emptied)] = done_by_the_host(legacy("metaChanged"), of=session(_meta={"git": "main"}))
    assert emptied == {"type": "session/metaChanged"}


def test_a_client_makes_itself_active_beside_others() -> None:
    action = legacy("activeClientChanged", activeClient=client("me", "look"))
    joined = {"type": "session/activeClientSet", "activeClient": client("me", "look")}
    assert done_by_me(action, of=session(activeClients=[client("you")])).actions == [joined]


def test_a_client_gives_up_its_own_role() -> None:
    action = legacy("activeClientChanged", activeClient=None)
    both = session(activeClients=[client("you", "say"), client("me")])
    gone = {"type": "session/activeClientRemoved", "clientId": "me"}
    assert done_by_me(action, of=both).actions == [gone]
    assert done_by_me(action).actions == []


def test_a_client_that_is_not_active_means_the_one_it_sees() -> None:
    action = legacy("activeClientChanged", activeClient=None)
    [gone] = done_by_me(action, of=session(activeClients=[client("you")])).actions
    assert gone["clientId"] == "you"


def test_a_client_changes_its_own_tools() -> None:
    action = legacy("activeClientToolsChanged", tools=[{"name": "new"}])
    both = session(activeClients=[client("you", "say"), client("me")])
    joined = {"type": "session/activeClientSet", "activeClient": client("me", "new")}
    assert done_by_me(action, of=both).actions == [joined]
    assert done_by_me(action).actions == []


def test_a_legacy_host_replaces_the_active_client() -> None:
    before = session(activeClients=[client("you")])
    replaced = done_by_the_host(legacy("activeClientChanged", activeClient=client("me")), of=before)
    assert [action["type"] for _, action in replaced] == [
        "session/activeClientRemoved",
        "session/activeClientSet",
    ]
    left = done_by_the_host(legacy("activeClientChanged", activeClient=None), of=before)
    assert left == [("session", {"type": "session/activeClientRemoved", "clientId": "you"})]


def test_a_plugin_that_is_switched_keeps_what_others_said_of_it() -> None:
    everywhere = {"kind": "global", "enabled": False}
    before = session(customizations=[plugin("k", enablement=[everywhere])])
    action = legacy("customizationToggled", uri="p:/k", enabled=True)
    [switched] = done_by_me(action, of=before).actions
    assert switched == {
        "type": "session/customizationToggled",
        "id": "k",
        "enablement": [{"kind": "session", "enabled": True}, everywhere],
    }
    assert done_by_me(action).actions == []


def test_a_plugin_that_a_legacy_host_updates_keeps_what_it_does_not_say() -> None:
    known = plugin(
        "k", enablement=[{"kind": "session", "enabled": False}], load={"kind": "loading"}, children=[]
    )
    reference = {"uri": "p:/k", "displayName": "K", "description": "Better", "nonce": "2"}
    action = legacy("customizationUpdated", customization=reference, status="degraded")
    [(_, updated)] = done_by_the_host(action, of=session(customizations=[known]))
    assert updated["customization"] == {
        **known,
        "name": "K",
        "nonce": "2",
        "_meta": {"agenthost.description": "Better"},
        "load": {"kind": "degraded", "message": ""},
    }


@pytest.mark.parametrize(("enabled", "expected"), [(None, False), (False, False), (True, True)])
def test_a_new_plugin_is_off_unless_the_legacy_host_says_otherwise(enabled: Any, expected: bool) -> None:
    said = {} if enabled is None else {"enabled": enabled}
    reference = {"uri": "p:/new", "displayName": "New"}
    action = legacy(
        "customizationUpdated", customization=reference, status="loaded", statusMessage="!", **said
    )
    [(_, updated)] = done_by_the_host(action)
    plugin = updated["customization"]
    assert (plugin["id"], plugin["load"]) == ("p:/new", {"kind": "loaded", "message": "!"})
    assert plugin.get("enablement", [{"enabled": True}])[0]["enabled"] is expected


def test_a_legacy_call_that_waits_is_not_asked_about_again() -> None:
    ready = legacy("toolCallReady", turnId=TURN, toolCallId="c1", invocationMessage="Sure?")
    waiting = in_turn(tool_call("pending-confirmation", invocationMessage="x"), status=24)
    assert done_by_the_host(ready, on=waiting) == []
    assert len(done_by_the_host(ready, on=in_turn(tool_call("streaming")))) == 1
    assert len(done_by_the_host(ready)) == 1


def test_free_data_of_an_action_on_a_legacy_call_counts_at_its_start_alone() -> None:
    call = {"turnId": TURN, "toolCallId": "c1", "_meta": {"k": 1}}
    [(_, start)] = done_by_the_host(legacy("toolCallStart", **call, toolName="x", displayName="X"))
    assert start["_meta"] == {"k": 1}
    [(_, released)] = done_by_the_host(legacy("toolCallResultConfirmed", **call, approved=True))
    assert "_meta" not in released


def test_what_a_user_would_rather_have_is_a_message() -> None:
    no = {"turnId": TURN, "toolCallId": "c1", "approved": False, "reason": "denied"}
    [denied] = done_by_me(legacy("toolCallConfirmed", **no, userSuggestion={"text": "Ask"})).actions
    assert denied["userSuggestion"] == {"text": "Ask", "origin": {"kind": "user"}}
