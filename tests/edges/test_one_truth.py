"""One session, driven at once over AHP 1.0, 0.9 and 0.1 and over AAP: all of them see the same."""

from functools import partial
from typing import Any

from ahp_channels import ChannelClient, channel_client
from ahp_sites import Place, on_a_host
from rules import rule


def said(turn: Any) -> str:
    """Return what a turn says."""
    return "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")


def has_turns(client: ChannelClient, uri: str, count: int) -> bool:
    """Return whether a client has seen this many turns end."""
    return len(client.chat(uri)["turns"]) == count


@rule("1.0/Q1")
@on_a_host()
async def test_a_session_is_the_same_for_clients_of_every_protocol(place: Place) -> None:
    async with (
        channel_client(place, "new") as new,
        channel_client(place, "middle", protocolVersions=["0.9.0"]) as middle,
        place.client("old") as old,
    ):
        uri = await new.begun("demo:/shared")
        await middle.follow(uri)
        await old.subscribe(uri)
        await new.say(uri, "from 1.0")
        await middle.say(uri, "from 0.9")
        await old.say(uri, "from 0.1")
        body = {"messages": [{"role": "user", "content": "from AAP"}], "stream": "none"}
        answer = await place.ask("/aap/v3/sessions/shared/turns", "POST", body=body)
        assert answer.json["messages"][0]["content"] == "You said: from AAP"
        for client in (new, middle):
            await client.until(partial(has_turns, client, uri, 4))
            await client.check_folds()
        await old.until(lambda: len(old.state(uri)["turns"]) == 4)
        turns = new.chat(uri)["turns"]
        assert middle.chat(uri)["turns"] == turns
        assert [turn["userMessage"]["text"] for turn in old.state(uri)["turns"]] == [
            turn["message"]["text"] for turn in turns
        ]
        assert [said(turn) for turn in old.state(uri)["turns"]] == [said(turn) for turn in turns]
        fresh = await old.subscribe(uri)
        mirrored = {**old.state(uri), "summary": fresh["summary"]}
        assert mirrored == fresh


@rule("1.0/C4")
@on_a_host()
async def test_a_call_that_one_protocol_waits_for_is_answered_over_another(place: Place) -> None:
    async with channel_client(place, "new") as new, place.client("old") as old:
        uri = await new.begun()
        await old.subscribe(uri)
        for number, answers in enumerate(("new", "old")):
            turn = await new.send(uri, f"/edit file{number}.txt text")
            call = await new.call(uri, "pending-confirmation")
            ids = {"turnId": turn, "toolCallId": call["toolCallId"]}
            approval = {"approved": True, "confirmed": "user-action"}
            await old.until(lambda: old.state(uri)["summary"]["status"] & 31 == 24)
            if answers == "new":
                await new.decide(new.chat_of(uri), "chat/toolCallConfirmed", **ids, **approval)
            else:
                await old.decide(uri, "session/toolCallConfirmed", **ids, **approval)
            await new.finish(uri, turn)
            await old.finish(uri, turn)
            assert (place.workspace / f"file{number}.txt").read_text() == "text"
        await new.check_folds()
