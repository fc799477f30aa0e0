"""What legacy clients dispatch, checked and translated before it is decided."""

from typing import Any

import pytest

from agenthost.core.conversation import Conversation
from agenthost.core.legacy.dispatch import translate_dispatch
from agenthost.errors import ActionRefused, ClientActive, HostError, InvalidValue, NotJson
from rules import rule

URI, NOW = "demo:/1", "2026-01-01T00:00:00.000Z"


def conversation(*clients: str) -> Conversation:
    active: Any = [{"clientId": one, "tools": [{"name": f"of {one}"}]} for one in clients]
    state: Any = {"provider": "demo", "title": "", "status": 1, "lifecycle": "ready", "activeClients": active}
    chat: Any = {"resource": "ahp-chat:/1", "title": "", "status": 1, "modifiedAt": NOW, "turns": []}
    state["chats"] = []
    return Conversation(state, chat)


def made_of(kind: str, /, *clients: str, **fields: Any) -> list[Any]:
    action = {"type": kind, "session": URI, **fields}
    return translate_dispatch(action, conversation(*clients), "me", 1_767_225_600_000).actions


def client(client_id: str = "me") -> Any:
    return {"clientId": client_id, "tools": []}


def test_a_message_becomes_one_that_a_user_wrote_and_keeps_what_we_do_not_know() -> None:
    message = {"text": "Hi", "x-more": [1]}
    (started,) = made_of("session/turnStarted", turnId="t1", userMessage=message)
    assert started == {
        "type": "chat/turnStarted",
        "turnId": "t1",
        "startedAt": NOW,
        "message": {**message, "origin": {"kind": "user"}},
    }


@rule("HR-A03")
@pytest.mark.parametrize(
    "action", [None, 5, {}, {"type": 5}, {"type": {}}, {"type": "session/ready", "session": URI}]
)
def test_what_no_client_may_dispatch_is_refused(action: Any) -> None:
    with pytest.raises(ActionRefused, match="is not an action that a client may dispatch"):
        translate_dispatch(action, conversation(), "me", 0)


@pytest.mark.parametrize(
    ("kind", "fields", "path"),
    [
        ("session/turnStarted", {"turnId": "t"}, "$.userMessage"),
        ("session/turnStarted", {"turnId": 5, "userMessage": {"text": ""}}, "$.turnId"),
        ("session/pendingMessageSet", {"kind": "other", "id": "1", "userMessage": {"text": ""}}, "$.kind"),
        ("session/toolCallConfirmed", {"turnId": "t", "toolCallId": "c", "approved": 1}, "$.approved"),
        ("session/truncated", {"turnId": None}, "$.turnId"),
    ],
)
def test_an_action_without_its_shape_is_refused_with_its_path(kind: str, fields: Any, path: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        made_of(kind, **fields)
    assert str(refused.value).startswith(path)


def test_an_action_that_is_nested_too_deep_is_refused() -> None:
    deep: Any = {}
    for _ in range(1_000):
        deep = {"x": deep}
    with pytest.raises(NotJson):
        made_of("session/turnStarted", turnId="t", userMessage={"text": "", "x": deep})


def test_of_a_result_only_the_known_fields_are_kept() -> None:
    result = {"success": True, "pastTenseMessage": "Done", "status": "cancelled"}
    (done,) = made_of("session/toolCallComplete", turnId="t", toolCallId="c", result=result)
    assert done["result"] == {"success": True, "pastTenseMessage": "Done"}


@rule("HR-A11")
@pytest.mark.parametrize(
    ("active", "wanted", "error", "sentence"),
    [
        (("you",), client(), ClientActive, "you"),
        (("you",), None, ClientActive, "you"),
        ((), None, ActionRefused, "no client is active"),
        ((), client("you"), ActionRefused, "a client can only make itself active, not 'you'"),
    ],
)
def test_one_client_is_active_at_a_time(
    active: tuple[str, ...], wanted: Any, error: type[HostError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        made_of("session/activeClientChanged", *active, activeClient=wanted)


@rule("HR-A11")
def test_a_client_becomes_active_and_changes_its_tools_and_leaves() -> None:
    (joined,) = made_of("session/activeClientChanged", activeClient=client())
    assert joined == {"type": "session/activeClientSet", "activeClient": client()}
    tools = [{"name": "new"}]
    (changed,) = made_of("session/activeClientToolsChanged", "me", tools=tools)
    assert changed["activeClient"]["tools"] == tools
    (left,) = made_of("session/activeClientChanged", "me", activeClient=None)
    assert left == {"type": "session/activeClientRemoved", "clientId": "me"}
    for others in ((), ("you",)):
        with pytest.raises(ActionRefused, match="only the active client can change its tools"):
            made_of("session/activeClientToolsChanged", *others, tools=tools)


def test_an_action_on_a_terminal_needs_no_session() -> None:
    action = {"type": "terminal/input", "terminal": "t:/1", "data": "ls"}
    assert translate_dispatch(action, None, "me", 0).actions == [{"type": "terminal/input", "data": "ls"}]
