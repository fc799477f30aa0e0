"""Each constructor makes an action of the shape that the protocol gives it, with nothing else in it."""

import inspect
from typing import Any

import pytest

from agenthost.core.legacy import actions
from agenthost.wire.ahp.legacy.actions.text import ACTION

URI, TERMINAL = "demo:/one", "agenthost-terminal:/one"
CALL = (URI, "t1", "c1")
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
INFO: Any = {"resource": TERMINAL, "title": "sh", "claim": CLAIM}

MADE: list[tuple[Any, dict[str, Any]]] = [
    (actions.root_config_changed({"a": 1}), {"config": {"a": 1}}),
    (actions.root_config_changed({"a": 1}, replace=True), {"config": {"a": 1}, "replace": True}),
    (actions.title_changed(URI, "New"), {"session": URI, "title": "New"}),
    (actions.is_read_changed(URI, is_read=True), {"session": URI, "isRead": True}),
    (actions.is_archived_changed(URI, is_archived=False), {"session": URI, "isArchived": False}),
    (actions.model_changed(URI, {"id": "large"}), {"session": URI, "model": {"id": "large"}}),
    (actions.config_changed(URI, {"a": "b"}), {"session": URI, "config": {"a": "b"}}),
    (
        actions.config_changed(URI, {"a": "b"}, replace=True),
        {"session": URI, "config": {"a": "b"}, "replace": True},
    ),
    (actions.active_client_changed(URI, CLIENT), {"session": URI, "activeClient": CLIENT}),
    (actions.active_client_changed(URI, None), {"session": URI, "activeClient": None}),
    (actions.active_client_tools_changed(URI, [TOOL]), {"session": URI, "tools": [TOOL]}),
    (
        actions.customization_toggled(URI, "file:///x", enabled=False),
        {"session": URI, "uri": "file:///x", "enabled": False},
    ),
    (
        actions.turn_started(URI, "t1", {"text": "Hi"}),
        {"session": URI, "turnId": "t1", "userMessage": {"text": "Hi"}},
    ),
    (
        actions.turn_started(URI, "t1", {"text": "Hi"}, queued_message_id="m1"),
        {"session": URI, "turnId": "t1", "userMessage": {"text": "Hi"}, "queuedMessageId": "m1"},
    ),
    (actions.turn_cancelled(URI, "t1"), {"session": URI, "turnId": "t1"}),
    (actions.truncated(URI, "t1"), {"session": URI, "turnId": "t1"}),
    (actions.truncated(URI, None), {"session": URI}),
]

OF_A_CALL: list[tuple[Any, dict[str, Any]]] = [
    (actions.tool_call_approved(*CALL), {"approved": True, "confirmed": "user-action"}),
    (
        actions.tool_call_approved(*CALL, edited_input="{}", option_id="once"),
        {"approved": True, "confirmed": "user-action", "editedToolInput": "{}", "selectedOptionId": "once"},
    ),
    (actions.tool_call_denied(*CALL), {"approved": False, "reason": "denied"}),
    (
        actions.tool_call_denied(
            *CALL, message="No", suggestion={"text": "Ask"}, option_id="deny", is_skipped=True
        ),
        {
            "approved": False,
            "reason": "skipped",
            "reasonMessage": "No",
            "userSuggestion": {"text": "Ask"},
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

OTHERS: list[tuple[Any, dict[str, Any]]] = [
    (
        actions.input_answer_changed(URI, "r1", "q1", ANSWER),
        {"session": URI, "requestId": "r1", "questionId": "q1", "answer": ANSWER},
    ),
    (
        actions.input_answer_changed(URI, "r1", "q1", None),
        {"session": URI, "requestId": "r1", "questionId": "q1"},
    ),
    (
        actions.input_completed(URI, "r1", "decline"),
        {"session": URI, "requestId": "r1", "response": "decline"},
    ),
    (
        actions.input_completed(URI, "r1", "accept", {"q1": ANSWER}),
        {"session": URI, "requestId": "r1", "response": "accept", "answers": {"q1": ANSWER}},
    ),
    (
        actions.pending_message_set(URI, "queued", "m1", {"text": "Hi"}),
        {"session": URI, "kind": "queued", "id": "m1", "userMessage": {"text": "Hi"}},
    ),
    (
        actions.pending_message_removed(URI, "steering", "m1"),
        {"session": URI, "kind": "steering", "id": "m1"},
    ),
    (actions.queued_messages_reordered(URI, ["m2", "m1"]), {"session": URI, "order": ["m2", "m1"]}),
    (actions.terminal_input(TERMINAL, "ls\r"), {"terminal": TERMINAL, "data": "ls\r"}),
    (actions.terminal_resized(TERMINAL, 80, 24), {"terminal": TERMINAL, "cols": 80, "rows": 24}),
    (actions.terminal_claimed(TERMINAL, CLAIM), {"terminal": TERMINAL, "claim": CLAIM}),
    (actions.terminal_title_changed(TERMINAL, "vi"), {"terminal": TERMINAL, "title": "vi"}),
    (actions.terminal_cleared(TERMINAL), {"terminal": TERMINAL}),
]

CALL_FIELDS = {"session": URI, "turnId": "t1", "toolCallId": "c1"}
ALL = [*MADE, *((action, {**CALL_FIELDS, **fields}) for action, fields in OF_A_CALL), *OTHERS]


@pytest.mark.parametrize(("action", "fields"), ALL, ids=lambda value: str(value.get("type", "")))
def test_an_action_has_the_fields_that_were_said_and_the_shape_of_its_type(
    action: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert {key: value for key, value in action.items() if key != "type"} == fields
    assert ACTION.take(dict(action)) == action


def test_every_constructor_is_tried_here() -> None:
    made = {function for name, function in inspect.getmembers(actions, inspect.isfunction)}
    source = inspect.getsource(inspect.getmodule(test_every_constructor_is_tried_here) or actions)
    ours = {function.__name__ for function in made if function.__module__ == actions.__name__}
    assert {name for name in ours if f"actions.{name}(" not in source} == set()
