"""Sessions listed by what was said in them: with the `filter` of `listSessions` that AHP leaves open."""

from typing import Any

import pytest

from ahp_agents import ECHO
from ahp_sites import Place, on_a_host
from rules import rule

OWNERS = ("ann", "bob")


def sought(text: Any) -> Any:
    return {"agenthost": {"text": text}}


@rule("HR-I08")
@on_a_host(ECHO, keys=OWNERS)
async def test_sessions_are_listed_by_what_was_said_and_only_to_their_owner(place: Place) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        uri = await ann.begun()
        other = await ann.begun()
        await ann.say(uri, "Where is the needle?")
        await ann.say(other, "Nowhere.")
        found = await ann.request("listSessions", filter=sought("NEEDLE"))
        assert [item["resource"] for item in found["items"]] == [uri]
        told = found["_meta"]["agenthost"]
        assert "Where is the needle?" in told["excerpts"][uri]
        assert told["isComplete"] is True
        assert (await bob.request("listSessions", filter=sought("needle")))["items"] == []
        assert "_meta" not in await ann.request("listSessions")  # only who asks gets more than AHP knows


@rule("HR-R05", "HR-I09")
@pytest.mark.parametrize("ours", ["text", {}, {"text": 5}, {"text": ""}, {"text": "x" * 201}])
@on_a_host(ECHO)
async def test_a_filter_of_ours_that_makes_no_sense_is_refused(place: Place, ours: Any) -> None:
    async with place.client() as me:
        refused = await me.refusal("listSessions", filter={"agenthost": ours})
        assert refused.code == -32602
        assert "$.filter.agenthost" in str(refused)
        assert await me.request("listSessions", filter={"other": ours}) == {"items": []}
