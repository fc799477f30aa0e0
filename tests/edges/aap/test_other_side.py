"""The same session seen from the other protocol: what happens there shows here, and the other way round."""

from typing import Any

import pytest

from aap_here import Here
from aap_talking import Speaker, assistant, permission, result, user
from rules import rule
from talking import Talk


def join(here: Here, session: str) -> Talk:
    return here.run(Talk.join(here.site.host, here.uri_of(session), "somebody"))


@rule("Z5")
@pytest.mark.parametrize("mode", ["message", "delta"])
def test_a_turn_that_somebody_cancels_stops_with_an_error(here: Here, app: Speaker, mode: str) -> None:
    session = app.begin("Hello").session
    watching = app.start(session, "/wait 30", stream="delta")
    watching.read_until(b'"."')
    talk = join(here, session)
    here.run(talk.cancel())
    reply = watching.rest()
    assert reply.stop == "error"
    assert [event["event"] for event in reply.events].count("turn_stop") == 1
    assert app.history(session)[2:] == [user("/wait 30"), assistant(reply.text)]
    assert app.turn(session, "Hello", stream=mode).stop == "end_turn"
    talk.feed.close()


@rule("Z6")
@pytest.mark.parametrize("mode", ["none", "message", "delta"])
def test_questions_are_declined_when_nobody_is_there_to_answer(app: Speaker, mode: str) -> None:
    reply = app.begin("/ask", stream=mode)
    assert (reply.stop, reply.text) == ("end_turn", "The questions were declined.")


@rule("Z6")
def test_questions_are_left_to_those_who_listen(here: Here, app: Speaker) -> None:
    session = app.begin("Hello").session
    talk = join(here, session)
    listening = app.start(session, "/ask", stream="delta")
    asked = here.run(talk.hear_one("inputRequested"))
    here.run(talk.reply(asked, {"name": {"kind": "text", "value": "Ada"}}))
    assert "- name: Ada" in listening.rest().text
    talk.feed.close()


@rule("P13")
def test_a_call_that_somebody_else_approves_is_not_open_here_any_more(here: Here, app: Speaker) -> None:
    reply = app.begin('/call add {"a": 1, "b": 2}', {"tools": [{"name": "add"}]})
    assert reply.stop == "tool_use"
    talk = join(here, reply.session)
    call: Any = {"turnId": talk.turn_id, "toolCallId": reply.calls["add"]}
    assert here.run(talk.approve(call)) is None
    here.run(talk.finish())
    assert app.history(reply.session)[2:] == [result(reply.calls["add"], "3"), assistant("add -> 3")]
    assert app.turn(reply.session, permission(reply.calls["add"])).status == 422
    talk.feed.close()


@rule("P13")
def test_a_call_that_is_approved_here_is_not_open_there_any_more(here: Here, app: Speaker) -> None:
    reply = app.begin('/call add {"a": 1, "b": 2}', {"tools": [{"name": "add"}]})
    talk = join(here, reply.session)
    call: Any = {"turnId": talk.turn_id, "toolCallId": reply.calls["add"]}
    assert app.turn(reply.session, permission(reply.calls["add"])).text == "add -> 3"
    assert here.run(talk.deny(call)) is not None
    here.run(talk.finish())
    assert talk.answer == "add -> 3"
    talk.feed.close()


@rule("P13")
def test_a_turn_of_the_other_side_is_in_the_history_here(here: Here, app: Speaker) -> None:
    session = app.begin("Hello").session
    talk = join(here, session)
    here.run(talk.say("From there"))
    assert app.history(session)[2:] == [user("From there"), assistant("You said: From there")]
    talk.feed.close()


@rule("O4", "P13")
def test_while_another_client_brings_tools_those_of_a_turn_are_there_too(here: Here, app: Speaker) -> None:
    session = app.begin("Hello").session
    talk = join(here, session)
    client = {"clientId": "somebody", "tools": []}
    assert here.run(talk.act("activeClientChanged", activeClient=client)) is None
    assert app.turn(session, "Hello", tools=[app.tool("weather")]).status == 200
    active = {one["clientId"]: len(one["tools"]) for one in talk.session.state["activeClients"]}
    assert active.pop("somebody") == 0
    assert list(active.values()) == [1]
    talk.feed.close()
