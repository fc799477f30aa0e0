"""What a fork takes along: turns, and references to contents, which are its own from then on."""

from typing import Any

import pytest

from agenthost.core.forking import forked, split_content_uri
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.wire.ahp.session import SessionState

OLD, NEW = "demo:/old", "demo:/new"


def turn(turn_id: str, *uris: str) -> Any:
    parts = [{"kind": "contentRef", "uri": uri, "sizeHint": 3} for uri in uris]
    return {"id": turn_id, "userMessage": {"text": "Hi"}, "responseParts": parts, "state": "complete"}


def state_of(*turns: Any, **over: Any) -> SessionState:
    summary = {
        "resource": OLD,
        "provider": "demo",
        "title": "T",
        "status": 8,
        "createdAt": 1,
        "modifiedAt": 2,
    }
    state: Any = {"summary": summary, "lifecycle": "ready", "turns": list(turns), **over}
    return state  # type: ignore[no-any-return]


def fork(state: SessionState, turn_id: str) -> Any:
    return forked(state, turn_id, NEW, 9)


def test_a_fork_has_the_turns_up_to_the_one_and_nothing_of_the_moment() -> None:
    running = {"id": "t3", "userMessage": {"text": "?"}, "responseParts": []}
    state = state_of(turn("t1"), turn("t2"), activeTurn=running, queuedMessages=[], activeClient={})
    after = fork(state, "t1")
    assert [one["id"] for one in after["turns"]] == ["t1"]
    assert set(after) == {"summary", "lifecycle", "turns"}
    assert after["summary"] == {
        **state["summary"],
        "resource": NEW,
        "status": 1,
        "createdAt": 9,
        "modifiedAt": 9,
    }
    with pytest.raises(TurnInProgress):
        fork(state, "t3")
    with pytest.raises(TurnNotFound):
        fork(state, "t4")


def test_references_to_the_old_sessions_contents_are_to_the_new_ones_wherever_they_are() -> None:
    ref = {"uri": f"{OLD}/content/1", "contentType": "image/png"}
    file = {"uri": "file:///a", "content": ref}
    attachment = {"type": "resource", "label": "a", **ref}
    call = {"toolCallId": "c", "content": [{"type": "fileEdit", "before": file}, {"type": "resource", **ref}]}
    before = turn("t1")
    before["userMessage"] = {"text": f"see {OLD}/content/1", "attachments": [attachment]}
    before["responseParts"] = [{"kind": "toolCall", "toolCall": call}, {"kind": "contentRef", **ref}]
    (after,) = fork(state_of(before), "t1")["turns"]
    assert after["userMessage"]["attachments"][0] == {**attachment, "uri": f"{NEW}/content/1"}
    assert after["userMessage"]["text"] == f"see {OLD}/content/1"  # what was said stays as it was said
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
    assert fork(state_of(before), "t1")["turns"][0] is before


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("demo:/a/content/1", ("demo:/a", "1")),
        ("demo:/a/content/b/content/1", ("demo:/a/content/b", "1")),
        ("/content/1", ("", "1")),
        ("demo:/a/content/", None),
        ("demo:/a/content/1/2", None),
        ("demo:/a/content", None),
        ("file:///content", None),
        ("", None),
    ],
)
def test_the_uri_of_a_content_is_taken_apart_at_its_last_mark(
    uri: str, parts: tuple[str, str] | None
) -> None:
    assert split_content_uri(uri) == parts
