"""What a client sends a second time: dropped when it cannot know that it happened, and never else."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.state.senders import MAX_RECEIPTS
from ahp_agents import ECHO
from ahp_sites import Place, on_a_host, served
from ahp_speaking import Client, new_uri
from hosting import run
from rules import rule

TITLE = "session/titleChanged"


async def titles(me: Client, uri: str) -> list[str]:
    """Return the titles that a session was given, in order."""
    back = await me.reopen(0, uri)
    return [one["action"]["title"] for one in back["actions"] if one["action"]["type"] == TITLE]


async def seen_by(place: Place, uri: str) -> list[str]:
    async with place.stranger("reader") as reader:
        return await titles(reader, uri)


def queued(message_id: str) -> dict[str, Any]:
    return {"kind": "queued", "id": message_id, "userMessage": {"text": message_id}}


@rule("HR-C09")
@on_a_host()
async def test_within_a_connection_a_number_never_drops_anything(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        for title in ("A", "A", "B"):
            await me.decide(uri, TITLE, seq=0, title=title)
        seen = me.last_seq
    async with place.stranger() as me:
        await me.reopen(seen, uri)
        for title in ("C", "C"):
            await me.decide(uri, TITLE, seq=1, title=title)
    assert await seen_by(place, uri) == ["A", "A", "B", "C", "C"]


@rule("HR-C09")
@on_a_host()
async def test_a_client_that_restarts_counting_after_a_reconnect_is_heard(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        for number in (1, 2, 3):
            await me.decide(uri, TITLE, seq=number, title=f"before {number}")
        seen = me.last_seq
    async with place.stranger() as me:
        await me.reopen(seen, uri)
        await me.decide(uri, TITLE, seq=1, title="after 1")
        await me.decide(uri, TITLE, seq=2, title="before 2")  # the very same, but its echo was seen
    assert (await seen_by(place, uri))[3:] == ["after 1", "before 2"]


@rule("HR-C09")
@on_a_host()
async def test_a_repeated_action_is_dropped_once_if_its_echo_was_not_seen(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        seen = me.last_seq
        await me.decide(uri, TITLE, seq=7, title="Once")
    async with place.stranger() as me:
        await me.reopen(seen, uri)
        await me.act(uri, TITLE, seq=7, title="Once")  # dropped
        await me.act(uri, TITLE, seq=7, title="Other")  # the same number, but not the same action
        await me.act(uri, TITLE, seq=8, title="Once")  # the same action, but not the same number
        await me.act(uri, TITLE, seq=7, title="Once")  # the receipt is spent
        await me.decide(uri, TITLE, seq=99, title="End")
    assert await seen_by(place, uri) == ["Once", "Other", "Once", "Once", "End"]


@rule("HR-C09")
@on_a_host()
async def test_a_client_that_starts_anew_repeats_nothing(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        seen = me.last_seq
        await me.decide(uri, TITLE, seq=7, title="Once")
    async with place.client() as me:
        await me.subscribe(uri)
        await me.decide(uri, TITLE, seq=7, title="Once")
    async with place.stranger() as me:  # the receipt of the second is there, that of the first is gone
        await me.reopen(seen, uri)
        await me.act(uri, TITLE, seq=7, title="Once")
        await me.act(uri, TITLE, seq=7, title="Once")
        await me.decide(uri, TITLE, seq=99, title="End")
    assert await seen_by(place, uri) == ["Once", "Once", "Once", "End"]


@rule("HR-C09")
@on_a_host(keys=("ann", "bob"))
async def test_clients_of_different_owners_have_nothing_in_common(place: Place) -> None:
    seen = {}
    for owner, uri in (("ann", "demo:/a"), ("bob", "demo:/b")):
        async with place.client("me", place.keys[owner]) as me:
            await me.begun(uri)
            seen[owner] = me.last_seq
    async with place.stranger("me", place.keys["ann"]) as ann:
        await ann.reopen(seen["ann"], "demo:/a")
        await ann.decide("demo:/a", TITLE, seq=7, title="Hers")
    async with place.stranger("me", place.keys["bob"]) as bob:
        await bob.reopen(seen["bob"], "demo:/b")
        await bob.decide("demo:/b", TITLE, seq=7, title="His")


@rule("HR-C09")
@on_a_host()
async def test_only_the_newest_receipts_of_a_client_are_kept(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        seen = me.last_seq
        for number in range(MAX_RECEIPTS + 1):
            await me.act(uri, TITLE, seq=number, title=f"{number}")
        await me.hear(lambda one: one["action"].get("title") == f"{MAX_RECEIPTS}")
    assert len(place.host.parts.engine.storage.receipts("me")) == MAX_RECEIPTS
    async with place.stranger() as me:
        await me.reopen(seen, uri)
        await me.act(uri, TITLE, seq=1, title="1")
        await me.act(uri, TITLE, seq=0, title="0")
        await me.decide(uri, TITLE, seq=9_999, title="End")
    assert (await seen_by(place, uri))[MAX_RECEIPTS + 1 :] == ["0", "End"]


@rule("HR-C09")
@on_a_host()
async def test_input_from_before_a_lost_connection_is_not_typed_again(place: Place) -> None:
    async with place.client() as me:
        claim = {"kind": "client", "clientId": "me"}
        await me.request("createTerminal", terminal="t:/1", claim=claim)
        await me.subscribe("t:/1")
        seen = me.last_seq
        await me.decide("t:/1", "terminal/input", seq=4, data="echo on''ce\n")
        await me.until(lambda: "once" in str(me.state("t:/1")["content"]))
    async with place.stranger() as me:
        await me.reopen(seen, "t:/1")
        await me.act("t:/1", "terminal/input", seq=4, data="echo on''ce\n")
        await me.decide("t:/1", "terminal/input", seq=5, data="echo ov''er\n")
        await me.subscribe("t:/1")
        await me.until(lambda: "over" in str(me.state("t:/1")["content"]))
        assert str(me.state("t:/1")["content"]).count("once") == 1


@rule("HR-C09")
def test_what_happened_before_a_restart_does_not_happen_again_after_it(tmp_path: Path) -> None:
    async def story() -> None:
        uri = new_uri("echo")
        async with served(tmp_path, ECHO) as place, place.client() as me:
            await me.begun(uri)
            seen = me.last_seq
            await me.act(uri, "session/pendingMessageSet", seq=3, **queued("q1"))
            await me.hear_kind("session/turnComplete")
            refused = await me.decide(uri, "session/turnCancelled", seq=4, turnId="none")
            assert "rejectionReason" in refused
        async with served(tmp_path, ECHO) as place, place.stranger() as me:
            await me.reopen(seen, uri)
            last = me.last_seq
            await me.act(uri, "session/pendingMessageSet", seq=3, **queued("q1"))
            await me.act(uri, "session/turnCancelled", seq=4, turnId="none")
            await me.decide(uri, TITLE, seq=5, title="Now")
            after = [one["action"]["type"] for one in me.envelopes if one["serverSeq"] > last]
            assert after == [TITLE]
            assert len((await me.subscribe(uri))["turns"]) == 1

    run(story)


@rule("HR-C09")
@on_a_host(ECHO)
async def test_what_has_an_id_of_its_own_happens_once_whatever_its_number(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        await me.act(uri, "session/pendingMessageSet", **queued("q1"))
        await me.hear_kind("session/turnComplete")
        again = await me.decide(uri, "session/pendingMessageSet", **queued("q1"))
        assert again["rejectionReason"] == "the queued message 'q1' was taken or removed before"
        turn = await me.send(uri, "Hello")
        await me.finish(uri, turn)
        again = await me.decide(uri, "session/turnStarted", turnId=turn, userMessage={"text": "Hello"})
        assert "already had a turn" in again["rejectionReason"]
        await me.decide(uri, "session/pendingMessageSet", kind="steering", id="s", userMessage={"text": "S"})
        await me.decide(uri, "session/pendingMessageRemoved", kind="steering", id="s")
        again = {"kind": "steering", "id": "s", "userMessage": {"text": "S"}}
        assert "rejectionReason" in await me.decide(uri, "session/pendingMessageSet", **again)
        assert len((await me.subscribe(uri))["turns"]) == 2


@rule("HR-C09", "HR-A06")
@pytest.mark.parametrize("is_over", [False, True])
@on_a_host(ECHO)
async def test_a_model_that_waits_for_the_end_of_a_turn_is_not_chosen_twice(
    place: Place, is_over: bool
) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        turn = await me.send(uri, "/steer")
        await me.act(uri, "session/modelChanged", seq=9, model={"id": "large"})
        await me.request("ping")
        seen = me.last_seq
    async with place.stranger() as me:
        await me.reopen(seen, uri)
        await me.subscribe(uri)
        if is_over:
            await me.decide(uri, "session/turnCancelled", turnId=turn)
            await me.hear_kind("session/modelChanged")
        await me.act(uri, "session/modelChanged", seq=9, model={"id": "large"})
        if not is_over:
            await me.decide(uri, "session/turnCancelled", turnId=turn)
        await me.decide(uri, TITLE, title="Over")
        models = [one for one in me.envelopes if one["action"]["type"] == "session/modelChanged"]
        assert [one["origin"]["clientSeq"] for one in models] == [9]


@rule("HR-C09")
@on_a_host()
async def test_actions_that_still_arrived_on_the_old_connection_are_known_on_the_new_one(
    place: Place,
) -> None:
    async with place.client() as old:
        uri = await old.begun()
        seen = old.last_seq
        async with place.stranger() as me:
            sending = [old.act(uri, TITLE, seq=7, title="Once"), me.reopen(seen, uri)]
            await asyncio.gather(*sending)
            await me.act(uri, TITLE, seq=7, title="Once")
            await me.decide(uri, TITLE, seq=8, title="Last")
    assert await seen_by(place, uri) == ["Once", "Last"]
