"""Owners: whoever comes with one key never sees, hears of or touches what belongs to another."""

from typing import Any

from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_agents import ECHO
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, new_uri
from rules import rule

OWNERS = ("ann", "bob")


async def furnished(me: Client) -> tuple[str, str, str]:
    """Make a session with a content, and a terminal; returns the URIs of all three."""
    uri = await me.begun(new_uri("echo"))
    turn = await me.say(uri, "/show")
    content = next(part["uri"] for part in turn["responseParts"] if part["kind"] == "contentRef")
    terminal = f"t:/{uri[-3:]}"
    claim = {"kind": "client", "clientId": me.client_id}
    await me.request("createTerminal", terminal=terminal, claim=claim, name="private title")
    return uri, content, terminal


@rule("HR-C03", "HR-S05")
@on_a_host(ECHO, keys=OWNERS)
async def test_resources_of_another_owner_are_not_visible(place: Place) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        await bob.subscribe(ROOT_URI)
        seen = bob.last_seq
        uri, content, terminal = await furnished(ann)
        assert (await bob.request("listSessions"))["items"] == []
        refusals: list[tuple[str, Any, int]] = [
            ("subscribe", {"resource": uri}, -32001),
            ("subscribe", {"resource": terminal}, -32001),
            ("disposeSession", {"session": uri}, -32001),
            ("disposeTerminal", {"terminal": terminal}, -32008),
            ("fetchTurns", {"session": uri}, -32001),
            ("resourceRead", {"uri": content}, -32008),
            ("completions", {"kind": "userMessage", "session": uri, "text": "@", "offset": 1}, -32001),
            ("createSession", {"session": "echo:/f", "fork": {"session": uri, "turnId": "t"}}, -32001),
            ("createTerminal", {"terminal": "t:/b", "claim": {"kind": "session", "session": uri}}, -32001),
        ]
        for method, params, code in refusals:
            assert (await bob.refusal(method, **params)).code == code, method
        await bob.act(uri, "session/titleChanged", title="stolen")
        await bob.act(terminal, "terminal/input", data="exit\n")
        await bob.request("ping")
        assert (await ann.subscribe(uri))["summary"]["title"] != "stolen"
        async with place.stranger("b2", place.keys["bob"]) as back:
            answer = await back.reopen(seen, ROOT_URI, uri, terminal)
            assert answer["missing"] == [uri, terminal]
            assert "private title" not in "".join(back.frames)
        async with place.stranger("b3", place.keys["bob"]) as fresh:
            opened = await fresh.open(uri, terminal, ROOT_URI)
            (root,) = opened["snapshots"]
            assert root["state"]["terminals"] == []


@rule("HR-S06", "HR-X01")
@on_a_host(ECHO, keys=OWNERS)
async def test_notifications_and_terminals_of_another_owner_do_not_arrive(place: Place) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        await ann.subscribe(ROOT_URI)
        await bob.subscribe(ROOT_URI)
        uri, _, terminal = await furnished(ann)
        await ann.until(lambda: len(ann.state(ROOT_URI)["terminals"]) == 1)
        mine, _, my_terminal = await furnished(bob)
        await bob.until(lambda: len(bob.state(ROOT_URI)["terminals"]) == 1)
        await ann.request("disposeSession", session=uri)
        await ann.notice("sessionRemoved", session=uri)
        await bob.request("ping")
        told = {one.get("session") or one["summary"]["resource"] for one in bob.notices}
        assert told == {mine}
        assert [one["resource"] for one in bob.state(ROOT_URI)["terminals"]] == [my_terminal]
        heard = "".join(bob.frames)
        assert uri not in heard
        assert f'"{terminal}"' not in heard


@rule("HR-I13")
@on_a_host(ECHO, keys=OWNERS)
async def test_clients_of_two_owners_may_have_the_same_id(place: Place) -> None:
    async with place.client("web", place.keys["ann"]) as ann, place.client("web", place.keys["bob"]) as bob:
        first, second = await ann.begun(new_uri("echo")), await bob.begun(new_uri("echo"))
        for number in (1, 2, 3):
            await ann.decide(first, "session/titleChanged", seq=number, title=f"a{number}")
            await bob.decide(second, "session/titleChanged", seq=number, title=f"b{number}")
        assert ann.state(first)["summary"]["title"] == "a3"
        assert bob.state(second)["summary"]["title"] == "b3"


@rule("HR-C02")
@on_a_host(ECHO, keys=OWNERS)
async def test_a_client_with_the_id_of_another_owners_client_does_not_see_its_refusals(
    place: Place,
) -> None:
    async with place.client("same", place.keys["ann"]) as ann, place.client("same", place.keys["bob"]) as bob:
        seen = bob.last_seq
        refused = await ann.decide(ROOT_URI, "root/configChanged", config={"x": "private words"})
        assert "rejectionReason" in refused
    async with place.stranger("same", place.keys["bob"]) as bob:
        assert (await bob.reopen(seen, ROOT_URI))["type"] == "replay"
        assert "private words" not in "".join(bob.frames)
    async with place.stranger("same", place.keys["ann"]) as ann:
        await ann.reopen(seen, ROOT_URI)
        assert "private words" in "".join(ann.frames)


@rule("HR-X01")
@on_a_host(ECHO, keys=OWNERS)
async def test_a_reused_uri_reveals_nothing_of_its_earlier_use(place: Place) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        seen = bob.last_seq
        claim = {"kind": "client", "clientId": "a"}
        await ann.request("createTerminal", terminal="t:/1", claim=claim, name="private title")
        await ann.request("disposeTerminal", terminal="t:/1")
        claim = {"kind": "client", "clientId": "b"}
        await bob.request("createTerminal", terminal="t:/1", claim=claim, name="my own title")
        async with place.stranger("b2", place.keys["bob"]) as back:
            answer = await back.reopen(seen, ROOT_URI)
            assert "private title" not in "".join(back.frames)
            lists = [one["action"].get("terminals") for one in answer["actions"]]
            assert [one["title"] for one in lists[-1]] == ["my own title"]


@rule("HR-S07", "HR-C07")
@on_a_host(ECHO, keys=OWNERS)
async def test_an_owner_sees_the_number_of_its_own_sessions_and_only_when_it_changes(
    place: Place,
) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        await ann.subscribe(ROOT_URI)
        seen = bob.last_seq
        assert (await bob.subscribe(ROOT_URI))["activeSessions"] == 0
        await ann.begun(new_uri("echo"))
        await ann.request("createTerminal", terminal="t:/a", claim={"kind": "client", "clientId": "a"})
        mine = await ann.begun(new_uri("echo"))
        await ann.until(lambda: ann.state(ROOT_URI)["activeSessions"] == 2)
        await bob.begun(new_uri("echo"))
        await bob.until(lambda: bob.state(ROOT_URI)["activeSessions"] == 1)
        heard = [one["action"] for one in bob.envelopes if one["action"]["type"].startswith("root/")]
        assert heard == [{"type": "root/activeSessionsChanged", "activeSessions": 1}]
        async with place.stranger("b2", place.keys["bob"]) as back:
            actions = [one["action"] for one in (await back.reopen(seen, ROOT_URI))["actions"]]
            counts = [one["activeSessions"] for one in actions if "activeSessions" in one]
            assert counts == [1]
        await ann.request("disposeSession", session=mine)
        await ann.until(lambda: ann.state(ROOT_URI)["activeSessions"] == 1)


@rule("HR-L03")
@on_a_host(ECHO, keys=OWNERS)
async def test_a_uri_of_another_owner_is_refused_like_a_reserved_one(place: Place) -> None:
    async with place.client("a", place.keys["ann"]) as ann, place.client("b", place.keys["bob"]) as bob:
        uri, _, terminal = await furnished(ann)
        claim = {"kind": "client", "clientId": "b"}
        answers = set()
        for one in (uri, terminal, ROOT_URI):
            session = await bob.refusal("createSession", session=one, provider="echo")
            shell = await bob.refusal("createTerminal", terminal=one, claim=claim)
            for refused in (session, shell):
                answers.add((refused.code, refused.message.replace(repr(one), "URI")))
        assert answers == {(-32602, "URI cannot be used here; choose another URI")}
        assert (await ann.refusal("createSession", session=uri, provider="echo")).code == -32003
