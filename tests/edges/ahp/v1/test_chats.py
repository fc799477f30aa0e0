"""Several chats in a session over AHP 1.0 and 0.9."""

from typing import Any

import pytest

from agenthost.core.reducers import REDUCERS, Live
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp import ROOT_URI
from ahp_channels import USER, ChannelClient, channel_client
from ahp_frames import Refused
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from chatting import SECOND, dispatch_turn, ended_turn, new_chat, refusal
from rules import rule


@rule("1.0/C1", "1.0/C2")
@on_a_host()
async def test_a_further_chat_has_turns_of_its_own(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        await me.say(uri, "In the first")
        chat = await new_chat(me, uri)
        entry = me.state(uri)["chats"][1]
        assert (entry["resource"], entry["title"], entry["origin"]) == (chat, "New chat", USER)
        ended = await ended_turn(me, chat, await dispatch_turn(me, chat, "In the second"))
        assert ended["message"]["text"] == "In the second"
        assert [turn["message"]["text"] for turn in me.chat(uri)["turns"]] == ["In the first"]
        assert me.state(uri)["chats"][1]["modifiedAt"] == me.state(chat)["modifiedAt"]
        assert me.state(uri)["defaultChat"] == me.chat_of(uri) != chat
        await me.check_folds()


@on_a_host()
async def test_turns_of_two_chats_run_at_the_same_time(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        first = await me.send(uri, "/wait 60")
        second = await dispatch_turn(me, chat, "/wait 60")
        statuses = [one["status"] & 31 for one in me.state(uri)["chats"]]
        assert statuses == [8, 8]
        await me.decide(chat, "chat/turnCancelled", turnId=second, duration=1)
        assert (await ended_turn(me, chat, second))["state"] == "cancelled"
        assert me.chat(uri)["activeTurn"]["id"] == first
        await me.decide(me.chat_of(uri), "chat/turnCancelled", turnId=first, duration=1)
        await me.check_folds()


@rule("1.0/C3", "1.0/C4")
@on_a_host()
async def test_what_waits_in_a_further_chat_is_told_on_the_session_and_in_lists(place: Place) -> None:
    async with channel_client(place, initialSubscriptions=[ROOT_URI]) as me:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        await dispatch_turn(me, chat, "/ask")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert (needed["chat"], needed["kind"], me.state(uri)["status"] & 31) == (chat, "chatInput", 24)

        def told() -> Any:
            changes = [one["changes"] for one in me.notices if one["method"] == "root/sessionSummaryChanged"]
            return [one for one in changes if one.get("status", 0) & 31 == 24]

        await me.until(told)
        (listed,) = (await me.request("listSessions", channel=ROOT_URI))["items"]
        assert (listed["status"] & 31, len(listed["chats"])) == (24, 2)
        assert listed["modifiedAt"] == me.state(chat)["modifiedAt"]
        which = {"requestId": needed["request"]["id"], "response": "decline"}
        await me.decide(chat, "chat/inputCompleted", **which)
        await me.until(lambda: "inputNeeded" not in me.state(uri))
        await me.check_folds()


@on_a_host()
async def test_a_chat_may_begin_with_a_message(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        message = {"text": "Begin here", "origin": USER}
        chat = await new_chat(me, uri, initialMessage=message)
        await me.until(lambda: me.state(chat)["turns"])
        assert me.state(uri)["chats"][1]["title"] == "Begin here"
        assert me.state(chat)["turns"][0]["message"] == message
        for wrong in ({"text": "x", "origin": {"kind": "agent"}}, {**message, "model": {"id": "none"}}):
            code = await refusal(me, "createChat", channel=uri, chat="ahp-chat:/no", initialMessage=wrong)
            assert code in (-32600, -32602)
        assert len(me.state(uri)["chats"]) == 2
        await me.check_folds()


@rule("1.0/C1")
@on_a_host()
async def test_a_chat_that_is_disposed_is_gone_and_its_turn_is_cancelled(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        await dispatch_turn(me, chat, "/ask")
        await me.until(lambda: me.state(uri).get("inputNeeded"))
        await me.request("disposeChat", channel=chat)
        assert [one["resource"] for one in me.state(uri)["chats"]] == [me.chat_of(uri)]
        assert "inputNeeded" not in me.state(uri)
        assert me.state(uri)["status"] & 16 == 0
        assert me.state(chat)["turns"][0]["state"] == "cancelled"
        me.states.pop(chat)
        for method in ("subscribe", "disposeChat"):
            assert await refusal(me, method, channel=chat) == -32001
        again = await new_chat(me, uri, chat)
        assert (again, me.state(chat)["turns"]) == (chat, [])
        await me.check_folds()


@on_a_host()
async def test_the_default_chat_stays(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        await new_chat(me, uri)
        assert await refusal(me, "disposeChat", channel=me.chat_of(uri)) == -32602
        assert await refusal(me, "disposeChat", channel=uri) == -32001
        for kind, fields in (
            ("session/defaultChatChanged", {"defaultChat": SECOND}),
            ("session/chatsReordered", {"chats": [SECOND, me.chat_of(uri)]}),
            ("session/chatRemoved", {"chat": SECOND}),
            ("session/chatUpdated", {"chat": SECOND, "changes": {"title": "x"}}),
        ):
            assert (await me.decide(uri, kind, **fields))["rejectionReason"]
        await me.check_folds()


@on_a_host()
async def test_a_session_is_disposed_with_its_chats(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        await dispatch_turn(me, chat, "/wait 60")
        await me.request("disposeSession", channel=uri)
        for gone in (uri, chat):
            assert await refusal(me, "subscribe", channel=gone) == -32001
        assert place.host.parts.engine.session_counts.total == 0
        assert place.host.parts.turns.count == 0


@on_a_host()
async def test_uris_of_chats_are_taken_once(place: Place) -> None:
    async with channel_client(place) as me:
        uri, other = await me.begun(), await me.begun()
        chat = await new_chat(me, uri)
        for session in (uri, other):
            assert await refusal(me, "createChat", channel=session, chat=chat) == -32010
            for taken in (me.chat_of(uri), other, uri):
                assert await refusal(me, "createChat", channel=session, chat=taken) == -32010
            for wrong in ("", ROOT_URI):
                assert await refusal(me, "createChat", channel=session, chat=wrong) == -32602
        assert await refusal(me, "createSession", channel=chat) == -32003
        assert await refusal(me, "createChat", channel="demo:/none", chat="ahp-chat:/x") == -32001
        assert await refusal(me, "createChat", channel=chat, chat="ahp-chat:/x") == -32001
        assert await refusal(me, "disposeSession", channel=chat) == -32001


async def prepared(_turn: Turn) -> None:
    """Say nothing."""


class Careful(Agent):
    """An agent that prepares each of its sessions."""

    async def prepare(self, session: str) -> None:
        """Need nothing but a session."""


@on_a_host(Careful("careful", prepared))
async def test_only_agents_that_take_chats_say_so(place: Place) -> None:
    async with channel_client(place) as me:
        root = await me.subscribe(ROOT_URI)
        takes = {one["provider"]: "multipleChats" in one.get("capabilities", {}) for one in root["agents"]}
        assert takes == {"demo": True, "careful": False}
        uri = await me.begun(new_uri("careful"), provider="careful")
        assert await refusal(me, "createChat", channel=uri, chat="ahp-chat:/x") == -32602


@on_a_host(limits=None)
async def test_a_session_has_a_limited_number_of_chats(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        for n in range(place.host.limits.chats_per_session - 1):
            await me.request("createChat", channel=uri, chat=f"ahp-chat:/n{n}")
        assert await refusal(me, "createChat", channel=uri, chat="ahp-chat:/more") == -32602
        await me.request("disposeChat", channel="ahp-chat:/n5")
        await me.request("createChat", channel=uri, chat="ahp-chat:/more")


@on_a_host(keys=("ann", "bob"))
async def test_chats_belong_to_the_owner_of_their_session(place: Place) -> None:
    async with (
        channel_client(place, "a", place.keys["ann"]) as ann,
        channel_client(place, "b", place.keys["bob"]) as bob,
    ):
        uri = await ann.begun()
        chat = await new_chat(ann, uri)
        mine = await bob.begun()
        for method in ("subscribe", "disposeChat", "fetchTurns"):
            assert await refusal(bob, method, channel=chat) == -32001
        assert await refusal(bob, "createChat", channel=uri, chat="ahp-chat:/x") == -32001
        assert await refusal(bob, "createChat", channel=mine, chat=chat) == -32602
        await bob.act(chat, "chat/isReadChanged", isRead=True)
        await bob.request("ping", channel=ROOT_URI)
        assert ann.state(chat)["status"] == 1


@on_a_host(worth={"files": ["files"]}, keys=("ann",))
async def test_a_key_without_the_grant_makes_no_chats(place: Place) -> None:
    async with channel_client(place, "a", place.keys["files"]) as me:
        assert await refusal(me, "createChat", channel="demo:/x", chat="ahp-chat:/x") == -32009
        assert await refusal(me, "disposeChat", channel="ahp-chat:/x") == -32009


@rule("1.0/D2")
@on_a_host()
async def test_a_chat_works_in_folders_of_its_session(place: Place) -> None:
    async with channel_client(place) as me:
        folder = place.workspace.as_uri()
        uri = await me.begun(workingDirectories=[folder])
        chat = await new_chat(me, uri, workingDirectories=[folder])
        assert me.state(uri)["chats"][1]["workingDirectories"] == [folder]

        def entry() -> Any:
            return me.state(uri)["chats"][1]

        wrong = {"channel": uri, "chat": "ahp-chat:/x", "workingDirectories": [f"{folder}/other"]}
        assert await refusal(me, "createChat", **wrong) == -32602
        for kind, directory, is_refused in (
            ("chat/workingDirectorySet", f"{folder}/other", True),
            ("chat/workingDirectoryRemoved", folder, False),
            ("chat/workingDirectoryRemoved", folder, True),
            ("chat/workingDirectorySet", folder, False),
        ):
            assert ("rejectionReason" in await me.decide(chat, kind, directory=directory)) == is_refused
            await me.until(lambda: entry()["workingDirectories"] == me.state(chat)["workingDirectories"])
        await me.check_folds()


@pytest.mark.parametrize("kind", ["isRead", "isArchived"])
@on_a_host()
async def test_a_chat_is_read_and_archived_by_itself(place: Place, kind: str) -> None:
    async with channel_client(place) as me, channel_client(place, "old", protocolVersions=["0.9.0"]) as old:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        await old.subscribe(uri)
        await old.subscribe(chat)
        await me.decide(chat, f"chat/{kind}Changed", **{kind: True})
        assert me.state(chat)["status"] > 31
        await me.until(lambda: me.state(uri)["chats"][1]["status"] == me.state(chat)["status"])
        assert me.state(uri)["status"] == 1
        await dispatch_turn(me, chat, "Hello")
        await me.until(lambda: me.state(chat)["turns"])
        await me.check_folds()
        await old.check_folds()
        assert old.state(chat)["status"] == 1


@rule("1.0/Q2")
@on_a_host()
async def test_a_client_that_comes_back_gets_what_happened_in_all_its_chats(place: Place) -> None:
    async with channel_client(place, "two") as two:
        async with channel_client(place, "one") as one:
            uri = await one.begun()
            chat = await new_chat(one, uri)
            wanted, seen = list(one.states), one.last_seq
            states = {name: one.state(name) for name in wanted}
        await two.follow(uri)
        await two.subscribe(chat)
        await ended_turn(two, chat, await dispatch_turn(two, chat, "Meanwhile"))
        await two.say(uri, "And here")
        async with ChannelClient.connected(place.url, "one") as back:
            fields = {
                "clientId": "one",
                "lastSeenServerSeq": seen,
                "subscriptions": [*wanted, "ahp-chat:/no"],
            }
            result = await back.request("reconnect", channel=ROOT_URI, **fields)
            assert (result["type"], result["missing"]) == ("replay", ["ahp-chat:/no"])
            for name in wanted:
                assert folded(states[name], name, result["actions"]) == two.state(name)


def folded(state: Any, channel: str, envelopes: Any) -> Any:
    """Return a state after the envelopes of its channel."""
    live: Any = Live(state)
    for envelope in envelopes:
        if envelope["channel"] == channel:
            kind: Any = envelope["action"]["type"].partition("/")[0]
            live = REDUCERS[kind](live, envelope["action"])
    return live.state


@on_a_host()
async def test_old_clients_see_only_the_default_chat(place: Place) -> None:
    async with channel_client(place) as me, place.client("old") as old:
        uri = await me.begun()
        await old.subscribe(uri)
        before = old.state(uri)
        chat = await new_chat(me, uri)
        await ended_turn(me, chat, await dispatch_turn(me, chat, "Elsewhere"))
        await dispatch_turn(me, chat, "/ask")
        await me.until(lambda: me.state(uri).get("inputNeeded"))
        assert old.state(uri) == before
        with pytest.raises(Refused):
            await old.subscribe(chat)
        assert [one["resource"] for one in (await old.request("listSessions"))["items"]] == [uri]


@on_a_host()
async def test_a_session_that_is_not_ready_takes_no_chat(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        session = await place.host.parts.engine.sessions.get(uri)
        session.state = {**session.state, "lifecycle": "creating"}
        assert await refusal(me, "createChat", channel=uri, chat="ahp-chat:/x") == -32600


@on_a_host()
async def test_a_further_chat_offers_its_own_changesets(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        chat = await new_chat(me, uri)
        turn = await dispatch_turn(me, chat, "/edit note.txt Hello")
        (needed,) = await me.until(lambda: me.state(uri).get("inputNeeded"))
        ids = {"turnId": turn, "toolCallId": needed["toolCall"]["toolCallId"]}
        await me.decide(chat, "chat/toolCallConfirmed", **ids, approved=True, confirmed="user-action")
        await ended_turn(me, chat, turn)
        offered = [one["uriTemplate"] for one in me.state(chat)["changesets"]]
        assert offered[0] == f"{chat}/changeset/session"
        assert "changesets" not in me.state(uri)
        (file,) = (await me.subscribe(offered[0]))["files"]
        assert file["edit"]["after"]["uri"].endswith("/note.txt")
        await me.check_folds()
