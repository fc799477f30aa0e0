"""What a session shows of its chats, derived from what changed in one."""

from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.derived import QUIET, chat_summary, derived_actions, summary_changes, waiting_in
from agenthost.core.session_meta import diffs_changed, diffs_of, model_changed, model_of
from agenthost.core.summaries import session_summary
from agenthost.core.times import elapsed_ms
from rules import rule

NOW, LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
CHAT = "ahp-chat:/1"


def chat(status: int = 1, *parts: Any, **over: Any) -> Any:
    turn = {"id": "t1", "startedAt": NOW, "message": {"text": ""}, "responseParts": list(parts)}
    state = {"resource": CHAT, "title": "", "status": status, "modifiedAt": NOW, "turns": [], **over}
    return {**state, "activeTurn": turn} if status != 1 else state


def session(status: int = 1, **over: Any) -> Any:
    state = {"provider": "demo", "title": "T", "status": status, "lifecycle": "ready", "activeClients": []}
    return {**state, "chats": [chat_summary(chat())], "defaultChat": CHAT, **over}


def call(status: str, **over: Any) -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": "c1", "status": status, **over}}


@rule("1.0/C2")
def test_what_changes_in_a_chat_changes_in_the_catalogue() -> None:
    after = chat(8, modifiedAt=LATER, activity="Thinks", title="New")
    assert summary_changes(chat(), after) == {
        "status": 8,
        "modifiedAt": LATER,
        "activity": "Thinks",
        "title": "New",
    }
    assert summary_changes(after, chat(8, modifiedAt=LATER, title="New")) == {"activity": ""}


@pytest.mark.parametrize("kind", ["chat/delta", "chat/responsePart", "chat/usage"])
def test_most_actions_change_nothing_that_a_session_shows(kind: str) -> None:
    before, after = chat(8), chat(8, call("running"))
    assert kind in QUIET
    assert derived_actions(session(33), kind, before, after) == []
    assert summary_changes(before, after) == {}


def test_a_session_that_was_read_is_unread_when_its_chat_goes_on() -> None:
    unread = actions.is_read_changed(is_read=False)
    assert unread in derived_actions(session(33), "chat/turnStarted", chat(), chat(8))
    assert unread not in derived_actions(session(1), "chat/turnStarted", chat(), chat(8))
    asking = {"kind": "inputRequest", "request": {"id": "q"}}
    assert unread in derived_actions(session(33), "chat/inputRequested", chat(8), chat(24, asking))


@rule("1.0/C4")
def test_what_waits_is_set_and_removed_on_the_session() -> None:
    client = {"kind": "client", "clientId": "me"}
    asked = chat(24, call("pending-confirmation"))
    runs = chat(8, call("running", contributor=client))
    asks = chat(24, {"kind": "inputRequest", "request": {"id": "q"}})
    (confirmation,), (execution,), (question,) = (waiting_in(one).values() for one in (asked, runs, asks))
    assert [one["kind"] for one in (confirmation, execution, question)] == [
        "toolConfirmation",
        "toolClientExecution",
        "chatInput",
    ]
    found = derived_actions(session(), "chat/toolCallReady", chat(8), asked)
    assert actions.input_needed_set(confirmation) in found
    waiting = session(24, inputNeeded=[confirmation])
    assert derived_actions(waiting, "chat/toolCallReady", asked, chat(24, call("pending-confirmation"))) == []
    other = chat(24, call("pending-confirmation", toolInput="{}"))
    (again,) = derived_actions(waiting, "chat/toolCallReady", asked, other)
    assert again["type"] == "session/inputNeededSet"
    gone = derived_actions(waiting, "chat/toolCallConfirmed", asked, chat(8, call("running")))
    assert gone[-1] == actions.input_needed_removed(confirmation["id"])
    # New ones come first: the session does not look idle in between.
    both = derived_actions(waiting, "chat/toolCallConfirmed", asked, asks)
    assert [one["type"] for one in both[-2:]] == ["session/inputNeededSet", "session/inputNeededRemoved"]


@rule("1.0/C3")
@pytest.mark.parametrize(
    ("statuses", "seen"),
    [([1], 1), ([8], 8), ([8, 1], 8), ([1, 8], 1), ([1, 24], 24), ([1, 2], 2), ([8, 2, 24], 24)],
)
def test_a_summary_says_what_the_chats_do_together(statuses: list[int], seen: int) -> None:
    chats = [
        {**chat_summary(chat()), "resource": CHAT if not place else f"c:/{place}", "status": status}
        for place, status in enumerate(statuses)
    ]
    summary = session_summary("demo:/1", session(97, chats=chats), NOW)
    assert summary["status"] == 96 | seen
    assert [one["resource"] for one in summary["chats"]] == [one["resource"] for one in chats]


def test_a_summary_counts_what_was_changed_and_has_the_newest_time() -> None:
    edit: Any = {"after": {"uri": "file:///a"}, "diff": {"added": 2, "removed": 1}}
    chats = [{**chat_summary(chat()), "modifiedAt": LATER, "activity": "Edits"}]
    state = session(chats=chats, _meta={"agenthost.diffs": [edit, {"after": {"uri": "file:///b"}}]})
    summary = session_summary("demo:/1", state, NOW)
    assert summary["changes"] == {"files": 2, "additions": 2, "deletions": 1}
    assert (summary["createdAt"], summary["modifiedAt"], summary["activity"]) == (NOW, LATER, "Edits")
    bare = session_summary("demo:/1", session(chats=[]), NOW)
    assert (bare["modifiedAt"], bare["status"]) == (NOW, 1)


def test_the_model_and_the_diffs_of_a_session_are_in_its_metadata() -> None:
    state = session(_meta={"other": 1})
    assert (model_of(state), diffs_of(state)) == (None, [])
    changed = model_changed(state, {"id": "m"})
    assert changed["_meta"] == {"other": 1, "agenthost.model": {"id": "m"}}
    named: Any = {**state, "_meta": changed["_meta"]}
    assert model_of(named) == {"id": "m"}
    edits: Any = [{"after": {"uri": "file:///a"}}]
    edited: Any = {**state, "_meta": diffs_changed(state, edits)["_meta"]}
    assert diffs_of(edited) == edits


@pytest.mark.parametrize(("start", "passed"), [(NOW, 5), (LATER, 0), ("never", 0)])
def test_the_time_that_passed_is_never_negative(start: str, passed: int) -> None:
    assert elapsed_ms(start, 1_767_225_600_005) == passed


def test_the_folders_of_a_chat_and_whether_it_moves_are_in_the_catalogue() -> None:
    after = chat(workingDirectories=["file:///a"], movable=True)
    assert summary_changes(chat(), after) == {"workingDirectories": ["file:///a"], "movable": True}
    assert summary_changes(after, chat()) == {"workingDirectories": [], "movable": False}
    assert summary_changes(after, chat(workingDirectories=["file:///a"], movable=True)) == {}


def test_a_task_leaves_its_session_read_until_it_waits() -> None:
    origin = {"kind": "tool", "chat": CHAT, "toolCallId": "c"}
    before, begun = chat(origin=origin), chat(8, origin=origin)
    kinds = [one["type"] for one in derived_actions(session(33), "chat/turnStarted", before, begun)]
    assert kinds == []
    asked = chat(24, call("pending-confirmation"), origin=origin)
    kinds = [one["type"] for one in derived_actions(session(33), "chat/toolCallReady", begun, asked)]
    assert kinds == ["session/isReadChanged", "session/inputNeededSet"]


@rule("1.0/C3")
@pytest.mark.parametrize(
    ("first", "second", "together"), [(1, 8, 1), (8, 1, 8), (1, 24, 24), (8, 24, 24), (1, 2, 2), (2, 24, 24)]
)
def test_a_summary_has_the_activity_of_the_default_chat_unless_another_waits_or_failed(
    first: int, second: int, together: int
) -> None:
    chats = [chat(first), chat(second, resource="ahp-chat:/2", modifiedAt=LATER)]
    state = session(33, chats=[chat_summary(one) for one in chats])
    summary: Any = session_summary("demo:/1", state, NOW)
    assert (summary["status"], summary["modifiedAt"]) == (together | 32, LATER)
    assert [one["resource"] for one in summary["chats"]] == [CHAT, "ahp-chat:/2"]
