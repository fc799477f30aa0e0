"""Reading back: the list and its pages, one session, its history, and its end."""

import http.client
from typing import Any

import pytest

from aap_talking import Speaker, assistant, user
from agenthost.edges.aap.sessions import PAGE
from rules import rule


def ids(app: Speaker, page: Any) -> list[str]:
    return [one if app.number == 1 else one["sessionId"] for one in page["sessions"]]


@rule("L1")
def test_the_newest_session_comes_first(app: Speaker) -> None:
    first, second = app.begin("one").session, app.begin("two").session
    page = app.get(f"{app.base}/sessions")
    assert ids(app, page)[:2] == [second, first]
    if app.number > 1:
        assert page["sessions"][0] == app.show(second)


@rule("L2")
def test_a_long_list_comes_in_pages_each_session_once(app: Speaker) -> None:
    made = [app.make().session for _ in range(PAGE + 3)]
    found: list[str] = []
    page = app.get(f"{app.base}/sessions")
    while True:
        assert 0 < len(ids(app, page)) <= PAGE
        found += ids(app, page)
        if "next" not in page:
            break
        assert ("nextCursor" in page) == (app.number == 1)
        assert page.get("nextCursor", page["next"]) == page["next"]
        app.make()  # what is new meanwhile moves nothing
        page = app.get(f"{app.base}/sessions?after={page['next']}")
    assert "nextCursor" not in page
    assert found[: len(made)] == made[::-1]
    assert len(found) == len(set(found))


@rule("X10")
@pytest.mark.parametrize("cursor", ["", "x", "WzEsMF0", "%00", "a" * 10_000])
def test_an_invalid_cursor_is_refused(app: Speaker, cursor: str) -> None:
    refused = app.ask("GET", f"{app.base}/sessions?after={cursor}")
    assert (refused.status, refused.error["path"]) == (422, "after")


@rule("L3")
def test_a_session_shows_its_settings(app: Speaker) -> None:
    tool = app.tool("weather", title="Weather")
    agent = {"tools": [{"name": "add", "trust": True}, {"name": "clock"}], "options": {"style": "loud"}}
    session = app.begin("Hello", agent, tools=[tool]).session
    assert app.show(session) == {
        "sessionId": session,
        "agent": {
            "name": "demo",
            "tools": [{"name": "add", "trust": True}, {"name": "clock", "trust": False}],
            "options": {"style": "loud", "greeting": "", "token": "", "model": "swift"},
        },
        "tools": [tool],
    }


@rule("L3")
def test_a_session_without_tools_of_the_application_says_so_in_version_1(app: Speaker) -> None:
    session = app.begin("Hello").session
    assert app.show(session).get("tools") == ([] if app.number == 1 else None)


@rule("L4")
def test_the_full_history_is_exact_and_the_compacted_one_is_what_the_model_is_given(app: Speaker) -> None:
    agent = {"options": {"model": "forgetful"}}
    long = "word " * 400
    session = app.begin(long, agent).session
    for _ in range(4):
        app.turn(session, long)
    said = [user(long), assistant(f"You said: {long}")]
    assert app.history(session) == said * 5
    compacted = app.history(session, "compacted")
    assert 0 < len(compacted) < 10
    assert app.turn(session, "/history").text == str(len(app.history(session, "compacted")) - 1)


@rule("L4", "L5")
def test_without_a_kind_all_kinds_come(app: Speaker) -> None:
    session = app.begin("Hello").session
    path = app.one(session) + ("" if app.number == 1 else "/history")
    history = app.get(path)["history"]
    assert history == {kind: app.history(session, kind) for kind in ("compacted", "full")}
    assert history["full"] == history["compacted"] == [user("Hello"), assistant("You said: Hello")]


@rule("L5")
def test_in_version_1_a_session_comes_with_its_history(newest: Speaker) -> None:
    app = Speaker(newest.url, 1)
    session = app.begin("Hello").session
    assert set(app.get(app.one(session))["history"]) == {"compacted", "full"}
    assert set(app.get(app.one(session) + "?history=compacted")["history"]) == {"compacted"}
    assert app.ask("GET", app.one(session) + "/history").status == 404
    for number in (2, 3):
        other = Speaker(newest.url, number)
        assert "history" not in other.get(other.one(session))


@rule("L4", "X10")
def test_a_kind_that_the_agent_does_not_declare_is_not_found(app: Speaker) -> None:
    session = app.begin("Hello", {"name": "brief"}, stream="message").session
    path, name = (app.one(session), "history") if app.number == 1 else (app.one(session) + "/history", "type")
    refused = app.ask("GET", f"{path}?{name}=full")
    assert (refused.status, refused.error["code"], refused.error["path"]) == (
        404,
        "history_not_offered",
        name,
    )
    assert list(app.get(path)["history"]) == ["compacted"]
    refused = app.ask("GET", f"{path}?{name}=half")
    assert (refused.status, refused.error["path"]) == (422, name)


@rule("L4")
def test_an_agent_that_offers_no_history_shows_none(app: Speaker) -> None:
    session = app.begin("Hello", {"name": "plain"}).session
    if app.number == 1:
        assert "history" not in app.get(app.one(session))
    else:
        assert app.get(app.one(session) + "/history") == {"history": {}}


@rule("L7")
def test_a_history_may_end_in_calls_that_are_open(app: Speaker) -> None:
    reply = app.begin('/call weather {"city": "Rome"}', tools=[app.tool("weather")])
    call = {"type": "tool_use", "toolCallId": reply.calls["weather"], "name": "weather"}
    assert app.history(reply.session)[-1] == assistant([{**call, "input": {"city": "Rome"}}])


@rule("L6")
def test_a_session_that_is_deleted_is_gone_for_all(app: Speaker) -> None:
    session = app.begin("Hello").session
    reply = app.ask("DELETE", app.one(session))
    assert (reply.status, reply.body) == (204, b"")
    assert not {"content-length", "transfer-encoding", "content-type"} & reply.headers.keys()
    for method, path in (("GET", app.one(session)), ("DELETE", app.one(session))):
        assert app.ask(method, path).error["code"] == "session_not_found"
    assert app.turn(session, "Hello").status == 404
    assert session not in ids(app, app.get(f"{app.base}/sessions"))


@rule("X11")
@pytest.mark.parametrize("session", ["nobody", "%00", "%ff%fe", "..%2f", "a" * 5_000, "%F0%9F%A6%89"])
def test_a_session_that_is_not_there_is_not_found(app: Speaker, session: str) -> None:
    known = {"there is nothing at this path"}
    for reply in (
        app.ask("GET", app.one(session)),
        app.ask("DELETE", app.one(session)),
        app.ask("POST", app.turns(session), {"messages": [user("Hello")]}),
    ):
        assert reply.status == 404
        assert reply.error["code"] == "session_not_found" or reply.error["message"] in known


@rule("L6")
def test_a_connection_can_be_used_again_after_a_delete(newest: Speaker) -> None:
    session = newest.make().session
    connection = http.client.HTTPConnection(newest.url.removeprefix("http://"))
    for path, status in ((newest.one(session), 204), (newest.one(session), 404)):
        connection.request("DELETE", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
    connection.close()
