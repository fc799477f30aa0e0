"""Changesets over AHP 1.0 and 0.9: what a session and its turns have changed, followed as it happens."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.line_counts import count_lines
from agenthost.wire.ahp import ROOT_URI
from ahp_channels import ChannelClient, channel_client
from ahp_frames import Refused
from ahp_sites import Place, on_a_host, served
from ahp_speaking import new_uri
from changing import CHANGER
from hosting import run
from rules import rule


async def changer(me: ChannelClient) -> str:
    """Begin a session with the agent that changes files."""
    return await me.begun(new_uri(), provider="changer")


def changeset(uri: str, turn: str | None = None) -> str:
    return f"{uri}/changeset/session" if turn is None else f"{uri}/changeset/turn/{turn}"


async def did(me: ChannelClient, uri: str, words: str) -> str:
    """Let the agent change files, and return the turn."""
    turn = await me.send(uri, words)
    await me.finish(uri, turn)
    return turn


async def names(me: ChannelClient, channel: str, name: str, *, is_there: bool = True) -> None:
    """Wait until a changeset names a file, or no longer does."""

    def look() -> bool:
        return any(file["id"].endswith(f"/{name}") for file in me.state(channel)["files"]) is is_there

    await me.until(look)


async def count(me: ChannelClient, channel: str, files: int) -> None:
    """Wait until a changeset has so many files, all of them with counts."""
    await me.until(lambda: ["diff" in one["edit"] for one in me.state(channel)["files"]] == [True] * files)


async def content(me: ChannelClient, side: Any) -> str | None:
    if side is None:
        return None
    found = await me.request("resourceRead", channel=ROOT_URI, uri=side["content"]["uri"], encoding="utf-8")
    text: str = found["data"]
    return text


async def listed(me: ChannelClient, state: Any) -> Any:
    """Return the files of a changeset with what `resourceRead` says of them, after a look at their counts."""
    found = {}
    for file in state["files"]:
        edit = file["edit"]
        before, after = await content(me, edit.get("before")), await content(me, edit.get("after"))
        assert edit["diff"] == count_lines(before, after)
        names = [edit[side]["uri"].rpartition("/")[2] for side in ("before", "after") if side in edit]
        found[" > ".join(dict.fromkeys(names))] = (before, after)
    return found


@rule("1.0/K1", "1.0/O1")
@on_a_host(CHANGER)
async def test_a_session_offers_changesets_with_its_first_change_of_a_file(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await changer(me)
        await did(me, uri, "say")
        assert "changesets" not in me.state(uri)
        turn = await did(me, uri, "a=one")
        session, per_turn = me.state(uri)["changesets"]
        assert (session["changeKind"], session["uriTemplate"]) == ("session", changeset(uri))
        assert per_turn["changeKind"] == "turn"
        expanded = per_turn["uriTemplate"].replace("{turnId}", turn)
        assert "capabilities" not in session
        for channel in (session["uriTemplate"], expanded):
            state = await me.subscribe(channel)
            assert (state["status"], "operations" in state) == ("ready", False)
            assert await listed(me, state) == {"a": (None, "one")}
        cause, offer = [
            envelope["serverSeq"]
            for envelope in me.envelopes
            if envelope["action"]["type"] in ("chat/toolCallComplete", "session/changesetsChanged")
        ]
        assert offer > cause
        await me.check_folds()


@rule("1.0/K2", "1.0/Q1")
@on_a_host(CHANGER)
async def test_a_file_is_listed_once_from_before_its_first_change_to_after_its_last(place: Place) -> None:
    (place.workspace / "old").write_text("1\n2\n")
    async with channel_client(place) as me:
        uri = await changer(me)
        first = await did(me, uri, "a=one;old=1/2/3/")
        await me.subscribe(changeset(uri))
        await me.subscribe(changeset(uri, first))
        second = await did(me, uri, "a=two;old=;b=new;b=")
        assert await listed(me, await me.subscribe(changeset(uri, second))) == {
            "a": ("one", "two"),
            "old": ("1\n2\n3\n", None),
        }
        await count(me, changeset(uri), 2)
        await me.until(lambda: "after" not in me.state(changeset(uri))["files"][1]["edit"])
        assert await listed(me, me.state(changeset(uri))) == {"a": (None, "two"), "old": ("1\n2\n", None)}
        assert await listed(me, me.state(changeset(uri, first))) == {
            "a": (None, "one"),
            "old": ("1\n2\n", "1\n2\n3\n"),
        }
        await did(me, uri, "old=1/2/;a=;c=x")
        await names(me, changeset(uri), "c")
        assert await listed(me, me.state(changeset(uri))) == {"c": (None, "x")}
        await did(me, uri, "c>d")
        await names(me, changeset(uri), "d")
        assert await listed(me, me.state(changeset(uri))) == {"d": (None, "x")}
        await did(me, uri, "old>older")
        await names(me, changeset(uri), "older")
        assert await listed(me, me.state(changeset(uri))) == {
            "d": (None, "x"),
            "old > older": ("1\n2\n", "1\n2\n"),
        }
        await me.check_folds()


@rule("1.0/K2")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host(CHANGER)
async def test_changes_are_told_while_the_turn_runs(place: Place, version: str) -> None:
    async with channel_client(place, protocolVersions=[version]) as me:
        uri = await changer(me)
        await did(me, uri, "z=1")
        await me.subscribe(changeset(uri))
        turn = await me.send(uri, "a=one;ask;a=;ask;b=two")
        await names(me, changeset(uri), "a")
        assert await me.subscribe(changeset(uri, turn))
        for gone_on in ("a", "b"):
            (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
            which = {"requestId": needed["request"]["id"], "response": "decline"}
            await me.decide(needed["chat"], "chat/inputCompleted", **which)
            for channel in (changeset(uri), changeset(uri, turn)):
                await names(me, channel, gone_on, is_there=gone_on == "b")
        kinds = [one["action"]["type"] for one in me.envelopes if one["channel"] == changeset(uri)]
        assert kinds == ["changeset/fileSet", "changeset/fileRemoved", "changeset/fileSet"]
        await me.finish(uri, turn)
        await me.check_folds()


@rule("1.0/K2")
@on_a_host(CHANGER)
async def test_a_turn_without_changes_has_an_empty_changeset_and_an_unknown_one_has_none(
    place: Place,
) -> None:
    async with channel_client(place) as me:
        uri = await changer(me)
        turn = await did(me, uri, "say")
        assert await me.subscribe(changeset(uri, turn)) == {"status": "ready", "files": []}
        for wrong in (changeset(uri, "other"), f"{uri}/changeset/branch", changeset("demo:/none")):
            refused = await me.refusal("subscribe", channel=wrong)
            assert refused.code in (-32008, -32001)


@rule("1.0/K2", "1.0/D1")
@on_a_host(CHANGER)
async def test_turns_that_are_removed_take_their_changes_along(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await changer(me)
        first = await did(me, uri, "a=one")
        second = await did(me, uri, "a=two;b=x")
        await me.subscribe(changeset(uri))
        await me.subscribe(changeset(uri, second))
        await me.decide(me.chat_of(uri), "chat/truncated", turnId=first)
        await count(me, changeset(uri), 1)
        assert await listed(me, me.state(changeset(uri))) == {"a": (None, "one")}
        await me.until(lambda: me.state(changeset(uri, second))["files"] == [])
        assert (await me.refusal("subscribe", channel=changeset(uri, second))).code == -32008
        await me.unsubscribe(changeset(uri, second))
        await me.check_folds()


@rule("1.0/K3", "1.0/D1")
@on_a_host(CHANGER)
async def test_nothing_can_be_done_with_a_changeset_but_following_it(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await changer(me)
        await did(me, uri, "a=one")
        await me.subscribe(changeset(uri))
        (file,) = me.state(changeset(uri))["files"]
        marked = await me.decide(
            changeset(uri), "changeset/filesReviewChanged", files=[file["id"]], reviewed=True
        )
        assert "is not an action that a client may dispatch" in marked["rejectionReason"]
        renamed = await me.decide(changeset(uri), "session/titleChanged", title="Hidden")
        assert "not an action of its channel" in renamed["rejectionReason"]
        assert me.state(uri)["title"] != "Hidden"
        params = {"channel": changeset(uri), "operationId": "undo"}
        refused = await me.refusal("invokeChangesetOperation", **params)
        assert refused.code == -32602
        await me.check_folds()


@rule("1.0/K3")
@on_a_host(CHANGER, keys=("ann", "bob"), worth={"files": ["files"]})
async def test_only_who_may_see_the_session_may_follow_its_changesets(place: Place) -> None:
    async with channel_client(place, key=place.keys["ann"]) as ann:
        uri = await changer(ann)
        turn = await did(ann, uri, "a=one")
        state = await ann.subscribe(changeset(uri))
        assert await listed(ann, state) == {"a": (None, "one")}
        async with channel_client(place, "you", key=place.keys["bob"]) as bob:
            for channel in (changeset(uri), changeset(uri, turn)):
                hidden = await bob.refusal("subscribe", channel=channel)
                unknown = await bob.refusal("subscribe", channel=changeset("demo:/nowhere"))
                assert hidden.code == unknown.code == -32008
            await bob.act(changeset(uri), "changeset/filesReviewChanged", files=[], reviewed=True)
            with pytest.raises(Refused):
                await content(bob, state["files"][0]["edit"]["after"])
        async with channel_client(place, "she", key=place.keys["files"]) as files:
            assert (await files.refusal("subscribe", channel=changeset(uri))).code == -32009


@rule("1.0/Q2", "1.0/K2")
@on_a_host(CHANGER)
async def test_a_client_that_comes_back_is_told_what_it_missed(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await changer(me)
        await did(me, uri, "a=one")
        channels = (uri, me.chat_of(uri), changeset(uri))
        await me.subscribe(changeset(uri))
        seen, known = me.last_seq, me.state(changeset(uri))
    async with channel_client(place, "other") as other:
        await other.follow(uri)
        await other.subscribe(changeset(uri))
        await did(other, uri, "b=two")
        await count(other, changeset(uri), 2)
        now = other.state(changeset(uri))
    async with ChannelClient.connected(place.url, "me") as me:
        answer = await me.reopen(seen, *channels)
        assert (answer["type"], answer["missing"]) == ("replay", [])
        numbers = [one["serverSeq"] for one in answer["actions"]]
        assert numbers == sorted(set(numbers))
        (told,) = [one for one in answer["actions"] if one["channel"] == changeset(uri)]
        assert told["action"] == {"type": "changeset/fileSet", "file": now["files"][1]}
        assert known["files"] == now["files"][:1]


@rule("1.0/Q2", "1.0/K2")
def test_after_a_restart_of_the_host_all_channels_are_answered_by_snapshots(tmp_path: Path) -> None:
    async def told() -> None:
        async with served(tmp_path, CHANGER) as place, channel_client(place) as me:
            uri = await changer(me)
            turn = await did(me, uri, "a=one;a=two")
            channels = (uri, me.chat_of(uri), changeset(uri), changeset(uri, turn), changeset(uri, "none"))
            states = [await me.subscribe(one) for one in channels[2:4]]
            seen = me.last_seq
        async with served(tmp_path, CHANGER) as place, ChannelClient.connected(place.url, "me") as me:
            answer = await me.reopen(seen, *channels)
            assert answer["type"] == "snapshot"
            assert [one["resource"] for one in answer["snapshots"]] == list(channels[:4])
            assert [one["state"] for one in answer["snapshots"]][2:] == states
            assert await listed(me, states[0]) == {"a": (None, "two")}
            await did(me, uri, "b=three")
            await count(me, changeset(uri), 2)
            await me.check_folds()

    run(told)


@rule("1.0/K1")
@on_a_host(CHANGER)
async def test_a_fork_has_the_changes_of_its_turns(place: Place) -> None:
    async with channel_client(place) as me:
        uri, new = await changer(me), new_uri()
        first = await did(me, uri, "a=one;a=two")
        await did(me, uri, "a=three;b=x")
        meta = {"agenthost": {"fork": {"session": uri, "turnId": first}}}
        await me.request("createSession", channel=new, _meta=meta)
        await me.follow(new)
        assert me.state(new)["changesets"][0]["uriTemplate"] == changeset(new)
        for channel in (changeset(new), changeset(new, first)):
            assert await listed(me, await me.subscribe(channel)) == {"a": (None, "two")}
        await me.request("disposeSession", channel=uri)
        assert await listed(me, me.state(changeset(new))) == {"a": (None, "two")}
        assert (await me.refusal("subscribe", channel=changeset(uri))).code == -32008


@rule("1.0/K2")
@on_a_host(CHANGER)
async def test_many_clients_follow_one_changeset_at_once(place: Place) -> None:
    async with channel_client(place) as me, channel_client(place, "you") as you:
        uri = await changer(me)
        await did(me, uri, "a=one;a=two")
        await asyncio.gather(*(one.subscribe(changeset(uri)) for one in (me, you)))
        await did(me, uri, "b=x;c=y;b=z")
        for one in (me, you):
            await names(one, changeset(uri), "c")
            await count(one, changeset(uri), 3)
        assert me.state(changeset(uri)) == you.state(changeset(uri))
        await me.check_folds()
