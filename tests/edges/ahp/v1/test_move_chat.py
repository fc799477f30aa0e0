"""Chats that move to another session over AHP 1.0."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.agent import Agent
from agenthost.host.limits import Limits
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.storage.integrity import examine
from agenthost.host.storage.repair import repair
from agenthost.host.storage.sqlite import FILE
from agenthost.wire.ahp import ROOT_URI
from ahp_agents import ECHO, echo
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host, served
from ahp_speaking import new_uri
from chatting import SECOND, dispatch_turn, ended_turn, new_chat, refusal
from delegating import AGENTS, task_entries
from hosting import run
from rules import rule
from turning import crash

OTHER = Agent("other", echo)


async def two_sessions(me: ChannelClient) -> tuple[str, str, str]:
    """Return two sessions, and a chat of the first one with a turn."""
    uri, other = await me.begun(), await me.begun()
    chat = await new_chat(me, uri)
    await ended_turn(me, chat, await dispatch_turn(me, chat, "Hello"))
    return uri, other, chat


def to(session: str, **more: Any) -> Any:
    return {"destination": {"kind": "session", "session": session, **more}}


def listed(me: ChannelClient, uri: str) -> list[str]:
    return [one["resource"] for one in me.state(uri)["chats"]]


@rule("1.0/M1", "1.0/C2")
@on_a_host()
async def test_a_chat_moves_to_another_session_with_its_turns(place: Place) -> None:
    async with (
        channel_client(place, initialSubscriptions=[ROOT_URI]) as me,
        channel_client(place, "two", protocolVersions=["0.9.0"]) as nine,
    ):
        uri, other, chat = await two_sessions(me)
        for one in (uri, other, chat):
            await nine.subscribe(one)
        state, seen, me.notices = me.state(chat), me.last_seq, []
        assert state["movable"] is me.state(uri)["chats"][1]["movable"] is True
        assert "movable" not in nine.state(chat)
        assert "movable" not in me.state(uri)["chats"][0]
        assert await me.request("moveChat", channel=chat, **to(other)) == {"session": other}
        assert (listed(me, uri), listed(me, other)) == ([me.chat_of(uri)], [me.chat_of(other), chat])
        assert me.state(chat) == state
        assert [one["channel"] for one in me.envelopes if one["serverSeq"] > seen] == [uri, other]
        # What came and went within a moment is no change of the first one's summary.
        await me.until(lambda: other in {one.get("session") for one in me.notices})
        again = await ended_turn(me, chat, await dispatch_turn(me, chat, "Here"))
        await me.until(lambda: me.state(other)["chats"][1]["modifiedAt"] == me.state(chat)["modifiedAt"])
        assert again["state"] == "complete"
        await dispatch_turn(me, chat, "/ask")
        (needed,) = await me.until(lambda: me.state(other).get("inputNeeded"))
        assert (needed["chat"], me.state(uri).get("inputNeeded")) == (chat, None)
        await me.check_folds()
        await nine.check_folds()
        await me.request("disposeSession", channel=uri)
        assert me.state(chat)["activeTurn"]
        await me.request("disposeSession", channel=other)
        assert await refusal(me, "subscribe", channel=chat) == -32001
        assert place.host.parts.turns.count == 0


@rule("1.0/M1")
@on_a_host()
async def test_a_chat_may_stand_after_another(place: Place) -> None:
    async with channel_client(place) as me, channel_client(place, "two", protocolVersions=["0.9.0"]) as nine:
        uri, other, chat = await two_sessions(me)
        first, third = await new_chat(me, other, "ahp-chat:/1"), await new_chat(me, uri, "ahp-chat:/3")
        for one in (uri, other):
            await nine.subscribe(one)
        await me.request("moveChat", channel=chat, **to(other, after=me.chat_of(other)))
        assert listed(me, other) == [me.chat_of(other), chat, first]
        assert listed(nine, other) == [me.chat_of(other), first, chat]
        fourth = await new_chat(me, other, "ahp-chat:/4")
        await me.request("moveChat", channel=third, **to(other, after=fourth))
        assert listed(me, other) == [me.chat_of(other), chat, first, fourth, third]
        # Within its session
        await me.request("moveChat", channel=third, **to(other, after=me.chat_of(other)))
        assert listed(me, other) == [me.chat_of(other), third, chat, first, fourth]
        await me.request("moveChat", channel=third, **to(other))
        assert listed(me, other) == [me.chat_of(other), third, chat, first, fourth]
        await me.request("disposeChat", channel=first)
        await new_chat(me, other, "ahp-chat:/5")
        me.states.pop(first)
        await me.check_folds()
        await nine.check_folds()


@rule("1.0/M1")
@on_a_host()
async def test_a_chat_may_get_a_session_of_its_own(place: Place) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        folder = place.workspace.as_uri()
        uri = await me.begun(workingDirectories=[folder])
        chat = await new_chat(me, uri, workingDirectories=[folder])
        found = await me.request("moveChat", channel=chat, destination={"kind": "newSession"})
        await me.follow(found["session"])
        new = me.state(found["session"])
        assert listed(me, uri) == [me.chat_of(uri)]
        assert listed(me, found["session"]) == [me.chat_of(found["session"]), chat]
        assert (new["provider"], new["lifecycle"], new["title"]) == ("demo", "ready", "New chat")
        assert new["workingDirectories"] == [folder]
        added = [one["summary"]["resource"] for one in me.notices if one["method"] == "root/sessionAdded"]
        assert added == [uri, found["session"]]
        await me.check_folds()


@rule("1.0/M1", "1.0/C1")
@on_a_host(OTHER, limits=Limits(chats_per_session=2))
async def test_a_chat_that_cannot_move_stays(place: Place) -> None:
    async with channel_client(place) as me:
        uri, other, chat = await two_sessions(me)
        await new_chat(me, other, "ahp-chat:/1")
        foreign = await me.begun(new_uri("other"), provider="other")
        last = await me.begun()
        folder = await me.begun(workingDirectories=[place.workspace.as_uri()])
        there = await new_chat(me, folder, "ahp-chat:/f", workingDirectories=[place.workspace.as_uri()])
        counts = place.host.parts.engine.session_counts.total
        for channel, params, code in (
            (me.chat_of(uri), to(last), -32602),
            (me.chat_of(uri), {"destination": {"kind": "newSession"}}, -32602),
            (uri, to(last), -32001),
            ("ahp-chat:/none", to(last), -32001),
            (chat, to("demo:/none"), -32001),
            (chat, to(chat), -32001),
            (chat, to(other), -32602),
            (chat, to(foreign), -32602),
            (chat, to(last, after=me.chat_of(uri)), -32602),
            (chat, to(uri, after=chat), -32602),
            (there, to(last), -32602),
            (chat, {"destination": {"kind": "elsewhere"}}, -32602),
            (chat, {"destination": {"kind": "session"}}, -32602),
            (chat, {"destination": "new"}, -32602),
            (chat, {}, -32602),
        ):
            assert await refusal(me, "moveChat", channel=channel, **params) == code, (channel, params)
        await dispatch_turn(me, chat, "/wait 60")
        for params in (to(last), {"destination": {"kind": "newSession"}}):
            assert await refusal(me, "moveChat", channel=chat, **params) == -32004
        session = await place.host.parts.engine.sessions.get(last)
        session.state = {**session.state, "lifecycle": "creating"}
        assert await refusal(me, "moveChat", channel=there, **to(last)) == -32600
        assert place.host.parts.engine.session_counts.total == counts
        assert (listed(me, uri), listed(me, other)[1:]) == ([me.chat_of(uri), chat], ["ahp-chat:/1"])


@on_a_host()
async def test_terminals_of_a_chat_move_with_it(place: Place) -> None:
    async with channel_client(place) as me:
        uri, other, chat = await two_sessions(me)
        terminals = ["ahp-terminal:/1", "ahp-terminal:/2"]
        for terminal, holder in zip(terminals, (chat, me.chat_of(uri)), strict=True):
            claim = {"kind": "session", "session": uri, "chat": holder}
            await me.request("createTerminal", channel=terminal, claim=claim)
            await me.subscribe(terminal)
        await me.request("moveChat", channel=chat, **to(other))
        await me.until(lambda: me.state(terminals[0])["claim"]["session"] == other)
        assert me.state(terminals[1])["claim"]["session"] == uri
        await me.request("disposeSession", channel=uri)
        assert [one["resource"] for one in (await me.subscribe(ROOT_URI))["terminals"]] == terminals[:1]


@on_a_host()
async def test_clients_of_0_9_move_no_chats(place: Place) -> None:
    async with channel_client(place, protocolVersions=["0.9.0"]) as me:
        _, other, chat = await two_sessions(me)
        assert await refusal(me, "moveChat", channel=chat, **to(other)) == -32601


@on_a_host(keys=("ann", "bob"), worth={"files": ["files"]})
async def test_chats_move_among_the_sessions_of_their_owner(place: Place) -> None:
    async with (
        channel_client(place, "a", place.keys["ann"]) as ann,
        channel_client(place, "b", place.keys["bob"]) as bob,
        channel_client(place, "c", place.keys["files"]) as files,
    ):
        uri, other, chat = await two_sessions(ann)
        his = await bob.begun()
        assert await refusal(bob, "moveChat", channel=chat, **to(his)) == -32001
        assert await refusal(ann, "moveChat", channel=chat, **to(his)) == -32001
        assert await refusal(files, "moveChat", channel=chat, **to(other)) == -32009
        assert listed(ann, uri)[1:] == [chat]


@rule("1.0/M1", "1.0/C7")
@on_a_host(*AGENTS)
async def test_the_chats_of_subagents_move_with_the_chat_of_their_calls_and_not_alone(place: Place) -> None:
    async with channel_client(place) as me, place.client("old") as old:
        uri, other = [await me.begun(new_uri("lead"), provider="lead") for _ in range(2)]
        await me.finish(uri, await me.send(uri, "stays"))
        (staying,) = task_entries(me, uri)
        chat = await new_chat(me, uri)
        await ended_turn(me, chat, await dispatch_turn(me, chat, "worker again"))
        _, first, second = task_entries(me, uri)
        await me.subscribe(second["resource"])
        assert await refusal(me, "moveChat", channel=first["resource"], **to(other)) == -32602
        busy = await dispatch_turn(me, second["resource"], "wait here")
        assert await refusal(me, "moveChat", channel=chat, **to(other)) == -32004
        await me.decide(second["resource"], "chat/turnCancelled", turnId=busy, duration=1)
        await ended_turn(me, second["resource"], busy)
        before = (await old.request("listSessions"))["items"]
        await me.request("moveChat", channel=chat, **to(other))
        assert task_entries(me, uri) == [staying]
        assert listed(me, other)[1:] == [chat, first["resource"], second["resource"]]
        await ended_turn(me, second["resource"], await dispatch_turn(me, second["resource"], "more"))
        assert me.state(other)["chats"][3]["modifiedAt"] == me.state(second["resource"])["modifiedAt"]
        assert len((await old.request("listSessions"))["items"]) == len(before)
        await me.check_folds()
        await me.request("disposeSession", channel=other)
        assert place.host.parts.engine.session_counts.total == 2
        for gone in (other, me.chat_of(other), chat, second["resource"]):
            me.states.pop(gone)
        await me.check_folds()


@rule("1.0/M1")
@pytest.mark.parametrize("is_repaired", [False, True])
def test_a_move_is_one_commit_and_found_again(tmp_path: Path, is_repaired: bool) -> None:
    folders = [tmp_path / name for name in ("first", "before", "after")]
    uri, other = new_uri("echo"), new_uri("echo")

    async def move() -> None:
        async with served(folders[0], ECHO) as place, channel_client(place) as me:
            for one in (uri, other):
                await me.begun(one, provider="echo")
            chat = await new_chat(me, uri)
            await ended_turn(me, chat, await dispatch_turn(me, chat, "Hello"))
            await me.request("ping", channel=ROOT_URI)
            crash(folders[0], folders[1])
            commits = place.host.parts.engine.journal.stats.commits
            await me.request("moveChat", channel=chat, **to(other))
            assert place.host.parts.engine.journal.stats.commits == commits + 1
            crash(folders[0], folders[2])

    async def look(folder: Path, home: str) -> None:
        async with served(folder, ECHO) as place, channel_client(place) as me:
            for name in (uri, other):
                assert (SECOND in [one["resource"] for one in (await me.subscribe(name))["chats"]]) == (
                    name == home
                )
            await me.subscribe(SECOND)
            record = await place.host.parts.engine.sessions.get(SECOND)
            assert isinstance(record, FurtherChat)
            assert (record.home.uri, record.row.parent) == (home, record.home.number)
            await ended_turn(me, SECOND, await dispatch_turn(me, SECOND, "Again"))
            await me.check_folds()
            await me.request("disposeSession", channel=uri if home == other else other)
            assert len(me.state(SECOND)["turns"]) == 2
            await me.request("moveChat", channel=SECOND, destination={"kind": "newSession"})
            await me.request("disposeSession", channel=home)
            assert len((await me.subscribe(SECOND))["turns"]) == 2

    run(move)
    for folder, home in ((folders[1], uri), (folders[2], other)):
        data = folder / "data" / FILE
        if is_repaired:
            repair(examine(data, is_deep=True))
        run(partial(look, folder, home))
        assert examine(data, is_deep=True).is_sound
