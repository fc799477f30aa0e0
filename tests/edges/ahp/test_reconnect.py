"""Coming back: all that was missed, or fresh snapshots; over a restart of the server too."""

import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.limits import Limits
from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_sites import Place, on_a_host, served
from ahp_speaking import Client, Refused
from hosting import run
from rules import rule
from serving import serving, wait_ready


@rule("HR-C01", "HR-C02", "HR-C07")
@on_a_host()
async def test_a_returning_client_gets_everything_it_missed_in_the_answer(place: Place) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        async with place.client() as me:
            await me.subscribe(uri)
            await author.say(uri, "First")
            await me.until(lambda: me.state(uri)["turns"])
            seen, state = me.last_seq, me.states[uri]
        await author.say(uri, "/stream 300")
        await author.decide(uri, "session/titleChanged", title="Meanwhile")
        async with place.stranger() as me:
            me.states[uri] = state
            back = await me.reopen(seen, uri, uri)
            assert (back["type"], back["missing"]) == ("replay", [])
            numbers = [one["serverSeq"] for one in back["actions"]]
            assert numbers == sorted(set(numbers))
            count = len(me.envelopes)
            await me.request("ping")
            assert len(me.envelopes) == count
            assert me.state(uri)["turns"] == author.state(uri)["turns"]
            assert me.state(uri)["summary"]["title"] == "Meanwhile"
            await me.say(uri, "And on")
            await author.until(lambda: len(author.state(uri)["turns"]) == 3)
            assert me.state(uri)["turns"] == author.state(uri)["turns"]


@rule("HR-C03", "HR-C05")
@on_a_host()
async def test_missing_resources_are_named_and_notifications_not_repeated(place: Place) -> None:
    async with place.client("author") as author:
        kept, gone = await author.begun(), await author.begun()
        seen = author.last_seq
        await author.request("disposeSession", session=gone)
        async with place.stranger() as me:
            back = await me.reopen(seen, ROOT_URI, gone, kept, "demo:/never", gone)
            assert (back["type"], back["missing"]) == ("replay", [gone, "demo:/never"])
            assert {one["action"]["type"] for one in back["actions"]} == {"root/activeSessionsChanged"}
            await me.request("ping")
            assert me.notices == []


@rule("HR-C04")
@on_a_host(limits=Limits(log_per_session=10, log_in_all=10))
async def test_a_log_that_was_trimmed_is_replaced_by_snapshots(place: Place) -> None:
    async with place.client("author") as author:
        uri, other = await author.begun(), await author.begun()
        seen = author.last_seq
        await author.say(uri, "/stream 3000")
        for number in range(30):
            await author.decide(uri, "session/titleChanged", title=f"{number}")
        await place.host.parts.engine.trim()
        async with place.stranger() as me:
            back = await me.reopen(seen, uri, "demo:/never", other)
            assert back.keys() == {"type", "snapshots"}
            assert [one["resource"] for one in back["snapshots"]] == [uri, other]
            assert me.state(uri)["summary"]["title"] == "29"
            await author.decide(uri, "session/titleChanged", title="On")
            await me.until(lambda: me.state(uri)["summary"]["title"] == "On")


@rule("HR-C06")
@pytest.mark.parametrize("seen", [-1, -(2**63), 2**40, 2**63 - 1])
@on_a_host()
async def test_a_number_that_cannot_be_ours_gives_snapshots(place: Place, seen: int) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        async with place.stranger() as me:
            back = await me.reopen(seen, uri)
            assert (back["type"], len(back["snapshots"])) == ("snapshot", 1)
            await author.decide(uri, "session/titleChanged", title="On")
            await me.until(lambda: me.state(uri)["summary"]["title"] == "On")


@rule("HR-C06")
@on_a_host()
async def test_an_integer_may_be_written_as_a_float(place: Place) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        seen = author.last_seq
        await author.decide(uri, "session/titleChanged", title="Later")
        async with place.stranger() as me:
            back = await me.reopen(float(seen), uri)  # type: ignore[arg-type]
            assert [one["action"]["type"] for one in back["actions"]] == ["session/titleChanged"]


@rule("HR-C06", "HR-C02")
@on_a_host()
async def test_zero_replays_everything_and_anything_but_a_number_is_refused(place: Place) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        await author.say(uri, "Hello")
        async with place.stranger() as me:
            for odd in ("5", 1.5, None, True, [1], 2**63, -(2**70)):
                with pytest.raises(Refused, match="-32602"):
                    await me.reopen(odd, uri)  # type: ignore[arg-type]
            back = await me.reopen(0, uri)
            assert back["type"] == "replay"
            kinds = [one["action"]["type"] for one in back["actions"]]
            assert (kinds[0], kinds[-1]) == ("session/ready", "session/turnComplete")


@rule("HR-C02", "HR-A01")
@on_a_host()
async def test_refusals_are_replayed_only_to_their_client(place: Place) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        seen = author.last_seq
        await author.decide(uri, "session/turnCancelled", turnId="none")
        await author.decide(uri, "session/titleChanged", title="Yes")
    async with place.stranger("other") as other:
        (only,) = (await other.reopen(seen, uri))["actions"]
        assert only["action"]["type"] == "session/titleChanged"
    async with place.stranger("author") as back:
        refused, title = (await back.reopen(seen, uri))["actions"]
        assert refused["rejectionReason"]
        assert title["origin"] == {"clientId": "author", "clientSeq": 2}


@rule("HR-C02")
@on_a_host()
async def test_terminals_are_resumed_like_everything_else(place: Place) -> None:
    async with place.client() as me:
        claim = {"kind": "client", "clientId": "me"}
        await me.request("createTerminal", terminal="t:/1", claim=claim)
        await me.subscribe("t:/1")
        await me.until(lambda: me.state("t:/1")["content"])
        seen, state = me.last_seq, me.states["t:/1"]
        await me.act("t:/1", "terminal/input", data="echo su''ch\n")
        await me.until(lambda: "such" in str(me.state("t:/1")["content"]))
    async with place.stranger() as me:
        me.states["t:/1"] = state
        assert (await me.reopen(seen, "t:/1"))["type"] == "replay"
        await me.until(lambda: "such" in str(me.state("t:/1")["content"]))


@rule("HR-C08", "HR-C07", "HR-S01")
def test_a_client_continues_after_the_server_was_killed_and_restarted(tmp_path: Path) -> None:
    async def before(url: str) -> tuple[str, str, int, Any]:
        async with Client.connected(url) as me:
            await me.open(ROOT_URI)
            uri = await me.begun()
            turn = await me.send(uri, "/wait 1.5")
            await me.hear_kind("session/delta")
            return uri, turn, me.last_seq, me.states[uri]

    async def after(url: str, uri: str, turn: str, seen: int, state: Any) -> None:
        async with Client.connected(url) as me:
            me.states[uri] = state
            back = await me.reopen(seen, ROOT_URI, uri)
            assert (back["type"], back["missing"]) == ("replay", [])
            ended = await me.finish(uri, turn)  # ours go on after a crash; none is left hanging
            assert (ended["state"], ended["responseParts"][0]["content"]) == ("complete", "." * 30)
            assert (await me.subscribe(uri))["turns"] == [ended]

    words = ("--data", tmp_path / "data", "--workspace", tmp_path)
    found: list[Any] = []
    with serving(*words) as served:
        url = served.wait_url()

        async def first() -> None:
            found.extend(await before(url))

        run(first)
        served.stop(signal.SIGKILL)
    with serving(*words) as served:
        url = served.wait_url()
        wait_ready(url)
        run(lambda: after(url, *found))


@rule("HR-C10", "HR-S01")
@pytest.mark.sqlite
def test_a_client_that_saw_more_than_a_restored_copy_gets_snapshots(tmp_path: Path) -> None:
    async def story() -> None:
        data, copy = tmp_path / "data", tmp_path / "copy"
        async with served(tmp_path) as place, place.client() as me:
            uri = await me.begun()
            known = me.last_seq
        shutil.copytree(data, copy)
        async with served(tmp_path) as place, place.client() as me:
            await me.subscribe(uri)
            await me.say(uri, "Lost")
            lost = me.last_seq
        shutil.rmtree(data)
        shutil.copytree(copy, data)
        async with served(tmp_path) as place, place.client("author") as author:
            await author.subscribe(uri)
            for text in ("One", "Two", "Three"):
                await author.say(uri, text)
            assert lost not in {envelope["serverSeq"] for envelope in author.envelopes}
            async with place.stranger() as me:
                back = await me.reopen(lost, uri)
                assert back["type"] == "snapshot"
                assert back["snapshots"][0]["state"]["turns"] == author.state(uri)["turns"]
                assert back["snapshots"][0]["fromSeq"] > lost
            async with place.stranger("another") as me:
                assert (await me.reopen(known, uri))["type"] == "replay"

    run(story)


@rule("HR-C11")
@pytest.mark.sqlite
def test_a_damaged_session_is_refused_with_a_message_and_does_not_affect_others(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with served(tmp_path) as place, place.client() as me:
            sound, damaged = await me.begun(), await me.begun()
            seen = me.last_seq
        with closing(sqlite3.connect(tmp_path / "data" / "agenthost.db")) as file, file:
            (number,) = file.execute("SELECT number FROM session WHERE uri = ?", (damaged,)).fetchone()
            file.execute("UPDATE snapshot SET state = x'7B7D' WHERE number = ?", (number,))
        async with served(tmp_path) as place, place.stranger() as me:
            assert (await me.reopen(seen, sound, damaged))["missing"] == [damaged]
            refused = await me.refusal("subscribe", resource=damaged)
            assert refused.code == -32603
            assert refused.message.startswith(f"session {damaged!r} is damaged on the disk of this host")
            assert (await me.subscribe(sound))["lifecycle"] == "ready"
            assert len((await me.request("listSessions"))["items"]) == 2

    run(story)


@rule("HR-C02")
@on_a_host()
async def test_an_unknown_client_may_reconnect_too(place: Place) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        async with place.stranger("never-seen") as me:
            assert (await me.reopen(author.last_seq, uri))["type"] == "replay"
            await me.send(uri, "Hello")
            await me.hear_kind("session/turnComplete")
