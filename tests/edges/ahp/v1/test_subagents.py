"""Subagents over AHP 1.0 and 0.9: each is a chat of the session whose call gave the task."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.host.limits import Limits
from agenthost.wire.ahp import ROOT_URI
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host, served
from ahp_speaking import new_uri
from chatting import dispatch_turn, ended_turn, new_chat, refusal
from delegating import AGENTS, task_entries
from hosting import run
from rules import rule
from turning import crash


async def begun(me: ChannelClient) -> str:
    return await me.begun(new_uri("lead"), provider="lead")


async def one_task(me: ChannelClient, uri: str) -> str:
    """Wait for the only subagent, and follow its chat."""
    (entry,) = await me.until(lambda: task_entries(me, uri))
    await me.subscribe(entry["resource"])
    chat: str = entry["resource"]
    return chat


def blocks(turn: Any) -> list[Any]:
    """Return what the calls of a turn show of their subagents, with the ids of the calls."""
    calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    content = [(call["toolCallId"], block) for call in calls for block in call.get("content", [])]
    return [found for found in content if found[1]["type"] == "subagent"]


async def approve(me: ChannelClient, chat: str, needed: Any) -> None:
    ids = {"turnId": needed["turnId"], "toolCallId": needed["toolCall"]["toolCallId"]}
    await me.decide(chat, "chat/toolCallConfirmed", **ids, approved=True, confirmed="user-action")


@rule("1.0/C7")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host(*AGENTS)
async def test_what_a_subagent_does_is_a_chat_of_the_session(place: Place, version: str) -> None:
    async with channel_client(place, protocolVersions=[version]) as me:
        uri = await begun(me)
        turn = await me.send(uri, "one\ntwo")
        ended = await me.finish(uri, turn)
        shown = blocks(ended)
        assert len(shown) == 2
        entries = {one["resource"]: one for one in task_entries(me, uri)}
        for call, block in shown:
            origin = {"kind": "tool", "chat": me.chat_of(uri), "toolCallId": call}
            state = await me.subscribe(block["resource"])
            assert entries[block["resource"]]["origin"] == state["origin"] == origin
            assert entries[block["resource"]]["title"] == state["title"] == block["title"]
            (task,) = state["turns"]
            assert (task["message"]["text"], task["message"]["origin"]) == (block["title"], {"kind": "agent"})
        assert me.state(uri)["defaultChat"] == me.chat_of(uri)
        assert await refusal(me, "disposeChat", channel=me.chat_of(uri)) == -32602
        await me.check_folds()


@rule("1.0/C7", "1.0/C3", "1.0/C4")
@on_a_host(*AGENTS)
async def test_what_a_subagent_waits_for_is_told_on_the_session_and_answered_in_its_chat(
    place: Place,
) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        uri = await begun(me)
        turn = await me.send(uri, "touch it")
        chat = await one_task(me, uri)
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert (needed["chat"], needed["kind"], me.state(uri)["status"] & 31) == (
            chat,
            "toolConfirmation",
            24,
        )
        (listed,) = (await me.request("listSessions", channel=ROOT_URI))["items"]
        assert (listed["resource"], listed["status"] & 31, len(listed["chats"])) == (uri, 24, 2)
        await me.until(lambda: "Waits for approval: touch" in str(me.chat(uri)))
        await approve(me, chat, needed)
        assert (await me.finish(uri, turn))["state"] == "complete"
        assert "inputNeeded" not in me.state(uri)
        assert me.state(chat)["turns"][0]["state"] == "complete"
        await me.until(lambda: [one for one in me.notices if "sessionSummaryChanged" in one["method"]])
        assert {one.get("session") or one["summary"]["resource"] for one in me.notices} == {uri}
        (listed,) = (await me.request("listSessions", channel=ROOT_URI))["items"]
        assert (listed["status"] & 31, len(listed["chats"])) == (1, 1)
        await me.check_folds()


@rule("1.0/C7")
@on_a_host(*AGENTS)
async def test_a_subagent_can_be_steered_cancelled_and_talked_to_later(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        turn = await me.send(uri, "wait here")
        chat = await one_task(me, uri)
        assert "interactivity" not in me.state(chat)
        await me.until(lambda: me.state(chat).get("activeTurn"))
        task = me.state(chat)["activeTurn"]["id"]
        await me.decide(chat, "chat/turnCancelled", turnId=task, duration=1)
        ended = await me.finish(uri, turn)
        assert "was cancelled" in str(ended["responseParts"][-1])
        again = await ended_turn(me, chat, await dispatch_turn(me, chat, "more"))
        assert again["responseParts"][0]["content"] == "did more"
        await me.until(lambda: task_entries(me, uri)[0]["modifiedAt"] == me.state(chat)["modifiedAt"])
        await me.check_folds()


@rule("1.0/C7")
@on_a_host(*AGENTS)
async def test_subagents_of_subagents_are_chats_of_the_same_session(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        turn = await me.send(uri, "worker touch it")
        first, second = await me.until(lambda: len(task_entries(me, uri)) == 2 and task_entries(me, uri))
        assert second["origin"]["chat"] == first["resource"]
        await me.subscribe(second["resource"])
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert needed["chat"] == second["resource"]
        await approve(me, second["resource"], needed)
        assert (await me.finish(uri, turn))["state"] == "complete"
        await me.check_folds()
        await me.request("disposeChat", channel=first["resource"])
        assert task_entries(me, uri) == []
        assert place.host.parts.engine.session_counts.total == 1
        me.states.pop(second["resource"])
        await me.check_folds()


@on_a_host(*AGENTS)
async def test_a_further_chat_has_subagents_too_and_they_go_with_it(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        chat = await new_chat(me, uri)
        turn = await dispatch_turn(me, chat, "one\nask me")
        await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert {one["origin"]["chat"] for one in task_entries(me, uri)} == {chat}
        await me.request("disposeChat", channel=chat)
        assert me.state(chat)["turns"][0]["id"] == turn
        assert ([one["resource"] for one in me.state(uri)["chats"]], me.state(uri).get("inputNeeded")) == (
            [me.chat_of(uri)],
            None,
        )
        assert place.host.parts.engine.session_counts.total == 1
        me.states.pop(chat)
        await me.check_folds()


@rule("1.0/C7")
@on_a_host(*AGENTS)
async def test_subagents_are_disposed_with_their_session_in_one_commit(place: Place) -> None:
    async with channel_client(place) as me, place.client("old") as old:
        uri = await begun(me)
        await me.send(uri, "wait here\nworker ask me")
        entries = await me.until(lambda: len(task_entries(me, uri)) == 3 and task_entries(me, uri))
        await me.until(lambda: me.state(uri).get("inputNeeded"))
        listed = [one["resource"] for one in (await old.request("listSessions"))["items"]]
        commits = place.host.parts.engine.journal.stats.commits
        await me.request("disposeSession", channel=uri)
        assert place.host.parts.engine.journal.stats.commits - commits <= 2  # the turns end before
        for gone in (uri, *(one["resource"] for one in entries)):
            assert await refusal(me, "subscribe", channel=gone) == -32001
        assert (place.host.parts.engine.session_counts.total, place.host.parts.turns.count) == (0, 0)
        await old.until(lambda: len(old.notices) >= len(listed))
        removed = [one for one in old.notices if one["type"] == "notify/sessionRemoved"]
        assert {one["session"] for one in removed} == set(listed)
        assert [one["method"] for one in me.notices].count("root/sessionRemoved") in (0, 1)


@rule("1.0/C7")
@on_a_host(*AGENTS)
async def test_old_clients_see_a_session_for_each_subagent(place: Place) -> None:
    async with channel_client(place) as me, place.client("old") as old:
        uri = await begun(me)
        await old.subscribe(uri)
        turn = await me.send(uri, "touch it")
        chat = await one_task(me, uri)
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        sessions = [one["resource"] for one in (await old.request("listSessions"))["items"]]
        (child,) = [one for one in sessions if one != uri]
        await old.until(lambda: "Waits for approval" in str(old.state(uri)))
        call = old.state(uri)["activeTurn"]["responseParts"][0]["toolCall"]
        assert call["content"][0] == {
            "type": "subagent",
            "resource": child,
            "title": "touch it",
            "agentName": "Worker",
            "description": "Do as told.",
        }
        state = await old.subscribe(child)
        assert state["summary"]["status"] & 31 == 24
        await approve(me, chat, needed)
        await me.finish(uri, turn)
        await old.until(lambda: old.state(uri)["turns"])
        (call,) = [part["toolCall"] for part in old.state(uri)["turns"][0]["responseParts"][:1]]
        assert (call["content"][0]["resource"], call["structuredContent"]) == (child, {"session": child})
        for one in (uri, child):
            folded = old.state(one)
            fresh = await old.subscribe(one)
            for state in (folded, fresh):
                state["summary"].pop("modifiedAt")  # by the clock of whoever folds
            assert folded == fresh
        await old.request("disposeSession", session=child)
        assert task_entries(me, uri) == []
        me.states.pop(chat)
        await me.check_folds()


@on_a_host(*AGENTS, limits=Limits(chats_per_session=2, tasks_per_turn=3))
async def test_chats_of_subagents_have_limits_of_their_own(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        ended = await me.finish(uri, await me.send(uri, "1\n2\n3\n4"))
        assert "a turn can give 3 tasks" in str(ended)
        assert len(task_entries(me, uri)) == 3
        await new_chat(me, uri)
        assert await refusal(me, "createChat", channel=uri, chat="ahp-chat:/more") == -32602


@on_a_host(*AGENTS, may_fail=True)
async def test_a_failed_subagent_is_no_failure_of_the_session(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        ended = await me.finish(uri, await me.send(uri, "fail now"))
        assert ended["state"] == "complete"
        assert task_entries(me, uri)[0]["status"] & 31 == 2
        (listed,) = (await me.request("listSessions", channel=ROOT_URI))["items"]
        assert (listed["status"] & 31, len(listed["chats"])) == (1, 1)


@on_a_host(*AGENTS)
async def test_a_chat_of_a_subagent_is_no_source_and_takes_no_chats(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        await me.finish(uri, await me.send(uri, "one"))
        chat = await one_task(me, uri)
        turn = me.state(chat)["turns"][0]["id"]
        session = (await place.host.parts.engine.sessions.find_chat(chat)).uri
        for kind in ("fork", "sideChat"):
            source = {"kind": kind, "chat": chat, "turnId": turn}
            new = {"chat": "ahp-chat:/x", "source": source}
            assert await refusal(me, "createChat", channel=uri, **new) == -32602
        assert await refusal(me, "createChat", channel=session, chat="ahp-chat:/x") == -32602


@rule("1.0/C7")
@on_a_host(*AGENTS)
async def test_a_fork_refers_to_the_subagents_of_the_original(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await begun(me)
        turn = await me.send(uri, "one")
        await me.finish(uri, turn)
        (entry,) = task_entries(me, uri)
        copy = await me.begun(
            new_uri("lead"), _meta={"agenthost": {"fork": {"session": uri, "turnId": turn}}}
        )
        assert task_entries(me, copy) == []
        assert blocks(me.chat(copy)["turns"][0])[0][1]["resource"] == entry["resource"]
        source = {"kind": "fork", "chat": me.chat_of(uri), "turnId": turn}
        chat = await new_chat(me, uri, source=source)
        assert blocks(me.state(chat)["turns"][0])[0][1]["resource"] == entry["resource"]
        # The fork of a subagent's session is a session like any other.
        child = (await place.host.parts.engine.sessions.find_chat(entry["resource"])).uri
        own = await me.begun(
            new_uri("worker"), _meta={"agenthost": {"fork": {"session": child, "turnId": "task"}}}
        )
        assert "origin" not in me.chat(own)
        listed = [one["resource"] for one in (await me.request("listSessions", channel=ROOT_URI))["items"]]
        assert set(listed) == {uri, copy, own}
        await me.request("disposeSession", channel=copy)
        await me.subscribe(entry["resource"])
        for gone in (copy, me.chat_of(copy)):
            me.states.pop(gone)
        await me.check_folds()


@rule("1.0/C7", "1.0/Q2")
def test_after_a_crash_in_the_middle_a_subagent_is_found_again(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    uri, seen = new_uri("lead"), 0
    states: dict[str, Any] = {}

    async def before() -> None:
        nonlocal seen
        async with served(first, *AGENTS) as place, channel_client(place) as me:
            await me.begun(uri, provider="lead")
            await me.send(uri, "worker touch it")
            await me.until(lambda: me.state(uri).get("inputNeeded"))
            for entry in task_entries(me, uri):
                await me.subscribe(entry["resource"])
            await me.request("ping", channel=ROOT_URI)
            states.update({name: me.state(name) for name in me.states})
            seen = me.last_seq
            crash(first, second)

    async def after() -> None:
        async with served(second, *AGENTS) as place, channel_client(place, "two") as me:
            for name, state in states.items():
                assert await me.subscribe(name) == state
            (needed,) = me.state(uri)["inputNeeded"]
            async with ChannelClient.connected(place.url, "me") as back:
                wanted = {"clientId": "me", "lastSeenServerSeq": seen, "subscriptions": list(states)}
                result = await back.request("reconnect", channel=ROOT_URI, **wanted)
                assert (result["type"], result["missing"]) == ("replay", [])
            await approve(me, needed["chat"], needed)
            await me.until(lambda: me.chat(uri)["turns"])
            assert "touched" in str(me.chat(uri)["turns"])
            assert len(task_entries(me, uri)) == 2
            await me.check_folds()
            await me.request("disposeSession", channel=uri)
            assert place.host.parts.engine.session_counts.total == 0

    run(before)
    run(after)


@on_a_host(*AGENTS, keys=("ann", "bob"))
async def test_chats_of_subagents_belong_to_the_owner_of_their_session(place: Place) -> None:
    async with (
        channel_client(place, "a", place.keys["ann"]) as ann,
        channel_client(place, "b", place.keys["bob"]) as bob,
    ):
        uri = await begun(ann)
        await ann.finish(uri, await ann.send(uri, "one"))
        chat = await one_task(ann, uri)
        for method in ("subscribe", "disposeChat"):
            assert await refusal(bob, method, channel=chat) == -32001
