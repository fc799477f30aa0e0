"""Calls that an agent runs by itself, over AAP: they look like those of the server, and ask like them."""

import pytest

from aap_talking import MODES, Speaker, assistant, permission, result, used, user
from rules import rule


@rule("P3", "P5")
@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_asks_stops_the_turn_and_goes_on_when_it_is_granted(app: Speaker, mode: str) -> None:
    reply = app.begin("Go", {"name": "reporter"}, stream=mode)
    assert (reply.stop, reply.text) == ("tool_use", "I look. ")
    read, edit = reply.calls["read"], reply.calls["edit"]
    assert reply.results == {read: "it is empty"}
    asking = [
        user("Go"),
        assistant([{"type": "text", "text": "I look. "}, used(read, "read", path="a")]),
        result(read, "it is empty"),
        assistant([used(edit, "edit", path="a")]),
    ]
    assert app.history(reply.session) == asking
    rest = app.turn(reply.session, permission(edit), stream=mode)
    assert (rest.stop, rest.text, rest.calls, rest.results) == ("end_turn", "So: True", {}, {edit: "edited"})
    assert app.history(reply.session) == [*asking, result(edit, "edited"), assistant("So: True")]


@rule("P4")
@pytest.mark.parametrize("mode", MODES)
def test_the_agent_gets_the_reason_of_a_denial(app: Speaker, mode: str) -> None:
    reply = app.begin("Go", {"name": "reporter"}, stream=mode)
    edit = reply.calls["edit"]
    denied = permission(edit, granted=False, reason="not a")
    rest = app.turn(reply.session, denied, stream=mode)
    assert (rest.stop, rest.text) == ("end_turn", "So: not a")
    assert app.history(reply.session)[4:] == [
        result(edit, "Tool call denied: not a"),
        assistant("So: not a"),
    ]


@rule("P14")
@pytest.mark.parametrize("mode", MODES)
def test_calls_that_an_agent_runs_meanwhile_are_sent_when_they_have_ended(app: Speaker, mode: str) -> None:
    reply = app.begin("Go", {"name": "juggler"}, stream=mode)
    # The one that ran is not told yet: an application would have to answer it.
    assert (reply.stop, list(reply.calls), reply.results) == ("tool_use", ["edit"], {})
    edit = reply.calls["edit"]
    asking = [
        user("Go"),
        assistant([{"type": "text", "text": "Meanwhile. "}, used(edit, "edit", path="b")]),
    ]
    assert app.history(reply.session) == asking
    middle = app.turn(reply.session, permission(edit), stream=mode)
    assert middle.stop == "tool_use"
    move = middle.calls["move"]
    if mode != "none":
        # What ended while nobody listened comes first.
        read = middle.calls["read"]
        assert middle.results == {read: "it is empty"}
        assert [event["event"] for event in middle.events][1:3] == ["tool_call", "tool_result"]
    rest = app.turn(reply.session, permission(move), stream=mode)
    assert (rest.stop, rest.text) == ("end_turn", "Done.")
    history = app.history(reply.session)
    (read,) = [one["content"][0]["toolCallId"] for one in history if "'read'" in str(one["content"])]
    assert history == [
        *asking,
        assistant([used(move, "move", path="c")]),
        result(move, "moved"),
        result(edit, "edited"),
        assistant([used(read, "read", path="a")]),
        result(read, "it is empty"),
        assistant("Done."),
    ]
