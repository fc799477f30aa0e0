"""What a fork copies: turns, and references to content, which are its own from then on."""

from typing import Any

import pytest

from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.core.fork import fork_conversation, split_content_uri
from agenthost.core.session_meta import DIFFS, MODEL
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.shape import Shape
from building import markdown
from chat_building import chat, failed, in_turn, message, said, session, work

OLD, NEW = "demo:/old", "demo:/new"
NEW_CHAT, NOW = "ahp-chat:/new", "2026-05-05T05:05:05.000Z"


def turn(turn_id: str, *uris: str) -> Any:
    parts = [{"kind": "contentRef", "uri": uri, "sizeHint": 3} for uri in uris]
    return {"id": turn_id, "message": said("Hi"), "responseParts": parts, "state": "complete"}


def fork(one: Any, turn_id: str, of_session: Any = None) -> Any:
    state: Any = session(chats=[chat_summary(one)], defaultChat=one["resource"], **(of_session or {}))
    forked = fork_conversation(Conversation(state, one), turn_id, OLD, NEW, NEW_CHAT, NOW)
    Shape(SessionState).check(forked.session)
    Shape(ChatState).check(forked.chat)
    return forked


def test_a_fork_has_the_turns_up_to_the_one_and_nothing_of_the_moment() -> None:
    moment = {
        "steeringMessage": message("m1"),
        "queuedMessages": [message("m2")],
        "draft": said("Perha"),
        "activity": "Reading",
        "turnsNextCursor": "c",
        "backgroundWork": [work("w1")],
        "canvases": [],
        "changes": {"files": 1},
        "changesets": [],
    }
    one = in_turn(status=8 + 32, turns=[turn("t1"), turn("t2")], turn={"id": "t3"}, **moment)
    before = session(status=24 + 32 + 64)
    of_session = {
        "status": 24 + 32 + 64,
        "creationError": {"errorType": "e", "message": "m"},
        "inputNeeded": [],
        "activity": "Reading",
        "activeClients": [{"clientId": "me", "tools": []}],
        "annotations": {"resource": "x:/1", "annotationCount": 1, "entryCount": 1},
        "changesets": [],
        "origin": {"kind": "automation", "automation": "a:/1", "run": "a:/2"},
    }
    after = fork(one, "t1", of_session)
    assert after.chat == {
        "resource": NEW_CHAT,
        "title": "Chat",
        "status": 1,
        "modifiedAt": NOW,
        "turns": [turn("t1")],
    }
    assert after.session == {
        **before,
        "status": 1,
        "lifecycle": "creating",
        "chats": [{"resource": NEW_CHAT, "title": "Chat", "status": 1, "modifiedAt": NOW}],
        "defaultChat": NEW_CHAT,
    }
    with pytest.raises(TurnInProgress):
        fork(one, "t3")
    with pytest.raises(TurnNotFound):
        fork(one, "t4")


def test_a_fork_keeps_what_the_session_is() -> None:
    kept: Any = {
        "workingDirectories": ["file:///a"],
        "config": {"schema": {"type": "object", "properties": {}}, "values": {"mode": "fast"}},
        "serverTools": [{"name": "add"}],
        "x-new": 1,
    }
    after = fork(chat(turns=[turn("t1")], origin={"kind": "user"}), "t1", kept)
    assert {key: after.session[key] for key in kept} == kept
    assert after.session["title"] == "Old title"
    assert after.chat["origin"] == after.session["chats"][0]["origin"] == {"kind": "user"}


@pytest.mark.parametrize(
    ("meta", "kept"),
    [
        (None, None),
        ({DIFFS: []}, None),
        ({DIFFS: [], MODEL: {"id": "large"}, "git": {}}, {MODEL: {"id": "large"}, "git": {}}),
    ],
)
def test_a_fork_keeps_the_model_and_has_changed_no_files_yet(meta: Any, kept: Any) -> None:
    after = fork(chat(turns=[turn("t1")]), "t1", {} if meta is None else {"_meta": meta})
    assert after.session.get("_meta") == kept


def test_a_turn_that_failed_is_copied_with_its_error() -> None:
    last = failed("t2", markdown("p1", "So"))
    assert fork(chat(turns=[turn("t1"), last]), "t2").chat["turns"][1] is last


def test_references_to_content_of_the_old_session_are_moved_wherever_they_are() -> None:
    ref = {"uri": f"{OLD}/content/1", "contentType": "image/png"}
    file = {"uri": "file:///a", "content": ref}
    attachment = {"type": "resource", "label": "a", **ref}
    call = {
        "toolCallId": "c",
        "toolName": "edit",
        "displayName": "Edit",
        "invocationMessage": "Edits",
        "toolInput": ref,
        "confirmed": "not-needed",
        "success": True,
        "pastTenseMessage": "Edited",
        "status": "completed",
        "content": [{"type": "fileEdit", "before": file}, {"type": "resource", **ref}],
    }
    before = turn("t1")
    before["message"] = said(f"see {OLD}/content/1", attachments=[attachment])
    before["responseParts"] = [{"kind": "toolCall", "toolCall": call}, {"kind": "contentRef", **ref}]
    (after,) = fork(chat(turns=[before]), "t1").chat["turns"]
    assert after["message"]["attachments"][0] == {**attachment, "uri": f"{NEW}/content/1"}
    assert after["message"]["text"] == f"see {OLD}/content/1"  # what was said stays as it was said
    assert after["responseParts"][0]["toolCall"]["toolInput"] == {**ref, "uri": f"{NEW}/content/1"}
    content = after["responseParts"][0]["toolCall"]["content"]
    assert content[0]["before"] == {"uri": "file:///a", "content": {**ref, "uri": f"{NEW}/content/1"}}
    assert content[1]["uri"] == after["responseParts"][1]["uri"] == f"{NEW}/content/1"
    assert before["responseParts"][1]["uri"] == f"{OLD}/content/1"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///a",
        "demo:/older/content/1",
        OLD,
        f"{OLD}/contents/1",
        f"{OLD}/content/x/content/1",  # of a session whose URI begins like that
    ],
)
def test_references_to_anything_else_stay(uri: str) -> None:
    before = turn("t1", uri)
    assert fork(chat(turns=[before]), "t1").chat["turns"][0] is before


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("demo:/a/content/1", ("demo:/a", "1")),
        ("demo:/a/content/b/content/1", ("demo:/a/content/b", "1")),
        ("/content/1", ("", "1")),
        ("demo:/a/content/", None),
        ("demo:/a/content/1/2", None),
        ("demo:/a/content/b.py?1", ("demo:/a", "1")),
        ("demo:/a/content/what%3F.py?1", ("demo:/a", "1")),
        ("demo:/a?b/content/1", ("demo:/a?b", "1")),
        ("demo:/a/content/b.py?", None),
        ("demo:/a/content/b/c.py?1", None),
        ("demo:/a/content", None),
        ("file:///content", None),
        ("", None),
    ],
)
def test_the_uri_of_content_is_split_at_its_last_mark(uri: str, parts: tuple[str, str] | None) -> None:
    assert split_content_uri(uri) == parts
