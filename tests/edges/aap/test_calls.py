"""Tool calls over AAP: trusted, with permission, the application's own, and all of them in one step."""

import json
import secrets
import threading
from typing import Any

import pytest

from aap_agents import RAN
from aap_talking import MODES, Reply, Speaker, assistant, permission, result, used, user
from rules import rule

TRUSTED = {"name": "note", "trust": True}
ASKED = {"name": "other"}


def calls(*asked: tuple[str, Any]) -> str:
    """Return a message that tells the model which tools to call."""
    return json.dumps(
        [[name, given if isinstance(given, dict) else {"text": given}] for name, given in asked]
    )


def begin(
    app: Speaker, text: str, tools: list[Any] | None = None, own: list[Any] | None = None, mode: str = "none"
) -> Reply:
    return app.begin(text, {"name": "stepper", "tools": tools or []}, tools=own or [], stream=mode)


def said(app: Speaker, reply: Reply) -> list[Any]:
    """Return what came after the user's message and the step that asked for tools."""
    return app.history(reply.session)[2:]


@rule("P1")
@pytest.mark.parametrize("mode", MODES)
def test_a_trusted_tool_runs_at_once_and_the_turn_goes_on(app: Speaker, mode: str) -> None:
    reply = begin(app, calls(("note", "a")), [TRUSTED], mode=mode)
    call_id = reply.calls["note"]
    assert (reply.stop, reply.results) == ("end_turn", {call_id: "noted a"})
    if mode != "none":
        names = [event["event"] for event in reply.events]
        assert names.index("tool_call") < names.index("tool_result") < len(names) - 2
    assert said(app, reply)[0] == result(call_id, "noted a")


@rule("P2")
@pytest.mark.parametrize("mode", MODES)
def test_the_applications_own_tool_stops_the_turn_until_its_result_comes(app: Speaker, mode: str) -> None:
    reply = begin(app, calls(("weather", {"city": "Rome"})), own=[app.tool("weather")], mode=mode)
    call_id = reply.calls["weather"]
    assert (reply.stop, reply.results) == ("tool_use", {})
    if mode != "none":
        assert reply.of("tool_call") == [
            {"toolCallId": call_id, "name": "weather", "input": {"city": "Rome"}}
        ]
    content = [{"type": "text", "text": "18°C"}, {"type": "text", "text": "sunny"}]
    rest = app.turn(reply.session, result(call_id, content), stream=mode)
    assert (rest.stop, rest.results, rest.calls) == ("end_turn", {}, {})
    assert json.loads(rest.text)[-1] == result(call_id, content)
    assert said(app, reply) == [result(call_id, content), assistant(rest.text)]


@rule("P3", "P5")
@pytest.mark.parametrize("mode", MODES)
def test_an_untrusted_tool_runs_once_it_is_granted(app: Speaker, mode: str) -> None:
    word = secrets.token_hex(8)
    reply = begin(app, calls(("other", word)), [ASKED], mode=mode)
    call_id = reply.calls["other"]
    assert (reply.stop, reply.results, RAN.count(word)) == ("tool_use", {}, 0)
    rest = app.turn(reply.session, permission(call_id, reason="go ahead"), stream=mode)
    assert (rest.stop, rest.results, RAN.count(word)) == ("end_turn", {call_id: f"noted {word}"}, 1)
    if mode == "none":
        assert rest.json["messages"][0] == result(call_id, f"noted {word}")
    else:
        assert [event["event"] for event in rest.events[:2]] == ["turn_start", "tool_result"]
    assert said(app, reply) == [result(call_id, f"noted {word}"), assistant(rest.text)]


@rule("P4", "P5")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "Tool call denied"),
        ({"reason": ""}, "Tool call denied"),
        ({"reason": "not on a Sunday"}, "Tool call denied: not on a Sunday"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_denial_is_told_to_the_model_in_these_words(
    app: Speaker, mode: str, more: dict[str, str], words: str
) -> None:
    word = secrets.token_hex(8)
    reply = begin(app, calls(("other", word)), [ASKED], mode=mode)
    call_id = reply.calls["other"]
    rest = app.turn(reply.session, permission(call_id, granted=False, **more), stream=mode)
    assert (rest.stop, rest.results, RAN.count(word)) == ("end_turn", {}, 0)
    assert json.loads(rest.text)[-1] == result(call_id, words)
    assert said(app, reply) == [result(call_id, words), assistant(rest.text)]


@rule("P6", "P7")
@pytest.mark.parametrize("mode", MODES)
def test_one_step_may_ask_for_all_kinds_of_tools(app: Speaker, mode: str) -> None:
    text = calls(("weather", {"city": "Rome"}), ("map", {"city": "Rome"}), ("note", "t"), ("other", "u"))
    own = [app.tool("weather"), app.tool("map")]
    reply = begin(app, text, [TRUSTED, ASKED], own, mode)
    ids = reply.calls
    assert list(ids) == ["weather", "map", "note", "other"]
    # The trusted one runs before the stop; the others wait for one request that answers them all.
    assert (reply.stop, reply.results) == ("tool_use", {ids["note"]: "noted t"})
    answers = [result(ids["map"], "a map"), permission(ids["other"]), result(ids["weather"], "18°C")]
    rest = app.turn(reply.session, *answers, stream=mode)
    assert (rest.stop, rest.results) == ("end_turn", {ids["other"]: "noted u"})
    assert [one["toolCallId"] for one in json.loads(rest.text)[1:]] == [
        ids["note"],
        ids["map"],
        ids["weather"],
        ids["other"],
    ]
    assert [one["role"] for one in app.history(reply.session)] == [
        "user",
        "assistant",
        *["tool"] * 4,
        "assistant",
    ]


@rule("P7")
def test_grants_denials_and_results_may_come_together(app: Speaker) -> None:
    text = calls(("other", "yes"), ("other", "no"), ("weather", {"city": "Rome"}))
    reply = begin(app, text, [ASKED], [app.tool("weather")])
    first, second, third = (block["toolCallId"] for block in reply.json["messages"][0]["content"][2:])
    rest = app.turn(
        reply.session, permission(second, granted=False), result(third, "18°C"), permission(first)
    )
    told = {one["toolCallId"]: one["content"] for one in json.loads(rest.text)[1:]}
    assert told == {first: "noted yes", second: "Tool call denied", third: "18°C"}


@rule("P8")
def test_a_new_message_skips_what_is_still_open_and_the_model_is_told(app: Speaker) -> None:
    word = secrets.token_hex(8)
    text = calls(("other", word), ("weather", {"city": "Rome"}), ("note", "done"))
    reply = begin(app, text, [TRUSTED, ASKED], [app.tool("weather")])
    ids = reply.calls
    rest = app.turn(reply.session, "/everything")
    skipped = "Tool call skipped: the turn ended before it could finish."
    told = [result(ids["note"], "noted done"), result(ids["other"], skipped), result(ids["weather"], skipped)]
    assert json.loads(rest.text)[2:] == [*told, user("/everything")]
    assert said(app, reply) == [*told, user("/everything"), assistant(rest.text)]
    assert app.turn(reply.session, permission(ids["other"])).status == 422
    assert RAN.count(word) == 0


@rule("P9", "X7")
def test_an_answer_counts_once(app: Speaker) -> None:
    word = secrets.token_hex(8)
    reply = begin(app, calls(("other", word), ("weather", {"city": "Rome"})), [ASKED], [app.tool("weather")])
    answers = [permission(reply.calls["other"]), result(reply.calls["weather"], "18°C")]
    assert app.turn(reply.session, *answers).stop == "end_turn"
    before = app.history(reply.session)
    again = app.turn(reply.session, *answers)
    assert (again.status, again.error["path"]) == (422, "$.messages[0].toolCallId")
    assert (app.history(reply.session), RAN.count(word)) == (before, 1)


@rule("P9")
def test_of_several_requests_at_the_same_time_one_counts(app: Speaker) -> None:
    word = secrets.token_hex(8)
    reply = begin(app, calls(("other", word)), [ASKED])
    barrier, replies = threading.Barrier(8), []

    def send() -> None:
        barrier.wait()
        replies.append(app.turn(reply.session, permission(reply.calls["other"])))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.status for one in replies if one.status != 200} <= {409, 422}
    assert [one.status for one in replies].count(200) == 1
    assert RAN.count(word) == 1
    assert [one["role"] for one in app.history(reply.session)] == ["user", "assistant", "tool", "assistant"]


@rule("P9", "X12")
def test_answers_before_the_turn_has_stopped_are_refused(app: Speaker) -> None:
    session = app.begin(
        "Hello", {"name": "stepper", "tools": [ASKED, {"name": "slow", "trust": True}]}
    ).session
    text = calls(("other", "early"), ("slow", {"seconds": 0.5}))
    listening = app.start(session, text, stream="delta")
    data = listening.read_until(b'"name":"slow"')
    call_id = data.split(b'"toolCallId":"')[1].split(b'"')[0].decode()
    early = app.turn(session, permission(call_id))
    assert (early.status, early.error["code"]) == (409, "turn_in_progress")
    assert listening.rest().stop == "tool_use"
    assert app.turn(session, permission(call_id)).stop == "end_turn"


@rule("P10")
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_not_exposed_runs_without_anybody_being_asked(app: Speaker, mode: str) -> None:
    reply = begin(app, calls(("secretly", "s")), mode=mode)
    assert (reply.stop, list(reply.results.values())) == ("end_turn", ["secretly s"])


@rule("P11")
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_fails_or_is_not_there_is_told_and_the_turn_goes_on(app: Speaker, mode: str) -> None:
    agent = {"tools": [{"name": "fail", "trust": True}]}
    reply = app.begin("/call fail && nothing", agent, stream=mode)
    assert reply.stop == "end_turn"
    assert {name: reply.results[call_id] for name, call_id in reply.calls.items()} == {
        "fail": "this tool always fails",
        "nothing": "there is no tool 'nothing' in this session",
    }


@rule("P12")
def test_a_turn_may_stop_for_tools_again_and_again(app: Speaker) -> None:
    seed = [user("a"), assistant([used("c0", "weather", city="Bern")]), result("c0", "1°C"), assistant("1°C")]
    reply = app.begin('/call weather {"city": "Rome"}', tools=[app.tool("weather")], seed=seed)
    for _ in range(3):
        reply_2 = app.turn(reply.session, result(reply.calls["weather"], "18°C"))
        assert (reply_2.stop, reply_2.text) == ("end_turn", "weather -> 18°C")
        session, reply = reply.session, app.turn(reply.session, '/call weather {"city": "Rome"}')
        reply.session = session
        assert reply.stop == "tool_use"
