"""How sessions begin: with nothing, with a history, and in the middle of one that waits."""

import json
from typing import Any

import pytest

from aap_talking import MODES, Speaker, assistant, permission, result, used, user
from rules import rule

SEED: list[Any] = [
    {"role": "system", "content": "Be brief."},
    assistant("Welcome!"),
    user([{"type": "text", "text": "Look"}, {"type": "image", "url": "https://a.example/b.png"}]),
    assistant([{"type": "thinking", "thinking": "Hm."}, used("c1", "weather", city="Rome")]),
    result("c1", [{"type": "text", "text": "18°C"}]),
    assistant([{"type": "text", "text": "18°C."}]),
    user("Thanks"),
    assistant("You are welcome."),
]


@rule("C1")
def test_version_3_makes_a_session_and_runs_nothing(newest: Speaker) -> None:
    made = newest.make()
    assert (made.status, list(made.json)) == (201, ["sessionId"])
    assert newest.history(made.session) == []


@rule("C2", "C3")
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_the_older_versions_run_the_first_turn_at_once(newest: Speaker, number: int, mode: str) -> None:
    app = Speaker(newest.url, number)
    reply = app.begin("Hello", stream=mode)
    assert (reply.status, reply.stop, reply.text) == (200, "end_turn", "You said: Hello")
    if mode == "none":
        assert list(reply.json) == ["sessionId", "stopReason", "messages"]
    else:
        assert [event["event"] for event in reply.events[:2]] == ["session_start", "turn_start"]
    assert app.history(reply.session) == [user("Hello"), assistant("You said: Hello")]


@rule("C2")
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("messages", [[], [user("a"), assistant("b")], [{"role": "system", "content": "a"}]])
def test_in_older_versions_the_last_message_must_be_a_user_message(
    newest: Speaker, number: int, messages: Any
) -> None:
    app = Speaker(newest.url, number)
    before = app.get(f"{app.base}/sessions")
    refused = app.ask("PUT", f"{app.base}/session", {"agent": {"name": "demo"}, "messages": messages})
    assert refused.status == 422
    assert refused.error["path"].startswith("$.messages")
    assert app.get(f"{app.base}/sessions") == before


@rule("C4")
def test_a_history_to_begin_with_is_kept_exactly_as_it_came(app: Speaker) -> None:
    reply = app.begin("/history", seed=SEED)
    assert reply.text == str(len(SEED) + 1)
    assert app.history(reply.session) == [*SEED, user("/history"), assistant(reply.text)]


@rule("C4")
def test_the_model_is_given_that_history(app: Speaker) -> None:
    reply = app.begin("/everything", {"name": "stepper"}, seed=SEED[:2])
    assert json.loads(reply.text) == [*SEED[:2], user("/everything")]


@rule("C4", "X6")
@pytest.mark.parametrize(
    ("seed", "path"),
    [
        ([user("a"), result("c1", "b")], "$.messages[1].toolCallId"),
        ([user([used("c1", "weather")])], "$.messages[0].content[0].type"),
        ([user("a"), assistant([used("c", "x"), used("c", "y")])], "$.messages[1].content[1].toolCallId"),
        ([user("a"), permission("c1")], "$.messages[1].role"),
        ([{"role": "system", "content": [{"type": "text", "text": "a"}]}], "$.messages[0].content"),
        ([user("a"), result("c1", [used("c", "x")])], "$.messages[1]"),
        ([{**user("a"), "_private": {}}], "$.messages[0]._private"),
        ([user([{"type": "text", "text": "a", "_private": {}}])], "$.messages[0].content[0]._private"),
        ([{"role": "narrator", "content": "a"}], "$.messages[0].role"),
    ],
)
def test_a_history_that_no_conversation_could_have_is_refused(app: Speaker, seed: Any, path: str) -> None:
    before = app.get(f"{app.base}/sessions")
    refused = app.make(seed=seed)
    assert refused.status == 422
    assert refused.error["path"].startswith(path)
    assert app.get(f"{app.base}/sessions") == before


OPEN = [
    user("Do both"),
    assistant([{"type": "text", "text": "One moment."}, used("c1", "weather", city="Rome")]),
    result("c1", "18°C"),
    assistant([used("c2", "weather", city="Oslo"), used("c3", "note", text="import_history")]),
]


@rule("C5")
def test_a_history_may_end_in_open_calls_and_goes_on_with_the_answers(newest: Speaker) -> None:
    agent = {"name": "stepper", "tools": [{"name": "note"}]}
    session = newest.make(agent, OPEN, [newest.tool("weather")]).session
    assert newest.history(session) == OPEN
    assert newest.turn(session, "Never mind the old one", stream="bogus").status == 422
    assert newest.history(session) == OPEN
    reply = newest.turn(session, permission("c3"), result("c2", "3°C"))
    assert (reply.stop, reply.json["messages"][0]) == ("end_turn", result("c3", "noted import_history"))
    told = [result("c2", "3°C"), result("c3", "noted import_history")]
    assert json.loads(reply.text) == [*OPEN[1:], *told]
    assert newest.history(session) == [*OPEN, *told, assistant(reply.text)]


@rule("C5")
def test_a_call_that_was_skipped_earlier_is_not_open(newest: Speaker) -> None:
    """Nothing waits, so nothing runs before the next turn."""
    seed = [user("a"), assistant([used("c1", "weather", city="Rome")]), assistant("Never mind.")]
    session = newest.make({"name": "stepper"}, seed, [newest.tool("weather")]).session
    refused = newest.turn(session, result("c1", "late"))
    assert (refused.status, refused.error["path"]) == (422, "$.messages[0].toolCallId")
    assert newest.history(session) == seed
    assert newest.turn(session, "Go on").stop == "end_turn"


@rule("C6")
def test_without_tools_all_exposed_ones_are_off(app: Speaker) -> None:
    reply = app.begin('/call add {"a": 1, "b": 2}')
    assert reply.stop == "end_turn"
    assert "there is no tool 'add'" in reply.text
    assert app.show(reply.session)["agent"]["tools"] == []


@rule("C7")
def test_a_session_that_cannot_get_ready_leaves_nothing(app: Speaker) -> None:
    made = app.make({"name": "unready"})
    if app.number == 3:
        made = app.turn(made.session, "Hello")
    assert (made.status, made.error["code"]) == (409, "session_not_ready")
    if app.number != 3:
        assert "unready" not in str(Speaker(app.url, 3).get("/aap/v3/sessions"))
