"""Each constructor makes an action of the shape that the protocol gives it, with nothing else in it."""

import inspect
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.wire.ahp.actions.text import ACTION

NOW = "2026-01-02T03:04:05.000Z"
CHAT = "ahp-chat:/one"
CALL = ("t1", "c1")
ERROR: Any = {"errorType": "broken", "message": "It broke."}
TOOL: Any = {"name": "add"}
CLIENT: Any = {"clientId": "me", "tools": [TOOL]}
OPTION: Any = {"id": "once", "label": "Once", "kind": "approve"}
EDITS: Any = {"items": [{"before": {"uri": "file:///a", "content": {"uri": "file:///a"}}}]}
RESULT: Any = {"success": True, "pastTenseMessage": "Added"}
TEXT: Any = {"type": "text", "text": "3"}
REQUEST: Any = {"id": "r1", "message": "Which?"}
ANSWER: Any = {"state": "submitted", "value": {"kind": "text", "value": "Blue"}}
CLAIM: Any = {"kind": "client", "clientId": "me"}
AGENT: Any = {"provider": "demo", "displayName": "Demo", "description": "", "models": []}
INFO: Any = {"resource": "x:/1", "title": "sh", "claim": CLAIM, "lifecycle": {"status": "running"}}
SAID: Any = {"text": "Hi", "origin": {"kind": "user"}}
PART: Any = {"kind": "markdown", "id": "p1", "content": ""}
SUMMARY: Any = {"resource": CHAT, "title": "", "status": 1, "modifiedAt": NOW}
WAITING: Any = {"id": "w1", "chat": CHAT, "kind": "chatInput", "request": REQUEST}
PLUGIN: Any = {"type": "plugin", "id": "p1", "uri": "file:///p1", "name": "P"}
FILE: Any = {"id": "f1", "edit": EDITS["items"][0]}
OFF: Any = [{"kind": "session", "enabled": False}]

MADE: list[tuple[Any, dict[str, Any]]] = [
    (actions.agents_changed([AGENT]), {"agents": [AGENT]}),
    (actions.active_sessions_changed(3), {"activeSessions": 3}),
    (actions.terminals_changed([INFO]), {"terminals": [INFO]}),
    (actions.root_config_changed({"a": 1}), {"config": {"a": 1}}),
    (actions.root_config_changed({"a": 1}, replace=True), {"config": {"a": 1}, "replace": True}),
    (actions.session_ready(), {}),
    (actions.creation_failed(ERROR), {"error": ERROR}),
    (actions.title_changed("New"), {"title": "New"}),
    (actions.is_read_changed(is_read=True), {"isRead": True}),
    (actions.is_archived_changed(is_archived=False), {"isArchived": False}),
    (actions.config_changed({"a": "b"}), {"config": {"a": "b"}}),
    (actions.config_changed({"a": "b"}, replace=True), {"config": {"a": "b"}, "replace": True}),
    (actions.server_tools_changed([TOOL]), {"tools": [TOOL]}),
    (actions.customizations_changed([PLUGIN]), {"customizations": [PLUGIN]}),
    (actions.meta_changed({"git": {}}), {"_meta": {"git": {}}}),
    (actions.meta_changed({}), {}),
    (actions.active_client_set(CLIENT), {"activeClient": CLIENT}),
    (actions.active_client_removed("me"), {"clientId": "me"}),
    (actions.customization_toggled("p1", OFF), {"id": "p1", "enablement": OFF}),
    (actions.changesets_changed([]), {"changesets": []}),
    (actions.changeset_status_changed("ready"), {"status": "ready"}),
    (actions.changeset_status_changed("error", ERROR), {"status": "error", "error": ERROR}),
    (actions.changeset_file_set(FILE), {"file": FILE}),
    (actions.changeset_file_removed("f1"), {"fileId": "f1"}),
    (actions.changeset_content_changed([FILE]), {"files": [FILE]}),
    (actions.chat_added(SUMMARY), {"summary": SUMMARY}),
    (actions.chat_removed(CHAT), {"chat": CHAT}),
    (actions.chats_reordered([CHAT]), {"chats": [CHAT]}),
    (actions.chat_updated(CHAT, {"status": 8}), {"chat": CHAT, "changes": {"status": 8}}),
    (actions.input_needed_set(WAITING), {"request": WAITING}),
    (actions.input_needed_removed("w1"), {"id": "w1"}),
]

OF_A_CHAT: list[tuple[Any, dict[str, Any]]] = [
    (actions.chat_changesets_changed([]), {"changesets": []}),
    (actions.chat_is_read_changed(is_read=True), {"isRead": True}),
    (actions.chat_is_archived_changed(is_archived=False), {"isArchived": False}),
    (actions.turn_started("t1", SAID, NOW), {"turnId": "t1", "startedAt": NOW, "message": SAID}),
    (
        actions.turn_started("t1", SAID, NOW, queued_message_id="m1"),
        {"turnId": "t1", "startedAt": NOW, "message": SAID, "queuedMessageId": "m1"},
    ),
    (actions.response_part("t1", PART), {"turnId": "t1", "part": PART}),
    (actions.usage("t1", {"inputTokens": 3}), {"turnId": "t1", "usage": {"inputTokens": 3}}),
    (actions.turn_complete("t1", 5), {"turnId": "t1", "duration": 5}),
    (actions.turn_cancelled("t1", 5), {"turnId": "t1", "duration": 5}),
    (
        actions.turn_failed("t1", ERROR, 5),
        {"turnId": "t1", "duration": 5, "part": {"kind": "error", "error": ERROR}},
    ),
    (
        actions.turn_failed("t1", ERROR, 5, is_resumable=True),
        {"turnId": "t1", "duration": 5, "part": {"kind": "error", "error": ERROR, "resumable": True}},
    ),
    (actions.turn_resumed("t1"), {"turnId": "t1"}),
    (actions.truncated("t1"), {"turnId": "t1"}),
    (actions.truncated(None), {}),
    (actions.turns_loaded([], "c1"), {"turns": [], "turnsNextCursor": "c1"}),
    (actions.turns_loaded([], None), {"turns": []}),
    (actions.activity_changed("Reading"), {"activity": "Reading"}),
    (actions.activity_changed(None), {}),
    (actions.input_requested(REQUEST), {"request": REQUEST}),
    (
        actions.input_answer_changed("r1", "q1", ANSWER),
        {"requestId": "r1", "questionId": "q1", "answer": ANSWER},
    ),
    (actions.input_answer_changed("r1", "q1", None), {"requestId": "r1", "questionId": "q1"}),
    (actions.input_completed("r1", "decline"), {"requestId": "r1", "response": "decline"}),
    (
        actions.input_completed("r1", "accept", {"q1": ANSWER}),
        {"requestId": "r1", "response": "accept", "answers": {"q1": ANSWER}},
    ),
    (
        actions.pending_message_set("queued", "m1", SAID),
        {"kind": "queued", "id": "m1", "message": SAID},
    ),
    (actions.pending_message_removed("steering", "m1"), {"kind": "steering", "id": "m1"}),
    (actions.queued_messages_reordered(["m2", "m1"]), {"order": ["m2", "m1"]}),
    (actions.draft_changed(SAID), {"draft": SAID}),
    (actions.draft_changed(None), {}),
]

OF_A_CALL: list[tuple[Any, dict[str, Any]]] = [
    (actions.tool_call_start(*CALL, name="add", label="Add"), {"toolName": "add", "displayName": "Add"}),
    (
        actions.tool_call_start(*CALL, name="add", label="Add", client_id="me", meta={"a": 1}),
        {
            "toolName": "add",
            "displayName": "Add",
            "contributor": {"kind": "client", "clientId": "me"},
            "_meta": {"a": 1},
        },
    ),
    (actions.tool_call_ready(*CALL, "Add"), {"invocationMessage": "Add"}),
    (
        actions.tool_call_ready(*CALL, "Add", tool_input="{}", confirmed="setting", title="Left out"),
        {"invocationMessage": "Add", "toolInput": "{}", "confirmed": "setting"},
    ),
    (
        actions.tool_call_ready(*CALL, "Add", title="Allow?", options=[OPTION], edits=EDITS, editable=True),
        {
            "invocationMessage": "Add",
            "confirmationTitle": "Allow?",
            "options": [OPTION],
            "edits": EDITS,
            "editable": True,
        },
    ),
    (actions.tool_call_approved(*CALL), {"approved": True, "confirmed": "user-action"}),
    (
        actions.tool_call_approved(*CALL, edited_input="{}", option_id="once"),
        {"approved": True, "confirmed": "user-action", "editedToolInput": "{}", "selectedOptionId": "once"},
    ),
    (actions.tool_call_denied(*CALL), {"approved": False, "reason": "denied"}),
    (
        actions.tool_call_denied(*CALL, message="No", suggestion=SAID, option_id="deny", is_skipped=True),
        {
            "approved": False,
            "reason": "skipped",
            "reasonMessage": "No",
            "userSuggestion": SAID,
            "selectedOptionId": "deny",
        },
    ),
    (actions.tool_call_content_changed(*CALL, [TEXT]), {"content": [TEXT]}),
    (actions.tool_call_complete(*CALL, RESULT), {"result": RESULT}),
    (
        actions.tool_call_complete(*CALL, RESULT, needs_confirmation=True),
        {"result": RESULT, "requiresResultConfirmation": True},
    ),
    (actions.tool_call_result_confirmed(*CALL, approved=False), {"approved": False}),
]

OF_A_TERMINAL: list[tuple[Any, dict[str, Any]]] = [
    (actions.watched_changed({"items": []}), {"changes": {"items": []}}),
    (actions.terminal_input("ls\r"), {"data": "ls\r"}),
    (actions.terminal_resized(80, 24), {"cols": 80, "rows": 24}),
    (actions.terminal_claimed(CLAIM), {"claim": CLAIM}),
    (actions.terminal_title_changed("vi"), {"title": "vi"}),
    (actions.terminal_cwd_changed("file:///a"), {"cwd": "file:///a"}),
    (actions.terminal_cleared(), {}),
    (actions.terminal_exited(1), {"exitCode": 1}),
    (actions.terminal_exited(None), {}),
    (actions.command_detection_available(), {}),
    (actions.command_executed("1", "ls", 5), {"commandId": "1", "commandLine": "ls", "timestamp": 5}),
    (actions.command_finished("1"), {"commandId": "1"}),
    (
        actions.command_finished("1", exit_code=0, duration_ms=7),
        {"commandId": "1", "exitCode": 0, "durationMs": 7},
    ),
]

CALL_FIELDS = {"turnId": "t1", "toolCallId": "c1"}
ALL = [
    *MADE,
    *OF_A_CHAT,
    *((action, {**CALL_FIELDS, **fields}) for action, fields in OF_A_CALL),
    *OF_A_TERMINAL,
]


@pytest.mark.parametrize(("action", "fields"), ALL, ids=lambda value: str(value.get("type", "")))
def test_an_action_has_the_fields_that_were_said_and_the_shape_of_its_type(
    action: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert {key: value for key, value in action.items() if key != "type"} == fields
    assert ACTION.take(dict(action)) == action


@pytest.mark.parametrize(
    ("found", "scopes"),
    [
        (MADE, {"changeset", "root", "session"}),
        (OF_A_CHAT, {"chat"}),
        (OF_A_CALL, {"chat"}),
        (OF_A_TERMINAL, {"resourceWatch", "terminal"}),
    ],
)
def test_an_action_is_for_the_channel_that_its_type_names(found: list[Any], scopes: set[str]) -> None:
    assert {action["type"].partition("/")[0] for action, _ in found} == scopes


def test_every_constructor_is_tried_here() -> None:
    made = {name for name, _ in inspect.getmembers(actions, inspect.isfunction)}
    source = inspect.getsource(inspect.getmodule(test_every_constructor_is_tried_here) or actions)
    assert made == set(actions.__all__)
    assert {name for name in made if f"actions.{name}(" not in source} == set()
