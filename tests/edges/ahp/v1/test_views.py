"""Clients that have only the newest turns of a chat, and load older ones (C9)."""

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agenthost.wire.ahp import ROOT_URI
from ahp_agents import ECHO
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host, served
from ahp_speaking import Refused, new_uri
from chance import Chance
from hosting import run
from rules import rule


async def talk(author: ChannelClient, count: int) -> tuple[str, str]:
    """Make a session with this many turns, `t0` and so on; returns it and its chat."""
    uri = await author.begun(new_uri("echo"), provider="echo")
    for number in range(count):
        await author.finish(uri, await author.send(uri, f"message {number}", f"t{number}"))
    return uri, author.chat_of(uri)


def turns_of(client: ChannelClient, chat: str) -> list[str]:
    return [turn["id"] for turn in client.state(chat)["turns"]]


def loads_of(client: ChannelClient) -> list[Any]:
    return [one for one in client.envelopes if one["action"]["type"] == "chat/turnsLoaded"]


@rule("1.0/C9")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host(ECHO)
async def test_a_client_gets_the_newest_turns_and_loads_the_older_ones_in_pages(
    place: Place, version: str
) -> None:
    async with (
        channel_client(place, "author", protocolVersions=[version]) as author,
        channel_client(place, protocolVersions=[version]) as me,
    ):
        _, chat = await talk(author, 5)
        await me.subscribe(chat, view={"turns": 2})
        assert turns_of(me, chat) == ["t3", "t4"]
        cursor = me.state(chat)["turnsNextCursor"]
        heard = len(author.envelopes)
        assert await me.request("fetchTurns", channel=chat, cursor=cursor) == {}
        assert turns_of(me, chat) == ["t1", "t2", "t3", "t4"]  # loaded before the answer
        assert me.state(chat)["turnsNextCursor"] != cursor
        assert await me.request("fetchTurns", channel=chat) == {}
        assert turns_of(me, chat) == ["t0", "t1", "t2", "t3", "t4"]
        assert await me.request("fetchTurns", channel=chat) == {}
        assert len(loads_of(me)) == 2
        await me.check_view(chat, author)
        assert len(author.envelopes) == heard  # nobody else is told


@rule("1.0/C9")
@on_a_host(ECHO)
async def test_without_a_view_a_client_has_all_turns(place: Place) -> None:
    async with channel_client(place) as me:
        uri, chat = await talk(me, 3)
        for view in ({}, {"turns": 3}, {"turns": 2**60}):
            state = await me.subscribe(chat, view=view)
            assert (len(state["turns"]), "turnsNextCursor" in state) == (3, False)
            assert await me.request("fetchTurns", channel=chat) == {}
        await me.subscribe(uri, view={"turns": 0})  # of a channel without turns, it says nothing
        await me.subscribe(ROOT_URI, view={"turns": 0})
        await me.check_folds()


@rule("1.0/C9")
@pytest.mark.parametrize("turns", [-1, 1.5, "2", True, None, {}])
@on_a_host(ECHO)
async def test_a_view_that_is_no_number_of_turns_is_refused(place: Place, turns: Any) -> None:
    async with channel_client(place) as me:
        _, chat = await talk(me, 1)
        if turns is None:
            assert len((await me.subscribe(chat, view={"turns": None}))["turns"]) == 1
            return
        refused = await me.refusal("subscribe", channel=chat, view={"turns": turns})
        assert refused.code == -32602
        assert "$.view.turns" in refused.message


@rule("1.0/C9")
@on_a_host(ECHO)
async def test_a_cursor_that_the_client_does_not_have_is_refused(place: Place) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        _, chat = await talk(author, 5)
        for client in (author, me):
            refused = await client.refusal("fetchTurns", channel=chat, cursor="turns-before-3")
            assert (refused.code, "$.cursor" in refused.message) == (-32602, True)
        cursor = (await me.subscribe(chat, view={"turns": 1}))["turnsNextCursor"]
        for wrong in ("", "nonsense", "turns-before-3"):
            refused = await me.refusal("fetchTurns", channel=chat, cursor=wrong)
            assert (refused.code, "$.cursor" in refused.message) == (-32602, True)
        first = me.begin("fetchTurns", {"channel": chat, "cursor": cursor})
        again = me.begin("fetchTurns", {"channel": chat, "cursor": cursor})
        assert await first == {}
        with pytest.raises(Refused, match="turnsNextCursor"):
            await again
        old = me.state(chat)["turnsNextCursor"]
        await author.decide(chat, "chat/truncated")
        refused = await me.refusal("fetchTurns", channel=chat, cursor=old)
        assert refused.code == -32602
        await me.check_view(chat, author)


@rule("1.0/C9")
@pytest.mark.parametrize(
    ("size", "to", "left", "is_loaded"),
    [
        (2, "t4", ["t3", "t4"], False),
        (2, "t3", ["t3"], False),
        (2, "t1", ["t0", "t1"], True),
        (1, "t2", ["t2"], True),
        (0, "t2", ["t2"], True),
        (2, None, [], False),
    ],
)
@on_a_host(ECHO)
async def test_a_turn_that_an_action_refers_to_is_loaded_first(
    place: Place, size: int, to: str | None, left: list[str], is_loaded: bool
) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        uri, chat = await talk(author, 5)
        await me.subscribe(chat, view={"turns": size})
        await author.decide(chat, "chat/truncated", **({} if to is None else {"turnId": to}))
        await me.hear(lambda one: one["action"]["type"] == "chat/truncated")
        assert turns_of(me, chat) == left
        assert bool(loads_of(me)) == is_loaded
        assert loads_of(author) == []
        await me.check_view(chat, author)
        await author.finish(uri, await author.send(uri, "more", "more"))
        await me.check_view(chat, author)
        while "turnsNextCursor" in me.state(chat):
            await me.request("fetchTurns", channel=chat, cursor=me.state(chat)["turnsNextCursor"])
        await me.check_view(chat, author)
        assert turns_of(me, chat) == turns_of(author, chat)


@rule("1.0/C9", "1.0/C6")
@on_a_host()
async def test_a_turn_that_is_resumed_is_loaded_first(place: Place) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        uri = await author.begun()
        chat = author.chat_of(uri)
        await author.say(uri, "Hello")
        failed = await author.say(uri, "/error")
        await me.subscribe(chat, view={"turns": 0})
        assert turns_of(me, chat) == []
        await author.decide(chat, "chat/turnResume", turnId=failed["id"])
        await author.finish(uri, failed["id"])
        await me.check_view(chat, author)
        assert turns_of(me, chat) == [failed["id"]]


@rule("1.0/C9")
@on_a_host(ECHO)
async def test_subscribing_again_replaces_the_view(place: Place) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        _, chat = await talk(author, 4)
        for size, count in ((1, 1), (3, 3), (2, 2)):
            assert len((await me.subscribe(chat, view={"turns": size}))["turns"]) == count
        await me.subscribe(chat)
        await author.decide(chat, "chat/truncated", turnId="t0")
        await me.hear(lambda one: one["action"]["type"] == "chat/truncated")
        assert loads_of(me) == []
        await me.check_view(chat, author)


@rule("1.0/C9", "1.0/Q2")
@on_a_host(ECHO)
async def test_a_client_with_a_view_comes_back_to_a_snapshot_of_that_view(place: Place) -> None:
    async with channel_client(place, "author") as author:
        uri, chat = await talk(author, 6)
        async with channel_client(place) as me:
            await me.subscribe(uri)
            await me.subscribe(chat, view={"turns": 2})
            await me.request("fetchTurns", channel=chat)
            seen = me.last_seq
        await author.finish(uri, await author.send(uri, "more", "more"))
        async with ChannelClient.connected(place.url) as me:
            result = await me.reopen(seen, uri, chat)
            assert result["type"] == "snapshot"
            assert {one["resource"] for one in result["snapshots"]} == {uri, chat}
            assert turns_of(me, chat) == ["t2", "t3", "t4", "t5", "more"]
            cursor = me.state(chat)["turnsNextCursor"]
            await author.decide(chat, "chat/truncated", turnId="t0")
            await me.hear(lambda one: one["action"]["type"] == "chat/truncated")
            await me.check_view(chat, author)
            assert (await me.refusal("fetchTurns", channel=chat, cursor=cursor)).code == -32602
            seen = me.last_seq
        async with ChannelClient.connected(place.url) as me:  # what has no view is replayed
            assert (await me.reopen(seen, uri))["type"] == "replay"
        async with ChannelClient.connected(place.url) as me:  # the view was given up with its subscription
            assert (await me.reopen(seen, uri, chat))["type"] == "replay"


@rule("1.0/C9", "1.0/Q2")
def test_after_a_restart_a_client_with_a_view_gets_everything_anew(tmp_path: Path) -> None:
    async def story() -> None:
        async with served(tmp_path, ECHO) as place, channel_client(place) as me:
            _, chat = await talk(me, 4)
            await me.subscribe(chat, view={"turns": 2})
            seen = me.last_seq
        async with served(tmp_path, ECHO) as place, ChannelClient.connected(place.url) as me:
            assert (await me.reopen(seen, chat))["type"] == "snapshot"
            assert turns_of(me, chat) == ["t0", "t1", "t2", "t3"]
            seen = me.last_seq
        async with served(tmp_path, ECHO) as place, ChannelClient.connected(place.url) as me:
            assert (await me.reopen(seen, chat))["type"] == "replay"

    run(story)


class Visitor:
    """A client that has some view of a chat; it loads turns, leaves and comes back as chance has it."""

    def __init__(self, place: Place, name: str, chance: Random, chat: str) -> None:
        self._place, self._name, self._chance, self._chat = place, name, chance, chat
        self.visits = 0

    async def visit(self, other: ChannelClient, quiet: asyncio.Lock, until: asyncio.Event) -> None:
        """Come and go until everything is over; each time, what was folded is what another client sees."""
        seen: int | None = None
        while not until.is_set() or not self.visits:
            async with ChannelClient.connected(self._place.url, self._name) as me:
                if seen is None:
                    await me.open()
                    await self._subscribe(me)
                elif (await me.reopen(seen, self._chat))["type"] == "replay":
                    await self._subscribe(me)  # it had no view, and has not kept its state
                for _ in range(self._chance.randrange(1, 9)):
                    await self._do_something(me)
                async with quiet:
                    await me.check_view(self._chat, other)
                seen, self.visits = me.last_seq, self.visits + 1

    async def _subscribe(self, me: ChannelClient) -> None:
        view = self._chance.choice([{}, {"turns": 0}, {"turns": 1}, {"turns": 2}, {"turns": 5}])
        await me.subscribe(self._chat, view=view, delivery={"maxLatencyMs": self._chance.choice([0, 0, 20])})

    async def _do_something(self, me: ChannelClient) -> None:
        cursor = me.state(self._chat).get("turnsNextCursor")
        match self._chance.randrange(5):
            case 0:
                await self._subscribe(me)
            case 1 | 2 if cursor is not None:
                with suppress(Refused):  # the chat was truncated meanwhile
                    await me.request("fetchTurns", channel=self._chat, cursor=cursor)
            case _:
                await asyncio.sleep(self._chance.random() / 20)


@rule("1.0/C9", "1.0/Q1")
@pytest.mark.parametrize("seed", range(4))
@on_a_host()
async def test_whatever_happens_each_client_has_the_state_within_its_view(place: Place, seed: int) -> None:
    chance = Chance(seed).random
    async with channel_client(place, "author") as author, channel_client(place, "other") as other:
        uri = await author.begun()
        chat = author.chat_of(uri)
        over, quiet = asyncio.Event(), asyncio.Lock()
        chances = [Chance(seed * 10 + number).random for number in range(3)]
        visitors = [Visitor(place, f"v{number}", one, chat) for number, one in enumerate(chances)]
        async with asyncio.TaskGroup() as group:
            for one in visitors:
                group.create_task(one.visit(other, quiet, over))
            for _ in range(60):
                async with quiet:
                    await act_by_chance(author, uri, chance)
            over.set()
        assert all(one.visits for one in visitors)


async def act_by_chance(author: ChannelClient, uri: str, chance: Random) -> None:
    """Say something, take something back, or have a turn resumed that failed."""
    chat, turns = author.chat_of(uri), author.chat(uri)["turns"]
    match chance.randrange(6):
        case 0 if len(turns) > 4:
            await author.decide(chat, "chat/truncated", turnId=chance.choice(turns)["id"])
        case 1 if len(turns) > 9:
            await author.decide(chat, "chat/truncated")
        case 2 if turns and turns[-1]["state"] == "error":
            await author.decide(chat, "chat/turnResume", turnId=turns[-1]["id"])
            await author.finish(uri, turns[-1]["id"])
        case _:
            await author.say(uri, chance.choice(["Hello", "/error", "/stream 5"]))
