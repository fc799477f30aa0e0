"""What legacy clients see of actions by themselves, and of what only newer clients know."""

from typing import Annotated, Any, get_args, get_origin

import pytest

from agenthost.core.legacy.forms import FORMS
from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.legacy.projection import PROJECTORS, project_action
from agenthost.core.legacy.summaries import lift_listed, project_listed
from agenthost.core.legacy.translation import lift_action
from agenthost.wire.ahp.actions import ChatAction, SessionAction
from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning, ChatToolCallDelta
from agenthost.wire.ahp.legacy.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta
from agenthost.wire.annotations import is_record, record_fields
from building import CALL, SESSION, TURN, markdown, tool_call
from chat_building import auth_required, broken, chat, done, in_turn, said, session
from drawn_values import CHAT

UNSEEN = {
    "chat": {
        *("turnsLoaded", "toolCallAuthRequired", "toolCallAuthResolved", "draftChanged", "movableChanged"),
        *("workingDirectorySet", "workingDirectoryRemoved", "isReadChanged", "isArchivedChanged"),
        *("changesetsChanged", "canvasesChanged", "backgroundWorkSet", "backgroundWorkRemoved"),
    },
    "session": {
        *("chatAdded", "chatRemoved", "chatUpdated", "chatsReordered", "defaultChatChanged"),
        *("workingDirectorySet", "workingDirectoryRemoved", "workingDirectoryReplaced"),
        *("inputNeededSet", "inputNeededRemoved", "changesetsChanged", "mcpServerStateChanged"),
        *("mcpServerStartRequested", "mcpServerStopRequested", "mcpServerBackgroundRequested"),
    },
}
"""What legacy clients do not see: it changes nothing that they have, or nothing that they can be told."""


def seen(chat_state: Any, **of_session: Any) -> Any:
    state: Any = session(**of_session)
    return project_session_state(state, chat_state, SESSION, 1000)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (ChatDelta("t", "p", "x"), SessionDelta(SESSION, "t", "p", "x")),
        (ChatReasoning("t", "p", "x"), SessionReasoning(SESSION, "t", "p", "x")),
        (ChatToolCallDelta("t", "c", "x"), SessionToolCallDelta(SESSION, "t", "c", "x")),
    ],
)
def test_streamed_text_stays_a_struct(action: Any, expected: Any) -> None:
    assert project_action(action, SESSION) == expected
    [(channel, lifted)] = lift_action(expected, session(), chat(), now_ms=0)  # type: ignore[arg-type]
    assert channel == "chat"
    assert all(action.get(key) == value for key, value in lifted.items())


def test_an_attachment_of_an_unknown_kind_keeps_its_name() -> None:
    attachment = {"type": "chat", "resource": CHAT, "label": "that chat", "displayKind": "chat"}
    message = said(
        "Look",
        attachments=[attachment, {"type": "simple", "label": "s"}],
        model={"id": "m"},
        agent={"uri": "a:/1"},
    )
    action = {"type": "chat/pendingMessageSet", "kind": "queued", "id": "m", "message": message}
    projected: Any = project_action(action, SESSION)
    assert projected["userMessage"] == {
        "text": "Look",
        "attachments": [
            {"type": "simple", "label": "that chat", "displayKind": "chat"},
            {"type": "simple", "label": "s"},
        ],
    }


@pytest.mark.parametrize(
    "part", [broken(), {"kind": "inputRequest", "request": {"id": "r"}}, {"kind": "hologram"}]
)
def test_a_part_of_an_unknown_kind_is_left_out(part: Any) -> None:
    assert project_action({"type": "chat/responsePart", "turnId": TURN, "part": part}, SESSION) is None
    assert seen(in_turn(part, markdown("p")))["activeTurn"]["responseParts"] == [markdown("p")]


def test_of_the_errors_of_a_turn_the_last_one_counts() -> None:
    first, last = broken(), broken(error={"errorType": "Again", "message": "x", "_meta": {"k": 1}})
    turn = done("t", first, markdown("p"), last, state="error")
    [projected] = seen(chat(turns=[turn], status=2))["turns"]
    assert projected["error"] == {"errorType": "Again", "message": "x"}
    assert projected["responseParts"] == [markdown("p")]


def test_a_turn_that_was_resumed_and_went_well_has_no_error() -> None:
    [projected] = seen(chat(turns=[done("t", broken(), markdown("p"))]))["turns"]
    assert "error" not in projected


def test_a_turn_may_have_failed_without_a_word() -> None:
    [projected] = seen(chat(turns=[done("t", state="error")]))["turns"]
    assert (projected["state"], "error" in projected) == ("error", False)


def test_a_tool_for_which_somebody_has_to_sign_in_runs() -> None:
    projected = seen(in_turn(auth_required(), status=24))
    [part] = projected["activeTurn"]["responseParts"]
    assert part["toolCall"]["status"] == "running"
    assert "auth" not in part["toolCall"]
    assert projected["summary"]["status"] == 8


def test_a_tool_of_a_client_names_the_client() -> None:
    contributor = {"kind": "client", "clientId": "me"}
    start = {
        "type": "chat/toolCallStart",
        "turnId": TURN,
        "toolCallId": CALL,
        "toolName": "x",
        "displayName": "X",
    }
    projected: Any = project_action({**start, "contributor": contributor, "intention": "why"}, SESSION)
    assert projected == {**start, "type": "session/toolCallStart", "session": SESSION, "toolClientId": "me"}
    server: Any = project_action({**start, "contributor": {"kind": "mcp", "customizationId": "s"}}, SESSION)
    assert "toolClientId" not in server


def test_more_input_without_any_is_nothing() -> None:
    delta = {"type": "chat/toolCallDelta", "turnId": TURN, "toolCallId": CALL}
    assert project_action({**delta, "_meta": {}}, SESSION) is None
    projected: Any = project_action({**delta, "invocationMessage": "Looking"}, SESSION)
    assert (projected["content"], projected["invocationMessage"]) == ("", "Looking")


def test_a_session_that_failed_says_so_in_the_old_word() -> None:
    error = {"errorType": "Boom", "message": "x"}
    projected = seen(chat(), lifecycle="failed", creationError={**error, "_meta": {"k": 1}})
    assert (projected["lifecycle"], projected["creationError"]) == ("creationFailed", error)


def test_the_activity_is_the_chats_and_the_flags_are_the_sessions() -> None:
    assert seen(in_turn(markdown("p"), status=8 | 32), status=1 | 64)["summary"]["status"] == 8 | 64


def test_a_chat_whose_time_says_nothing_changed_when_it_was_made() -> None:
    assert seen(chat(modifiedAt="yesterday"))["summary"]["modifiedAt"] == 1000


def test_input_that_is_stored_elsewhere_is_not_seen() -> None:
    call = tool_call("running", invocationMessage="x", toolInput={"uri": "f:/1"}, confirmed="setting")
    [part] = seen(in_turn(call))["activeTurn"]["responseParts"]
    assert "toolInput" not in part["toolCall"]


@pytest.mark.parametrize(("scope", "actions"), [("chat", ChatAction), ("session", SessionAction)])
def test_every_other_action_is_seen(scope: str, actions: Any) -> None:
    types = {kind for member in members(actions) for kind in get_args(record_fields(member)["type"][0])}
    assert types - set(PROJECTORS) - set(FORMS) == {f"{scope}/{name}" for name in UNSEEN[scope]}


def members(union: Any) -> list[Any]:
    """Return the records of a union, which may have unions in it."""
    if is_record(union):
        return [union]
    parts = get_args(union)[:1] if get_origin(union) is Annotated else get_args(union)
    return [one for part in parts for one in members(part)]


def test_some_changes_of_a_listed_session_are_projected_and_lifted() -> None:
    changes = {"title": "New", "modifiedAt": "1970-01-01T00:00:01.000Z", "workingDirectories": []}
    assert project_listed(changes) == {"title": "New", "modifiedAt": 1000}
    assert project_listed({"modifiedAt": "yesterday"}) == {}
    assert lift_listed({"modifiedAt": 1000, "workingDirectory": "f:/a", "model": {"id": "m"}}) == {
        "modifiedAt": "1970-01-01T00:00:01.000Z",
        "workingDirectories": ["f:/a"],
        "_meta": {"agenthost.model": {"id": "m"}},
    }


@pytest.mark.parametrize("more", [{}, {"x": 1}])
def test_a_subagent_has_a_session_where_it_has_a_chat(more: Any) -> None:
    meta = {"agenthost.session": "worker:/1", **more}
    block = {"type": "subagent", "resource": CHAT, "title": "Count", "_meta": meta}
    expected = {"type": "subagent", "resource": "worker:/1", "title": "Count"}
    if more:
        expected["_meta"] = more
    others = [{"type": "text", "text": "x"}, {"type": "subagent", "resource": CHAT, "title": "T", "_meta": 1}]
    content = {"content": [block, *others]}
    ids = {"turnId": TURN, "toolCallId": CALL}
    shown: Any = project_action({"type": "chat/toolCallContentChanged", **ids, **content}, SESSION)
    assert shown["content"] == [expected, *others]
    result = {"success": True, "pastTenseMessage": "Done", **content}
    ended: Any = project_action({"type": "chat/toolCallComplete", **ids, "result": result}, SESSION)
    assert ended["result"]["content"] == [expected, *others]
    call = {**tool_call("running")["toolCall"], **content}
    turn = seen(chat(**in_turn({"kind": "toolCall", "toolCall": call})))["activeTurn"]
    assert turn["responseParts"][0]["toolCall"]["content"] == [expected, *others]
