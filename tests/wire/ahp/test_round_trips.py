"""What is read is written again as it was, with all that we do not know.

The variable AHP_1_0_FIXTURES says where the public cases of AHP 1.0 are.
"""

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import ACTION, decode_action
from agenthost.wire.ahp.changeset import ChangesetOperationTarget
from agenthost.wire.ahp.chat import ChatSource, ChatState
from agenthost.wire.ahp.commands.connection import Implementation, InitializeResult
from agenthost.wire.ahp.common import StringOrMarkdown
from agenthost.wire.ahp.customization import Customization
from agenthost.wire.ahp.input import ChatInputQuestion
from agenthost.wire.ahp.message import Message, attachment_label
from agenthost.wire.ahp.notifications import SessionAddedParams
from agenthost.wire.ahp.session import PartialSessionSummary, SessionState, SessionSummary
from agenthost.wire.ahp.snapshot import State
from agenthost.wire.json import Json, decode_json, encode_json
from agenthost.wire.jsonrpc import decode_message, encode_message
from agenthost.wire.shape import Shape

FOLDER = os.environ.get("AHP_1_0_FIXTURES")

KINDS: dict[str, Any] = {
    "ActionEnvelope": ActionEnvelope,
    "ChangesetOperationTarget": ChangesetOperationTarget,
    "ChatInputQuestion": ChatInputQuestion,
    "ChatSource": ChatSource,
    "Customization": Customization,
    "Implementation": Implementation,
    "InitializeResult": InitializeResult,
    "PartialSessionSummary": PartialSessionSummary,
    "SessionAddedParams": SessionAddedParams,
    "SessionStatus": int,
    "SessionSummary": SessionSummary,
    "StateAction": StateAction,
    "StringOrMarkdown": StringOrMarkdown,
}
"""The types of the public cases."""

NOW = "2026-11-18T10:00:00.000Z"
FUTURE: Json = {"kind": "future", "nested": [{"none": None}, 1.5, True]}
SESSION = {
    "provider": "toy",
    "title": "",
    "status": 1,
    "activeClients": [],
    "chats": [],
    "lifecycle": "ready",
}
CHAT = {"resource": "ahp-chat:/1", "title": "", "status": 1, "modifiedAt": NOW, "turns": []}
MESSAGE = {"text": "Hey", "origin": {"kind": "user"}}
TURN = {"id": "t", "message": MESSAGE, "responseParts": [], "state": "complete"}
CALL = {"toolCallId": "c", "toolName": "edit", "displayName": "Edit"}


def read_and_write(kind: str, data: bytes) -> bytes:
    if kind == "JsonRpcMessage":
        return encode_message(decode_message(data))
    if kind == "StateAction":
        return encode_json(decode_action(data))
    return encode_json(Shape[Any](KINDS[kind]).decode(data))


@pytest.mark.skipif(not FOLDER, reason="AHP_1_0_FIXTURES names no folder")
def test_every_public_case_is_written_again_as_it_was_read() -> None:
    files = sorted(Path(str(FOLDER), "round-trips").glob("*.json"))
    assert len(files) >= 39
    for file in files:
        case = json.loads(file.read_text())
        written = decode_json(read_and_write(case["type"], encode_json(case["input"])))
        # Where a case says what it is to keep unknown keys, we do.
        wanted = [case["preservedOutput"]] if "preservedOutput" in case else case["acceptableOutputs"]
        assert written in wanted, file.name


@pytest.mark.skipif(not FOLDER, reason="AHP_1_0_FIXTURES names no folder")
def test_every_state_and_action_of_the_public_cases_fits() -> None:
    files = sorted(Path(str(FOLDER), "reducers").glob("*.json"))
    assert len(files) >= 298
    states: Shape[Any] = Shape(State)
    for file in files:
        case = json.loads(file.read_text())
        for state in (case["initial"], case["expected"]):
            assert states.take(deepcopy(state), file.name) == state
        for action in case["actions"]:
            given = {key: value for key, value in action.items() if value is not None}
            assert set(ACTION.take(action, file.name)) == set(given)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SessionState, {**SESSION, "future": FUTURE, "_meta": {"any": None}}),
        (SessionState, {**SESSION, "lifecycle": "paused"}),
        (SessionState, {**SESSION, "status": 2**31 + 72}),
        (SessionState, {**SESSION, "origin": FUTURE}),
        (SessionState, {**SESSION, "inputNeeded": [{"kind": "future", "id": 1}]}),
        (SessionState, {**SESSION, "customizations": [{"type": "future/one", "path": "/x", "extra": 7}]}),
        (SessionState, {**SESSION, "changesets": [{"label": "", "uriTemplate": "", "changeKind": "future"}]}),
        (ChatState, {**CHAT, "origin": FUTURE, "backgroundWork": [FUTURE]}),
        (ChatState, {**CHAT, "turns": [{**TURN, "future": FUTURE, "responseParts": [FUTURE, {"kind": ""}]}]}),
        (
            ChatState,
            {
                **CHAT,
                "turns": [
                    {
                        **TURN,
                        "responseParts": [
                            {"kind": "toolCall", "toolCall": {"status": "future", "toolCallId": None}},
                            {
                                "kind": "toolCall",
                                "toolCall": {
                                    **CALL,
                                    "status": "completed",
                                    "invocationMessage": {"markdown": "*Edit*", "future": 1},
                                    "toolInput": {"uri": "x:/1", "future": 1},
                                    "confirmed": "future",
                                    "contributor": FUTURE,
                                    "success": True,
                                    "pastTenseMessage": "",
                                    "content": [{"type": "future", "text": None}],
                                },
                            },
                        ],
                    }
                ],
            },
        ),
        (Message, {**MESSAGE, "origin": {"kind": "future", "who": "x"}}),
        (Message, {**MESSAGE, "attachments": [{"type": "future", "label": None}]}),
        (ActionEnvelope, {"channel": "x:/", "action": {"type": "future/one", "a": None}, "serverSeq": 1}),
    ],
)
def test_what_we_do_not_know_is_kept_and_passed_on(kind: Any, value: Json) -> None:
    encoded = encode_json(value)
    read = Shape[Any](kind).decode(encoded)
    assert read == value
    assert encode_json(read) == encoded


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (ChatState, {**CHAT, "turns": [{**TURN, "state": "paused"}]}, "$.turns[0].state"),
        (ChatState, {**CHAT, "interactivity": "none"}, "$.interactivity"),
        (
            Customization,
            {"type": "plugin", "id": "p", "uri": "x:/", "name": "", "load": {"kind": "future"}},
            "$.load.kind",
        ),
        (
            StateAction,
            {"type": "chat/inputCompleted", "requestId": "r", "response": "later"},
            "$.response",
        ),
    ],
)
def test_a_value_that_a_closed_set_lacks_is_refused(kind: Any, value: Json, path: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](kind).take(value)
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("attachment", "label"),
    [
        ({"type": "chat", "label": "Side", "resource": "ahp-chat:/2"}, "Side"),
        ({"type": "resource", "label": "", "uri": "file:///x"}, "file:///x"),
        ({"type": "future", "label": 1}, "future"),
        ({}, "something"),
    ],
)
def test_every_attachment_has_a_label_to_show(attachment: Json, label: str) -> None:
    assert attachment_label(attachment) == label
