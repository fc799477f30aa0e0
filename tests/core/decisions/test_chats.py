"""Whether a session may have another chat, and where a chat may work."""

from typing import Any

import pytest

from agenthost.core.chats import NEW_CHAT, about_selection, new_chat
from agenthost.core.decisions.chats import check_destination, check_disposable, check_move, check_new_chat
from agenthost.errors import (
    AuthRequired,
    HostError,
    InvalidValue,
    SessionNotReady,
    TooManyChats,
    TurnInProgress,
)
from deciding import chat, reason, session
from rules import rule

FOLDER = "file:///work"
NOW = "2026-01-01T00:00:00.000Z"
TASK = {"kind": "tool", "chat": "ahp-chat:/d", "toolCallId": "c"}


def with_chats(*origins: Any, **over: Any) -> Any:
    """Return the state of a session with these chats after its first."""
    more = [{"resource": f"ahp-chat:/{n}", "origin": origin} for n, origin in enumerate(origins)]
    base = {"provider": "demo", "lifecycle": "ready", "defaultChat": "ahp-chat:/d", **over}
    return {**base, "chats": [{"resource": "ahp-chat:/d"}, *more]}


def moving(resource: str = "ahp-chat:/0", **over: Any) -> Any:
    """Return the state of a chat that is to move."""
    return {"resource": resource, "turns": [], **over}


def check_to(state: Any, *, chat: Any = None, after: str | None = None, **more: Any) -> None:
    given = {"provider": "demo", "is_of_owner": True, "limit": 3, **more}
    check_destination(state, chat or moving("ahp-chat:/m"), after, **given)


def check(state: Any, *folders: str, **more: Any) -> None:
    check_new_chat(state, folders, **{"takes_chats": True, "limit": 3, **more})


def test_a_session_takes_chats_up_to_the_limit_and_tasks_do_not_count() -> None:
    check(with_chats({"kind": "user"}, TASK, TASK))
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


@rule("1.0/C7")
def test_a_task_takes_no_chats_and_is_the_source_of_none() -> None:
    state = with_chats(TASK)
    source: Any = {"kind": "fork", "chat": "ahp-chat:/0", "turnId": "t"}
    with pytest.raises(InvalidValue, match="not of a subagent"):
        check(state, source=source)
    state["defaultChat"] = "ahp-chat:/0"
    with pytest.raises(InvalidValue, match="not a subagent's"):
        check(state)


@rule("1.0/M1")
def test_a_chat_without_a_turn_moves_and_the_default_chat_and_tasks_stay() -> None:
    state, plain = with_chats({"kind": "user"}), {"resource": "ahp-chat:/0"}
    check_move(state, moving(), [moving()])
    for stays in ({"resource": "ahp-chat:/d"}, {**plain, "origin": TASK}):
        with pytest.raises(InvalidValue, match="a chat that can be moved"):
            check_move(state, moving(**stays), [])
    with pytest.raises(TurnInProgress):
        check_move(state, moving(), [moving(), moving(activeTurn={"id": "t"})])


@rule("1.0/M1")
@pytest.mark.parametrize(
    ("state", "more", "error"),
    [
        (with_chats({}, {}), {}, TooManyChats),
        (with_chats(lifecycle="creating"), {}, SessionNotReady),
        (with_chats(), {"provider": "other"}, InvalidValue),
        (with_chats(), {"is_of_owner": False}, InvalidValue),
        (with_chats(TASK, defaultChat="ahp-chat:/0"), {}, InvalidValue),
        (with_chats(), {"after": "ahp-chat:/9"}, InvalidValue),
        (with_chats({}), {"after": "ahp-chat:/0", "chat": moving()}, InvalidValue),
        (with_chats(), {"chat": moving("ahp-chat:/m", workingDirectories=[FOLDER])}, InvalidValue),
    ],
)
def test_a_session_is_no_destination_for_a_reason(state: Any, more: Any, error: type[HostError]) -> None:
    with pytest.raises(error):
        check_to(state, **more)


@rule("1.0/M1")
def test_a_session_of_the_same_agent_and_folders_is_a_destination() -> None:
    check_to(with_chats({}, workingDirectories=[FOLDER]), chat=moving("m", workingDirectories=[FOLDER]))
    check_to(with_chats(TASK, TASK, {}), after="ahp-chat:/d")
    check_to(with_chats({}, {}), chat=moving("ahp-chat:/1"), after="ahp-chat:/d")


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
        "movable": True,
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
