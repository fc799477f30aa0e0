"""Clients that want their actions gathered: fewer messages, the same state, nothing out of order."""

import asyncio
from typing import Any

import pytest

from agenthost.core.reducers import Live, reduce_chat
from agenthost.edges.ahp.gathering import MAX_CHARACTERS, gather_text
from agenthost.edges.ahp.v1.connection import Connection
from agenthost.edges.ahp.v1.subscriptions import MAX_DELAY
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import TextRun
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.json import decode_json
from ahp_channels import USER, ChannelClient, channel_client
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from chance import Chance
from rules import rule

WORDS = 40
LONG = {"maxLatencyMs": 1e9}


async def trickling(turn: Turn) -> None:
    """Say words with pauses, so that each is a message of its own."""
    for number in range(WORDS):
        await turn.say(f"word {number} ")
        await asyncio.sleep(0.005)


TRICKLING = Agent("trickling", trickling)


def texts_of(client: ChannelClient) -> list[Any]:
    return [one for one in client.envelopes if one["action"]["type"] == "chat/delta"]


async def drafted(author: ChannelClient, chat: str, text: str) -> None:
    """Change the draft of a chat, and wait until everybody could have been told."""
    draft = {"text": text, "origin": USER}
    assert "rejectionReason" not in await author.decide(chat, "chat/draftChanged", draft=draft)


def draft_of(client: ChannelClient, chat: str) -> str | None:
    text: str | None = client.state(chat).get("draft", {}).get("text")
    return text


@rule("1.0/Q1")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host(TRICKLING)
async def test_text_is_gathered_for_a_client_that_can_wait(place: Place, version: str) -> None:
    async with (
        channel_client(place, "author") as author,
        channel_client(place, protocolVersions=[version]) as me,
    ):
        uri = await author.begun(new_uri("trickling"), provider="trickling")
        chat = author.chat_of(uri)
        await me.subscribe(uri)
        await me.subscribe(chat, delivery={"maxLatencyMs": 80})
        turn = await author.send(uri, "Go")
        await me.finish(uri, turn)
        await author.finish(uri, turn)
        assert len(texts_of(author)) == WORDS
        assert 0 < len(texts_of(me)) <= WORDS / 2
        assert {one["serverSeq"] for one in texts_of(me)} <= {one["serverSeq"] for one in texts_of(author)}
        await me.check_folds()


@rule("1.0/Q1")
@on_a_host()
async def test_what_is_held_comes_in_time_and_other_clients_do_not_wait(place: Place) -> None:
    loop = asyncio.get_running_loop()
    async with channel_client(place, "author") as author, channel_client(place) as me:
        uri = await author.begun()
        chat = author.chat_of(uri)
        await me.subscribe(chat, delivery={"maxLatencyMs": 300})
        begin = loop.time()
        await drafted(author, chat, "one")
        assert draft_of(me, chat) is None
        await me.until(lambda: draft_of(me, chat))
        assert 0.25 < loop.time() - begin < 5
        await me.subscribe(chat)  # without a delay from now on
        await drafted(author, chat, "two")
        await me.until(lambda: draft_of(me, chat) == "two")


@rule("1.0/Q1")
@on_a_host()
async def test_what_does_not_wait_takes_what_is_held_along(place: Place) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        uri = await author.begun()
        chat = author.chat_of(uri)
        await me.subscribe(uri)
        await me.subscribe(chat, delivery=LONG)
        await drafted(author, chat, "one")
        await author.decide(uri, "session/titleChanged", title="Named")
        await me.until(lambda: me.state(uri)["title"] == "Named")
        assert draft_of(me, chat) == "one"
        await drafted(author, chat, "two")
        assert draft_of(me, chat) == "one"
        await me.request("ping", channel=ROOT_URI)
        assert draft_of(me, chat) == "two"
        await drafted(author, chat, "three")
        await me.request("fetchTurns", channel=chat)
        assert draft_of(me, chat) == "three"
        await drafted(author, chat, "four")
        assert (await me.subscribe(chat))["draft"]["text"] == "four"
        await me.check_folds()


@rule("1.0/Q1", "1.0/Q2")
@on_a_host()
async def test_a_client_that_is_cut_off_while_something_is_held_loses_nothing(place: Place) -> None:
    async with channel_client(place, "author") as author:
        uri = await author.begun()
        chat = author.chat_of(uri)
        async with channel_client(place) as me:
            await me.subscribe(chat, delivery=LONG)
            await drafted(author, chat, "one")
            seen, states = me.last_seq, dict(me.states)
            me.socket.transport.abort()
        async with ChannelClient.connected(place.url) as me:
            me.states = states
            assert (await me.reopen(seen, chat))["type"] == "replay"
            assert draft_of(me, chat) == "one"
            await drafted(author, chat, "two")  # and it still can wait
            assert draft_of(me, chat) == "one"
            await me.request("ping", channel=ROOT_URI)
            assert draft_of(me, chat) == "two"


@rule("1.0/Q1")
@on_a_host(limits=Limits(subscriber_items=400))
async def test_nobody_is_cut_off_for_what_is_held(place: Place) -> None:
    async with channel_client(place, "author") as author, channel_client(place) as me:
        uri = await author.begun()
        chat = author.chat_of(uri)
        await me.subscribe(chat, delivery=LONG)
        for number in range(500):
            await drafted(author, chat, str(number))
        await me.until(lambda: draft_of(me, chat))  # an eighth of the limit is as much as is held
        await me.request("ping", channel=ROOT_URI)
        assert draft_of(me, chat) == "499"
        assert len(me.envelopes) == 500


@rule("1.0/Q1")
@pytest.mark.parametrize("latency", [-1, -0.5, "5", True, {}])
@on_a_host()
async def test_a_delay_that_is_no_time_is_refused(place: Place, latency: Any) -> None:
    async with channel_client(place) as me:
        refused = await me.refusal("subscribe", channel=ROOT_URI, delivery={"maxLatencyMs": latency})
        assert refused.code == -32602
        assert "$.delivery.maxLatencyMs" in refused.message


@rule("1.0/Q1")
@on_a_host()
async def test_a_delay_is_bounded_and_ends_with_the_subscription(place: Place) -> None:
    async with channel_client(place) as me:
        await me.subscribe(ROOT_URI, delivery=LONG)
        (options,) = place.peers.options.values()
        assert options.delays == {ROOT_URI: MAX_DELAY}
        await me.unsubscribe(ROOT_URI)
        assert options.delays == {}


def drawn_items(seed: int) -> list[LogItem]:
    """Draw runs of text for two parts, and other items between them."""
    random = Chance(seed).random
    items, seq = [], 0
    for _ in range(30):
        kind, part = random.choice([("chat/delta", "a"), ("chat/delta", "a"), ("chat/reasoning", "b")])
        texts = [random.choice(["x", "…🙂", "", "long " * 3_000]) for _ in range(random.randrange(1, 6))]
        is_text = random.random() < 0.8
        seq += len(texts) if is_text else 1
        run = TextRun(kind, "c", "t", part, texts) if is_text else None
        action: Any = None if is_text else {"type": "chat/activityChanged", "activity": str(seq)}
        items.append(LogItem(seq, 1, b"", None, 1, "s", "c", action, run=run))
    return items


def folded(items: list[LogItem]) -> Any:
    parts = [{"kind": "markdown", "id": "a", "content": ""}, {"kind": "reasoning", "id": "b", "content": ""}]
    live: Live[Any] = Live({"status": 8, "activeTurn": {"id": "t", "responseParts": parts}, "turns": []})
    for item in items:
        envelopes = [] if item.run is None else [decode_json(one) for one in item.envelopes()]
        for action in [one["action"] for one in envelopes] or [item.action]:
            live = reduce_chat(live, action)
    return live.state


@rule("1.0/Q1")
@pytest.mark.parametrize("seed", range(30))
def test_gathered_text_has_the_same_effect_and_the_last_number(seed: int) -> None:
    items = drawn_items(seed)
    gathered = list(gather_text(items, {"c"}))
    assert folded(gathered) == folded(items)
    numbers = [item.seq for item in gathered]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == items[-1].seq
    assert [item for item in gathered if item.run is None] == [item for item in items if item.run is None]
    assert all(len(item.run.texts[0]) <= MAX_CHARACTERS for item in gathered if item.run is not None)
    assert all(item.first_seq == item.seq for item in gathered)
    assert len(gathered) < sum(item.count for item in items)
    assert list(gather_text(items, ())) == items


@rule("1.0/Q2")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
@on_a_host()
async def test_a_client_that_comes_back_may_first_take_in_the_answer(
    place: Place, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "rest_seconds", 600.0)
    async with channel_client(place, "author") as author:
        uri = await author.begun()
        chat = author.chat_of(uri)
        async with channel_client(place, protocolVersions=[version]) as me:
            await me.subscribe(chat)
            seen = me.last_seq
        async with ChannelClient.connected(place.url, "me") as me:
            await me.reopen(seen, chat)
            await drafted(author, chat, "Dear")
            await asyncio.sleep(0.05)
            assert me.envelopes == []
            await me.tell("setClientManagedSettingsPermissions", permissions={})  # it says something
            assert (await me.hear_kind("chat/draftChanged"))["draft"]["text"] == "Dear"
            seen = me.last_seq
        monkeypatch.setattr(Connection, "rest_seconds", 0.05)
        async with ChannelClient.connected(place.url, "me") as me:
            await me.reopen(seen, chat)
            await drafted(author, chat, "Dear Ann")
            assert (await me.hear_kind("chat/draftChanged"))["draft"]["text"] == "Dear Ann"
