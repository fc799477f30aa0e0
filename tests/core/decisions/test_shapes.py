"""Actions that are not what a client may send, and how one that is gets cleaned."""

from copy import deepcopy
from typing import Any, get_args

import pytest

from agenthost.core.decisions import cleaned
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions import CLIENT_ACTIONS
from agenthost.wire.ahp.enums import RootActionType, SessionActionType, TerminalActionType
from building import (
    act,
    approve,
    complete,
    deny,
    done,
    in_turn,
    pending,
    root_act,
    session,
    started,
    term_act,
)
from deciding import ALLOWED, Example, answered, asking, client, in_use, mine, question, reason, settled

ALL = {*get_args(RootActionType), *get_args(SessionActionType), *get_args(TerminalActionType)}


@pytest.mark.parametrize("kind", sorted(ALL - CLIENT_ACTIONS))
def test_what_only_the_host_says_is_refused(kind: str) -> None:
    action = {"type": kind, "session": "demo:/one", "terminal": "terminal:/one"}
    assert reason(session(), action) == f"{kind!r} is not an action that a client may dispatch"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("session/notYetInvented", "'session/notYetInvented'"),
        ("session/TitleChanged", "'session/TitleChanged'"),
        ("", "''"),
        (None, "null"),
        (7, "the number 7"),
        (["session/titleChanged"], "a list"),
        ("x" * 1000, f"'{'x' * 40}'…"),
    ],
)
def test_what_nobody_knows_is_refused(kind: Any, name: str) -> None:
    assert reason(session(), act("x", type=kind)) == f"{name} is not an action that a client may dispatch"


@pytest.mark.parametrize("action", [{}, [], None, "session/titleChanged", 7])
def test_what_has_no_type_is_refused(action: Any) -> None:
    assert reason(session(), action) == "null is not an action that a client may dispatch"


REQUIRED = [
    (example, key)
    for example in ALLOWED
    for key in example.action
    if (example.action["type"], key)
    not in {
        ("session/truncated", "turnId"),
        ("session/turnStarted", "queuedMessageId"),
        ("session/toolCallConfirmed", "editedToolInput"),
        ("session/toolCallConfirmed", "selectedOptionId"),
        ("session/toolCallComplete", "requiresResultConfirmation"),
        ("session/inputAnswerChanged", "answer"),
    }
]


@pytest.mark.parametrize(("example", "key"), REQUIRED, ids=lambda it: it if type(it) is str else "")
def test_a_required_field_that_is_missing_is_refused(example: Example, key: str) -> None:
    action = {name: value for name, value in example.action.items() if name != key}
    assert reason(example.state, action) is not None


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (session(), act("titleChanged"), "$.title: expected a string, found nothing"),
        (session(), act("titleChanged", title=1), "$.title: expected a string, found the number 1"),
        (session(), act("isReadChanged", isRead=1), "$.isRead: expected true or false, found the number 1"),
        (session(), started(userMessage={}), "$.userMessage.text: expected a string, found nothing"),
        (
            session(),
            act("queuedMessagesReordered", order=["a", 1]),
            "$.order[1]: expected a string, found the number 1",
        ),
        (
            session(),
            act("activeClientChanged", activeClient=client(tools=[{}])),
            "$.activeClient.tools[0].name: expected a string, found nothing",
        ),
        (
            session(),
            act("modelChanged", model="gpt"),
            "$.model: expected an object (ModelSelection), found a string",
        ),
        (
            in_turn(mine()),
            complete({"success": None}),
            "$.result.success: expected true or false, found null",
        ),
        ({"agents": []}, root_act("configChanged", config=[]), "$.config: expected an object, found a list"),
    ],
)
def test_the_reason_says_where_the_mistake_is(state: Any, action: Any, expected: str) -> None:
    assert reason(state, action) == expected


@pytest.mark.parametrize(
    ("state", "action", "path"),
    [
        (session(), act("pendingMessageSet", kind="urgent", id="m", userMessage={"text": ""}), "$.kind"),
        (session(), act("pendingMessageRemoved", kind="urgent", id="m"), "$.kind"),
        (asking(), settled("perhaps"), "$.response"),
        (in_turn(pending()), approve(confirmed="magic"), "$.confirmed"),
        (in_turn(pending()), deny(reason="result-denied"), "$.reason"),
        (in_turn(pending()), approve(approved=1), "$.approved"),
        (asking(question("text")), answered({"state": "someday"}), "$.answer.state"),
        (
            asking(question("text")),
            answered({"state": "draft", "value": {"kind": "song", "value": "la"}}),
            "$.answer.value.kind",
        ),
        (asking(question("text")), answered({"state": "draft"}), "$.answer.value"),
        (
            asking(question("text")),
            answered({"state": "submitted", "value": {"kind": "text"}}),
            "$.answer.value.value",
        ),
        (
            asking(question("number")),
            answered({"state": "submitted", "value": {"kind": "number", "value": "1"}}),
            "$.answer.value.value",
        ),
        (asking(question("text")), settled(answers={"q": {"state": "submitted"}}), "$.answers.q.value"),
        (asking(question("text")), settled("cancel", answers={"q": None}), "$.answers.q"),
        (in_use(), term_act("claimed", claim={"kind": "ghost"}), "$.claim.kind"),
    ],
)
def test_what_decides_has_to_be_known(state: Any, action: Any, path: str) -> None:
    assert str(reason(state, action)).startswith(f"{path}: expected ")


def test_what_only_travels_through_may_be_unknown() -> None:
    hologram = {"text": "Look", "attachments": [{"type": "hologram", "depth": 3}]}
    assert reason(session(), started(userMessage=hologram)) is None
    assert reason(session(), act("pendingMessageSet", kind="queued", id="m", userMessage=hologram)) is None
    assert reason(in_turn(pending()), deny(userSuggestion=hologram)) is None
    assert reason(in_turn(mine()), complete({"content": [{"type": "hologram"}]})) is None


def test_a_null_that_would_erase_all_turns_is_refused() -> None:
    state = session(turns=[done("t1")])
    assert reason(state, act("truncated", turnId=None)) == "$.turnId: expected a string, found null"


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (session(), started(queuedMessageId=None)),
        (in_turn(pending()), approve(editedToolInput=None, selectedOptionId=None, reason=None)),
        (in_turn(pending()), deny(userSuggestion=None, reasonMessage=None, confirmed=None)),
        (asking(question("text")), answered() | {"answer": None}),
        (asking(question("text")), settled(answers=None)),
        (session(), act("activeClientChanged", activeClient=client(displayName=None))),
        (in_use(), term_act("claimed", claim={"kind": "session", "session": "demo:/one", "turnId": None})),
    ],
)
def test_other_nulls_are_read_as_absent(state: Any, action: Any) -> None:
    assert reason(state, action) is None


# Cleaning.


def test_cleaning_takes_out_nulls_and_leaves_the_action_handed_in_alone() -> None:
    action = started(queuedMessageId=None, userMessage={"text": "Hi", "attachments": None}, **{"x-new": None})
    before = deepcopy(action)
    assert cleaned(action) == started(userMessage={"text": "Hi"}, **{"x-new": None})
    assert action == before


def test_cleaning_keeps_only_what_a_result_has() -> None:
    known = {"content": [], "structuredContent": {"a": None}, "error": {"message": "no"}}
    forged = {"status": "streaming", "toolCallId": "c9", "confirmed": "user-action", "x-new": 1}
    assert cleaned(complete({**known, **forged})) == complete(known)


@pytest.mark.parametrize("example", ALLOWED, ids=lambda example: example.action["type"])
def test_cleaning_changes_nothing_that_is_clean(example: Example) -> None:
    assert cleaned(example.action) == example.action


def test_cleaning_raises_what_the_reason_says() -> None:
    with pytest.raises(InvalidValue, match=r"^\$\.turnId: expected a string, found null$"):
        cleaned(act("truncated", turnId=None))
