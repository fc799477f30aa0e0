"""Sessions: made, forked, listed, disposed, and what everybody is told of it."""

import json
from typing import Any

import pytest

from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_agents import ECHO, PLUGIN, SLOW, UNREADY
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule


@rule("HR-L01", "HR-L02")
@on_a_host(UNREADY, may_fail=True)
async def test_a_session_starts_as_creating_and_becomes_ready_or_fails(place: Place) -> None:
    async with place.client() as me:
        bad = new_uri("unready")
        made = me.begin("createSession", {"session": bad})
        seen = me.begin("subscribe", {"resource": bad})
        assert await made is None
        first = (await seen)["snapshot"]["state"]
        assert (first["lifecycle"], first["turns"], first["summary"]["status"]) == ("creating", [], 1)
        assert first["summary"]["createdAt"] == first["summary"]["modifiedAt"]
        await me.until(lambda: me.state(bad)["lifecycle"] == "creationFailed")
        assert me.state(bad)["creationError"]["message"] == "the agent could not get ready"
        good = await me.begun()
        assert me.state(good)["lifecycle"] == "ready"


@rule("HR-L11", "HR-L02")
@pytest.mark.parametrize("fails", [False, True])
@on_a_host(SLOW, may_fail=True)
async def test_a_turn_that_is_started_at_once_waits_for_the_session(place: Place, fails: bool) -> None:
    async with place.client() as me:
        uri = f"slow:/{'bad' if fails else 'good'}"
        release = SLOW.hold(uri)
        await me.request("createSession", session=uri)
        await me.subscribe(uri)
        seq = await me.act(uri, "session/turnStarted", turnId="t1", userMessage={"text": "Hi"})
        await me.request("ping")
        assert me.envelopes == []
        release()
        origin = {"clientId": "me", "clientSeq": seq}
        answer = await me.hear(lambda one: one.get("origin") == origin)
        if fails:
            assert answer["rejectionReason"].startswith("the session could not be created: ")
        else:
            assert (await me.finish(uri, "t1"))["responseParts"][0]["content"] == "Hi"


@rule("HR-L03", "HR-L04", "HR-L05", "HR-U08")
@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"session": "demo:/taken"}, -32003),
        ({"session": ROOT_URI}, -32602),
        ({"session": ""}, -32602),
        ({"session": "other:/1"}, -32002),
        ({"provider": "nobody"}, -32002),
        ({"model": "swift"}, -32602),
        ({"model": {"id": "huge"}}, -32602),
        ({"config": {"style": "quiet"}}, -32602),
        ({"config": {"nothing": "x"}}, -32602),
        ({"activeClient": {"clientId": "other", "tools": []}}, -32602),
        ({"activeClient": {"clientId": "me", "tools": [{"name": "add"}]}}, -32602),
        ({"activeClient": {"clientId": "me", "tools": [{"name": "x"}, {"name": "x"}]}}, -32602),
        ({"workingDirectory": "file:///nowhere/at/all"}, -32009),
        ({"workingDirectory": "nonsense"}, -32008),
        ({"fork": {"session": "demo:/nowhere", "turnId": "t"}}, -32001),
        ({"fork": {"session": "demo:/taken", "turnId": "t"}}, -32602),
    ],
)
@on_a_host(ECHO)
async def test_a_session_that_cannot_be_created_is_refused_and_nobody_is_notified(
    place: Place, more: Any, code: int
) -> None:
    async with place.client() as me:
        await me.request("createSession", session="demo:/taken")
        refused = await me.refusal("createSession", **{"session": new_uri(), **more})
        assert refused.code == code, refused
        assert len((await me.request("listSessions"))["items"]) == 1
        await me.request("ping")
        added = [one["summary"]["resource"] for one in me.notices if one["type"] == "notify/sessionAdded"]
        assert added == ["demo:/taken"]


@rule("HR-L06")
@on_a_host()
async def test_notifications_of_a_session_follow_the_answer_to_its_creator(place: Place) -> None:
    async with place.client() as me:
        for _ in range(20):
            uri = new_uri()
            await me.request("createSession", session=uri)
        await me.until(lambda: sum(one["type"] == "notify/sessionAdded" for one in me.notices) == 20)
        frames = [json.loads(frame) for frame in me.frames]
        kinds = ["answer" if one.get("result", 0) is None else one.get("method") for one in frames[1:]]
        order = [kind for kind in kinds if kind in ("answer", "notification")]
        summaries = [one for one in me.notices if one["type"] == "notify/sessionSummaryChanged"]
        assert order.index("answer") == 0
        assert len(order) == 40 + len(summaries)


@rule("HR-L06", "HR-X01")
@on_a_host()
async def test_a_disposed_session_is_removed_with_its_turn_and_its_terminals(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await me.begun()
        await other.subscribe(ROOT_URI)
        await other.subscribe(uri)
        claim = {"kind": "session", "session": uri}
        await me.request("createTerminal", terminal="t:/1", claim=claim)
        await other.until(lambda: len(other.state(ROOT_URI)["terminals"]) == 1)
        await me.send(uri, "/wait 60")
        assert await me.request("disposeSession", session=uri) is None
        await other.notice("sessionRemoved", session=uri)
        await other.until(lambda: other.state(ROOT_URI)["activeSessions"] == 0)
        await other.until(lambda: other.state(ROOT_URI)["terminals"] == [])
        for client in (me, other):
            assert (await client.refusal("subscribe", resource=uri)).code == -32001
            assert (await client.refusal("disposeSession", session=uri)).code == -32001
        await me.request("createSession", session=uri)


@rule("HR-L07", "HR-L08")
@on_a_host(ECHO)
async def test_changes_of_a_summary_are_collected_and_removed_fields_are_null(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        uri = await me.begun(new_uri("echo"))
        await me.say(uri, "/activity")
        for number in range(50):
            await me.decide(uri, "session/titleChanged", title=f"{number}")
        await other.until(lambda: any(one.get("changes", {}).get("title") == "49" for one in other.notices))
        changes = [one["changes"] for one in other.notices if one["type"] == "notify/sessionSummaryChanged"]
        assert len(changes) < 50
        fixed = {"resource", "provider", "createdAt"}
        assert all(one and not fixed & one.keys() for one in changes)
        told: Any = {}
        for one in changes:
            told |= one
        (summary,) = (await me.request("listSessions"))["items"]
        assert {key: value for key, value in told.items() if value is not None}.items() <= summary.items()
        assert told.get("activity") is None
        assert "activity" not in summary


@rule("HR-L09")
@on_a_host()
async def test_a_fork_has_the_turns_up_to_the_one_named(place: Place) -> None:
    async with place.client() as me:
        source = await me.begun(activeClient={"clientId": "me", "tools": []})
        first = await me.say(source, "One")
        await me.say(source, "Two")
        running = await me.send(source, "/wait 60")
        fork = {"session": source, "turnId": running}
        assert (await me.refusal("createSession", session=new_uri(), fork=fork)).code == -32004
        uri = "other:/fork"  # of no agent: a fork is its source's
        await me.request("createSession", session=uri, fork={"session": source, "turnId": first["id"]})
        state = await me.subscribe(uri)
        assert state["turns"] == [first]
        assert "activeClient" not in state
        assert (await me.say(uri, "/history"))["responseParts"][0]["content"] == "3"
        client = {"clientId": "me", "tools": [{"name": "mine"}]}
        fork = {"session": source, "turnId": first["id"]}
        await me.request("createSession", session="demo:/f2", fork=fork, activeClient=client)
        await me.subscribe("demo:/f2")
        assert me.state("demo:/f2")["activeClient"] == client


@rule("HR-L10")
@on_a_host()
async def test_turns_are_fetched_in_pages(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun()
        turns = [(await me.say(uri, f"{number}"))["id"] for number in range(5)]
        page = await me.request("fetchTurns", session=uri, limit=2)
        assert ([one["id"] for one in page["turns"]], page["hasMore"]) == (turns[3:], True)
        page = await me.request("fetchTurns", session=uri, before=turns[3], limit=1000)
        assert ([one["id"] for one in page["turns"]], page["hasMore"]) == (turns[:3], False)
        assert len((await me.request("fetchTurns", session=uri))["turns"]) == 5
        for wrong in ({"before": "nothing"}, {"limit": 0}, {"limit": -1}, {"limit": "5"}):
            assert (await me.refusal("fetchTurns", session=uri, **wrong)).code == -32602
        assert (await me.refusal("fetchTurns", session="demo:/nowhere")).code == -32001


@rule("HR-L01")
@on_a_host()
async def test_a_session_has_the_settings_that_it_was_made_with_and_hides_secrets(
    place: Place,
) -> None:
    async with place.client() as me:
        form = await me.request("resolveSessionConfig", provider="demo", config={"style": "loud", "x": 1})
        assert form["values"] == {"style": "loud", "greeting": ""}
        assert "token" not in form["schema"]["properties"]
        items = await me.request("sessionConfigCompletions", property="style", query="lo")
        assert items == {"items": [{"value": "loud", "label": "loud"}]}
        assert (await me.refusal("sessionConfigCompletions", property="token")).code == -32602
        assert (await me.refusal("resolveSessionConfig", provider="nobody")).code == -32002
        config = {"style": "loud", "token": "sealed-secret"}
        folder = place.workspace.as_uri()
        uri = await me.begun(config=config, model={"id": "steady"}, workingDirectory=folder)
        assert me.state(uri)["config"]["values"] == {"style": "loud", "greeting": ""}
        assert (me.state(uri)["summary"]["model"], me.state(uri)["summary"]["workingDirectory"]) == (
            {"id": "steady"},
            folder,
        )
        assert (await me.say(uri, "hi"))["responseParts"][0]["content"] == "YOU SAID: HI"
        assert "sealed-secret" not in "".join(me.frames)
        stored = b"".join(one.read_bytes() for one in place.folder.iterdir() if one.is_file())
        assert b"sealed-secret" not in stored


@rule("HR-U07")
@on_a_host(ECHO)
async def test_customizations_of_a_client_are_added_and_removed_with_it(place: Place) -> None:
    mine: Any = {"uri": "https://plugins.example.org/mine", "displayName": "Mine"}
    async with place.client("watcher") as watcher:
        async with place.client() as me:
            client = {"clientId": "me", "tools": [], "customizations": [mine]}
            uri = await me.begun(new_uri("echo"), activeClient=client)
            await watcher.subscribe(uri)
            await watcher.until(lambda: len(watcher.state(uri)["customizations"]) == 2)
            host, brought = watcher.state(uri)["customizations"]
            # Without a status, as nothing loads them.
            assert host == {"customization": PLUGIN, "enabled": True}
            assert brought == {"customization": mine, "enabled": True, "clientId": "me"}
            await watcher.decide(uri, "session/customizationToggled", uri=mine["uri"], enabled=False)
            await watcher.decide(uri, "session/customizationToggled", uri=PLUGIN["uri"], enabled=False)
            await me.decide(uri, "session/activeClientChanged", activeClient=client)
            assert [one["enabled"] for one in watcher.state(uri)["customizations"]] == [False, False]
        await watcher.until(lambda: "activeClient" not in watcher.state(uri))
        await watcher.until(lambda: len(watcher.state(uri)["customizations"]) == 1)
        assert watcher.state(uri)["customizations"][0]["customization"] == PLUGIN
