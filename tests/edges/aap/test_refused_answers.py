"""Results and permissions that do not fit what is open: refused as a whole, and all waits as before."""

from typing import Any

import pytest

from aap_talking import Reply, Speaker, permission, result
from rules import rule

CALLS = '/call weather {"city": "Rome"} && add {"a": 1, "b": 2} && clock'


@pytest.fixture
def waiting(app: Speaker) -> Reply:
    """Return a turn that waits for a result of `weather` and a permission for `add`; `clock` has run."""
    agent = {"tools": [{"name": "add"}, {"name": "clock", "trust": True}]}
    reply = app.begin(CALLS, agent, tools=[app.tool("weather")])
    assert reply.stop == "tool_use"
    return reply


def state(app: Speaker, session: str) -> Any:
    return app.show(session), app.history(session)


@rule("X7")
@pytest.mark.parametrize(
    ("answers", "path"),
    [
        (["weather"], "$.messages"),
        (["add"], "$.messages"),
        (["weather", "add", "other"], "$.messages[2].toolCallId"),
        (["other"], "$.messages[0].toolCallId"),
        (["weather", "add", "clock"], "$.messages[2].toolCallId"),
        (["weather", "weather", "add"], "$.messages[1].toolCallId"),
        (["add", "add", "weather"], "$.messages[1].toolCallId"),
        (["weather", "add as result"], "$.messages[1].role"),
        (["weather as permission", "add"], "$.messages[0].role"),
    ],
    ids=str,
)
def test_answers_that_do_not_fit_are_refused_and_nothing_has_changed(
    app: Speaker, waiting: Reply, answers: list[str], path: str
) -> None:
    ids = {**waiting.calls, "other": "call_other"}
    known: dict[str, Any] = {
        "weather": result(ids["weather"], "18°C"),
        "add": permission(ids["add"]),
        "clock": permission(ids["clock"]),
        "other": permission("call_other"),
        "add as result": result(ids["add"], "3"),
        "weather as permission": permission(ids["weather"]),
    }
    before = state(app, waiting.session)
    refused = app.turn(
        waiting.session, *(known[name] for name in answers), agent={"options": {"style": "loud"}}
    )
    assert (refused.status, refused.error["path"]) == (422, path)
    assert state(app, waiting.session) == before
    # It still waits, and the right answers still count.
    assert app.turn(waiting.session, known["weather"], known["add"]).stop == "end_turn"


@rule("X1", "X7")
@pytest.mark.parametrize(
    "more",
    [
        {"stream": "fast"},
        {"agent": {"name": "demo"}},
        {"agent": {"options": {"style": "shy"}}},
        {"agent": {"tools": [{"name": "nothing"}]}},
        {"agent": {"tools": [{"name": "add"}]}, "tools": [{"name": "add"}]},
    ],
    ids=str,
)
def test_right_answers_together_with_a_wrong_one_are_refused_too(
    app: Speaker, waiting: Reply, more: Any
) -> None:
    if "tools" in more:
        more = {**more, "tools": [app.tool("add")]}
    answers = [result(waiting.calls["weather"], "18°C"), permission(waiting.calls["add"])]
    before = state(app, waiting.session)
    assert app.turn(waiting.session, *answers, **more).error
    assert state(app, waiting.session) == before
    assert app.turn(waiting.session, *answers).stop == "end_turn"


@rule("X7")
def test_an_answer_where_nothing_is_open_is_refused(app: Speaker) -> None:
    session = app.begin("Hello").session
    before = state(app, session)
    for answer in (result("c1", "18°C"), permission("c1")):
        refused = app.turn(session, answer)
        assert (refused.status, refused.error["path"]) == (422, "$.messages[0].toolCallId")
    assert state(app, session) == before


@rule("X6", "X7")
def test_a_result_with_content_that_a_result_cannot_have_is_refused(app: Speaker, waiting: Reply) -> None:
    before = state(app, waiting.session)
    for content in ([{"type": "thinking", "thinking": "a"}], [{"type": "image", "url": "file:///a"}], 5):
        answers = [permission(waiting.calls["add"]), result(waiting.calls["weather"], content)]
        refused = app.turn(waiting.session, *answers)
        assert refused.status == 422
        assert refused.error["path"].startswith("$.messages[1].content")
    assert state(app, waiting.session) == before


@rule("X12")
@pytest.mark.parametrize("mode", ["none", "delta"])
def test_while_a_turn_runs_another_is_refused(app: Speaker, mode: str) -> None:
    session = app.begin("Hello").session
    listening = app.start(session, "/wait 0.6", stream="delta")
    listening.read_until(b'"."')
    for messages in (["Hello"], [permission("c1")], [result("c1", "a")]):
        refused = app.turn(session, *messages, stream=mode, agent={"options": {"style": "loud"}})
        assert (refused.status, refused.error["code"]) == (409, "turn_in_progress")
    assert app.show(session)["agent"]["options"]["style"] == "plain"
    assert listening.rest().stop == "end_turn"
    assert [one["role"] for one in app.history(session)] == ["user", "assistant"] * 2
