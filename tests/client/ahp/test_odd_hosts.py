"""Hosts that are not ours, and some that do what none should: what the client makes of them."""

import asyncio
from typing import Any

import pytest

from agenthost.client.ahp import (
    AhpClient,
    AhpError,
    AuthRequired,
    Closed,
    Connected,
    Gone,
    Lost,
    NotAhp,
    NotFound,
    Patience,
    Refused,
    Rejected,
    TakenOver,
    TimedOut,
    Timeouts,
    Unanswered,
    Unauthorized,
    Unreachable,
    VersionMismatch,
)
from client.ahp.hosts import ROOT, URI, Peer, odd_host, session_state
from hosting import run

QUICK = Patience(first=0.001, longest=0.01)
TITLE = "session/titleChanged"


def client_of(url: str, **how: Any) -> AhpClient:
    return AhpClient(url, patience=QUICK, **how)


# Opening


def test_a_host_that_speaks_no_common_version_is_told_of_once() -> None:
    async def part(peer: Peer) -> None:
        request = await peer.hear("initialize")
        assert request["params"]["protocolVersions"] == ["0.1.0", "0.1.7"]
        await peer.refuse(request, -32005, "none", {"supportedVersions": ["^2.0.0"]})

    async def story() -> None:
        async with odd_host(part) as host:
            with pytest.raises(VersionMismatch) as caught:
                await client_of(host.url, versions=["0.1.0", "0.1.7"]).connect()
            assert (caught.value.code, caught.value.supported) == (-32005, ["^2.0.0"])
            assert host.connections == 1

    run(story)


@pytest.mark.parametrize(
    "result", [{}, {"protocolVersion": "9.9.9", "serverSeq": 0, "snapshots": []}, 5, {"protocolVersion": 1}]
)
def test_an_answer_that_breaks_the_rules_is_no_ahp(result: Any) -> None:
    async def part(peer: Peer) -> None:
        await peer.answer(await peer.hear("initialize"), result)
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host:
            with pytest.raises(NotAhp):
                await client_of(host.url).connect()

    run(story)


def test_a_host_that_never_answers_is_given_up() -> None:
    async def story() -> None:
        async with odd_host(Peer.stay) as host:
            with pytest.raises(TimedOut):
                await client_of(host.url, timeouts=Timeouts(answer=0.05)).connect()

    run(story)


def test_nobody_at_the_address_is_told_at_once() -> None:
    async def story() -> None:
        async with odd_host(Peer.stay) as host:
            url = host.url
        with pytest.raises(Unreachable):
            await client_of(url).connect()

    run(story)


@pytest.mark.parametrize("url", ["ftp://x", "nothing", "ws://user:secret@x/", "ws://x/#y"])
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    async def story() -> None:
        with pytest.raises(ValueError, match=r"URL|#"):
            AhpClient(url)

    run(story)


# Unknown and malformed


def test_what_is_not_known_is_ignored_or_kept_and_harms_nobody() -> None:
    async def part(peer: Peer) -> None:
        await peer.open(novelty=1)
        await peer.show(seq=5, novelty={"a": 1})
        await peer.act(6, {"type": "session/fromTheFuture", "x": 1})
        await peer.send(
            {"method": "action", "params": {"serverSeq": 7, "action": {"type": "garden/watered"}}}
        )
        await peer.notify(type="notify/weather", sky="blue")
        await peer.send({"method": "unheardOf", "params": {}})
        await peer.send({"id": 77, "result": "to nothing"})
        await peer.socket.send("[1, 2")
        await peer.socket.send('{"jsonrpc": "2.0"}')
        await peer.act(8, {"type": TITLE, "title": "New", "since": "noon"}, origin=None, mood=3)
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            state: Any = await session.until(lambda state: state["summary"]["title"] == "New")
            assert state["novelty"] == {"a": 1}
            assert client.welcome["novelty"] == 1  # type: ignore[typeddict-item]

    run(story)


def test_an_envelope_may_be_wrapped_and_come_in_a_binary_frame() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        action = {"type": TITLE, "session": URI, "title": "Wrapped"}
        await peer.send({"method": "action", "params": {"envelope": {"action": action, "serverSeq": 1}}})
        await peer.hear("unsubscribe")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            await session.until(lambda state: state["summary"]["title"] == "Wrapped")
            session.close()

    run(story)


def test_requests_of_the_host_are_answered_whether_they_are_known_or_not() -> None:
    answers: list[Any] = []

    async def part(peer: Peer) -> None:
        await peer.open()
        ping = await peer.hear("ping")
        wishes = [
            ("resourceRequest", {"uri": "file:///mine", "read": True}),
            ("resourceRequest", {"uri": "file:///secret", "read": True}),
            ("resourceRequest", {"uri": "file:///broken"}),
            ("resourceRequest", {}),
            ("makeCoffee", {}),
        ]
        for number, (method, params) in enumerate(wishes):
            await peer.send({"id": number, "method": method, "params": params})
            answers.append(await peer.hear())
        await peer.answer(ping, None)
        await peer.stay()

    def grant(request: Any) -> bool:
        if request["uri"] == "file:///broken":
            raise RuntimeError("nobody is at home")
        return bool(request["uri"] == "file:///mine")

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url, grant=grant) as client:
            await client.ping()

    run(story)
    assert answers[0] == {"jsonrpc": "2.0", "id": 0, "result": {}}
    assert [answer["error"]["code"] for answer in answers[1:]] == [-32009, -32009, -32602, -32601]


def test_a_state_that_an_action_cannot_be_applied_to_is_fetched_anew() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.act(1, {"type": TITLE, "title": 5})
        await peer.show(seq=2, novelty="fresh")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            await session.until(lambda state: "novelty" in state)

    run(story)


def test_errors_carry_their_code_and_data() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        resource = {"resource": "https://api.example.org"}
        await peer.refuse(await peer.hear("createSession"), -32007, "sign in", {"resources": [resource]})
        await peer.refuse(await peer.hear("createSession"), -32007, "sign in", [resource])
        await peer.refuse(await peer.hear("createSession"), -32002, "no such agent")
        await peer.refuse(await peer.hear("createSession"), -1, "", {"x": 1})
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            for _ in range(2):
                with pytest.raises(AuthRequired) as asked:
                    await client.create("odd")
                assert asked.value.resources == [{"resource": "https://api.example.org"}]
            with pytest.raises(NotFound, match="no such agent"):
                await client.create("odd")
            with pytest.raises(Refused) as caught:
                await client.create("odd")
            assert (type(caught.value), caught.value.code, caught.value.data) == (Refused, -1, {"x": 1})

    run(story)


def test_a_session_that_could_not_be_made_says_why() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.answer(await peer.hear("createSession"), None)
        await peer.show(lifecycle="creating")
        await peer.act(
            1, {"type": "session/creationFailed", "error": {"errorType": "x", "message": "out of paper"}}
        )
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            with pytest.raises(Refused, match="out of paper"):
                await client.create("odd", uri=URI)

    run(story)


# What was dispatched


def test_a_refusal_of_somebody_else_changes_nothing_and_one_of_ours_is_taken_back() -> None:
    async def part(peer: Peer) -> None:
        opened = await peer.open()
        await peer.show()
        sent = (await peer.hear("dispatchAction"))["params"]
        other = {"clientId": "else", "clientSeq": sent["clientSeq"]}
        await peer.act(1, {"type": TITLE, "title": "Theirs"}, origin=other, rejectionReason="no")
        mine = {"clientId": opened["clientId"], "clientSeq": sent["clientSeq"]}
        await peer.act(2, sent["action"], origin=mine, rejectionReason="the title is locked")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            changes = session.changes()
            echo = session.rename("Ours")
            assert (session.state["summary"]["title"], session.confirmed["summary"]["title"]) == (
                "Ours",
                "Odd",
            )
            with pytest.raises(Rejected, match="the title is locked"):
                await echo
            assert session.state["summary"]["title"] == "Odd"
            kinds = [(await anext(changes)).kind for _ in range(2)]
            assert kinds == ["dispatched", "rejected"]

    run(story)


def test_after_a_replay_what_was_not_answered_is_sent_again_with_its_number() -> None:
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
            assert session.confirmed["summary"]["title"] == "Two"
            assert numbers[2] == numbers[1]

    run(story)


@pytest.mark.parametrize("is_refused", [False, True], ids=["snapshot", "initialize"])
def test_after_a_snapshot_nothing_is_sent_twice_and_the_state_tells_what_it_can(is_refused: bool) -> None:
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
            assert opened["params"]["initialSubscriptions"] == ["agenthost:/root", URI]
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
                saying, echo = session.say("hi"), session.rename("Lost?")
                assert await saying.text() == "whole"
                with pytest.raises(Unanswered):
                    await echo
                await session.until(lambda state: state["summary"]["title"] == "Eight")
                assert session.state == session.confirmed
                with pytest.raises(TimedOut):
                    await client.ping()

    run(story)


def test_what_is_dispatched_without_a_connection_is_sent_when_there_is_one() -> None:
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
                if isinstance(event, Lost):
                    echoes.append(session.rename("Later"))

            client.listen(lost)
            await session.until(lambda state: state["summary"]["title"] == "Later")
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
                if isinstance(event, Lost):
                    sayings.append(session.say("hi"))
                    told.set()

            client.listen(lost)
            await told.wait()
            assert [piece async for piece in sayings[0]] == ["Hel", "lo"]

    run(story)


def test_what_is_missing_after_coming_back_is_dropped_and_told() -> None:
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
def test_an_ending_that_no_waiting_makes_good_is_final(code: int, kind: type[AhpError]) -> None:
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
            assert events == [Lost(client.error, is_final=True)]

    run(story)


def test_a_version_that_is_gone_when_we_come_back_is_final() -> None:
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


def test_a_host_that_stays_away_is_given_up_when_patience_ends() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.hear("ping")

    async def story() -> None:
        patience = Patience(first=0.001, longest=0.01, seconds=0.05)
        async with odd_host(part) as host:
            client = AhpClient(host.url, patience=patience)
            await client.connect()
            waiting = asyncio.create_task(client.ping())
            host.server.close()
            await host.server.wait_closed()
            with pytest.raises(Unreachable):
                await waiting
            await client.aclose()

    run(story)


def test_a_message_that_the_host_finds_too_large_is_not_sent_for_ever() -> None:
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
            with pytest.raises(Unanswered, match="too large"):
                await session.rename("x" * 100)
            await client.ping()

    run(story)


def test_a_client_that_is_closed_says_so() -> None:
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
