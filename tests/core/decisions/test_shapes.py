"""Actions that a client may not send, and how those that it may send are cleaned."""

from copy import deepcopy
from typing import Annotated, Any, get_args, get_origin

import pytest

from agenthost.core.decisions import cleaned
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions import CLIENT_ACTIONS, StateAction
from agenthost.wire.annotations import is_record, record_fields
from agenthost.wire.json import MAX_GIVEN_DEPTH
from building import pending, root_act
from chat_building import act, approve, complete, deny, done, said, session_act, started, terminal_act
from deciding import (
    ALLOWED,
    DETACHED,
    Example,
    answered,
    asking,
    chat,
    client,
    in_turn,
    in_use,
    mine,
    question,
    reason,
    session,
    settled,
)


def types_of(kind: Any) -> set[str]:
    """Return the types of all actions in a union."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if is_record(kind):
        return set(get_args(record_fields(kind)["type"][0]))
    return {name for member in get_args(kind) for name in types_of(member)}


ALL = types_of(StateAction)


def test_all_types_of_actions_are_known_here() -> None:
    assert len(ALL) > 100
    assert ALL > CLIENT_ACTIONS


@pytest.mark.parametrize("kind", sorted(ALL - CLIENT_ACTIONS))
def test_actions_for_the_host_only_are_refused(kind: str) -> None:
    action = {"type": kind, "turnId": "t1"}
    assert reason(session(), action) == f"{kind!r} is not an action that a client may dispatch"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("session/notYetInvented", "'session/notYetInvented'"),
        ("session/TitleChanged", "'session/TitleChanged'"),
        ("", "''"),
        (None, "null"),
        (7, "the number 7"),
        (["chat/isReadChanged"], "a list"),
        ("x" * 1000, f"'{'x' * 40}'…"),
    ],
)
def test_unknown_actions_are_refused(kind: Any, name: str) -> None:
    assert reason(session(), act("x", type=kind)) == f"{name} is not an action that a client may dispatch"


@pytest.mark.parametrize("action", [{}, [], None, "session/titleChanged", 7])
def test_a_value_without_a_type_is_refused(action: Any) -> None:
    assert reason(session(), action) == "null is not an action that a client may dispatch"


REQUIRED = [
    (example, key)
    for example in ALLOWED
    for key in example.action
    if (example.action["type"], key)
    not in {
        ("chat/truncated", "turnId"),
        ("chat/turnStarted", "queuedMessageId"),
        ("chat/toolCallConfirmed", "editedToolInput"),
        ("chat/toolCallConfirmed", "selectedOptionId"),
        ("chat/toolCallConfirmed", "userSuggestion"),
        ("chat/toolCallComplete", "requiresResultConfirmation"),
        ("chat/inputAnswerChanged", "answer"),
        ("chat/draftChanged", "draft"),
    }
]


@pytest.mark.parametrize(("example", "key"), REQUIRED, ids=lambda it: it if type(it) is str else "")
def test_a_required_field_that_is_missing_is_refused(example: Example, key: str) -> None:
    action = {name: value for name, value in example.action.items() if name != key}
    assert reason(example.state, action) is not None


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (session(), session_act("titleChanged"), "$.title: expected a string, found nothing"),
        (session(), session_act("titleChanged", title=1), "$.title: expected a string, found the number 1"),
        (session(), act("isReadChanged", isRead=1), "$.isRead: expected true or false, found the number 1"),
        (session(), started(message={}), "$.message.text: expected a string, found nothing"),
        (
            session(),
            started(message={"text": "Hi"}),
            "$.message.origin: expected an object (MessageOrigin), found nothing",
        ),
        (session(), started(startedAt=5), "$.startedAt: expected a string, found the number 5"),
        (
            session(),
            act("queuedMessagesReordered", order=["a", 1]),
            "$.order[1]: expected a string, found the number 1",
        ),
        (
            session(),
            session_act("activeClientSet", activeClient=client(tools=[{}])),
            "$.activeClient.tools[0].name: expected a string, found nothing",
        ),
        (
            session(),
            started(message=said(model="gpt")),
            "$.message.model: expected an object (ModelSelection), found a string",
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
        (session(), act("pendingMessageSet", kind="urgent", id="m", message=said("")), "$.kind"),
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
        (in_use(), terminal_act("claimed", claim={"kind": "ghost"}), "$.claim.kind"),
    ],
)
def test_what_decides_has_to_be_known(state: Any, action: Any, path: str) -> None:
    assert str(reason(state, action)).startswith(f"{path}: expected ")


def test_what_is_only_passed_on_may_be_unknown() -> None:
    hologram = said("Look", attachments=[{"type": "hologram", "depth": 3}])
    assert reason(session(), started(message=hologram)) is None
    assert reason(session(), act("pendingMessageSet", kind="queued", id="m", message=hologram)) is None
    assert reason(session(), act("draftChanged", draft=hologram)) is None
    assert reason(in_turn(pending()), deny(userSuggestion=hologram)) is None
    assert reason(in_turn(mine()), complete({"content": [{"type": "hologram"}]})) is None


def test_an_action_that_is_nested_too_deep_is_refused() -> None:
    deep: Any = []
    for _ in range(MAX_GIVEN_DEPTH):
        deep = [deep]
    assert reason(session(), started(**{"x-new": deep})) == "nested deeper than 96 levels"


def test_a_null_that_would_erase_all_turns_is_refused() -> None:
    state = chat(turns=[done("t1")])
    assert reason(state, act("truncated", turnId=None)) == "$.turnId: expected a string, found null"


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (session(), started(queuedMessageId=None)),
        (in_turn(pending()), approve(editedToolInput=None, selectedOptionId=None, reason=None)),
        (in_turn(pending()), deny(userSuggestion=None, reasonMessage=None, confirmed=None)),
        (asking(question("text")), answered() | {"answer": None}),
        (asking(question("text")), settled(answers=None)),
        (session(), session_act("activeClientSet", activeClient=client(displayName=None))),
        (session(), act("draftChanged", draft=None)),
        (session(), started(message=said(model=None, agent=None))),
        (in_use(), terminal_act("claimed", claim={**DETACHED, "turnId": None})),
    ],
)
def test_other_nulls_are_read_as_absent(state: Any, action: Any) -> None:
    assert reason(state, action) is None


# Cleaning.


def test_cleaning_takes_out_nulls_and_leaves_the_action_handed_in_alone() -> None:
    action = started(queuedMessageId=None, message=said("Hi", attachments=None), **{"x-new": None})
    before = deepcopy(action)
    assert cleaned(action) == started(message=said("Hi"), **{"x-new": None})
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
