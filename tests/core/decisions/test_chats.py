"""Whether a session may have another chat, and where a chat may work."""

from typing import Any

import pytest

from agenthost.core.chats import NEW_CHAT, about_selection, new_chat
from agenthost.core.decisions.chats import check_disposable, check_new_chat
from agenthost.errors import AuthRequired, HostError, InvalidValue, SessionNotReady, TooManyChats
from deciding import chat, reason, session
from rules import rule

FOLDER = "file:///work"
NOW = "2026-01-01T00:00:00.000Z"


def with_chats(*origins: Any, **over: Any) -> Any:
    """Return the state of a session with these chats after its first."""
    more = [{"resource": f"ahp-chat:/{n}", "origin": origin} for n, origin in enumerate(origins)]
    base = {"provider": "demo", "lifecycle": "ready", "defaultChat": "ahp-chat:/d", **over}
    return {**base, "chats": [{"resource": "ahp-chat:/d"}, *more]}


def check(state: Any, *folders: str, **more: Any) -> None:
    check_new_chat(state, folders, **{"takes_chats": True, "limit": 3, **more})


def test_a_session_takes_chats_up_to_the_limit_and_tasks_do_not_count() -> None:
    task = {"kind": "tool", "chat": "ahp-chat:/d", "toolCallId": "c"}
    check(with_chats({"kind": "user"}, task, task))
    with pytest.raises(TooManyChats, match="may have 3 chats"):
        check(with_chats({"kind": "user"}, {"kind": "user"}))


@pytest.mark.parametrize(
    ("state", "more", "error"),
    [
        (with_chats(lifecycle="creating"), {}, SessionNotReady),
        (with_chats(lifecycle="failed"), {}, SessionNotReady),
        (with_chats(), {"takes_chats": False}, InvalidValue),
        (with_chats(), {"lacks": AuthRequired([{"resource": "r"}])}, AuthRequired),
    ],
)
def test_a_session_takes_no_chat_for_a_reason(state: Any, more: Any, error: type[HostError]) -> None:
    with pytest.raises(error):
        check(state, **more)


@rule("1.0/D2")
def test_a_new_chat_works_in_folders_of_its_session() -> None:
    state = with_chats(workingDirectories=[FOLDER])
    check(state, FOLDER)
    with pytest.raises(InvalidValue, match=r"workingDirectories.1.: expected a working directory"):
        check(state, FOLDER, "file:///other")


@rule("1.0/D2")
def test_the_folders_of_a_chat_are_some_of_its_sessions() -> None:
    state = session(workingDirectories=[FOLDER])
    state = state._replace(chat=chat(workingDirectories=[FOLDER]).chat)
    for kind in ("chat/workingDirectorySet", "chat/workingDirectoryRemoved"):
        assert reason(state, {"type": kind, "directory": FOLDER}) is None
        assert "is not a working directory" in str(reason(state, {"type": kind, "directory": "file:///x"}))


def test_the_default_chat_can_neither_go_nor_move() -> None:
    check_disposable(with_chats(), "ahp-chat:/0", "moved")
    with pytest.raises(InvalidValue, match="not the default chat"):
        check_disposable(with_chats(), "ahp-chat:/d", "moved")


def test_a_new_chat_is_idle_and_has_a_title() -> None:
    assert new_chat("ahp-chat:/x", NOW, {"kind": "user"}) == {
        "resource": "ahp-chat:/x",
        "title": NEW_CHAT,
        "status": 1,
        "modifiedAt": NOW,
        "origin": {"kind": "user"},
        "turns": [],
    }
    worked = new_chat("ahp-chat:/x", NOW, {"kind": "user"}, title="T", folders=[FOLDER])
    assert (worked["title"], worked["workingDirectories"]) == ("T", [FOLDER])


def test_a_chat_comes_from_a_chat_of_its_session() -> None:
    fork: Any = {"kind": "fork", "chat": "ahp-chat:/d", "turnId": "t1"}
    check(with_chats(), source=fork)
    with pytest.raises(InvalidValue, match="a chat of the session"):
        check(with_chats(), source={**fork, "chat": "ahp-chat:/other"})


def test_the_text_that_a_side_chat_is_about_is_quoted() -> None:
    message = about_selection({"text": "one\n\ntwo"})
    assert message["role"] == "user"
    assert str(message["content"]).endswith(":\n\n> one\n>\n> two")
