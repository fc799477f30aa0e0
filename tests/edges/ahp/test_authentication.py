"""Tokens that agents need: asked for, brought, refused; each client's own."""

import pytest

from agenthost import Agent, Call, Turn
from agenthost.host.access.identity import Identity
from agenthost.tools.subagents import subagent
from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_agents import GUARDED, LOGIN
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule

GOOD = "good-secret"


@rule("HR-P01", "HR-P02")
@on_a_host(GUARDED)
async def test_an_agent_that_needs_a_token_is_not_used_without(place: Place) -> None:
    async with place.client() as me:
        root = await me.subscribe(ROOT_URI)
        (guarded,) = [one for one in root["agents"] if one["provider"] == "guarded"]
        assert guarded["protectedResources"][0] == LOGIN
        uri = new_uri("guarded")
        refused = await me.refusal("createSession", session=uri)
        assert (refused.code, refused.data) == (-32007, {"resources": [LOGIN]})
        assert await me.request("authenticate", resource=LOGIN["resource"], token=GOOD) == {}
        await me.begun(uri)
        turn = await me.say(uri, "Hello")
        refused = await me.refusal(
            "createSession", session="a:/b", fork={"session": "demo:/x", "turnId": "t"}
        )
        assert refused.code == -32001
    async with place.client("other") as other:
        fork = {"session": uri, "turnId": turn["id"]}
        assert (await other.refusal("createSession", session="demo:/fork", fork=fork)).code == -32007


@rule("HR-P03")
@pytest.mark.parametrize(
    ("resource", "token", "code"),
    [
        (LOGIN["resource"], "bad", -32007),
        (LOGIN["resource"], "", -32007),
        ("https://other.example.org", "good", -32602),
        (LOGIN["resource"], 5, -32602),
    ],
)
@on_a_host(GUARDED)
async def test_an_invalid_token_is_refused(place: Place, resource: str, token: str, code: int) -> None:
    async with place.client() as me:
        refused = await me.refusal("authenticate", resource=resource, token=token)
        assert refused.code == code
        assert "good" not in refused.message
        assert (await me.refusal("createSession", session=new_uri("guarded"))).code == -32007


@rule("HR-P05")
@on_a_host(GUARDED, keys=("ann", "bob"))
async def test_tokens_belong_to_one_client_are_kept_over_a_break_and_never_shown(place: Place) -> None:
    async with place.client("me", place.keys["ann"]) as me, place.client("you", place.keys["ann"]) as you:
        await me.subscribe(ROOT_URI)
        await you.subscribe(ROOT_URI)
        await me.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        await me.begun(new_uri("guarded"))
        assert (await you.refusal("createSession", session=new_uri("guarded"))).code == -32007
        await you.request("ping")
        assert GOOD not in "".join(me.frames + you.frames)
    async with place.stranger("me", place.keys["ann"]) as me:
        await me.reopen(0)
        await me.request("createSession", session=new_uri("guarded"))
    async with place.client("me", place.keys["bob"]) as namesake:
        assert (await namesake.refusal("createSession", session=new_uri("guarded"))).code == -32007


SENTENCE = "a token is needed for Example; an AHP client passes it with `authenticate`"


@rule("HR-P01")
@on_a_host(GUARDED)
async def test_no_turn_of_such_an_agent_starts_without_a_token(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        await me.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        uri = await me.begun(new_uri("guarded"))
        await other.subscribe(uri)
        message = {"userMessage": {"text": "Hello"}}
        for kind, fields in (
            ("session/turnStarted", {"turnId": "t", **message}),
            ("session/pendingMessageSet", {"kind": "queued", "id": "q", **message}),
            ("session/pendingMessageSet", {"kind": "steering", "id": "s", **message}),
        ):
            refused = await other.decide(uri, kind, **fields)
            assert refused["rejectionReason"] == SENTENCE
        assert (await me.say(uri, "Hello"))["state"] == "complete"
        await other.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        assert (await other.say(uri, "Hello"))["state"] == "complete"


@rule("HR-P01")
@on_a_host(GUARDED)
async def test_the_other_protocol_has_no_tokens_and_so_no_turns_of_such_an_agent(place: Place) -> None:
    answer = await place.ask("/aap/v3/sessions", "POST", {"agent": {"name": "guarded"}})
    problem = {"code": "token_required", "message": SENTENCE}
    assert (answer.status, answer.json) == (403, {"error": problem})
    async with place.client() as me:
        await me.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        uri = await me.begun(new_uri("guarded"))
        name = (await place.host.parts.engine.sessions.get(uri)).row.name
        body = {"messages": [{"role": "user", "content": "Hello"}], "stream": "none"}
        answer = await place.ask(f"/aap/v3/sessions/{name}/turns", "POST", body)
        assert (answer.status, answer.json) == (403, {"error": problem})
        assert me.state(uri)["turns"] == []


async def hand_on(turn: Turn) -> None:
    (result,) = await turn.calls(Call("guarded", {"task": turn.text}))
    await turn.say(f"told: {result}")


BOSS = Agent("boss", hand_on, tools=[subagent("guarded")])


@rule("HR-P01")
@on_a_host(GUARDED, BOSS)
async def test_a_task_for_such_an_agent_starts_only_with_a_token(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("boss"))
        turn = await me.say(uri, "Hello")
        assert turn["responseParts"][-1]["content"] == f"told: guarded cannot start: {SENTENCE}"
        await me.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        turn = await me.say(uri, "Hello")
        assert turn["responseParts"][-1]["content"] == "told: Hello"


@rule("HR-P01")
@on_a_host(GUARDED)
async def test_a_queued_message_whose_token_is_gone_is_answered_with_an_error(place: Place) -> None:
    async with place.client() as me:
        await me.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        uri = await me.begun(new_uri("guarded"))
        for count, state in ((2, "complete"), (4, "error")):
            await me.send(uri, "/steer")
            await me.hear_kind("session/inputRequested")
            message = {"kind": "queued", "id": state, "userMessage": {"text": "Hello"}}
            await me.decide(uri, "session/pendingMessageSet", **message)
            if state == "error":
                place.host.parts.tokens.forget(Identity("me"))
            request = me.state(uri)["inputRequests"][0]["id"]
            await me.act(uri, "session/inputCompleted", requestId=request, response="decline")
            await me.until(lambda: len(me.state(uri)["turns"]) == count)  # noqa: B023 - asked in this round
            turns = me.state(uri)["turns"]
            assert [turn["state"] for turn in turns[-2:]] == ["complete", state]
        assert me.state(uri)["turns"][-1]["error"] == {"errorType": "authRequired", "message": SENTENCE}
