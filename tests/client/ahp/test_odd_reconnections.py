"""Reconnecting to other hosts: what is sent again, what is dropped, and what is final."""

import asyncio
from typing import Any

import pytest

from agenthost.client.ahp import (
    AhpClient,
    AhpError,
    Backoff,
    Closed,
    Connected,
    ConnectionLost,
    Gone,
    OutcomeUnknown,
    TakenOver,
    TimedOut,
    Timeouts,
    Unauthorized,
    Unreachable,
    VersionMismatch,
)
from client.ahp.hosts import ROOT, URI, Peer, odd_host, session_state
from hosting import run

QUICK = Backoff(initial=0.001, maximum=0.01)
TITLE = "session/titleChanged"


def client_of(url: str, **how: Any) -> AhpClient:
    return AhpClient(url, backoff=QUICK, **how)


def test_after_a_replay_unanswered_actions_are_sent_again_with_their_number() -> None:
    numbers: list[int] = []

    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show(seq=3)
        numbers.append((await peer.hear("dispatchAction"))["params"]["clientSeq"])
        numbers.append((await peer.hear("dispatchAction"))["params"]["clientSeq"])

    async def second(peer: Peer) -> None:
        request = await peer.hear("reconnect")
        params = request["params"]
        assert (params["lastSeenServerSeq"], params["subscriptions"]) == (3, ["agenthost:/root", URI])
        done = {"clientId": params["clientId"], "clientSeq": numbers[0]}
        envelope = {"action": {"type": TITLE, "session": URI, "title": "One"}, "serverSeq": 4, "origin": done}
        await peer.answer(request, {"type": "replay", "actions": [envelope], "missing": []})
        sent = (await peer.hear("dispatchAction"))["params"]
        numbers.append(sent["clientSeq"])
        origin = {"clientId": params["clientId"], "clientSeq": sent["clientSeq"]}
        await peer.act(5, sent["action"], origin=origin)
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            session = await client.session(URI)
            one, two = session.rename("One"), session.rename("Two")
            await one
            await two
            assert session.confirmed.session["title"] == "Two"
            assert numbers[2] == numbers[1]

    run(story)


@pytest.mark.parametrize("is_refused", [False, True], ids=["snapshot", "initialize"])
def test_after_a_snapshot_nothing_is_sent_twice_and_the_state_decides(is_refused: bool) -> None:
    started: list[str] = []

    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show(seq=300)
        started.append((await peer.hear("dispatchAction"))["params"]["action"]["turnId"])
        await peer.hear("dispatchAction")

    async def second(peer: Peer) -> None:
        request = await peer.hear("reconnect")
        turn = {
            "id": started[0],
            "userMessage": {"text": "hi"},
            "responseParts": [{"kind": "markdown", "id": "p", "content": "whole"}],
            "state": "complete",
        }
        snapshot = {"resource": URI, "state": session_state(turns=[turn]), "fromSeq": 7}
        if is_refused:
            await peer.refuse(request, -32008, "who are you?")
            opened = await peer.hear("initialize")
            assert {"agenthost:/root", URI} <= set(opened["params"]["initialSubscriptions"])
            welcome = {"protocolVersion": "0.1.0", "serverSeq": 7, "snapshots": [ROOT, snapshot]}
            await peer.answer(opened, welcome)
        else:
            await peer.answer(request, {"type": "snapshot", "snapshots": [ROOT, snapshot]})
        # The host counts from a lower number than before.
        await peer.act(8, {"type": TITLE, "title": "Eight"})
        assert (await peer.hear())["method"] == "ping"
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host:
            client = client_of(host.url, timeouts=Timeouts(answer=1))
            async with client:
                session = await client.session(URI)
                saying, echo = session.say("hi"), session.rename("ConnectionLost?")
                assert await saying.text() == "whole"
                with pytest.raises(OutcomeUnknown):
                    await echo
                await session.until(lambda state: state.session["title"] == "Eight")
                assert session.state == session.confirmed
                with pytest.raises(TimedOut):
                    await client.ping()

    run(story)


def test_actions_dispatched_without_a_connection_are_sent_when_there_is_one() -> None:
    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show()

    async def second(peer: Peer) -> None:
        request = await peer.hear("reconnect")
        snapshot = {"resource": URI, "state": session_state(), "fromSeq": 7}
        await peer.answer(request, {"type": "snapshot", "snapshots": [ROOT, snapshot]})
        sent = (await peer.hear("dispatchAction"))["params"]
        origin = {"clientId": request["params"]["clientId"], "clientSeq": sent["clientSeq"]}
        await peer.act(8, sent["action"], origin=origin)
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            session = await client.session(URI)
            echoes: list[Any] = []

            def lost(event: Any) -> None:
                if isinstance(event, ConnectionLost):
                    echoes.append(session.rename("Later"))

            client.listen(lost)
            await session.until(lambda state: state.session["title"] == "Later")
            await echoes[0]

    run(story)


def test_a_turn_that_was_started_without_a_connection_begins_when_there_is_one() -> None:
    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show()

    async def second(peer: Peer) -> None:
        request = await peer.hear("reconnect")
        snapshot = {"resource": URI, "state": session_state(), "fromSeq": 7}
        await peer.answer(request, {"type": "snapshot", "snapshots": [ROOT, snapshot]})
        sent = (await peer.hear("dispatchAction"))["params"]
        origin = {"clientId": request["params"]["clientId"], "clientSeq": sent["clientSeq"]}
        await peer.act(8, sent["action"], origin=origin)
        turn = sent["action"]["turnId"]
        part = {"kind": "markdown", "id": "p", "content": "Hel"}
        await peer.act(9, {"type": "session/responsePart", "turnId": turn, "part": part})
        await peer.act(10, {"type": "session/delta", "turnId": turn, "partId": "p", "content": "lo"})
        await peer.act(11, {"type": "session/turnComplete", "turnId": turn})
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            session = await client.session(URI)
            sayings: list[Any] = []
            told = asyncio.Event()

            def lost(event: Any) -> None:
                if isinstance(event, ConnectionLost):
                    sayings.append(session.say("hi"))
                    told.set()

            client.listen(lost)
            await told.wait()
            assert [piece async for piece in sayings[0]] == ["Hel", "lo"]

    run(story)


def test_resources_that_are_gone_after_reconnecting_are_dropped_and_reported() -> None:
    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.hear("dispatchAction")

    async def second(peer: Peer) -> None:
        request = await peer.hear("reconnect")
        await peer.answer(request, {"type": "replay", "actions": [], "missing": [URI]})
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            events: list[Any] = []
            client.listen(events.append)
            session = await client.session(URI)
            changes = session.changes()
            with pytest.raises(Gone):
                await session.rename("nobody hears")
            with pytest.raises(Gone):
                async for _ in changes:
                    pass
            with pytest.raises(Gone):
                print(session.state)
            assert session.is_gone
            assert events[-1] == Connected("replay", [URI])

    run(story)


# Endings


@pytest.mark.parametrize(
    ("code", "kind"), [(1008, Unauthorized), (4001, TakenOver)], ids=["policy", "taken over"]
)
def test_after_a_permanent_error_the_client_does_not_reconnect(code: int, kind: type[AhpError]) -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.hear("ping")
        await peer.socket.close(code, "for a reason")

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            events: list[Any] = []
            client.listen(events.append)
            session = await client.session(URI)
            with pytest.raises(kind, match="for a reason"):
                await client.ping()
            assert isinstance(client.error, kind)
            for use in (client.ping, client.sessions.load):
                with pytest.raises(kind):
                    await use()
            with pytest.raises(kind):
                session.rename("too late")
            assert host.connections == 1
            assert events == [ConnectionLost(client.error, is_final=True)]

    run(story)


def test_a_version_mismatch_on_reconnecting_is_final() -> None:
    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.hear("ping")

    async def second(peer: Peer) -> None:
        await peer.refuse(await peer.hear("reconnect"), -32005, "we have moved on")

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            with pytest.raises(VersionMismatch):
                await client.ping()
            assert host.connections == 2

    run(story)


def test_reconnecting_gives_up_after_the_time_limit() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.hear("ping")

    async def story() -> None:
        patience = Backoff(initial=0.001, maximum=0.01, give_up_after=0.05)
        async with odd_host(part) as host:
            client = AhpClient(host.url, backoff=patience)
            await client.connect()
            waiting = asyncio.create_task(client.ping())
            host.server.close()
            await host.server.wait_closed()
            with pytest.raises(Unreachable):
                await waiting
            await client.aclose()

    run(story)


def test_a_message_that_is_too_large_for_the_host_is_not_sent_for_ever() -> None:
    async def first(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.hear("dispatchAction")
        await peer.socket.close(1009, "too large")

    async def second(peer: Peer) -> None:
        await peer.answer(await peer.hear("reconnect"), {"type": "replay", "actions": [], "missing": []})
        await peer.answer(await peer.hear(), None)
        await peer.stay()

    async def story() -> None:
        async with odd_host(first, second) as host, client_of(host.url) as client:
            session = await client.session(URI)
            with pytest.raises(OutcomeUnknown, match="too large"):
                await session.rename("x" * 100)
            await client.ping()

    run(story)


def test_a_closed_client_says_so() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host:
            client = client_of(host.url)
            with pytest.raises(Closed, match="not connected yet"):
                await client.ping()
            async with client:
                pass
            with pytest.raises(Closed):
                await client.ping()
            with pytest.raises(Closed):
                await client.connect()

    run(story)
