"""Chats that fork another chat of their session, or are about it, over AHP 1.0."""

from typing import Any

import pytest

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from chatting import dispatch_turn, ended_turn, new_chat, refusal
from hosting import keep_blob


async def reading(turn: Turn) -> None:
    """Say what there is to read, but for what is said now."""
    if turn.text == "/wait":
        await turn.ask("Well?")
    texts = [one["content"] for one in turn.transcript]
    await turn.say(" | ".join(text for text in texts[:-1] if isinstance(text, str)) or "nothing")


READING = Agent("reading", reading)


async def two_turns(me: ChannelClient) -> tuple[str, list[str]]:
    """Make a session of the agent that reads, with two turns."""
    uri = await me.begun(new_uri("reading"), provider="reading")
    turns = []
    for text in ("One", "Two"):
        turns.append(await me.send(uri, text))
        await me.finish(uri, turns[-1])
    return uri, turns


def source_of(me: ChannelClient, uri: str, kind: str, turn: str, **more: Any) -> Any:
    return {"source": {"kind": kind, "chat": me.chat_of(uri), "turnId": turn, **more}}


async def said(me: ChannelClient, chat: str, text: str) -> str:
    ended = await ended_turn(me, chat, await dispatch_turn(me, chat, text))
    return "".join(part["content"] for part in ended["responseParts"])


@on_a_host(READING)
async def test_a_fork_has_the_turns_up_to_the_one_that_it_forks(place: Place) -> None:
    async with channel_client(place) as me:
        uri, turns = await two_turns(me)
        chat = await new_chat(me, uri, **source_of(me, uri, "fork", turns[0]))
        assert me.state(chat)["turns"] == me.chat(uri)["turns"][:1]
        origin = {"kind": "fork", "chat": me.chat_of(uri), "turnId": turns[0]}
        assert me.state(uri)["chats"][1]["origin"] == me.state(chat)["origin"] == origin
        assert me.state(chat)["title"] == me.state(uri)["title"] != ""
        assert await said(me, chat, "Other") == "One | nothing"
        assert [turn["message"]["text"] for turn in me.chat(uri)["turns"]] == ["One", "Two"]
        again = await new_chat(
            me,
            uri,
            "ahp-chat:/third",
            source={**origin, "chat": chat, "turnId": me.state(chat)["turns"][1]["id"]},
        )
        assert [turn["message"]["text"] for turn in me.state(again)["turns"]] == ["One", "Other"]
        await me.check_folds()


@on_a_host(READING)
async def test_a_side_chat_knows_what_was_said_and_shows_nothing_of_it(place: Place) -> None:
    async with channel_client(place) as me:
        uri, turns = await two_turns(me)
        selection = {"text": "nothing\nmore"}
        chat = await new_chat(me, uri, **source_of(me, uri, "sideChat", turns[0], selection=selection))
        assert me.state(chat)["turns"] == []
        assert me.state(chat)["origin"]["selection"] == selection
        about = "What follows is about this part of the conversation:\n\n> nothing\n> more"
        assert await said(me, chat, "Why?") == f"One | nothing | {about}"
        await me.decide(chat, "chat/truncated")
        assert await said(me, chat, "Again?") == f"One | nothing | {about}"
        plain = await new_chat(me, uri, "ahp-chat:/third", **source_of(me, uri, "sideChat", turns[1]))
        assert await said(me, plain, "Well?") == "One | nothing | Two | One | nothing"
        await me.check_folds()


@pytest.mark.parametrize("kind", ["fork", "sideChat"])
@on_a_host(READING)
async def test_a_source_is_a_turn_that_has_ended_in_a_chat_of_the_session(place: Place, kind: str) -> None:
    async with channel_client(place) as me:
        uri, turns = await two_turns(me)
        other, theirs = await two_turns(me)
        running = await me.send(uri, "/wait")
        new = {"channel": uri, "chat": "ahp-chat:/x"}
        for wrong, code in (
            (source_of(me, uri, kind, running), -32004),
            (source_of(me, uri, kind, "none"), -32602),
            (source_of(me, other, kind, theirs[0]), -32602),
            ({"source": {"kind": kind, "chat": "ahp-chat:/no", "turnId": turns[0]}}, -32602),
            ({"source": {"kind": kind, "chat": uri, "turnId": turns[0]}}, -32602),
        ):
            assert await refusal(me, "createChat", **new, **wrong) == code
        assert len(me.state(uri)["chats"]) == 1
        await new_chat(me, uri, "ahp-chat:/x", **source_of(me, uri, kind, turns[1]))
        odd = {"source": {"kind": "hologram", "chat": me.chat_of(uri), "turnId": turns[0]}}
        assert await refusal(me, "createChat", channel=uri, chat="ahp-chat:/y", **odd) == -32602


@on_a_host()
async def test_a_fork_has_copies_of_large_contents(place: Place) -> None:
    async with channel_client(place) as me:
        uri = await me.begun()
        session = await place.host.parts.engine.sessions.get(uri)
        turn = await me.send(uri, "Hello")
        await me.finish(uri, turn)
        ref = keep_blob(session, b"large")
        assert ref["uri"].startswith(uri)
        session.chat["turns"][0]["responseParts"].append({"kind": "contentRef", **ref})
        chat = await new_chat(me, uri, **source_of(me, uri, "fork", turn))
        (part,) = [one for one in me.state(chat)["turns"][0]["responseParts"] if one["kind"] == "contentRef"]
        assert part["uri"] == ref["uri"].replace(uri, chat)
        await me.request("disposeChat", channel=chat)
        assert (await me.request("resourceRead", channel="ahp-root://", uri=ref["uri"]))["data"] == "large"
        assert await refusal(me, "resourceRead", channel="ahp-root://", uri=part["uri"]) == -32008
