"""Tokens that agents need: asked for, brought, refused; each client's own."""

import pytest

from agenthost.wire.ahp import ROOT_URI
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
async def test_a_token_that_is_no_good_is_refused(place: Place, resource: str, token: str, code: int) -> None:
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
